//! Where jobs run, and with what around them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use disklab_exec::Interrupt;

use crate::files::DeviceAccess;
use crate::pattern::IoRequest;

/// How far the jobs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobProgress {
    /// Bytes read so far, by all clones.
    pub read_bytes: u64,
    /// Bytes written so far.
    pub write_bytes: u64,
    /// Clones that run now.
    pub running: usize,
    /// Clones that have ended.
    pub ended: usize,
    /// All clones.
    pub clones: usize,
}

/// Told about ten times a second, from a thread of its own.
pub type ProgressHook = Arc<dyn Fn(JobProgress) + Send + Sync>;

/// One I/O as it was begun: for tests, and for who wants to see the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issued {
    /// Index of the job.
    pub job: usize,
    /// Which of its clones, from 0.
    pub clone: u32,
    /// The I/O.
    pub request: IoRequest,
}

/// Where jobs run.
#[derive(Clone, Default)]
pub struct JobContext {
    /// The directory in which their files lie. A job's own `directory` is taken
    /// from here, unless it is absolute.
    pub directory: PathBuf,
    /// Decides everything random, unless a job has `randseed`.
    pub seed: u64,
    /// The wish to stop: jobs end at once, with what they measured.
    pub interrupt: Interrupt,
    /// Is told how far the jobs are.
    pub progress: Option<ProgressHook>,
    /// Every I/O is noted here. It costs time.
    pub trace: Option<Arc<Mutex<Vec<Issued>>>>,
    /// Which block devices jobs may write to.
    pub devices: DeviceAccess,
    /// Jobs change nothing, not even to make a file that they read: those that would are refused.
    pub read_only: bool,
    /// Saves system calls, for the lab, where each costs far more than on a real
    /// machine: an asynchronous job hands over two at a time, the last ones with the call
    /// that waits, and takes all back that has ended (unless `iodepth_batch*` say
    /// otherwise). Submission latencies are not known then.
    pub lean: bool,
}

impl std::fmt::Debug for JobContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobContext")
            .field("directory", &self.directory)
            .field("seed", &self.seed)
            .field("lean", &self.lean)
            .finish_non_exhaustive()
    }
}

impl JobContext {
    /// A directory, with a seed and nothing else.
    pub fn new(directory: impl Into<PathBuf>, seed: u64) -> Self {
        Self { directory: directory.into(), seed, ..Self::default() }
    }
}
