//! What jobs did.

mod bandwidth;
mod json;
mod logs;

use disklab_jobfile::{LatencyTarget, Reporting};
use disklab_sample::{Direction, Figure, Latency, OperationKind, Windows};

pub use bandwidth::BandwidthSpread;
pub use logs::{LogKind, log_paths};

use crate::io_failure::IoFailure;
use crate::measure::SeriesCells;
use crate::steady::SteadyState;

/// What all jobs of a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineReport {
    /// One for each clone, or with `group_reporting` for each group, in the order
    /// of the jobs.
    pub jobs: Vec<JobReport>,
    /// Whether the run was interrupted: what was measured until then is there.
    pub interrupted: bool,
    /// Nanoseconds from the first start to the last end.
    pub elapsed_ns: u64,
}

/// What one clone did, or a group of them together.
#[derive(Debug, Clone, PartialEq)]
pub struct JobReport {
    /// The job's name; that of the first in a group.
    pub name: String,
    /// Index of the job; that of the first in a group.
    pub job: usize,
    /// Number of the clone within its job; 0 for a group.
    pub clone: u32,
    /// Clones that this stands for.
    pub clones: u32,
    /// Number of the group, from 0.
    pub group: u32,
    /// The interface that was used, by fio's name: `psync`, `libaio`, `io_uring`.
    pub engine: &'static str,
    /// I/Os in flight at once, as asked.
    pub depth: u32,
    /// How steady it was, if it has `steadystate_duration`.
    pub steadiness: Option<SteadyState>,
    /// `latency_target`: [`JobReport::depth`] is what was found then.
    pub latency_target: Option<LatencyTarget>,
    /// What ended it early.
    pub error: Option<IoFailure>,
    /// Errors that `continue_on_error` passed over.
    pub passed_over: u64,
    /// What the reading requests did.
    pub read: DirectionReport,
    /// Writes.
    pub write: DirectionReport,
    /// Latencies of `fsync` and `fdatasync`.
    pub sync: Option<Latency>,
    /// From when a write was made until the `fsync` or `fdatasync` that came next had
    /// ended: of each write, where each has one of its own.
    pub commit: Option<Latency>,
    /// Blocks that were read back and compared, and how many were wrong.
    pub verified: (u64, u64),
    /// CPU time in user space, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Voluntary and forced ones of the job's threads.
    pub context_switches: u64,
    /// Page faults with and without I/O.
    pub faults: (u64, u64),
    /// Nanoseconds that it was measured: without `ramp_time`.
    pub elapsed_ns: u64,
    /// How many I/Os were in flight when one was begun: up to 1, 2, 4, 8, 16, 32,
    /// 64 and more.
    pub depths: [u64; 7],
    /// How many a clone had in flight on average while it began more. None if it was not to fill its
    /// queue: `iodepth_low`, batches, `latency_target`, `flow`, `verify`.
    pub in_flight: Option<f64>,
    /// Calls by the I/Os that they submitted: 0, up to 4, 8, 16, 32, 64, and more.
    pub submits: [u64; 7],
    /// How many I/Os were found to have ended at once, in the same steps.
    pub completes: [u64; 7],
    /// What was done, interval by interval.
    pub series: SeriesCells,
    /// Reads and writes, window by window: for figures of a part.
    pub windows: [Windows; 2],
    /// What a reader should know: fall-backs, warnings.
    pub notes: Vec<String>,
    /// The job's options as written.
    pub options: Vec<(String, String)>,
    /// What goes into fio-compatible output.
    pub reporting: Reporting,
}

/// What was done in one direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DirectionReport {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that ended well.
    pub operations: u64,
    /// I/Os that the kernel split: the rest was asked for again.
    pub short: u64,
    /// Nanoseconds that the direction took; of a group, the longest.
    pub runtime_ns: u64,
    /// From when an I/O was made until the kernel had taken it; asynchronous
    /// engines only.
    pub submission: Option<Latency>,
    /// From then until its end; the same as the total where there is no submission.
    pub completion: Option<Latency>,
    /// From when it was made until its end: what fio calls `lat`. It has at most
    /// the engine's own work in it, some tens of nanoseconds.
    pub total: Option<Latency>,
}

impl DirectionReport {
    /// Over the time in which requests of this direction ran; 0 if there was none.
    pub fn bytes_per_second(&self) -> f64 {
        self.per_second(self.bytes)
    }

    /// I/Os per second.
    pub fn operations_per_second(&self) -> f64 {
        self.per_second(self.operations)
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.runtime_ns == 0 { 0.0 } else { count as f64 * 1e9 / self.runtime_ns as f64 }
    }
}

impl JobReport {
    /// One figure for each direction in which anything was done.
    pub fn figures(&self) -> Vec<Figure> {
        [(Direction::Read, &self.read), (Direction::Write, &self.write)]
            .into_iter()
            .filter(|(_, done)| done.operations > 0)
            .map(|(direction, done)| Figure {
                direction,
                bytes: done.bytes,
                operations: Some(done.operations),
                elapsed_ns: done.runtime_ns,
                bytes_per_second: Some(done.bytes_per_second()),
                operations_per_second: Some(done.operations_per_second()),
                latency: done.total.clone(),
                missed: None,
                operation: OperationKind::Io,
                commit: self.commit.clone().filter(|_| direction == Direction::Write),
            })
            .collect()
    }

    /// What was done in one direction from a mark between two windows on
    /// ([`Windows::mark`]), in nanoseconds from where counting began. Latencies are
    /// within 0.4 %, and total ones only.
    pub fn since(&self, mark_ns: u64, direction: Direction) -> DirectionReport {
        let windows = &self.windows[usize::from(direction != Direction::Read)];
        let since = windows.since(mark_ns);
        if since.operations == 0 {
            return DirectionReport::default();
        }
        DirectionReport {
            bytes: since.bytes,
            operations: since.operations,
            runtime_ns: self.elapsed_ns.saturating_sub(windows.mark(mark_ns)),
            total: Some(Latency::from_histogram(since.histogram)),
            ..DirectionReport::default()
        }
    }

    /// What was done in one direction.
    pub fn done(&self, direction: Direction) -> &DirectionReport {
        if direction == Direction::Read { &self.read } else { &self.write }
    }
}
