//! Options that the native engine has not: fio runs them, or nobody does.

/// An option that only fio has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsupported {
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is, or why it is refused.
    pub what: &'static str,
}

const fn unsupported(name: &'static str, what: &'static str) -> Unsupported {
    Unsupported { name, aliases: &[], what }
}

impl Unsupported {
    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
}

const ONE_ENGINE: &str = "an option of one of fio's I/O engines";
const MEMORY: &str = "how buffers lie in memory";
const TRIM: &str = "discarding, which needs a block device";

/// What fio has, and the native engine has not.
pub(crate) const UNSUPPORTED: &[Unsupported] = &[
    unsupported("allow_file_create", "whether missing files are made"),
    unsupported("atomic", "writes that happen wholly or not at all"),
    unsupported("gtod_cpu", "a thread that does nothing but read the clock"),
    unsupported("iomem_align", MEMORY).alias(&["mem_align"]),
    unsupported("lockfile", "files that only one clone uses at a time"),
    unsupported("max_latency", "it ends when one I/O takes longer"),
    unsupported("serialize_overlap", "I/Os on the same place wait for each other"),
    unsupported("stats", "whether anything is measured"),
    unsupported("sync_file_range", "the system call of that name"),
    unsupported("trim_backlog", TRIM),
    unsupported("trim_backlog_batch", TRIM),
    unsupported("trim_percentage", TRIM),
    unsupported("trim_verify_zero", TRIM),
    unsupported("write_hint", "how long the kernel is told that data will live"),
    // Options that only some I/O engines have. fio finds them on its command
    // line only behind `--ioengine`.
    unsupported("cmdprio", ONE_ENGINE),
    unsupported("cmdprio_bssplit", ONE_ENGINE),
    unsupported("cmdprio_class", ONE_ENGINE),
    unsupported("cmdprio_percentage", ONE_ENGINE),
    unsupported("fixedbufs", ONE_ENGINE),
    unsupported("force_async", ONE_ENGINE),
    unsupported("hipri", ONE_ENGINE),
    unsupported("hipri_percentage", ONE_ENGINE),
    unsupported("nonvectored", ONE_ENGINE),
    unsupported("nowait", ONE_ENGINE),
    unsupported("registerfiles", ONE_ENGINE),
    unsupported("sqthread_poll", ONE_ENGINE),
    unsupported("sqthread_poll_cpu", ONE_ENGINE),
    unsupported("stat_type", ONE_ENGINE),
    unsupported("thp", ONE_ENGINE),
    unsupported("uncached", ONE_ENGINE),
    unsupported("userspace_reap", ONE_ENGINE),
];

const OUTSIDE: &str = "it reaches outside of the directory that is measured";
pub(super) const LOGS: &str = "it writes log files into the file system that is measured; disklab keeps the \
                    latencies and the drives' counters over time itself, and `disklab fio \
                    --logs=DIR` writes throughput, I/Os and latency over time in fio's format, \
                    when all is done";
const REPLAY: &str = "replaying a trace is not supported";
const ZONES: &str = "it is for zoned block devices, and disklab's jobs work on files";
const STRIDED: &str = "zonemode=strided is not supported, and zonemode=zbd is for zoned block devices; for \
                       some parts of a file, use offset and size, or random_distribution=zoned";
const MACHINE: &str = "it changes the machine, not the job";
const PROGRAM: &str = "it runs a program of its own";
const FILLS: &str = "it fills the file system to the last byte; give a size instead";
const USER: &str = "it changes the user, who may not be allowed to use the files";

/// What nobody runs, and why.
pub(crate) const REFUSED: &[Unsupported] = &[
    unsupported(
        "allow_mounted_write",
        "it lets fio write to the device below a mounted file system",
    ),
    unsupported("aux-path", OUTSIDE),
    unsupported("block_error_percentiles", TRIM),
    unsupported("cgroup", MACHINE),
    unsupported("cgroup_nodelete", MACHINE),
    unsupported("cgroup_weight", MACHINE),
    unsupported(
        "create_only",
        "with it nothing is measured; disklab writes the files beforehand itself",
    ),
    unsupported("exec_postrun", PROGRAM),
    unsupported("exec_prerun", PROGRAM),
    unsupported("experimental_verify", REPLAY),
    unsupported("fill_device", FILLS).alias(&["fill_fs"]),
    unsupported("gid", USER),
    unsupported("hugepage-size", MACHINE),
    unsupported("ignore_zone_limits", ZONES),
    unsupported("include", "give the whole job in one text, so that the study says what was run"),
    unsupported("ioscheduler", "it changes the drives' scheduler for everything that follows"),
    unsupported("job_max_open_zones", ZONES),
    unsupported("lockmem", MACHINE),
    unsupported("log_alternate_epoch", LOGS),
    unsupported("log_alternate_epoch_clock_id", LOGS),
    unsupported("log_compression", LOGS),
    unsupported("log_compression_cpus", LOGS),
    unsupported("log_entries", LOGS),
    unsupported("log_hist_coarseness", LOGS),
    unsupported("log_hist_msec", LOGS),
    unsupported("log_max_value", LOGS),
    unsupported("log_offset", LOGS),
    unsupported("log_prio", LOGS),
    unsupported("log_store_compressed", LOGS),
    unsupported("log_unix_epoch", LOGS),
    unsupported("max_open_zones", ZONES),
    unsupported("mem", "it can name a file outside of the directory").alias(&["iomem"]),
    unsupported("merge_blktrace_file", REPLAY),
    unsupported("merge_blktrace_iters", REPLAY),
    unsupported("merge_blktrace_scalars", REPLAY),
    unsupported("opendir", OUTSIDE),
    unsupported("profile", "it brings options of its own; write them out instead"),
    unsupported("read_beyond_wp", ZONES),
    unsupported("read_iolog", REPLAY),
    unsupported("read_iolog_chunked", REPLAY),
    unsupported("replay_align", REPLAY),
    unsupported("replay_no_stall", REPLAY),
    unsupported("replay_redirect", REPLAY),
    unsupported("replay_scale", REPLAY),
    unsupported("replay_skip", REPLAY),
    unsupported("replay_time_scale", REPLAY),
    unsupported("uid", USER),
    unsupported("unified_rw_reporting", "disklab keeps reads and writes apart"),
    unsupported("verify_only", "with it nothing is measured"),
    unsupported("verify_state_load", OUTSIDE),
    unsupported("verify_state_save", "it writes files of its own into the directory"),
    unsupported("write_hist_log", LOGS),
    unsupported("write_iolog", LOGS),
    unsupported("zone_reset_frequency", ZONES),
    unsupported("zone_reset_threshold", ZONES),
    unsupported("zonecapacity", ZONES),
    unsupported("zonemode", STRIDED),
    unsupported("zonerange", STRIDED),
    unsupported("zonesize", STRIDED),
    unsupported("zoneskip", STRIDED),
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
    ("gfapi", &["volume", "brick"]),
    ("libhdfs", &["namenode", "hostname", "hdfsdirectory", "chunk_size", "single_instance"]),
    ("rados", &["clustername", "pool", "clientname", "busy_poll"]),
    ("rbd", &["clustername", "rbdname", "pool", "clientname", "busy_poll"]),
    ("dfs", &["pool", "cont", "svcl", "object_class"]),
    ("nbd", &["uri"]),
    ("nfs", &["nfs_url"]),
    ("http", &["https", "http_verbose", "http_host", "http_mode", "http_user", "http_pass"]),
    ("http", &["http_s3_key", "http_s3_keyid", "http_s3_region", "http_swift_auth_token"]),
    ("http", &["http_s3_security_token", "http_s3_sse_customer_key", "http_s3_storage_class"]),
    ("libblkio", &["libblkio_driver", "libblkio_path", "libblkio_pre_connect_props"]),
    ("libblkio", &["libblkio_num_entries", "libblkio_queue_size", "libblkio_pre_start_props"]),
    ("libblkio", &["libblkio_vectored", "libblkio_write_zeroes_on_trim", "libblkio_wait_mode"]),
    ("libcufile", &["gpu_dev_ids", "cuda_io"]),
    ("mtd", &["skip_bad"]),
    ("sg", &["readfua", "writefua", "sg_write_mode", "stream_id"]),
    ("io_uring_cmd", &["cmd_type", "md_per_io_size", "pi_act", "pi_chk", "apptag", "write_mode"]),
    ("io_uring_cmd", &["fdp", "fdp_pli", "num_range", "verify_mode"]),
    (
        "xnvme",
        &[
            "fdp",
            "md_per_io_size",
            "pi_act",
            "xnvme_async",
            "xnvme_sync",
            "xnvme_admin",
            "xnvme_be",
            "xnvme_dev_nsid",
        ],
    ),
];

/// The engines that have this option, where they are not supported.
pub(super) fn engines_of(name: &str) -> Vec<&'static str> {
    let found = OF_ENGINES.iter().filter(|(_, options)| options.contains(&name));
    found.map(|(engine, _)| *engine).collect()
}
