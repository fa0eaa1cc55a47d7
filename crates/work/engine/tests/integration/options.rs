//! Each option has its effect.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{jobs, run_text, run_traced};
use disklab_engine::{
    DirectLimits, IoFailure, Issued, JobContext, LogKind, RequestKind, lay_out, run,
};

const ENGINES: [&str; 8] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio"];

fn traced(options: &str) -> Vec<Issued> {
    let directory = tempfile::tempdir().expect("temp");
    let (report, issued) = run_traced(&jobs(&format!("[job]\n{options}\n")), directory.path());
    assert_eq!(report.jobs[0].error, None, "{options}");
    issued
}

/// A directory on the file system of the repository, which has direct I/O as a rule.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("temp")
}

#[test]
fn every_engine_moves_every_byte() {
    for engine in ENGINES {
        for depth in [1, 8] {
            let (directory, report) = run_text(&format!(
                "[w]\nioengine={engine}\niodepth={depth}\nrw=randwrite\nbs=4k\nsize=256k\n\
                 buffer_pattern=0x5a\nfilename=f\n\
                 [r]\nstonewall\nioengine={engine}\niodepth={depth}\nrw=randread\nbs=4k\n\
                 size=256k\nfilename=f\n"
            ));
            assert_eq!(report.jobs.len(), 2, "{engine}");
            for (job, done) in [(0, &report.jobs[0].write), (1, &report.jobs[1].read)] {
                assert_eq!(report.jobs[job].error, None, "{engine}");
                assert_eq!((done.bytes, done.operations), (256 << 10, 64), "{engine}");
                let latency = done.total.as_ref().expect("latencies");
                assert_eq!(latency.histogram.count(), 64);
                assert!(latency.min_ns > 0 && done.runtime_ns >= latency.max_ns);
                let series = &report.jobs[job].series;
                let counted: u64 =
                    series.read.iter().chain(&series.write).map(|cell| cell.operations).sum();
                assert_eq!(counted, 64);
            }
            let bytes = fs::read(directory.path().join("f")).expect("file");
            assert!(bytes.len() == 256 << 10 && bytes.iter().all(|b| *b == 0x5a), "{engine}");
            assert!((1..64).contains(&depth) && report.jobs[0].depths.iter().sum::<u64>() == 64);
        }
    }
}

#[test]
fn asynchronous_engines_tell_submission_and_fill_their_depth() {
    for engine in ["libaio", "io_uring"] {
        let (_directory, report) =
            run_text(&format!("[r]\nioengine={engine}\niodepth=16\nrw=randread\nbs=4k\nsize=1m\n"));
        let job = &report.jobs[0];
        if job.engine != engine {
            eprintln!("skipped: needs {engine}");
            continue;
        }
        let (slat, clat) = (job.read.submission.as_ref(), job.read.completion.as_ref());
        let lat = job.read.total.as_ref().expect("latency").mean_ns;
        let sum = slat.expect("slat").mean_ns + clat.expect("clat").mean_ns;
        assert!((sum - lat).abs() < 1.0, "{engine}: {sum} {lat}");
        assert!(job.depths[4] > 0, "9 to 16 under way: {:?}", job.depths);
        assert_eq!(job.depths[5] + job.depths[6], 0);
    }
}

#[test]
fn a_lean_context_saves_the_call_that_tells_submission() {
    let directory = tempfile::tempdir().expect("temp");
    let context = JobContext { lean: true, ..JobContext::new(directory.path(), 1) };
    let text = "[r]\nioengine=io_uring\niodepth=4\nrw=randread\nbs=4k\nsize=1m\n";
    let report = run(&jobs(text), &context).expect("runs");
    let read = &report.jobs[0].read;
    assert_eq!((read.operations, &read.submission), (256, &None));
    assert_eq!(read.completion, read.total);
}

#[test]
fn random_blocks_come_once_each_pass() {
    for options in [
        "rw=randwrite\nbs=4k\nsize=512k",
        "rw=randread\nbs=4k\nsize=512k\nrandom_generator=lfsr",
        "rw=randrw\nbsrange=4k-32k\nsize=512k",
        "rw=randwrite\nbssplit=4k/50:64k/50\nsize=512k",
        "rw=randread\nbs=4k\nsize=512k\npercentage_random=50\nnumber_ios=100",
        "rw=randwrite\nbs=4k\nsize=512k\nloops=2",
    ] {
        let issued = traced(options);
        let mut times: BTreeMap<u64, u32> = BTreeMap::new();
        for request in issued.iter().map(|i| i.request) {
            for block in 0..u64::from(request.length) / 4096 {
                *times.entry(request.offset / 4096 + block).or_default() += 1;
            }
        }
        if options.contains("number_ios") {
            assert_eq!(issued.len(), 100);
            continue;
        }
        let passes = if options.contains("loops=2") { 2 } else { 1 };
        assert_eq!(times.len(), 128, "{options}");
        assert!(times.values().all(|n| *n == passes), "{options}");
        let sorted = issued.windows(2).all(|w| w[0].request.offset <= w[1].request.offset);
        assert!(!sorted, "{options}");
    }
}

#[test]
fn without_a_map_blocks_repeat() {
    let issued = traced("rw=randread\nbs=4k\nsize=512k\nnorandommap");
    let mut blocks: Vec<u64> = issued.iter().map(|i| i.request.offset).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert!(issued.len() == 128 && (60..110).contains(&blocks.len()), "{}", blocks.len());
}

#[test]
fn a_run_of_random_ios_is_sequential_or_the_same() {
    let offsets =
        |options| -> Vec<u64> { traced(options).iter().map(|i| i.request.offset / 4096).collect() };
    let runs = offsets("rw=randread:4\nbs=4k\nsize=4m\nnorandommap\nnumber_ios=400");
    let next = runs.windows(2).filter(|w| w[1] == w[0] + 1).count();
    assert!((285..=320).contains(&next), "{next}");
    let same = offsets(
        "rw=randread:4\nbs=4k\nsize=4m\nnorandommap\nrw_sequencer=identical\nnumber_ios=400",
    );
    assert!(same.chunks(4).all(|run| run.iter().all(|o| *o == run[0])));
}

#[test]
fn offsets_alignment_and_sizes_are_kept() {
    let issued = traced("rw=randread\nbs=4k\nblockalign=16k\nsize=1m\noffset=64k");
    // As in fio, there is no map then.
    assert_eq!(issued.len(), 256);
    assert!(issued.iter().all(|i| {
        let r = i.request;
        r.offset >= 65536 && (r.offset - 65536) % 16384 == 0 && r.offset + 4096 <= 65536 + (1 << 20)
    }));
    let issued = traced("rw=randread\nbsrange=1k-8k\nbs_unaligned\nsize=1m\nnorandommap");
    assert!(issued.iter().any(|i| i.request.length % 1024 != 0));
    let issued = traced("rw=randrw\nbs=4k,16k\nsize=1m\nrwmixread=70\nnorandommap");
    let of = |kind| issued.iter().filter(move |i| i.request.kind == kind);
    assert!(of(RequestKind::Read).all(|i| i.request.length == 4096));
    assert!(of(RequestKind::Write).all(|i| i.request.length == 16384));
    let share = of(RequestKind::Read).count() as f64 / issued.len() as f64;
    assert!((0.5..0.9).contains(&share), "{share}");
}

#[test]
fn the_seed_decides_the_order() {
    let with = |seed| {
        let issued = traced(&format!("rw=randread\nbs=4k\nsize=256k\nrandseed={seed}"));
        issued.iter().map(|i| i.request.offset).collect::<Vec<_>>()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
    let clones = traced("rw=randread\nbs=4k\nsize=256k\nnumjobs=2");
    let of = |n| -> Vec<u64> {
        clones.iter().filter(|i| i.clone == n).map(|i| i.request.offset).collect()
    };
    assert_ne!(of(0), of(1));
    assert_eq!(of(0).len(), 64);
}

#[test]
fn flushes_are_counted_apart() {
    let (_directory, report) = run_text("[w]\nrw=write\nbs=4k\nsize=64k\nfsync=4\n");
    let job = &report.jobs[0];
    assert_eq!((job.write.operations, job.write.bytes), (16, 65536));
    assert_eq!(job.sync.as_ref().expect("flushes").histogram.count(), 3);
    for engine in ["libaio", "io_uring"] {
        let (_directory, report) = run_text(&format!(
            "[w]\nioengine={engine}\niodepth=4\nrw=write\nbs=4k\nsize=64k\nfdatasync=4\n"
        ));
        let job = &report.jobs[0];
        assert_eq!(job.error, None);
        assert_eq!(job.sync.as_ref().expect("flushes").histogram.count(), 3, "{engine}");
    }
}

#[test]
fn direct_io_works_or_tells_what_it_needs() {
    let directory = on_disk();
    let context = JobContext::new(directory.path(), 1);
    for engine in ["psync", "libaio", "io_uring"] {
        let text = format!(
            "[d]\nioengine={engine}\niodepth=4\ndirect=1\nrw=randrw\nbs=4k\nsize=256k\nfilename={engine}\n"
        );
        let report = run(&jobs(&text), &context).expect("runs");
        if let Some(failure) = &report.jobs[0].error {
            assert!(failure.to_string().contains("no direct I/O"), "{failure}");
            eprintln!("skipped: needs a file system with direct I/O");
            return;
        }
        let job = &report.jobs[0];
        assert_eq!(job.read.operations + job.write.operations, 64);
    }
    // An odd block is refused by the kernel: the error names what it takes.
    let text = "[d]\ndirect=1\nrw=write\nbs=1000\nsize=64000\n";
    let report = run(&jobs(text), &context).expect("runs");
    let failure = report.jobs[0].error.clone().expect("an odd block");
    assert_eq!(failure.errno(), libc::EINVAL, "{failure}");
    assert!(failure.to_string().contains("multiples of"), "{failure}");
    assert!(
        matches!(
            failure,
            IoFailure::Io {
                offset: 0,
                direct: Some(DirectLimits::Unknown | DirectLimits::Multiples(_)),
                ..
            }
        ),
        "{failure}"
    );
}

#[test]
fn files_are_laid_out_only_where_they_are_needed() {
    let directory = tempfile::tempdir().expect("temp");
    let context = JobContext::new(directory.path(), 1);
    let text = "[global]\nsize=128k\nbs=4k\n[r]\nrw=read\n[w]\nrw=write\nfallocate=none\n\
                [o]\nrw=write\noverwrite=1\n[t]\nrw=write\nfallocate=truncate\n[late]\nrw=write\n\
                create_on_open=1\n";
    lay_out(&jobs(text), &context).expect("laid out");
    let length = |name: &str| fs::metadata(directory.path().join(name)).map(|m| m.len()).ok();
    assert_eq!(length("r.0.0"), Some(131_072));
    assert_eq!(length("w.0.0"), Some(0));
    assert_eq!(length("o.0.0"), Some(131_072));
    assert_eq!(length("t.0.0"), Some(131_072));
    assert_eq!(length("late.0.0"), None);
    let content = fs::read(directory.path().join("r.0.0")).expect("file");
    assert!(content.chunks(4096).all(|block| block.iter().any(|b| *b != 0)));
    // A second time, nothing is touched.
    fs::write(directory.path().join("r.0.0"), vec![7; 131_072]).expect("written");
    lay_out(&jobs(text), &context).expect("laid out");
    assert_eq!(fs::read(directory.path().join("r.0.0")).expect("file"), vec![7; 131_072]);
    let report = run(&jobs(text), &context).expect("runs");
    assert!(report.jobs.iter().all(|job| job.error.is_none()));
    assert_eq!(length("late.0.0"), Some(131_072));
}

#[test]
fn files_can_be_removed_at_the_end() {
    let (directory, report) = run_text("[w]\nrw=write\nsize=64k\nunlink=1\n");
    assert_eq!(report.jobs[0].write.bytes, 65536);
    assert_eq!(fs::read_dir(directory.path()).expect("directory").count(), 0);
    let (directory, report) =
        run_text("[w]\nrw=write\nsize=64k\nloops=3\nunlink_each_loop=1\nend_fsync=1\n");
    assert_eq!((report.jobs[0].error.clone(), report.jobs[0].write.bytes), (None, 3 * 65536));
    assert_eq!(fs::read_dir(directory.path()).expect("directory").count(), 1);
}

#[test]
fn few_files_can_be_open_at_once() {
    for engine in ["psync", "io_uring"] {
        let (directory, report) = run_text(&format!(
            "[w]\nioengine={engine}\niodepth=4\nrw=write\nbs=4k\nnrfiles=20\nopenfiles=3\n\
             size=320k\nfsync_on_close=1\n"
        ));
        assert_eq!(report.jobs[0].error, None);
        assert_eq!(report.jobs[0].write.bytes, 320 << 10, "{engine}");
        assert_eq!(fs::read_dir(directory.path()).expect("directory").count(), 20);
    }
}

#[test]
fn a_time_limit_ends_a_job_and_a_ramp_is_not_counted() {
    let (_directory, report) = run_text(
        "[r]\nrw=read\nbs=4k\nsize=64k\ntime_based\nruntime=100ms\nramp_time=100ms\nrate_iops=1000\n",
    );
    let read = &report.jobs[0].read;
    // Never early; on a busy machine it can be late, but not by the ramp's I/Os.
    assert!(read.runtime_ns >= 95_000_000, "{}", read.runtime_ns);
    let allowed = read.runtime_ns as f64 / 1e6 + 2.0;
    assert!(read.operations > 0 && read.operations as f64 <= allowed, "{read:?}");
    assert!(report.elapsed_ns >= 200_000_000);
}

#[test]
fn rates_are_kept() {
    for (engine, limit, ios) in [
        ("psync", "rate_iops=400", 40),
        ("io_uring\niodepth=8", "rate_iops=400", 40),
        ("libaio\niodepth=8", "rate=1600k", 40),
        ("psync", "rate_iops=400\nrate_process=poisson", 40),
    ] {
        let options = format!("ioengine={engine}\nrw=read\nbs=4k\nsize=160k\n{limit}");
        let (_directory, report) = run_text(&format!("[r]\n{options}\n"));
        let read = &report.jobs[0].read;
        assert_eq!(read.operations, ios, "{options}");
        // 39 pauses of 2.5 ms; a Poisson process can be off by a third.
        let least = if limit.contains("poisson") { 50_000_000 } else { 97_000_000 };
        assert!(read.runtime_ns >= least, "{options}: {}", read.runtime_ns);
    }
}

#[test]
fn a_rate_that_is_missed_ends_the_job() {
    let (_directory, report) = run_text(
        "[r]\nrw=read\nbs=4k\nsize=1m\nthinktime=20000\nrate_iops_min=50000\nrate_cycle=50\n",
    );
    let failure = report.jobs[0].error.clone().expect("too slow");
    let IoFailure::Slow { option: "rate_iops_min", requests: "reads", least: 50_000, .. } = failure
    else {
        panic!("{failure}")
    };
    assert_eq!(failure.errno(), libc::EIO, "as fio's");
    // fio gives a job two seconds to settle.
    assert!(report.jobs[0].read.runtime_ns >= 2_000_000_000, "{}", report.jobs[0].read.runtime_ns);
}

#[test]
fn thinking_takes_its_time() {
    // Asynchronously, what is in flight ends before the pause and counts, too.
    for (engine, pauses) in [("psync", 3), ("io_uring\niodepth=4", 2)] {
        let (_directory, report) = run_text(&format!(
            "[r]\nioengine={engine}\nrw=read\nbs=4k\nsize=64k\nthinktime=5000\nthinktime_blocks=4\n\
             thinktime_spin=1000\n"
        ));
        let job = &report.jobs[0];
        assert_eq!(job.read.operations, 16);
        assert!(job.read.runtime_ns >= pauses * 5_000_000, "{engine}: {}", job.read.runtime_ns);
        let longest = job.read.total.as_ref().expect("latency").max_ns;
        assert!(
            longest < job.read.runtime_ns - (pauses - 1) * 5_000_000,
            "a pause is nobody's latency"
        );
    }
}

#[test]
fn stone_walls_and_waits_put_jobs_in_order() {
    let order = |text: &str| {
        let directory = tempfile::tempdir().expect("temp");
        let (report, issued) = run_traced(&jobs(text), directory.path());
        assert!(report.jobs.iter().all(|job| job.error.is_none()));
        let at = |job| issued.iter().position(|i| i.job == job).expect("ran");
        let end = |job| issued.iter().rposition(|i| i.job == job).expect("ran");
        (at(1) > end(0), report)
    };
    let both = "[global]\nrw=read\nbs=4k\nsize=128k\nnumjobs=2\ngroup_reporting\n[a]\n[b]\n";
    let (_, together) = order(both);
    assert_eq!(together.jobs.len(), 1);
    assert_eq!((together.jobs[0].clones, together.jobs[0].read.operations), (4, 128));
    let (apart, report) = order(&format!("{both}stonewall\n"));
    assert!(apart);
    assert_eq!(report.jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(report.jobs[1].name, "b");
    let (apart, _) = order(&format!("{both}wait_for=a\n"));
    assert!(apart);
    let (_, report) = order(&format!("{both}new_group\n"));
    assert_eq!(report.jobs.iter().map(|job| job.clones).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn one_job_end_can_stop_all_jobs() {
    let (_directory, report) = run_text(
        "[long]\nrw=read\nsize=64k\ntime_based\nruntime=60\nrate_iops=100\n\
         [short]\nrw=read\nsize=64k\nbs=4k\nexitall\n",
    );
    assert!(report.elapsed_ns < 30_000_000_000);
    assert_eq!(report.jobs[1].read.operations, 16);
    assert!(!report.interrupted);
}

#[test]
fn a_late_start_is_late() {
    let (_directory, report) = run_text("[r]\nrw=read\nsize=64k\nbs=4k\nstartdelay=150ms\n");
    assert!(report.elapsed_ns >= 150_000_000);
    assert!(report.jobs[0].elapsed_ns < report.elapsed_ns - 140_000_000);
}

#[test]
fn append_continues_behind_what_is_there() {
    let directory = tempfile::tempdir().expect("temp");
    fs::write(directory.path().join("f"), vec![1; 8192]).expect("written");
    let text = "[w]\nrw=write\nbs=4k\nsize=8k\nfilename=f\nfile_append=1\nbuffer_pattern=0x02\n";
    let report = run(&jobs(text), &JobContext::new(directory.path(), 1)).expect("runs");
    assert_eq!(report.jobs[0].error, None);
    let bytes = fs::read(directory.path().join("f")).expect("file");
    assert_eq!(bytes.len(), 16384);
    assert!(bytes[..8192].iter().all(|b| *b == 1) && bytes[8192..].iter().all(|b| *b == 2));
}

/// Offsets of a job that appends 16k to a file of 8k, in their order; and the file's length.
fn appended(options: &str) -> (Vec<(RequestKind, u64)>, u64) {
    let directory = tempfile::tempdir().expect("temp");
    fs::write(directory.path().join("f"), vec![1; 8192]).expect("written");
    let text = format!("[w]\nbs=4k\nsize=16k\nfilename=f\nfile_append=1\n{options}\n");
    let (report, issued) = run_traced(&jobs(&text), directory.path());
    assert_eq!(report.jobs[0].error, None, "{options}");
    let bytes = fs::read(directory.path().join("f")).expect("file");
    assert!(bytes[..8192].iter().all(|b| *b == 1), "{options}: what was there stays");
    let moved = issued.iter().map(|i| (i.request.kind, i.request.offset / 4096));
    (moved.collect(), bytes.len() as u64)
}

/// What fio 3.33 does, by strace.
#[test]
fn appended_blocks_are_written_once() {
    let once: Vec<(RequestKind, u64)> = (2..6).map(|block| (RequestKind::Write, block)).collect();
    for options in [
        "",
        "loops=3",
        "io_size=8k\nloops=3",
        "io_size=64k",
        "time_based=1\nruntime=20",
        "number_ios=3\nloops=3",
    ] {
        assert_eq!(appended(&format!("rw=write\n{options}")), (once.clone(), 24576), "{options}");
        let (mut random, length) = appended(&format!("rw=randwrite\n{options}"));
        random.sort_by_key(|(_, block)| *block);
        assert_eq!((random, length), (once.clone(), 24576), "random, {options}");
    }
    // Without a map, nothing knows what was gone through.
    assert_eq!(appended("rw=randwrite\nnorandommap=1\nloops=2").0.len(), 8);
    // Where it reads, it finds something behind the end.
    let reads: Vec<(RequestKind, u64)> = (2..6).map(|block| (RequestKind::Read, block)).collect();
    assert_eq!(appended("rw=read\nloops=2"), (reads, 24576));
    assert_eq!(appended("rw=rw").0.len(), 4);
}

#[test]
fn a_new_file_is_appended_to_from_its_start_and_clones_one_behind_the_other() {
    let directory = tempfile::tempdir().expect("temp");
    let text = "[global]\nrw=write\nbs=4k\nsize=8k\nfilename=f\nfile_append=1\n\
                [a]\nnumjobs=2\n[b]\n[c]\nstonewall\n";
    let (report, issued) = run_traced(&jobs(text), directory.path());
    assert!(report.jobs.iter().all(|job| job.error.is_none()));
    let mut blocks: Vec<u64> = issued.iter().map(|i| i.request.offset / 4096).collect();
    assert_eq!(blocks[6..], [6, 7], "the last job goes last");
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(fs::metadata(directory.path().join("f")).expect("file").len(), 32768);
}

#[test]
fn a_number_of_ios_is_that_of_each_loop() {
    let issued = traced("rw=write\nbs=4k\nsize=16k\nnumber_ios=3\nloops=2");
    let blocks: Vec<u64> = issued.iter().map(|i| i.request.offset / 4096).collect();
    // As fio's: the first loop ends with its files.
    assert_eq!(blocks, [0, 1, 2, 3, 0, 1]);
}

#[test]
fn logs_have_fios_format() {
    let (_directory, report) = run_text("[a job]\nrw=read\nbs=4k\nsize=1m\nlog_avg_msec=500\n");
    for (kind, name) in [
        (LogKind::Bandwidth, "a job_bw.1.log"),
        (LogKind::Operations, "a job_iops.1.log"),
        (LogKind::Latency, "a job_lat.1.log"),
    ] {
        let logs = report.logs(kind);
        assert_eq!(logs[0].0, name);
        let first = logs[0].1.lines().next().expect("a line");
        let words: Vec<u64> =
            first.split(", ").map(|word| word.parse().expect("a number")).collect();
        assert_eq!((words.len(), words[0], words[2]), (5, 500, 0), "{first}");
        assert!(words[1] > 0);
    }
}
