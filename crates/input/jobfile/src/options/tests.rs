use std::collections::BTreeSet;
use std::io::Write as _;

use super::examples::{EXAMPLES, Example};
use super::unsupported::Idle;
use super::*;
use crate::error::OptionError;
use crate::testing::{fio, job, lacks_fio, read};

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
fn invalid_values_are_reported_with_their_place() {
    for Example { name, invalid, .. } in EXAMPLES {
        let named = |idle: &Unsupported| idle.is_called(name);
        assert!(!invalid.is_empty() || STUDY_LOGS.iter().any(named), "{name}");
        for (value, part) in *invalid {
            let text = format!("  {name} = {value}");
            let error = job(&text).expect_err(&text);
            assert!(error.message.contains(part), "{text}: {error}");
            // Where nothing stands the whole line is shown.
            let column = if value.is_empty() { 3 } else { 6 + name.len() };
            assert_eq!((error.line, error.column), (3, column), "{text}: {error}");
        }
    }
}

#[test]
fn switches_may_stand_alone_and_others_may_not() {
    let alone = |o: &&OptionSpec| {
        let named = |idle: &Unsupported| idle.is_called(o.name);
        !(matches!(o.name, "name") || STUDY_LOGS.iter().any(named))
    };
    for spec in native_options().filter(alone) {
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
fn no_option_is_listed_twice() {
    let unsupported = || UNSUPPORTED.iter().chain(REFUSED).chain(IDLE);
    let mut all: Vec<&str> = native_options()
        .flat_map(|o| o.aliases.iter().copied().chain([o.name]))
        .chain(unsupported().flat_map(|f| f.aliases.iter().copied().chain([f.name])))
        .collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    let words = native_options().map(|o| o.meaning).chain(unsupported().map(|f| f.what));
    for text in words {
        assert!(!text.ends_with('.') && !text.contains("  ") && !text.contains('|'), "{text}");
    }
}

#[test]
fn names_are_looked_up_by_policy() {
    let native = Policy::default();
    let study = Policy { runner: Runner::Fio, ..native };
    let plain = Policy { directory: true, ..native };
    let look_up = |name: &str, policy| look_up(name, "7", policy);
    let error = |name: &str, policy: Policy| look_up(name, policy).expect_err(name);
    let idle =
        |name: &str, policy: Policy| matches!(look_up(name, policy), Ok(KnownOption::Idle(_)));
    for (name, part) in [
        ("exec_prerun", "runs a program"),
        ("client", "no option 'client'"),
        ("io-depth", "did you mean 'iodepth'"),
        ("IODepth", "did you mean 'iodepth'"),
        ("szie", "did you mean 'size'"),
        ("iodepht", "did you mean 'iodepth'"),
        ("lockfile", "only one clone uses"),
        ("cpuload", "(cpuio)"),
        ("hipri", "engine = \"fio\""),
    ] {
        let message = error(name, native).to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(look_up("lockfile", study).is_ok() && idle("write_lat_log", study));
    assert!(look_up("write_lat_log", plain).is_ok() && !idle("write_lat_log", plain));
    assert!(idle("write_hist_log", study) && idle("write_hist_log", plain));
    // Advice that can be followed where the job is run.
    let message = error("hipri", plain).to_string();
    assert!(message.ends_with("or run the job with fio itself"), "{message}");
    assert!(look_up("directory", plain).is_ok());
    let refused = error("exec_prerun", study);
    assert!(matches!(refused, OptionError::NotAllowed { .. }), "{refused:?}");
    assert!(matches!(error("hipri", native), OptionError::OnlyFio { .. }));
    assert!(matches!(error("cpuload", native), OptionError::OtherEngine { .. }));
    assert!(matches!(error("client", native), OptionError::Unknown { .. }));
    assert_eq!(look_up("io_limit", native).map(KnownOption::name), Ok("io_size"));
    assert_eq!(look_up("ba", native).map(KnownOption::name), Ok("blockalign"));
    // The engines that only fio has.
    assert!(read("[a]\nsize=1m\nioengine=mmap", study).is_ok());
    assert!(read("[a]\nsize=1m\nlockfile=none", study).is_ok());
    assert!(read("[a]\nsize=1m\nioengine=null", native).is_err());
    assert!(read("[a]\nsize=1m\nioengine=null", plain).is_ok());
    let error = read("[a]\nsize=1m\nioengine=rados", plain).expect_err("no such engine");
    assert!(error.message.contains("distributed store"), "{error}");
    // The length of files that are there already.
    assert!(read("[a]\nfilename=f", plain).expect("allowed")[0].files.depends_on_lengths());
    assert!(read("[a]\nfilename=f", native).is_err());
    for checksum in ["md5", "sha3-512", "xxhash", "crc32c"] {
        let text = format!("[a]\nsize=1m\nverify={checksum}");
        assert!(read(&text, study).is_ok(), "{checksum}");
    }
    // The plain command.
    let jobs = read("[a]\nsize=1m\ndirectory=/mnt\nfilename=sub/f:/abs", plain).expect("allowed");
    assert_eq!(jobs[0].files.directory(0), Some("/mnt"));
    assert_eq!(jobs[0].files.of(0, 0)[1].name, "/abs");
    let jobs = read("[a]\nsize=1m\nnumjobs=3\ndirectory=/a:/b", plain).expect("allowed");
    let directories: Vec<_> = (0..3).map(|clone| jobs[0].files.directory(clone)).collect();
    assert_eq!(directories, [Some("/a"), Some("/b"), Some("/a")]);
    assert!(read("[a]\nsize=1m\ndirectory=/a:/b", native).is_err());
}

/// Values that fio 3.33 takes and that are refused here, each because of what
/// its error says: fio would do something else than what stands there.
const STRICTER: &[(&str, &str)] = &[
    ("bs", "4x"),
    ("bs", "4KiB"),
    ("bssplit", "4k/60:8k/60"),
    ("bssplit", "4k/10"),
    ("filesize", "64k-4k"),
    ("runtime", "1.5"),
    ("runtime", "3sec"),
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
    let unlisted =
        ["blockalign", "softrandommap", "bs_is_seq_rand", "verify_state_load", "threads"];
    for spec in native_options() {
        let named = std::iter::once(spec.name).chain(spec.aliases.iter().copied());
        assert!(
            named.into_iter().any(|n| fios.contains(n) || unlisted.contains(&n)),
            "{}",
            spec.name
        );
    }
    // And none of fio's is forgotten.
    let known: BTreeSet<&str> = option_names().collect();
    let forgotten: Vec<_> = fios.iter().filter(|n| !n.is_empty() && !known.contains(*n)).collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
}

/// What an option is at fio's default is what it is without it, whether or not disklab has it.
#[test]
fn each_option_is_accepted_at_its_default() {
    // The rest of the job is such that the default can be right.
    let job = |setting: &str| format!("[a]\nsize=1m\nrw=randrw\nverify=crc32c\n{setting}\n");
    for setting in DEFAULTS.split_whitespace() {
        for (policy, kind) in [(Policy::default(), "study"), (PLAIN, "alone")] {
            let found = read(&job(setting), policy);
            assert!(found.is_ok(), "{kind}: {setting}: {}", found.expect_err("error"));
        }
    }
    if fio(&["--version"]).is_none() {
        return lacks_fio();
    }
    let all: String = DEFAULTS.split_whitespace().map(job).collect();
    let (fine, said) = parse_only(&all);
    assert!(fine, "{said}");
}

/// Each option of `fio --cmdhelp=all` (3.33) that has a default, with it.
const DEFAULTS: &str = "
    lockfile=none filename_format=$jobname.$jobnum.$filenum unique_filename=1 rw=read bs=4096
    randrepeat=1 randseed=0x89 rw_sequencer=sequential ioengine=psync iodepth=1 iodepth_batch=1
    iodepth_batch_complete_min=1 serialize_overlap=0 io_submit_mode=inline fill_device=0
    file_append=0 offset=0 offset_increment=0 offset_align=0 number_ios=0
    random_generator=tausworthe random_distribution=random percentage_random=100,100,100
    allrandrepeat=0 nrfiles=1 file_service_type=roundrobin fallocate=native fadvise_hint=1
    fsync=0 fdatasync=0 write_barrier=0 direct=0 atomic=0 buffered=1 overwrite=0 loops=1
    numjobs=1 startdelay=0 runtime=0 mem=malloc verify=0 do_verify=1 verify_fatal=0
    verify_dump=0 verify_async=0 verify_state_save=1 trim_percentage=0 trim_verify_zero=1
    read_iolog_chunked=0 replay_no_stall=0 replay_scale=1 replay_time_scale=100 zonemode=none
    zonesize=0 zonecapacity=0 zonerange=0 zoneskip=0 read_beyond_wp=0 max_open_zones=0
    job_max_open_zones=0 ignore_zone_limits=0 lockmem=0 rwmixread=50 rwmixwrite=50 nice=0
    thinktime=0 thinktime_spin=0 thinktime_blocks=1 thinktime_blocks_type=complete
    thinktime_iotime=0 rate_process=linear rate_cycle=1000 latency_percentile=100 latency_run=0
    invalidate=1 sync=none create_serialize=1 create_fsync=1 create_on_open=0 create_only=0
    allow_file_create=1 allow_mounted_write=0 pre_read=0 end_fsync=0 fsync_on_close=0 unlink=0
    unlink_each_loop=0 exit_what=group per_job_logs=1 bwavgtime=500 iopsavgtime=500
    log_entries=1024 log_avg_msec=0 log_hist_msec=0 log_hist_coarseness=0 log_max_value=0
    log_offset=0 log_prio=0 block_error_percentiles=0 stats=1 scramble_buffers=1
    buffer_compress_chunk=512 dedupe_mode=repeat dedupe_working_set_percentage=5 dedupe_global=0
    clat_percentiles=1 lat_percentiles=0 slat_percentiles=0
    percentile_list=1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99
    significant_figures=4 disk_util=1 gtod_reduce=0 disable_lat=0 disable_clat=0 disable_slat=0
    disable_bw_measurement=0 unified_rw_reporting=none continue_on_error=none error_dump=0
    cgroup_nodelete=0 kb_base=1024 hugepage-size=2097152 flow_id=0 flow=0 flow_sleep=0
    steadystate=iops_slope:0.01% steadystate_duration=0 steadystate_ramp_time=0
";

/// The same of options that fio 3.33 does not have, or has no default for: off is off.
#[test]
fn options_that_are_off_ask_for_nothing() {
    for option in UNSUPPORTED.iter().chain(REFUSED).chain(IDLE) {
        let (Idle::At(values) | Idle::Always(values)) = option.idle;
        for value in values {
            for name in std::iter::once(&option.name).chain(option.aliases) {
                let found = read(&format!("[a]\nsize=1m\n{name}={value}\n"), Policy::default());
                let jobs = found.unwrap_or_else(|error| panic!("{name}={value}: {error}"));
                assert!(jobs[0].warnings.is_empty(), "{name}={value}: {:?}", jobs[0].warnings);
            }
        }
        let found = read(&format!("[a]\nsize=1m\n{}=17\n", option.name), Policy::default());
        match option.idle {
            Idle::At(_) => assert!(found.is_err(), "{}=17", option.name),
            Idle::Always(_) => {
                assert_eq!(found.map(|jobs| jobs[0].warnings.len()), Ok(1), "{}=17", option.name);
            }
        }
    }
    for line in ["max_latency=0us", "trim_percentage=0x0", "zonesize=0k", "hipri=0", "zoneskip=0%"]
    {
        assert!(job(line).is_ok(), "{line}");
    }
    // What cannot have an effect is said once.
    let jobs = read("[a]\nsize=1m\nlog_unix_epoch=1\nunified_rw_reporting=1", Policy::default());
    let warnings: Vec<String> =
        jobs.expect("valid")[0].warnings.iter().map(|w| w.message.clone()).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[1].contains("disklab keeps reads and writes apart"), "{warnings:?}");
}

/// fio's options that `--cmdhelp` does not list: those of its engines, of newer versions, and
/// retired ones.
#[test]
fn unlisted_options_are_not_said_to_be_unknown() {
    for name in [
        "verify_async_cpus",
        "trim_percentage",
        "hipri",
        "cmdprio_hint",
        "uncached",
        "readfua",
        "initiator",
        "nfs_url",
        "touch_objects",
        "xnvme_dev_subnqn",
        "fdp",
        "dataplacement",
        "plid_select",
        "dp_scheme",
        "num_range",
        "thinkcycles",
        "log_issue_time",
        "priohint",
        "random_sequence_stride",
        "end_syncfs",
        "ramp_size",
        "verify_policy",
        "comm",
        "sprandom",
        "log_window_value",
        "write_zone_remainder",
        "rwmixcycle",
        "verifysort",
        "libaio_vectored",
        "http_object_mode",
        "rbd_encryption_format",
        "cdb_len",
        "job_start_clock_id",
    ] {
        for policy in [Policy::default(), PLAIN] {
            if let Err(error) = look_up(name, "7", policy) {
                assert!(!matches!(error, OptionError::Unknown { .. }), "{error}");
            }
        }
    }
}

const PLAIN: Policy = Policy { runner: Runner::Native, directory: true };
