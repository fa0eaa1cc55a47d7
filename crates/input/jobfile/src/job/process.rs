//! As what a job runs, and with whom.

use std::time::Duration;

/// `ioengine`: the system interface. The native engine falls back where the
/// kernel has none, and tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Nothing said: the engine chooses. fio takes `psync` on Linux.
    Any,
    /// `sync`: `lseek` and `read` or `write`.
    Sync,
    /// `psync`: `pread` or `pwrite`.
    Psync,
    /// `vsync`: neighbouring I/Os together by `readv` or `writev`.
    Vsync,
    /// `pvsync`: `preadv` or `pwritev`.
    Pvsync,
    /// `pvsync2`: `preadv2` or `pwritev2`.
    Pvsync2,
    /// `libaio`: Linux AIO.
    Libaio,
    /// `io_uring`.
    IoUring,
    /// `posixaio`: the C library's threads in fio.
    Posixaio,
    /// `null`: every I/O ends at once, and no file is opened.
    Null,
}

impl Engine {
    /// Whether an I/O has ended when the call returns, so that never more than
    /// one is in flight.
    pub const fn is_synchronous(self) -> bool {
        matches!(
            self,
            Self::Any | Self::Sync | Self::Psync | Self::Vsync | Self::Pvsync | Self::Pvsync2
        )
    }

    /// The name in a job file; `psync` for [`Engine::Any`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any | Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Vsync => "vsync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
            Self::Posixaio => "posixaio",
            Self::Null => "null",
        }
    }
}

/// How many I/Os are in flight at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth {
    /// `iodepth`: as asked, from 1. A synchronous engine never reaches more
    /// than 1.
    pub depth: u32,
    /// `iodepth_batch`: so many are given to the kernel together, 1 to `depth`.
    pub batch: u32,
    /// `iodepth_batch_complete_min`: so many are waited for, 0 to `depth`; 0
    /// polls.
    pub complete_min: u32,
    /// `iodepth_batch_complete_max`: so many are fetched at most, at least
    /// `complete_min` and 1.
    pub complete_max: u32,
    /// `iodepth_low`: once full, it is filled again when no more than so many
    /// are left, 0 to `depth`; `depth` where nothing is said.
    pub low: u32,
    /// `io_submit_mode=offload`: threads of their own, as many as `depth`, carry out the
    /// I/Os.
    pub offload: bool,
    /// `latency_target`: the depth is sought that keeps to it, up to `depth`.
    pub target: Option<LatencyTarget>,
}

/// `latency_target`: the largest depth is sought at which enough I/Os take no longer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTarget {
    /// No I/O is to take longer, over 0.
    pub latency: Duration,
    /// `latency_window`: each depth is tried so long.
    pub window: Duration,
    /// `latency_percentile`: percent of the I/Os that keep to it, 0 to 100.
    pub percentile: f64,
    /// `latency_run`: the search never ends; else the job ends when the depth is found.
    pub keeps_seeking: bool,
}

/// How many clones, and as what they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProcess {
    /// `numjobs`: clones, from 1.
    pub clones: u32,
    /// `thread`: threads instead of processes; the native engine always takes
    /// threads.
    pub threads: bool,
    /// `nice`, -20 to 19.
    pub nice: i8,
    /// `prio` and `prioclass`.
    pub io_priority: Option<IoPriority>,
    /// `cpus_allowed` or `cpumask`: the processors, sorted, none twice.
    pub cpus: Option<Vec<u32>>,
    /// `cpus_allowed_policy`.
    pub cpu_policy: CpuPolicy,
    /// `numa_cpu_nodes`: it runs on the processors of these nodes.
    pub numa_nodes: Option<Vec<u32>>,
    /// `numa_mem_policy`: on which nodes its memory lies.
    pub memory_policy: Option<MemoryPolicy>,
}

/// `numa_mem_policy`; see `set_mempolicy(2)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// `default`.
    Default,
    /// `prefer`: this node, as long as it has memory.
    Prefer(u32),
    /// `bind`: these nodes alone.
    Bind(Vec<u32>),
    /// `interleave`: these in turn; all where the list is empty.
    Interleave(Vec<u32>),
    /// `local`: the node of the processor.
    Local,
}

/// `prio` and `prioclass`; see `ioprio_set(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoPriority {
    /// Of ioprio_set(2).
    pub class: IoClass,
    /// 0 (highest) to 7.
    pub level: u8,
}

/// `prioclass`; see `ioprio_set(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoClass {
    /// 0: what the processor's nice value gives.
    None,
    /// 1: first access to the disk; needs privileges.
    Realtime,
    /// 2: by level.
    BestEffort,
    /// 3: only when nobody else wants the disk.
    Idle,
}

/// `cpus_allowed_policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuPolicy {
    /// All clones run on all of them.
    Shared,
    /// Each clone has one of its own, in turn.
    Split,
}

/// For whom a job waits, and with whom it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Groups {
    /// `stonewall`: it starts when all jobs before it have ended. Begins a new
    /// group of reports.
    pub stonewall: bool,
    /// `wait_for`: it starts when all clones of the job with this index in the
    /// file, smaller than its own, have ended.
    pub wait_for: Option<usize>,
    /// `group_reporting`: clones and jobs of one group are reported as one.
    pub group_reporting: bool,
    /// `new_group`: it begins a new group of reports.
    pub new_group: bool,
    /// `exitall`: when a job ends, others are ended, too. As in fio one job that has it
    /// is enough for all.
    pub exit_all: bool,
    /// `exit_what`: which ones, when this job ends.
    pub exit_what: ExitWhat,
    /// `exitall_on_error`: when it ends by an error, the others are ended, too.
    pub exit_all_on_error: bool,
}

/// `exit_what`: which jobs end with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExitWhat {
    /// Those of its group, also those that wait.
    #[default]
    Group,
    /// All that run now; those behind the next `stonewall` follow.
    Stonewall,
    /// All of the file.
    All,
}

/// `continue_on_error` and `ignore_error`: which errors are counted and do not end the job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContinueOn {
    /// Failed reads.
    pub read: bool,
    /// Failed writes.
    pub write: bool,
    /// Blocks that are not as they were written.
    pub verify: bool,
    /// Which errors of reads: numbers of errno.h. Where none are given, fio's own:
    /// EIO and EILSEQ (`td_non_fatal_error` in io_u.c).
    pub read_errors: Option<Vec<i32>>,
    /// The same for writes.
    pub write_errors: Option<Vec<i32>>,
}
