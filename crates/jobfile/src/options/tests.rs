use std::collections::BTreeSet;
use std::io::Write as _;

use super::foreign::{REFUSED, UNSUPPORTED};
use super::*;
use crate::testing::{fio, job, lacks_fio, read};

/// Each option with values that hold, and values that do not with a part of
/// what is said then.
struct Example {
    name: &'static str,
    valid: &'static [&'static str],
    invalid: &'static [(&'static str, &'static str)],
}

const fn example(
    name: &'static str,
    valid: &'static [&'static str],
    invalid: &'static [(&'static str, &'static str)],
) -> Example {
    Example { name, valid, invalid }
}

const SWITCH: &[(&str, &str)] =
    &[("2", "expected 0 or 1"), ("yes", "found 'yes'"), ("", "needs a value")];
const ON_OFF: &[&str] = &["0", "1"];
const NUMBER: &[(&str, &str)] = &[("x", "expected a whole number from 0"), ("-1", "from 0")];
const SIZE: &[(&str, &str)] = &[
    ("50%", "share of a device"),
    ("4x", "would ignore"),
    ("4KiB", "write '4K'"),
    ("9999999p", "larger than any file"),
    ("", "needs a value"),
];
const TIME: &[(&str, &str)] = &[
    ("1.5", "is no time"),
    ("5 weeks", "is no time"),
    ("3sec", "write '3s'"),
    ("9999d", "1000 days"),
];
const MILLISECONDS: &[(&str, &str)] = &[("5s", "of milliseconds"), ("-1", "of milliseconds")];

const EXAMPLES: &[Example] = &[
    example(
        "rw",
        &[
            "read",
            "write",
            "randread",
            "randwrite",
            "rw",
            "readwrite",
            "randrw",
            "read:8k",
            "read:-4k",
            "randread:8",
            "rw:4k",
        ],
        &[
            ("up", "found 'up'"),
            ("trim", "needs a block device"),
            ("randtrimwrite", "needs a block device"),
            ("randread:8k", "found '8k'"),
            ("read:x", "no size"),
            ("READ", "did you mean 'read'"),
        ],
    ),
    example(
        "rw_sequencer",
        &["sequential", "identical"],
        &[("other", "'sequential' or 'identical'")],
    ),
    example("rwmixread", &["0", "100", "70"], &[("101", "from 0 to 100"), ("-1", "from 0 to 100")]),
    example("rwmixwrite", &["0", "30"], &[("101", "from 0 to 100")]),
    example(
        "percentage_random",
        &["50", "50,30", ",30", "50,30,20"],
        &[("101", "from 0 to 100"), ("1,2,3,4", "more values"), (",", "expected a value")],
    ),
    example(
        "random_distribution",
        &[
            "random",
            "zipf",
            "zipf:1.2",
            "zipf:1.2:0.25",
            "pareto:0.2",
            "pareto",
            "normal:20",
            "zoned:60/10:30/20:8/30:2/40",
            "zoned_abs:60/20G:30/100G:10/500g",
            "zoned:50/50:50/50,90/10:10/90",
        ],
        &[
            ("zipf:1", "not 1"),
            ("zipf:0", "over 0"),
            ("zipf:x", "a number"),
            ("zipf:1.2:2", "0 to 1"),
            ("zipf:1.2:0.1:3", "two numbers"),
            ("pareto:1", "under 1"),
            ("normal", "the deviation"),
            ("normal:100", "under 100"),
            ("random:1", "no number"),
            ("zoned", "expected zones"),
            ("zoned:60/10", "add up to 60"),
            ("zoned:100/10", "lengths of the zones add up to 10"),
            ("zoned_abs:100/0", "0 bytes"),
            ("zoned:60", "expected zones"),
            ("zif", "did you mean 'zipf'"),
        ],
    ),
    example("norandommap", ON_OFF, SWITCH),
    example("softrandommap", ON_OFF, SWITCH),
    example("random_generator", &["tausworthe", "tausworthe64", "lfsr"], &[("dice", "'lfsr'")]),
    example("randrepeat", ON_OFF, SWITCH),
    example("allrandrepeat", ON_OFF, SWITCH),
    example("randseed", &["5", "0x12"], NUMBER),
    example("bs", &["4k", "4k,8k", ",8k", "8k,", "4k,8k,16k", "512", "0x1000", "4kb", "1M"], SIZE),
    example(
        "bsrange",
        &["4k-8k", "8k-4k", "4k:8k", "4k-8k,16k-32k", "1k-4k/8k-32k"],
        &[("4k", "expected a range"), ("0-4k", "0 bytes"), ("4k-x", "no size")],
    ),
    example(
        "bssplit",
        &["4k/50:8k/50", "4k:8k", "4k/:8k", "4k/10:64k/50:32k/40", "2k/50:4k/50,4k/90:8k/10"],
        &[
            ("4k/60:8k/60", "add up to 120"),
            ("4k/10", "add up to 10"),
            ("4k/x", "from 0 to 100"),
            ("0", "0 bytes"),
            ("4k:", "no size"),
        ],
    ),
    example("blockalign", &["4k", "4k,8k"], SIZE),
    example("bs_unaligned", ON_OFF, SWITCH),
    example("bs_is_seq_rand", ON_OFF, SWITCH),
    example(
        "name",
        &["b", "b c"],
        &[("a/b", "file names"), ("a$b", "has a '$'"), ("", "file names")],
    ),
    example("description", &["costs 5 $ a day"], &[("\u{7}", "control")]),
    example(
        "filename",
        &["f", "a:b", "a::b"],
        &[
            ("/dev/sda", "names a folder"),
            ("../x", "names a folder"),
            ("..", "no file's name"),
            ("-", "no file's name"),
            ("a\\:b", "an escape"),
            ("a:a", "stands twice"),
            (":", "a file's name"),
            ("$x", "has a '$'"),
        ],
    ),
    example(
        "filename_format",
        &["$jobname", "f.$jobnum.$filenum"],
        &[
            ("$clientuid", "only $jobname"),
            ("x/$jobnum", "names a folder"),
            ("a:b", "end of a name"),
        ],
    ),
    example("unique_filename", ON_OFF, SWITCH),
    example("directory", &[], &[("/tmp", "is not allowed here")]),
    example("nrfiles", &["2"], &[("0", "from 1"), ("99999999", "more than 1000000 files")]),
    example("openfiles", &["0", "3"], NUMBER),
    example(
        "file_service_type",
        &[
            "roundrobin",
            "random:8",
            "sequential",
            "sequential:4",
            "zipf:1.2",
            "zipf",
            "pareto:0.3",
            "normal:20",
            "gauss:10",
        ],
        &[
            ("roundrobin:0", "from 1"),
            ("zipf:1", "not 1"),
            ("normal", "the deviation"),
            ("other", "'roundrobin'"),
        ],
    ),
    example(
        "filesize",
        &["64k", "64k-128k"],
        &[
            ("0", "0 bytes"),
            ("64k-4k", "counts backwards"),
            ("x", "no size"),
            ("1k", "does not fit"),
        ],
    ),
    example("offset", &["0", "4k"], SIZE),
    example("offset_increment", &["0", "1m"], SIZE),
    example("offset_align", &["4k"], SIZE),
    example("size", &["4k", "10g", "0x10000"], SIZE),
    example("io_size", &["64k", "0"], SIZE),
    example("number_ios", &["0", "10", "10k"], NUMBER),
    example("loops", &["3"], &[("0", "from 1")]),
    example(
        "runtime",
        &["60", "60s", "500ms", "10m", "2h", "1d", "1000us", "5 s", "2D", "0"],
        TIME,
    ),
    example("time_based", &["0"], &[("1", "needs a `runtime`"), ("2", "expected 0 or 1")]),
    example("ramp_time", &["5", "500ms"], TIME),
    example("startdelay", &["5", "5-10", "10-5", "1s:2s"], TIME),
    example(
        "ioengine",
        &["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio"],
        &[
            ("mmap", "engine = \"fio\""),
            ("external:/x.so", "do not work on the files"),
            ("iouring", "did you mean 'io_uring'"),
        ],
    ),
    example(
        "iodepth",
        &["1", "32"],
        &[("0", "from 1 to 32768"), ("-1", "from 1"), ("99999", "to 32768")],
    ),
    example("iodepth_batch", &["0", "8", "100"], NUMBER),
    example("iodepth_batch_complete_min", &["0", "8"], NUMBER),
    example("iodepth_batch_complete_max", &["0", "8"], NUMBER),
    example("iodepth_low", &["0", "8"], NUMBER),
    example("direct", ON_OFF, SWITCH),
    example("buffered", ON_OFF, SWITCH),
    example("sync", &["none", "0", "sync", "1", "dsync"], &[("2", "expected 'none'")]),
    example("fsync", &["0", "16", "1k"], NUMBER),
    example("fdatasync", &["0", "16"], NUMBER),
    example("write_barrier", &["0", "4"], NUMBER),
    example("end_fsync", ON_OFF, SWITCH),
    example("fsync_on_close", ON_OFF, SWITCH),
    example("create_fsync", ON_OFF, SWITCH),
    example("create_on_open", ON_OFF, SWITCH),
    example(
        "fallocate",
        &["none", "native", "posix", "keep", "truncate", "0", "1"],
        &[("5", "'native'")],
    ),
    example("overwrite", ON_OFF, SWITCH),
    example("file_append", ON_OFF, SWITCH),
    example("invalidate", ON_OFF, SWITCH),
    example("fadvise_hint", &["0", "1", "random", "sequential"], &[("2", "'random'")]),
    example("pre_read", ON_OFF, SWITCH),
    example("unlink", ON_OFF, SWITCH),
    example("unlink_each_loop", ON_OFF, SWITCH),
    example(
        "rate",
        &["1m", "1m,500k", ",500k", "500k,"],
        &[("x", "whole number"), ("1,2,3,4", "more values")],
    ),
    example("rate_iops", &["100", "100,200", "1k"], &[("x", "whole number")]),
    example("rate_min", &["1m"], &[("x", "whole number")]),
    example("rate_iops_min", &["5"], &[("x", "whole number")]),
    example("rate_cycle", &["500"], MILLISECONDS),
    example("rate_process", &["linear", "poisson"], &[("x", "'poisson'")]),
    example("rate_ignore_thinktime", ON_OFF, SWITCH),
    example("thinktime", &["10", "10ms"], TIME),
    example("thinktime_spin", &["10"], TIME),
    example("thinktime_blocks", &["8"], &[("0", "from 1")]),
    example("thinktime_blocks_type", &["complete", "issue"], &[("x", "'issue'")]),
    example("thinktime_iotime", &["5s", "5"], TIME),
    example("zero_buffers", ON_OFF, SWITCH),
    example("refill_buffers", ON_OFF, SWITCH),
    example("scramble_buffers", ON_OFF, SWITCH),
    example("buffer_compress_percentage", &["0", "50", "100"], &[("101", "to 100")]),
    example("buffer_compress_chunk", &["0", "4k"], SIZE),
    example(
        "buffer_pattern",
        &["0xdeadbeef", "\"abcd\"", "\"abcd\"-12", "-12", "0xabc"],
        &[("'file'", "not supported"), ("abc", "no pattern"), ("%o", "only for `verify_pattern`")],
    ),
    example("dedupe_percentage", &["0", "50", "100"], &[("101", "to 100")]),
    example("dedupe_mode", &["repeat", "working_set"], &[("x", "'working_set'")]),
    example("dedupe_working_set_percentage", &["0", "100"], &[("101", "to 100")]),
    example("dedupe_global", ON_OFF, SWITCH),
    example(
        "verify",
        &[
            "0",
            "crc32c",
            "crc32c-intel",
            "crc32",
            "crc64",
            "crc16",
            "crc7",
            "md5",
            "sha1",
            "sha256",
            "sha512",
            "xxhash",
            "meta",
            "null",
        ],
        &[("foo", "'crc32c'"), ("sha3-256", "engine = \"fio\""), ("pattern", "needs the pattern")],
    ),
    example("do_verify", ON_OFF, SWITCH),
    example("verify_fatal", ON_OFF, SWITCH),
    example("verify_interval", &["512", "1k"], &[("50", "from 80"), ("0", "from 80")]),
    example("verify_offset", &["40", "64"], &[("8", "from 40")]),
    example("verify_backlog", &["0", "64"], NUMBER),
    example("verify_backlog_batch", &["0", "64"], NUMBER),
    example("verify_pattern", &["%o", "0xff%o\"abc\""], &[("%x", "no pattern")]),
    example("verify_dump", ON_OFF, SWITCH),
    example("numjobs", &["1", "8"], &[("0", "from 1 to 4096"), ("5000", "to 4096")]),
    example("thread", ON_OFF, SWITCH),
    example("group_reporting", ON_OFF, SWITCH),
    example("new_group", ON_OFF, SWITCH),
    example("stonewall", ON_OFF, SWITCH),
    example("wait_for", &[], &[("b", "no job before")]),
    example("exitall", ON_OFF, SWITCH),
    example("exitall_on_error", ON_OFF, SWITCH),
    example(
        "continue_on_error",
        &["none", "read", "write", "io", "verify", "all", "0", "1"],
        &[("x", "'verify'")],
    ),
    example("nice", &["-20", "0", "19"], &[("20", "from -20 to 19"), ("-21", "from -20")]),
    example("prio", &["0", "7"], &[("8", "from 0 to 7")]),
    example("prioclass", &["0", "3"], &[("4", "'3'")]),
    example(
        "cpus_allowed",
        &["0", "0-1"],
        &[("x", "processors"), ("1-0", "backwards"), ("", "needs a value")],
    ),
    example("cpumask", &["3"], &[("0", "from 1")]),
    example("cpus_allowed_policy", &["shared", "split"], &[("x", "'split'")]),
    example(
        "percentile_list",
        &["99", "50:99:99.9"],
        &[
            ("101", "0 to 100"),
            ("x", "a number"),
            ("50,99", "a number"),
            ("1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21", "20 percentiles"),
        ],
    ),
    example("clat_percentiles", ON_OFF, SWITCH),
    example("lat_percentiles", ON_OFF, SWITCH),
    example("slat_percentiles", ON_OFF, SWITCH),
    example("gtod_reduce", ON_OFF, SWITCH),
    example("disable_lat", ON_OFF, SWITCH),
    example("disable_clat", ON_OFF, SWITCH),
    example("disable_slat", ON_OFF, SWITCH),
    example("disable_bw_measurement", ON_OFF, SWITCH),
    example("clocksource", &["gettimeofday", "clock_gettime", "cpu"], &[("rtc", "'cpu'")]),
    example("bwavgtime", &["500"], MILLISECONDS),
    example("iopsavgtime", &["500"], MILLISECONDS),
    example("log_avg_msec", &["0", "500"], MILLISECONDS),
    example("significant_figures", &["1", "10"], &[("11", "from 1 to 10")]),
    example("kb_base", &["1024", "1000"], &[("1001", "'1000'")]),
    example("unit_base", &["0", "8", "1"], &[("2", "'8'")]),
];

#[test]
fn every_option_has_an_example() {
    let options: Vec<&str> = native_options().map(|o| o.name).collect();
    let examples: Vec<&str> = EXAMPLES.iter().map(|e| e.name).collect();
    assert_eq!(
        options.iter().copied().collect::<BTreeSet<_>>(),
        examples.iter().copied().collect::<BTreeSet<_>>()
    );
    assert_eq!(options.len(), examples.len());
}

#[test]
fn valid_values_are_read() {
    for Example { name, valid, .. } in EXAMPLES {
        for value in *valid {
            let text = format!("{name}={value}");
            if let Err(error) = job(&text) {
                panic!("{text}: {error}");
            }
        }
    }
}

#[test]
fn invalid_values_are_told_with_their_place() {
    for Example { name, invalid, .. } in EXAMPLES {
        assert!(!invalid.is_empty() || *name == "x", "{name}");
        for (value, part) in *invalid {
            let text = format!("  {name} = {value}");
            let error = job(&text).expect_err(&text);
            assert!(error.message.contains(part), "{text}: {error}");
            // `directory` is no name that is allowed, and where nothing stands
            // the whole line is shown.
            let at_name = *name == "directory" || value.is_empty();
            let column = if at_name { 3 } else { 6 + name.len() };
            assert_eq!((error.line, error.column), (3, column), "{text}: {error}");
        }
    }
}

#[test]
fn switches_may_stand_alone_and_others_may_not() {
    for spec in native_options().filter(|o| !matches!(o.name, "directory" | "time_based" | "name"))
    {
        let result = job(spec.name);
        if spec.bare {
            assert!(result.is_ok(), "{}", spec.name);
        } else {
            let error = result.expect_err(spec.name);
            assert_eq!((error.line, error.column), (3, 1));
            assert!(error.message.contains("needs a value"), "{error}");
        }
    }
}

#[test]
fn no_option_stands_twice() {
    let foreign = || UNSUPPORTED.iter().chain(REFUSED);
    let mut all: Vec<&str> = native_options()
        .flat_map(|o| o.aliases.iter().copied().chain([o.name]))
        .chain(foreign().flat_map(|f| f.aliases.iter().copied().chain([f.name])))
        .collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    let words = native_options().map(|o| o.meaning).chain(foreign().map(|f| f.what));
    for text in words {
        assert!(!text.ends_with('.') && !text.contains("  ") && !text.contains('|'), "{text}");
    }
}

#[test]
fn names_are_looked_up_by_policy() {
    let native = Policy::default();
    let study = Policy { runner: Runner::Fio, ..native };
    let plain = Policy { directory: true, folders: true, ..native };
    let error = |name: &str, policy: Policy| look_up(name, policy).expect_err(name);
    for (name, part) in [
        ("exec_prerun", "runs a program"),
        ("directory", "directory that is measured"),
        ("write_lat_log", "log files"),
        ("client", "no option 'client'"),
        ("io-depth", "did you mean 'iodepth'"),
        ("IODepth", "did you mean 'iodepth'"),
        ("szie", "did you mean 'size'"),
        ("iodepht", "did you mean 'iodepth'"),
        ("flow", "jobs that hold each other back"),
        ("hipri", "engine = \"fio\""),
    ] {
        let message = error(name, native);
        assert!(message.contains(part), "{message}");
    }
    assert!(look_up("flow", study).is_ok());
    assert!(look_up("directory", plain).is_ok());
    assert!(look_up("exec_prerun", study).is_err());
    assert_eq!(look_up("io_limit", native).map(Known::name), Ok("io_size"));
    assert_eq!(look_up("ba", native).map(Known::name), Ok("blockalign"));
    // The engines that only fio has.
    assert!(read("[a]\nsize=1m\nioengine=mmap", study).is_ok());
    assert!(read("[a]\nsize=1m\nflow=3", study).is_ok());
    // The plain command.
    let jobs = read("[a]\nsize=1m\ndirectory=/mnt\nfilename=sub/f:/abs", plain).expect("allowed");
    assert_eq!(jobs[0].files.directory.as_deref(), Some("/mnt"));
    assert_eq!(jobs[0].files.of(0, 0)[1].name, "/abs");
    assert!(read("[a]\nsize=1m\ndirectory=/a:/b", plain).is_err());
}

/// Values that fio 3.33 takes and that are refused here, each because of what
/// its error says: fio would do something else than what stands there.
const STRICTER: &[(&str, &str)] = &[
    ("bs", "4x"),
    ("bs", "4KiB"),
    ("bssplit", "4k/60:8k/60"),
    ("bssplit", "4k/10"),
    ("filesize", "64k-4k"),
    ("loops", "0"),
    ("runtime", "1.5"),
    ("runtime", "3sec"),
    ("thinktime_blocks", "0"),
    ("random_distribution", "zipf:0"),
    ("percentile_list", "50,99"),
    ("bwavgtime", "5s"),
    ("size", "50%"),
];

/// Taken here and described in fio's HOWTO, but not taken by fio 3.33.
const LOOSER: &[(&str, &str)] = &[("random_distribution", "zoned:50/50:50/50,90/10:10/90")];

#[test]
fn fio_takes_what_is_taken_here() {
    if fio(&["--version"]).is_none() {
        return lacks_fio();
    }
    // All at once: each value in a section of its own.
    let mut text = String::new();
    for Example { name, valid, .. } in EXAMPLES {
        for value in valid.iter().filter(|value| !LOOSER.contains(&(name, value))) {
            text.push_str(&format!("[a]\nsize=1m\nruntime=1\n{name}={value}\n"));
        }
    }
    for spec in native_options().filter(|o| o.bare) {
        text.push_str(&format!("[a]\nsize=1m\nruntime=1\n{}\n", spec.name));
    }
    // Which processors there are depends on the machine.
    let text = text.replace("cpus_allowed=0-1", "cpus_allowed=0").replace("cpumask=3", "cpumask=1");
    let (fine, said) = parse_only(&text);
    assert!(fine, "{said}");
    // And that this finds something at all.
    for (name, value) in [("bs", "0"), ("rw", "up"), ("iodepth", "0"), ("sync", "2")] {
        let (fine, said) = parse_only(&format!("[a]\nsize=1m\n{name}={value}\n"));
        assert!(!fine, "{name}={value}: {said}");
    }
    for (name, value) in STRICTER {
        let job_text = format!("{name}={value}");
        assert!(job(&job_text).is_err(), "{job_text}");
        let (fine, said) = parse_only(&format!("[a]\nsize=1m\n{job_text}\n"));
        assert!(fine, "{job_text}: {said}");
    }
}

fn parse_only(text: &str) -> (bool, String) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    let path = file.path().to_str().expect("a name").to_owned();
    fio(&["--parse-only", &path]).expect("fio is here")
}

#[test]
fn fio_has_these_options() {
    let Some((_, all)) = fio(&["--cmdhelp=all"]) else { return lacks_fio() };
    let fios: BTreeSet<&str> =
        all.lines().filter_map(|line| line.split(':').next()).map(str::trim).collect();
    // Options that fio does not list, though it has them.
    let unlisted = ["blockalign", "softrandommap", "bs_is_seq_rand", "verify_state_load"];
    for spec in native_options() {
        let named = std::iter::once(spec.name).chain(spec.aliases.iter().copied());
        assert!(
            named.into_iter().any(|n| fios.contains(n) || unlisted.contains(&n)),
            "{}",
            spec.name
        );
    }
    // And none of fio's is forgotten.
    let lenient = Policy { runner: Runner::Fio, directory: true, folders: true };
    for name in fios.into_iter().filter(|n| !n.is_empty()) {
        let result = look_up(name, lenient);
        let known = result.is_ok() || REFUSED.iter().any(|f| f.name == name);
        assert!(known, "{name}");
    }
}
