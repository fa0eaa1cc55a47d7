use disklab_sample::Direction;

use super::{TERSE, TEXT};
use crate::Reading;
use crate::formats::testing::{fails, one, readings};

/// As fio 3.33 prints it, cut to what is read.
const HEAD: &str = "randrw: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
    ioengine=libaio, iodepth=8\n...\nfio-3.33\nStarting 2 processes\n";
const JOB: &str = "randrw: (groupid=0, jobs=2): err= 0: pid=41: Fri Nov 27 22:05:29 2026\n  \
    read: IOPS=16.8k, BW=65.4MiB/s (68.6MB/s)(65.5MiB/1001msec)\n    \
    slat (nsec): min=376, max=1970.5k, avg=679.08, stdev=16.29\n    \
    clat (usec): min=41, max=8970, avg=146.67, stdev=175.91\n     \
    lat (usec): min=42, max=8972, avg=147.67, stdev=176.91\n    clat percentiles (usec):\n     \
    |  1.00th=[   56],  5.00th=[   71], 50.00th=[  119],\n     | 99.00th=[  321], 99.99th=[ 7372]\n   \
    bw (  KiB/s): min=67032, max=67032, per=33.57%, avg=67032.00, stdev= 0.00, samples=1\n  \
    write: IOPS=16.7k, BW=65.3MiB/s (68.5MB/s)(65.4MiB/1001msec); 0 zone resets\n    \
    clat (nsec): min=471, max=2120.8k, avg=3488.11, stdev=23804.41\n  lat (nsec)   : 500=0.29%\n  \
    fsync/fdatasync/sync_file_range:\n    sync (usec): min=77, max=2367, avg=155.76, stdev=97.84\n    \
    sync percentiles (usec):\n     |  1.00th=[   88], 99.99th=[ 2376]\n  \
    cpu          : usr=2.60%, sys=18.30%, ctx=6113, majf=0, minf=14\n     \
    issued rwts: total=16768,16730,0,0 short=0,0,0,0 dropped=0,0,0,0\n     \
    latency   : target=0, window=0, percentile=100.00%, depth=8\n";
const END: &str = "\nRun status group 0 (all jobs):\n   \
    READ: bw=65.4MiB/s (68.6MB/s), 65.4MiB/s-65.4MiB/s (68.6MB/s-68.6MB/s), io=65.5MiB (68.7MB), run=1001-1001msec\n  \
    WRITE: bw=65.3MiB/s (68.5MB/s), 65.3MiB/s-65.3MiB/s (68.5MB/s-68.5MB/s), io=65.4MiB (68.5MB), run=1001-1001msec\n\n\
    Disk stats (read/write):\n    md0: ios=16966/3443, sectors=135728/27544, merge=0/0, aggrios=8483/1721\n  \
    vda: ios=16966/3443, sectors=135728/27544, merge=31/11, ticks=5019/3331, in_queue=8350, util=70.94%\n";

fn rates(reading: &Reading) -> Vec<(Direction, Option<f64>)> {
    let figures = reading.steps.iter().flat_map(|step| &step.figures);
    figures.map(|f| (f.direction, f.bytes_per_second)).collect()
}

#[test]
fn the_text_of_version_3_is_exact_as_its_operations_are() {
    let reading = one(&TEXT, &format!("{HEAD}\n{JOB}{END}"));
    let [step] = reading.steps.as_slice() else { panic!("one step") };
    let [read, write] = step.figures.as_slice() else { panic!("two figures") };
    assert_eq!((read.bytes, read.operations), (16_768 * 4096, Some(16_768)));
    assert_eq!(read.bytes_per_second, Some(16_768.0 * 4096.0 / 1.001));
    assert_eq!(write.operations_per_second, Some(16_730.0 / 1.001));
    let latency = read.latency.as_ref().expect("latencies");
    assert_eq!((latency.mean_ns, latency.max_ns), (146_670.0, 8_970_000));
    assert!((latency.histogram.quantile(0.99) as f64 / 321_000.0 - 1.0).abs() < 0.001);
    // Those of flushes are none of writes.
    let latency = write.latency.as_ref().expect("latencies");
    assert_eq!((latency.max_ns, latency.histogram.count()), (2_120_800, 0));
    assert_eq!(reading.tools[0].version, "fio-3.33");
    assert_eq!((step.drives.len(), step.drives[0].read_bytes), (1, 135_728 * 512));
    let (_, job) = &reading.work.fields[1];
    assert_eq!(
        job,
        "[global]\n[randrw]\nbs=4k\niodepth=8\nioengine=libaio\nnumjobs=2\nrw=randrw\n"
    );
    // What is not printed, such as direct=1, is not known.
    assert_eq!(reading.work.kind, crate::UNKNOWN_KIND);
    let profile = crate::profile::of_work(&reading.work)("randrw").expect("a profile");
    assert_eq!((profile.direct, profile.durability, profile.depth), (None, None, Some(8)));
}

#[test]
fn lines_around_it_and_cuts_of_forums_are_harmless() {
    let whole = format!("{HEAD}\n{JOB}{END}");
    let figures = one(&TEXT, &whole).steps[0].figures.clone();
    let eta =
        "Jobs: 2 (f=2): [m(2)][50.0%][r=65.4MiB/s,w=65.3MiB/s][r=16.8k,w=16.7k IOPS][eta 00m:01s]";
    for text in [
        format!("$ fio a.fio\r{eta}\r{eta}\r\n{whole}\n$ "),
        whole.replace('\n', "\r\n"),
        whole.replace('\n', "\r"),
        format!("fio: this platform does not support it\n{whole}"),
        whole.replace("randrw: (groupid", &format!("{eta}randrw: (groupid")),
    ] {
        assert_eq!(one(&TEXT, &text).steps[0].figures, figures, "{text}");
    }
    // Without what was announced, the bytes are as fio rounds them.
    let read = &one(&TEXT, JOB).steps[0].figures[0];
    assert_eq!(read.bytes_per_second, Some(65.4 * 1_048_576.0));
    assert_eq!(read.operations_per_second, Some(16_768.0 / 1.001));
    let cut = &JOB[..JOB.find("    slat").expect("a line")];
    let reading = one(&TEXT, cut);
    assert_eq!(reading.steps[0].figures[0].operations_per_second, Some(16_800.0));
    assert!(reading.notes.iter().any(|note| note.contains("not all here")), "{:?}", reading.notes);
    // The summary alone.
    let reading = one(&TEXT, END);
    assert_eq!(reading.steps[0].figures.len(), 2);
    assert_eq!(reading.steps[0].figures[0].bytes_per_second, Some(65.4 * 1_048_576.0));
    assert_eq!(readings(&TEXT, &END.repeat(3)).len(), 3);
}

#[test]
fn versions_before_2_17_count_in_kibibytes() {
    let text = "seq: (g=0): rw=write, bs=1M-1M/1M-1M/1M-1M, ioengine=sync, iodepth=1\nfio-2.2.10\n\
        Starting 1 process\n\nseq: (groupid=0, jobs=1): err= 0: pid=7: Mon Jan  4 10:00:00 2016\n  \
        write: io=1024.0MB, bw=102349KB/s, iops=99, runt= 10245msec\n    \
        clat (usec): min=141, max=28970, avg=9146.67, stdev=175.91\n     \
        lat (msec): min=1, max=29, avg= 9.67, stdev= 1.91\n    clat percentiles (usec):\n     \
        |  1.00th=[  156], 99.99th=[28800]\n    lat (usec) : 250=0.29%\n     \
        issued    : total=r=0/w=1024/d=0, short=r=0/w=0/d=0\n\nRun status group 0 (all jobs):\n  \
        WRITE: io=1024.0MB, aggrb=102349KB/s, minb=102349KB/s, maxb=102349KB/s, mint=10245msec, maxt=10245msec\n";
    let reading = one(&TEXT, text);
    let figure = &reading.steps[0].figures[0];
    assert_eq!((figure.bytes, figure.operations), (1 << 30, Some(1024)));
    assert_eq!(figure.bytes_per_second, Some(1_073_741_824.0 / 10.245));
    assert_eq!(figure.latency.as_ref().map(|l| l.max_ns), Some(28_970_000));
    let summary = &text[text.find("Run status").expect("a summary")..];
    let rate = one(&TEXT, summary).steps[0].figures[0].bytes_per_second;
    assert_eq!(rate, Some(102_349.0 * 1024.0));
    let oldest = "r: (g=0): rw=randread, bs=4K-4K/4K-4K, ioengine=libaio, iodepth=4\nfio 1.59\n\
        r: (groupid=0, jobs=1): err= 0: pid=9\n  read : io=40960KB, bw=4096.0KB/s, iops=1024, runt= 10000msec\n    \
        clat (usec): min=5, max=60K, avg=900.25, stdev=20.10\n     issued r/w/d: total=10240/0/0, short=0/0/0\n";
    let figure = &one(&TEXT, oldest).steps[0].figures[0];
    assert_eq!(figure.bytes_per_second, Some(4_194_304.0));
    assert_eq!(figure.latency.as_ref().map(|l| l.max_ns), Some(60_000_000));
}

#[test]
fn bits_thousands_and_mixed_figures_are_what_they_say() {
    let job = |side: &str| {
        format!(
            "w: (groupid=0, jobs=1): err= 0: pid=7: Sun\n  {side}\n     issued rwts: total=4,0,0,0 short=0\n"
        )
    };
    for (side, direction, rate) in [
        (
            "write: IOPS=52, BW=421Mibit/s (442Mbit/s)(4096KiB/76msec); 0 zone resets",
            Direction::Write,
            421.0 * 131_072.0,
        ),
        (
            "write: IOPS=52, BW=55.2MB/s (52.6MiB/s)(4194kB/76msec); 0 zone resets",
            Direction::Write,
            55.2e6,
        ),
        (
            "mixed: IOPS=52, BW=52.6MiB/s (55.2MB/s)(4096KiB/76msec)",
            Direction::Mixed,
            52.6 * 1_048_576.0,
        ),
        (
            "trim: IOPS=52, BW=52.6MiB/s (55.2MB/s)(4096KiB/76msec); 0 zone resets",
            Direction::Trim,
            52.6 * 1_048_576.0,
        ),
        ("read: IOPS=0, BW=170B/s (170B/s)(5120B/30100msec)", Direction::Read, 170.0),
    ] {
        assert_eq!(rates(&one(&TEXT, &job(side))), [(direction, Some(rate))], "{side}");
    }
    // The sum, which fio 3.33 prints without operations.
    let both =
        JOB.replace("  lat (nsec)   ", "  mixed: IOPS=0, BW=0 (0)(0B/1001msec)\n  lat (nsec)   ");
    assert_eq!(rates(&one(&TEXT, &both)), rates(&one(&TEXT, JOB)));
}

#[test]
fn runs_and_reports_in_between_are_told_apart() {
    let whole = format!("{HEAD}\n{JOB}{END}");
    let first = JOB
        .replace("65.5MiB/1001msec", "32.7MiB/500msec")
        .replace("65.4MiB/1001msec", "32.7MiB/500msec");
    let first = first.replace("16768,16730", "8380,8370");
    let interim = format!("{HEAD}\n{first}{END}\n{JOB}{END}");
    let reading = one(&TEXT, &interim);
    assert_eq!(reading.steps, one(&TEXT, &whole).steps);
    assert!(reading.notes.iter().any(|note| note.contains("--status-interval")));
    assert_eq!(readings(&TEXT, &whole.repeat(3)).len(), 3);
    // Without what was announced, the process tells.
    let other = JOB.replace("pid=41", "pid=42");
    assert_eq!(readings(&TEXT, &format!("{JOB}{END}{other}{END}")).len(), 2);
    // Clones of a run come one after another.
    assert_eq!(readings(&TEXT, &format!("{HEAD}{JOB}{other}{END}")).len(), 1);
    let groups = format!("{JOB}{}{END}", other.replace("groupid=0", "groupid=1"));
    let ids: Vec<String> = readings(&TEXT, &groups).into_iter().map(|r| r.work.id).collect();
    assert_eq!(ids, ["randrw-group-0", "randrw-group-1"]);
}

#[test]
fn failures_and_changed_figures() {
    let error = "err=28 (file:io_u.c:1846, func=io_u error, error=No space left on device): pid=41";
    let failure = one(&TEXT, &JOB.replace("err= 0: pid=41", error)).failure.expect("a failure");
    assert_eq!(failure, "fio's job 'randrw' ended with error 28: No space left on device");
    let error = fails(&TEXT, &JOB.replace("BW=65.4MiB/s", "BW=95.4MiB/s"));
    assert_eq!((error.line, error.column), (2, 3));
    assert!(error.to_string().contains("was it changed?"), "{error}");
    let error = fails(&TEXT, &JOB.replace("99.00th=[  321]", "99.00th=[  1]"));
    assert!(error.to_string().contains("smaller than a lower one"), "{error}");
}

/// A terse line of version 3, 4 or 5: reads, and what the drives did.
fn terse(version: u32, name: &str, kib: u64, runtime_ms: u64, drives: &str) -> String {
    let rate = kib * 1000 / runtime_ms;
    let more = if version == 5 { ";0;0;0;0.0;0.0;0" } else { "" };
    let side = |kib: u64, rate: u64| {
        format!(
            "{kib};{rate};{};{};0;0;0.0;0.0;4;757;101.2;24.8;1.000000%=4;99.000000%=700;0%=0;4;758;101.3;24.9;0;0;\
             0.000000%;0.0;0.0{more};",
            rate / 4,
            if kib > 0 { runtime_ms } else { 0 }
        )
    };
    let sides = side(kib, rate) + &side(0, 0).repeat(if version == 3 { 1 } else { 2 });
    let rest = format!("3.5%;4.5%;497;0;12;{}", "0.0%;".repeat(29));
    format!("{version};fio-3.33;{name};0;0;{sides}{rest}{drives}\n")
}

#[test]
fn terse_lines_of_all_versions() {
    for version in [3, 4, 5] {
        let reading = one(&TERSE, &terse(version, "r", 1024, 500, "sda;5;0;0;0;9;0;9;1.0%"));
        let [figure] = reading.steps[0].figures.as_slice() else { panic!("{version}: one figure") };
        assert_eq!((figure.direction, figure.bytes), (Direction::Read, 1 << 20));
        assert_eq!(figure.bytes_per_second, Some(2048.0 * 1024.0));
        assert_eq!(figure.operations_per_second, Some(512.0));
        let latency = figure.latency.as_ref().expect("latencies");
        assert_eq!((latency.max_ns, latency.mean_ns), (757_000, 101_200.0));
        assert!((latency.histogram.quantile(0.99) as f64 / 700_000.0 - 1.0).abs() < 0.001);
        assert!(
            fails(&TERSE, &terse(version, "r", 1024, 500, "")[..120])
                .to_string()
                .contains("cut off")
        );
    }
    // As fio's HOWTO has it, of version 1.
    let oldest = "2;card0;0;0;7139336;121836;60004;1;10109;27.93;116.93;220;126861;3495.44;1085.36;226;126864;\
        3523.63;1089.01;24063;99944;50.27%;59818.27;5540.65;7155060;122104;60004;1;8338;29.08;117.83;388;128077;\
        5032.48;1234.78;391;128085;5061.83;1236.90;23436;100928;50.28%;59964.83;5644.84;14.59%;19.39%;123706;0;7313\n";
    let rate = |kib: f64| Some(kib / 60.004 * 1024.0);
    assert_eq!(
        rates(&one(&TERSE, oldest)),
        [(Direction::Read, rate(7_139_336.0)), (Direction::Write, rate(7_155_060.0))]
    );
    let mixed = terse(3, "r", 1024, 500, "");
    let (front, back) = mixed.split_at(mixed.find("0;0;0;0;0;0;0.0").expect("writes"));
    let mixed = format!("{front}{}", &back[back.find("3.5%").expect("the rest")..]);
    assert_eq!(rates(&one(&TERSE, &mixed)), [(Direction::Mixed, Some(2_097_152.0))]);
    let error = fails(&TERSE, &terse(3, "r", 1024, 500, "").replace(";2048;", ";4096;"));
    assert!(error.to_string().contains("was it changed?"), "{error}");
}

#[test]
fn terse_lines_are_jobs_clones_repeats_or_reports_in_between() {
    let count = |lines: &[String]| {
        let all = readings(&TERSE, &lines.concat());
        (all.len(), all[0].steps.len(), all[0].steps[0].figures[0].bytes)
    };
    let drives = |n: u64| format!("sda;{n};0;0;0;9;0;9;1.0%");
    let line = |name: &str, kib, ms, n| terse(3, name, kib, ms, &drives(n));
    assert_eq!(count(&[line("a", 1024, 500, 7), line("b", 512, 500, 7)]), (1, 2, 1 << 20));
    assert_eq!(count(&[line("a", 1024, 500, 7), line("a", 1024, 501, 7)]), (1, 1, 2 << 20));
    assert_eq!(count(&[line("a", 1024, 500, 7), line("a", 1020, 500, 8)]), (2, 1, 1 << 20));
    let bare = terse(3, "a", 1024, 500, "");
    assert_eq!(count(&[bare.clone(), bare.clone(), bare]), (3, 1, 1 << 20));
    let interim = [
        line("a", 1072, 891, 2),
        line("a", 2272, 1891, 5),
        line("a", 3464, 2890, 9),
        line("a", 3600, 3001, 9),
    ];
    assert_eq!(count(&interim), (1, 1, 3600 << 10));
}
