//! fio's options: which a study may use, and which it may not, and why.
//!
//! The names are those of fio 3.33 (HOWTO.rst, options.c). An option that is not
//! here is refused before anything is touched; without that a misspelt one would
//! be found only when a stack stands already, and one that reaches outside of
//! the directory never.

use disklab_study::{Place, StudyError};

/// What is done with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It is passed on as it is.
    Plain,
    /// It is a size, which is scaled.
    Size,
    /// It is a count of operations, which is scaled.
    Count,
}

/// Sizes that are scaled.
const SIZES: [&str; 5] = ["filesize", "io_size", "offset", "offset_increment", "size"];

const PLAIN: &[&str] = &[
    // The job, its files, its kind of I/O.
    "allow_file_create",
    "allrandrepeat",
    "atomic",
    "blockalign",
    "blocksize_unaligned",
    "bs",
    "bs_is_seq_rand",
    "bs_unaligned",
    "bsrange",
    "bssplit",
    "buffered",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "description",
    "direct",
    "end_fsync",
    "fadvise_hint",
    "fallocate",
    "fdatasync",
    "file_append",
    "file_service_type",
    "filename",
    "filename_format",
    "fsync",
    "fsync_on_close",
    "invalidate",
    "ioengine",
    "kb_base",
    "lockfile",
    "loops",
    "name",
    "norandommap",
    "nrfiles",
    "numjobs",
    "offset_align",
    "openfiles",
    "overwrite",
    "percentage_random",
    "pre_read",
    "ramp_time",
    "random_distribution",
    "random_generator",
    "randrepeat",
    "randseed",
    "runtime",
    "rw",
    "rw_sequencer",
    "rwmixread",
    "rwmixwrite",
    "softrandommap",
    "startdelay",
    "stonewall",
    "sync",
    "sync_file_range",
    "time_based",
    "unique_filename",
    "unlink",
    "unlink_each_loop",
    "wait_for",
    "write_barrier",
    "write_hint",
    // Depth, rate, latency.
    "flow",
    "flow_id",
    "flow_sleep",
    "io_submit_mode",
    "iodepth",
    "iodepth_batch",
    "iodepth_batch_complete",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_batch_submit",
    "iodepth_low",
    "latency_percentile",
    "latency_run",
    "latency_target",
    "latency_window",
    "max_latency",
    "rate",
    "rate_cycle",
    "rate_ignore_thinktime",
    "rate_iops",
    "rate_iops_min",
    "rate_min",
    "rate_process",
    "serialize_overlap",
    "steadystate",
    "steadystate_duration",
    "steadystate_ramp_time",
    "thinktime",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_iotime",
    "thinktime_spin",
    // Buffers and memory.
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffer_pattern",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_percentage",
    "dedupe_working_set_percentage",
    "iomem_align",
    "mem_align",
    "refill_buffers",
    "scramble_buffers",
    "zero_buffers",
    // Verification.
    "do_verify",
    "verify",
    "verify_async",
    "verify_backlog",
    "verify_backlog_batch",
    "verify_dump",
    "verify_fatal",
    "verify_interval",
    "verify_offset",
    "verify_pattern",
    "trim_backlog",
    "trim_backlog_batch",
    "trim_percentage",
    "trim_verify_zero",
    // Processes and processors.
    "continue_on_error",
    "cpumask",
    "cpus_allowed",
    "cpus_allowed_policy",
    "exit_what",
    "exitall",
    "exitall_on_error",
    "ignore_error",
    "new_group",
    "nice",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "prio",
    "prioclass",
    "thread",
    // What is reported.
    "bwavgtime",
    "clat_percentiles",
    "clocksource",
    "disable_bw",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "disk_util",
    "error_dump",
    "group_reporting",
    "gtod_cpu",
    "gtod_reduce",
    "iopsavgtime",
    "lat_percentiles",
    "percentile_list",
    "significant_figures",
    "slat_percentiles",
    "stats",
    "unit_base",
];

/// Options that only some I/O engines have. fio finds them on its command line
/// only behind `--ioengine`.
const OF_ENGINES: &[&str] = &[
    "cmdprio",
    "cmdprio_bssplit",
    "cmdprio_class",
    "cmdprio_percentage",
    "fixedbufs",
    "force_async",
    "hipri",
    "hipri_percentage",
    "nonvectored",
    "nowait",
    "registerfiles",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "stat_type",
    "thp",
    "uncached",
    "userspace_reap",
];

/// Other names for the same option; the second is the one looked up.
const ALIASES: &[(&str, &str)] = &[
    ("ba", "blockalign"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("fileoffset", "offset"),
    ("io_limit", "io_size"),
    ("nr_files", "nrfiles"),
    ("readwrite", "rw"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
];

const OUTSIDE: &str = "it reaches outside of the directory that the study measures";
const LOGS: &str = "it writes log files into the file system that is measured; disklab keeps the \
                    latencies and the drives' counters over time itself";
const REPLAY: &str = "replaying a trace is not supported";
const ZONES: &str = "it is for zoned block devices, and disklab runs fio on files";
const MACHINE: &str = "it changes the machine, not the job";
const PROGRAM: &str = "it runs a program of its own";

const REFUSED: &[(&str, &str)] = &[
    ("allow_mounted_write", "it lets fio write to the device below a mounted file system"),
    ("aux-path", OUTSIDE),
    ("cgroup", MACHINE),
    ("cgroup_nodelete", MACHINE),
    ("cgroup_weight", MACHINE),
    ("create_only", "with it nothing is measured; disklab writes the files beforehand itself"),
    ("directory", "disklab runs fio in the directory that the study measures"),
    ("exec_postrun", PROGRAM),
    ("exec_prerun", PROGRAM),
    ("experimental_verify", REPLAY),
    ("fill_device", "it fills the file system to the last byte; give a size instead"),
    ("fill_fs", "it fills the file system to the last byte; give a size instead"),
    ("gid", "it changes the user, who may not be allowed to use the files"),
    ("hugepage-size", MACHINE),
    ("include", "give the whole job in one text, so that the study says what was run"),
    ("iomem", "it can name a file outside of the directory"),
    ("ioscheduler", "it changes the drives' scheduler for everything that follows"),
    ("lockmem", MACHINE),
    ("mem", "it can name a file outside of the directory"),
    ("merge_blktrace_file", REPLAY),
    ("merge_blktrace_iters", REPLAY),
    ("merge_blktrace_scalars", REPLAY),
    ("opendir", OUTSIDE),
    ("per_job_logs", LOGS),
    ("profile", "it brings options of its own; write them out instead"),
    ("read_iolog", REPLAY),
    ("read_iolog_chunked", REPLAY),
    ("replay_align", REPLAY),
    ("replay_no_stall", REPLAY),
    ("replay_redirect", REPLAY),
    ("replay_scale", REPLAY),
    ("replay_skip", REPLAY),
    ("replay_time_scale", REPLAY),
    ("uid", "it changes the user, who may not be allowed to use the files"),
    ("unified_rw_reporting", "disklab keeps reads and writes apart"),
    ("verify_only", "with it nothing is measured"),
    ("verify_state_load", OUTSIDE),
    ("verify_state_save", "it writes files of its own into the directory"),
    ("write_bw_log", LOGS),
    ("write_hist_log", LOGS),
    ("write_iolog", LOGS),
    ("write_iops_log", LOGS),
    ("write_lat_log", LOGS),
    ("zonemode", ZONES),
    ("zonerange", ZONES),
    ("zonesize", ZONES),
    ("zoneskip", ZONES),
];

/// I/O engines that work on files in a directory. Others need hardware or a
/// network, run programs (`exec`), are loaded from a file (`external`), or do
/// not touch the directory (`null`, `cpuio`).
const ENGINES: [&str; 13] = [
    "filecreate",
    "filedelete",
    "filestat",
    "io_uring",
    "libaio",
    "mmap",
    "posixaio",
    "psync",
    "pvsync",
    "pvsync2",
    "splice",
    "sync",
    "vsync",
];

/// The name under which an option is looked up, and what is done with it.
///
/// # Errors
/// Where it is refused or unknown; the error says why and shows `place`.
pub(super) fn classify(name: &str, place: &Place) -> Result<(&'static str, Class), StudyError> {
    if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(place.error(format!("fio's option '{name}' is not allowed here: {why}")));
    }
    let canonical = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, c)| c);
    if let Some(size) = SIZES.iter().find(|size| **size == canonical) {
        return Ok((size, Class::Size));
    }
    if canonical == "number_ios" {
        return Ok(("number_ios", Class::Count));
    }
    if let Some(plain) = PLAIN.iter().chain(OF_ENGINES).find(|plain| **plain == canonical) {
        return Ok((plain, Class::Plain));
    }
    let shown: String = name.chars().take(60).collect();
    let near = known().filter(|k| near(k, &shown)).collect::<Vec<_>>();
    let hint = match near.as_slice() {
        [] => String::new(),
        [first, ..] => format!(" (did you mean '{first}'?)"),
    };
    Err(place.error(format!("fio has no option '{shown}', as far as disklab knows{hint}")))
}

fn known() -> impl Iterator<Item = &'static str> {
    PLAIN
        .iter()
        .chain(OF_ENGINES)
        .chain(&SIZES)
        .copied()
        .chain(ALIASES.iter().map(|(alias, _)| *alias))
}

/// Whether two words differ by one letter more, less, other, or two swapped, or
/// only in their punctuation.
fn near(a: &str, b: &str) -> bool {
    let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    if a.len() < 2 || b.len() < 2 || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    matches!((a, b), ([] | [_], [] | [_])) || matches!((a, b), ([x, y], [v, w]) if x == w && y == v)
}

/// Refuses engines that do not work on the files of a directory.
///
/// # Errors
/// Where it is one.
pub(super) fn check_engine(engine: &str, place: &Place) -> Result<(), StudyError> {
    if ENGINES.contains(&engine) {
        return Ok(());
    }
    let shown: String = engine.chars().take(60).collect();
    Err(place.error(format!(
        "fio's I/O engine '{shown}' is not allowed here: it does not work on the files of a \
         directory, or disklab does not know it; expected one of {}",
        ENGINES.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_study::Source;

    use super::*;

    fn place() -> Place {
        let source = Arc::new(Source { name: "t".to_owned(), text: "x".to_owned() });
        Place { source, span: 0..1 }
    }

    #[test]
    fn no_option_stands_twice() {
        let mut all: Vec<&str> = known().chain(REFUSED.iter().map(|(name, _)| *name)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        for (_, canonical) in ALIASES {
            assert!(classify(canonical, &place()).is_ok(), "{canonical}");
        }
    }

    #[test]
    fn aliases_are_found_under_their_option() {
        assert_eq!(classify("blocksize", &place()).expect("known"), ("bs", Class::Plain));
        assert_eq!(classify("io_limit", &place()).expect("known"), ("io_size", Class::Size));
    }

    #[test]
    fn errors_say_why() {
        for (name, part) in [
            ("exec_prerun", "runs a program"),
            ("directory", "disklab runs fio in the directory"),
            ("write_lat_log", "log files"),
            ("client", "no option 'client'"),
            ("io-depth", "did you mean 'iodepth'"),
            ("szie", "did you mean 'size'"),
            ("iodepht", "did you mean 'iodepth'"),
        ] {
            let error = classify(name, &place()).expect_err(name).to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(check_engine("external:/x.so", &place()).is_err());
        assert!(check_engine("libaio", &place()).is_ok());
    }

    #[test]
    fn the_installed_fio_knows_them() {
        if crate::testing::lacks("fio") {
            return;
        }
        let executor = disklab_exec::Executor::default();
        let fio = |option: &str| {
            let finished = executor.run(&disklab_exec::Invocation::new("fio").arg(option));
            finished.map(|f| f.text() + &f.error_text()).unwrap_or_default()
        };
        if fio("--version").trim() != "fio-3.33" {
            eprintln!("skipped: needs fio 3.33, from which the names are");
            return;
        }
        // A sample: asking for all takes ten seconds.
        for option in PLAIN.iter().chain(&SIZES).step_by(9) {
            let help = fio(&format!("--cmdhelp={option}"));
            assert!(!help.contains("No such command"), "{option}");
        }
    }
}
