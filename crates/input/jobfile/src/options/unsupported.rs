//! Options that the native engine has not: fio runs them, or nobody does. And those that ask
//! for nothing: at their default, or because they say only how fio itself works or reports.

use crate::value::{KbBase, real, size};

/// An option that the native engine has not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsupported {
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is, or why it is refused; of one that is idle, why it has no effect.
    pub what: &'static str,
    /// The values with which it asks for nothing.
    pub idle: Idle,
}

/// With which values an option asks for nothing, so that it is accepted and passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Those with which it is off, and fio's default.
    At(&'static [&'static str]),
    /// All: it changes nothing that a job does here. With these, its writer expects nothing.
    Always(&'static [&'static str]),
}

const fn unsupported(name: &'static str, what: &'static str) -> Unsupported {
    Unsupported { name, aliases: &[], what, idle: Idle::At(&[]) }
}

/// An option that asks for something with any value but these.
const fn off(name: &'static str, what: &'static str, at: &'static [&'static str]) -> Unsupported {
    Unsupported { name, aliases: &[], what, idle: Idle::At(at) }
}

/// An option that changes nothing that a job does here; with these values nobody expects it.
const fn idle(name: &'static str, what: &'static str, at: &'static [&'static str]) -> Unsupported {
    Unsupported { name, aliases: &[], what, idle: Idle::Always(at) }
}

const ZERO: &[&str] = &["0"];
const NONE: &[&str] = &["none"];
const ONE: &[&str] = &["1"];
const EITHER: &[&str] = &["0", "1"];

impl Unsupported {
    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Whether the option is called so.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Whether it asks for nothing with this value; `1` where it stands alone.
    pub(crate) fn asks_nothing(&self, value: &str) -> bool {
        match self.idle {
            Idle::Always(_) => true,
            Idle::At(values) => values.iter().any(|idle| same(idle, value)),
        }
    }

    /// Why it has no effect, where its writer expects one with this value.
    pub(crate) fn note(&self, value: &str) -> Option<&'static str> {
        match self.idle {
            Idle::Always(values) if !values.iter().any(|idle| same(idle, value)) => Some(self.what),
            _ => None,
        }
    }
}

/// Whether two values are the same word or number; 0 has many forms, such as `0us` and `0.0`.
fn same(idle: &str, value: &str) -> bool {
    let value = value.trim();
    let number = |text: &str| size(text, KbBase::Compatible).ok();
    let bare = value.trim_end_matches(['u', 'm', 's', 'h', 'd', '%']);
    idle == value
        || number(idle).is_some_and(|n| number(value) == Some(n))
        || (idle == "0" && real(bare).is_ok_and(|n| n == 0.0))
}

const ONE_ENGINE: &str = "an option of one of fio's I/O engines";
const TRIM: &str = "discarding, which needs a block device";
const PLACEMENT: &str = "data placement of NVMe drives";

/// What fio has, and the native engine has not.
pub(crate) const UNSUPPORTED: &[Unsupported] = &[
    off("allow_file_create", "whether missing files are made", ONE),
    off("atomic", "writes that happen wholly or not at all", ZERO),
    off("end_syncfs", "a sync of the whole file system at the end", ZERO),
    off("filetype", "files of another kind", NONE),
    off("lockfile", "files that only one clone uses at a time", NONE),
    off("max_latency", "it ends when one I/O takes longer", ZERO),
    off("num_range", "several ranges in one discard", ONE),
    off("priohint", "a hint of the I/O priority", ZERO),
    off("ramp_size", "so much is read and written before anything is counted", ZERO),
    off("random_sequence_stride", "random offsets by a stride", ZERO),
    off("serialize_overlap", "I/Os on the same place wait for each other", ZERO),
    off("sprandom", "random writes that precondition an SSD", ZERO),
    off("stats", "whether anything is measured", ONE),
    unsupported("sync_file_range", "the system call of that name"),
    off("thinkcycles", "a pause counted in the processor's cycles", ZERO),
    off("trim_backlog", TRIM, ZERO),
    off("trim_backlog_batch", TRIM, ZERO),
    off("trim_percentage", TRIM, ZERO),
    off("trim_verify_zero", TRIM, EITHER),
    off("verify_pattern_interval", "a pattern that begins anew after so many bytes", ZERO),
    off("verify_policy", "which of the writes are checked", &["completed"]),
    off("write_hint", "how long the kernel is told that data will live", NONE),
    // What changes nothing that a job does here.
    idle("comm", "clones are threads of one process", &[]),
    idle("flow_watermark", RETIRED, ZERO),
    idle("gtod_cpu", "each clone reads the clock itself", ZERO),
    idle("libaio_vectored", ONE_BUFFER, ZERO),
    idle("nonvectored", ONE_BUFFER, &["-1", "0", "1"]),
    idle("hugepage-size", "buffers lie in pages of the usual size", &["2097152", "4194304"]),
    idle("iomem_align", "buffers begin at a page", ZERO).alias(&["mem_align"]),
    idle("percentage_sequential", RETIRED, ZERO),
    idle("rwmixcycle", RETIRED, ZERO),
    idle("verify_async_cpus", OWN_CHECKS, &[]),
    idle("verify_header_seed", "a block's header is checked by its offset and checksum", EITHER),
    idle("verify_state_save", "no file for a later check is written", EITHER),
    idle("verify_write_sequence", "a block's header is checked by its offset and checksum", EITHER),
    idle("verifysort", RETIRED, ZERO),
    idle("verifysort_nr", RETIRED, ZERO),
    // Options that only some I/O engines have. fio finds them on its command
    // line only behind `--ioengine`.
    off("cmdprio", ONE_ENGINE, ZERO),
    unsupported("cmdprio_bssplit", ONE_ENGINE),
    off("cmdprio_class", ONE_ENGINE, ZERO),
    off("cmdprio_hint", ONE_ENGINE, ZERO),
    off("cmdprio_percentage", ONE_ENGINE, ZERO),
    off("fixedbufs", ONE_ENGINE, ZERO),
    off("force_async", ONE_ENGINE, ZERO),
    off("hipri", ONE_ENGINE, ZERO),
    off("hipri_percentage", ONE_ENGINE, &["100"]),
    off("nowait", ONE_ENGINE, ZERO),
    off("registerfiles", ONE_ENGINE, ZERO),
    off("sqthread_poll", ONE_ENGINE, ZERO),
    unsupported("sqthread_poll_cpu", ONE_ENGINE),
    off("stat_type", ONE_ENGINE, &["stat"]),
    off("thp", ONE_ENGINE, ZERO),
    off("uncached", ONE_ENGINE, ZERO),
    off("userspace_reap", ONE_ENGINE, ZERO),
];

const OUTSIDE: &str = "it reaches outside of the directory that is measured";
const LOGS: &str = "disklab's logs are its own: a study keeps latencies and the drives' counters over time, and \
                    `disklab fio` writes means over time in fio's format (`write_bw_log` and its like, `--logs`)";
const REPLAY: &str = "replaying a trace is not supported";
const ZONES: &str = "it is for zoned block devices, and disklab's jobs work on files";
const STRIDED: &str = "zonemode=strided is not supported, and zonemode=zbd is for zoned block devices; for \
                       some parts of a file, use offset and size, or random_distribution=zoned";
const MACHINE: &str = "it changes the machine, not the job";
const PROGRAM: &str = "it runs a program of its own";
const FILLS: &str = "it fills the file system to the last byte; give a size instead";
const USER: &str = "it changes the user, who may not be allowed to use the files";
const HUGE: &str = "huge pages, memory of a GPU or a file for buffers are not supported; how they lie in \
                    memory changes no I/O otherwise";
const RETIRED: &str = "fio itself passes it over";
const ONE_BUFFER: &str = "each I/O has one buffer, whichever system call names it";
const OWN_CHECKS: &str = "each clone checks its own blocks";

/// What nobody runs, and why.
pub(crate) const REFUSED: &[Unsupported] = &[
    unsupported("aux-path", OUTSIDE),
    off("block_error_percentiles", TRIM, ZERO),
    unsupported("cgroup", MACHINE),
    off("cgroup_nodelete", MACHINE, EITHER),
    off("cgroup_weight", MACHINE, ZERO),
    off(
        "create_only",
        "with it nothing is measured; disklab writes the files beforehand itself",
        ZERO,
    ),
    off("dataplacement", PLACEMENT, NONE).alias(&["data_placement"]),
    unsupported("dp_scheme", PLACEMENT),
    unsupported("exec_postrun", PROGRAM),
    unsupported("exec_prerun", PROGRAM),
    off("experimental_verify", REPLAY, ZERO),
    off("fdp", PLACEMENT, ZERO),
    off("fill_device", FILLS, ZERO).alias(&["fill_fs"]),
    unsupported("gid", USER),
    off("gpu_dev_id", HUGE, ZERO),
    off("ignore_zone_limits", ZONES, ZERO),
    unsupported("ioscheduler", "it changes the drives' scheduler for everything that follows"),
    off("job_max_open_zones", ZONES, ZERO),
    off("lockmem", MACHINE, ZERO),
    off("max_open_zones", ZONES, ZERO),
    off("mem", HUGE, &["malloc", "shm", "mmap", "mmapshared"]).alias(&["iomem"]),
    unsupported("merge_blktrace_file", REPLAY),
    unsupported("merge_blktrace_iters", REPLAY),
    unsupported("merge_blktrace_scalars", REPLAY),
    unsupported("opendir", OUTSIDE),
    unsupported("plids", PLACEMENT).alias(&["fdp_pli"]),
    off("plid_select", PLACEMENT, &["roundrobin"]).alias(&["fdp_pli_select"]),
    unsupported("profile", "it brings options of its own; write them out instead"),
    off("read_beyond_wp", ZONES, ZERO),
    unsupported("read_iolog", REPLAY),
    off("read_iolog_chunked", REPLAY, ZERO),
    off("recover_zbd_write_error", ZONES, ZERO),
    off("replay_align", REPLAY, ZERO),
    off("replay_no_stall", REPLAY, ZERO),
    unsupported("replay_redirect", REPLAY),
    off("replay_scale", REPLAY, EITHER),
    unsupported("replay_skip", REPLAY),
    off("replay_time_scale", REPLAY, &["100"]),
    off("spr_cs", "an option of `sprandom`", ZERO),
    unsupported("spr_num_regions", "an option of `sprandom`"),
    unsupported("spr_op", "an option of `sprandom`"),
    unsupported("uid", USER),
    off("verify_only", "with it nothing is measured", ZERO),
    off("verify_state_load", OUTSIDE, ZERO),
    off("write_zone_remainder", ZONES, ZERO),
    off("zone_reset_frequency", ZONES, ZERO),
    off("zone_reset_threshold", ZONES, ZERO),
    off("zonecapacity", ZONES, ZERO),
    off("zonemode", STRIDED, NONE),
    off("zonerange", STRIDED, ZERO),
    off("zonesize", STRIDED, ZERO),
    off("zoneskip", STRIDED, ZERO),
];

/// What would only have fio write more files, or where disklab does not. It is accepted with any value, a note says so, and
/// real fio is not told.
pub(crate) const IDLE: &[Unsupported] = &[
    idle("allow_mounted_write", "nothing is written below a mounted file system", ZERO),
    idle("job_start_clock_id", LOGS, ZERO),
    idle("log_alternate_epoch", LOGS, ZERO),
    idle("log_alternate_epoch_clock_id", LOGS, ZERO),
    idle("log_compression", LOGS, ZERO),
    idle("log_compression_cpus", LOGS, &[]),
    idle("log_entries", LOGS, &["1024"]),
    idle("log_hist_coarseness", LOGS, ZERO),
    idle("log_hist_msec", LOGS, ZERO),
    idle("log_issue_time", LOGS, ZERO),
    idle("log_max_value", LOGS, &["0", "avg"]).alias(&["log_window_value"]),
    idle("log_offset", LOGS, ZERO),
    idle("log_prio", LOGS, ZERO),
    idle("log_store_compressed", LOGS, ZERO),
    idle("log_unix_epoch", LOGS, ZERO),
    idle("unified_rw_reporting", "disklab keeps reads and writes apart", &["0", "none"]),
    idle("write_hist_log", LOGS, &[]),
    idle("write_iolog", "no trace of the I/Os is written", &[]),
];

/// The same in a study; `disklab fio` writes these.
pub(crate) const STUDY_LOGS: &[Unsupported] = &[
    idle("per_job_logs", LOGS, ONE),
    idle("write_bw_log", LOGS, &[]),
    idle("write_iops_log", LOGS, &[]),
    idle("write_lat_log", LOGS, &[]),
];

/// Those of all that may stand without a value (of fio's kind STR_SET in options.c).
pub(super) const ALONE: &[&str] = &[
    "fixedbufs",
    "force_async",
    "hipri",
    "nonvectored",
    "registerfiles",
    "sqthread_poll",
    "thp",
    "userspace_reap",
    "verify_only",
];

/// Options of fio's I/O engines that work on something else than files (fio 3.33's
/// `--enghelp=ENGINE`, and those of newer ones in its examples), by engine.
const OF_ENGINES: &[(&str, &[&str])] = &[
    ("cpuio", &["cpuload", "cpuchunks", "cpumode", "exit_on_io_done"]),
    ("e4defrag", &["donorname", "inplace"]),
    ("exec", &["program", "arguments", "std_redirect", "grace_time"]),
    ("net", &["hostname", "port", "protocol", "proto", "listen", "nodelay", "pingpong"]),
    ("net", &["interface", "ttl", "window_size", "mss", "netsplice"]),
    ("rdma", &["verb", "bindname", "hostname", "port"]),
    ("gfapi", &["volume", "brick", "single-instance"]),
    ("libhdfs", &["namenode", "hostname", "port", "hdfsdirectory", "chunk_size", "chunck_size"]),
    ("libhdfs", &["single_instance", "hdfs_use_direct"]),
    ("rados", &["clustername", "pool", "clientname", "busy_poll", "conf", "touch_objects"]),
    ("rbd", &["clustername", "rbdname", "pool", "clientname", "busy_poll"]),
    ("rbd", &["rbd_encryption_format", "rbd_encryption_passphrase"]),
    ("dfs", &["pool", "cont", "svcl", "object_class", "chunk_size"]),
    ("libiscsi", &["initiator"]),
    ("nbd", &["uri"]),
    ("nfs", &["nfs_url"]),
    ("http", &["https", "http_verbose", "http_host", "http_mode", "http_user", "http_pass"]),
    ("http", &["http_s3_key", "http_s3_keyid", "http_s3_region", "http_swift_auth_token"]),
    ("http", &["http_s3_security_token", "http_s3_sse_customer_key", "http_s3_storage_class"]),
    ("http", &["http_s3_sse_customer_algorithm", "http_object_mode"]),
    ("libblkio", &["libblkio_force_enable_completion_eventfd"]),
    ("libblkio", &["libblkio_driver", "libblkio_path", "libblkio_pre_connect_props"]),
    ("libblkio", &["libblkio_num_entries", "libblkio_queue_size", "libblkio_pre_start_props"]),
    ("libblkio", &["libblkio_vectored", "libblkio_write_zeroes_on_trim", "libblkio_wait_mode"]),
    ("libcufile", &["gpu_dev_ids", "cuda_io"]),
    ("libhipfile", &["gpu_dev_ids", "rocm_io"]),
    ("mtd", &["skip_bad"]),
    ("sg", &["readfua", "writefua", "sg_write_mode", "stream_id"]),
    ("io_uring_cmd", &["cmd_type", "md_per_io_size", "pi_act", "pi_chk", "apptag", "write_mode"]),
    ("io_uring_cmd", &["apptag_mask", "cdb_len", "deac", "read_mode", "readfua", "verify_bytchk"]),
    ("io_uring_cmd", &["verify_mode", "writefua"]),
    (
        "xnvme",
        &[
            "md_per_io_size",
            "pi_act",
            "xnvme_async",
            "xnvme_sync",
            "xnvme_admin",
            "xnvme_be",
            "xnvme_dev_nsid",
            "xnvme_dev_subnqn",
            "xnvme_iovec",
            "xnvme_mem",
        ],
    ),
];

/// The engines that have this option, where they are not supported.
pub(super) fn engines_of(name: &str) -> Vec<&'static str> {
    let found = OF_ENGINES.iter().filter(|(_, options)| options.contains(&name));
    found.map(|(engine, _)| *engine).collect()
}

/// The names of all of them.
pub(super) fn names_of_engines() -> impl Iterator<Item = &'static str> {
    OF_ENGINES.iter().flat_map(|(_, options)| options.iter().copied())
}
