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

const FLOW: &str = "jobs that hold each other back";
const TARGET: &str = "the depth at which a latency is kept is sought";
const STEADY: &str = "it ends when the figures no longer change; disklab looks for the steady \
                      state afterwards, in every sample";
const ONE_ENGINE: &str = "an option of one of fio's I/O engines";
const MEMORY: &str = "how buffers lie in memory";
const TRIM: &str = "discarding, which needs a block device";
const NUMA: &str = "where memory lies on machines with several nodes";

/// What fio has, and the native engine has not.
pub(crate) const UNSUPPORTED: &[Foreign] = &[
    foreign("allow_file_create", "whether missing files are made"),
    foreign("atomic", "writes that happen wholly or not at all"),
    foreign("create_serialize", "whether clones lay out their files one after the other"),
    foreign("disk_util", "whether fio reports how busy the drive was"),
    foreign("error_dump", "whether each error is printed"),
    foreign("exit_what", "which jobs `exitall` ends"),
    foreign("flow", FLOW),
    foreign("flow_id", FLOW),
    foreign("flow_sleep", FLOW),
    foreign("gtod_cpu", "a thread that does nothing but read the clock"),
    foreign("ignore_error", "errors that are not counted"),
    foreign("io_submit_mode", "a thread of its own that begins I/Os"),
    foreign("iomem_align", MEMORY).alias(&["mem_align"]),
    foreign("latency_percentile", TARGET),
    foreign("latency_run", TARGET),
    foreign("latency_target", TARGET),
    foreign("latency_window", TARGET),
    foreign("lockfile", "files that only one clone uses at a time"),
    foreign("max_latency", "it ends when one I/O takes longer"),
    foreign("numa_cpu_nodes", NUMA),
    foreign("numa_mem_policy", NUMA),
    foreign("serialize_overlap", "I/Os on the same place wait for each other"),
    foreign("stats", "whether anything is measured"),
    foreign("steadystate", STEADY).alias(&["ss"]),
    foreign("steadystate_duration", STEADY).alias(&["ss_dur"]),
    foreign("steadystate_ramp_time", STEADY).alias(&["ss_ramp"]),
    foreign("sync_file_range", "the system call of that name"),
    foreign("trim_backlog", TRIM),
    foreign("trim_backlog_batch", TRIM),
    foreign("trim_percentage", TRIM),
    foreign("trim_verify_zero", TRIM),
    foreign("verify_async", "threads that check what is read"),
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
const LOGS: &str = "it writes log files into the file system that is measured; disklab keeps the \
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
    foreign("per_job_logs", LOGS),
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
    foreign("write_bw_log", LOGS),
    foreign("write_hist_log", LOGS),
    foreign("write_iolog", LOGS),
    foreign("write_iops_log", LOGS),
    foreign("write_lat_log", LOGS),
    foreign("zone_reset_frequency", ZONES),
    foreign("zone_reset_threshold", ZONES),
    foreign("zonecapacity", ZONES),
    foreign("zonemode", ZONES),
    foreign("zonerange", ZONES),
    foreign("zonesize", ZONES),
    foreign("zoneskip", ZONES),
];
