//! Options that the native engine has not: fio runs them, or nobody does.

/// An option that only fio has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is, or why it is refused.
    pub what: &'static str,
}

const fn foreign(name: &'static str, what: &'static str) -> Foreign {
    Foreign { name, aliases: &[], what }
}

impl Foreign {
    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
}

const ONE_ENGINE: &str = "an option of one of fio's I/O engines";
const MEMORY: &str = "how buffers lie in memory";
const TRIM: &str = "discarding, which needs a block device";

/// What fio has, and the native engine has not.
pub(crate) const UNSUPPORTED: &[Foreign] = &[
    foreign("allow_file_create", "whether missing files are made"),
    foreign("atomic", "writes that happen wholly or not at all"),
    foreign("gtod_cpu", "a thread that does nothing but read the clock"),
    foreign("iomem_align", MEMORY).alias(&["mem_align"]),
    foreign("lockfile", "files that only one clone uses at a time"),
    foreign("max_latency", "it ends when one I/O takes longer"),
    foreign("serialize_overlap", "I/Os on the same place wait for each other"),
    foreign("stats", "whether anything is measured"),
    foreign("sync_file_range", "the system call of that name"),
    foreign("trim_backlog", TRIM),
    foreign("trim_backlog_batch", TRIM),
    foreign("trim_percentage", TRIM),
    foreign("trim_verify_zero", TRIM),
    foreign("write_hint", "how long the kernel is told that data will live"),
    // Options that only some I/O engines have. fio finds them on its command
    // line only behind `--ioengine`.
    foreign("cmdprio", ONE_ENGINE),
    foreign("cmdprio_bssplit", ONE_ENGINE),
    foreign("cmdprio_class", ONE_ENGINE),
    foreign("cmdprio_percentage", ONE_ENGINE),
    foreign("fixedbufs", ONE_ENGINE),
    foreign("force_async", ONE_ENGINE),
    foreign("hipri", ONE_ENGINE),
    foreign("hipri_percentage", ONE_ENGINE),
    foreign("nonvectored", ONE_ENGINE),
    foreign("nowait", ONE_ENGINE),
    foreign("registerfiles", ONE_ENGINE),
    foreign("sqthread_poll", ONE_ENGINE),
    foreign("sqthread_poll_cpu", ONE_ENGINE),
    foreign("stat_type", ONE_ENGINE),
    foreign("thp", ONE_ENGINE),
    foreign("uncached", ONE_ENGINE),
    foreign("userspace_reap", ONE_ENGINE),
];

const OUTSIDE: &str = "it reaches outside of the directory that is measured";
pub(super) const LOGS: &str = "it writes log files into the file system that is measured; disklab keeps the \
                    latencies and the drives' counters over time itself, and `disklab fio \
                    --logs=FOLDER` writes throughput, I/Os and latency over time in fio's format, \
                    when all is done";
const REPLAY: &str = "replaying a trace is not supported";
const ZONES: &str = "it is for zoned block devices, and disklab's jobs work on files";
const MACHINE: &str = "it changes the machine, not the job";
const PROGRAM: &str = "it runs a program of its own";
const FILLS: &str = "it fills the file system to the last byte; give a size instead";
const USER: &str = "it changes the user, who may not be allowed to use the files";

/// What nobody runs, and why.
pub(crate) const REFUSED: &[Foreign] = &[
    foreign("allow_mounted_write", "it lets fio write to the device below a mounted file system"),
    foreign("aux-path", OUTSIDE),
    foreign("block_error_percentiles", TRIM),
    foreign("cgroup", MACHINE),
    foreign("cgroup_nodelete", MACHINE),
    foreign("cgroup_weight", MACHINE),
    foreign(
        "create_only",
        "with it nothing is measured; disklab writes the files beforehand itself",
    ),
    foreign("exec_postrun", PROGRAM),
    foreign("exec_prerun", PROGRAM),
    foreign("experimental_verify", REPLAY),
    foreign("fill_device", FILLS).alias(&["fill_fs"]),
    foreign("gid", USER),
    foreign("hugepage-size", MACHINE),
    foreign("ignore_zone_limits", ZONES),
    foreign("include", "give the whole job in one text, so that the study says what was run"),
    foreign("ioscheduler", "it changes the drives' scheduler for everything that follows"),
    foreign("job_max_open_zones", ZONES),
    foreign("lockmem", MACHINE),
    foreign("log_alternate_epoch", LOGS),
    foreign("log_alternate_epoch_clock_id", LOGS),
    foreign("log_compression", LOGS),
    foreign("log_compression_cpus", LOGS),
    foreign("log_entries", LOGS),
    foreign("log_hist_coarseness", LOGS),
    foreign("log_hist_msec", LOGS),
    foreign("log_max_value", LOGS),
    foreign("log_offset", LOGS),
    foreign("log_prio", LOGS),
    foreign("log_store_compressed", LOGS),
    foreign("log_unix_epoch", LOGS),
    foreign("max_open_zones", ZONES),
    foreign("mem", "it can name a file outside of the directory").alias(&["iomem"]),
    foreign("merge_blktrace_file", REPLAY),
    foreign("merge_blktrace_iters", REPLAY),
    foreign("merge_blktrace_scalars", REPLAY),
    foreign("opendir", OUTSIDE),
    foreign("profile", "it brings options of its own; write them out instead"),
    foreign("read_beyond_wp", ZONES),
    foreign("read_iolog", REPLAY),
    foreign("read_iolog_chunked", REPLAY),
    foreign("replay_align", REPLAY),
    foreign("replay_no_stall", REPLAY),
    foreign("replay_redirect", REPLAY),
    foreign("replay_scale", REPLAY),
    foreign("replay_skip", REPLAY),
    foreign("replay_time_scale", REPLAY),
    foreign("uid", USER),
    foreign("unified_rw_reporting", "disklab keeps reads and writes apart"),
    foreign("verify_only", "with it nothing is measured"),
    foreign("verify_state_load", OUTSIDE),
    foreign("verify_state_save", "it writes files of its own into the directory"),
    foreign("write_hist_log", LOGS),
    foreign("write_iolog", LOGS),
    foreign("zone_reset_frequency", ZONES),
    foreign("zone_reset_threshold", ZONES),
    foreign("zonecapacity", ZONES),
    foreign("zonemode", ZONES),
    foreign("zonerange", ZONES),
    foreign("zonesize", ZONES),
    foreign("zoneskip", ZONES),
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
