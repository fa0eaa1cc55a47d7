//! What a personality's runs gave.

use disklab_sample::Windows;
use disklab_wml::Dialect;

use crate::tally::Counted;

/// What a personality's runs gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilebenchReport {
    /// One per `run` of the script, in order; one per period of a `psrun`.
    pub runs: Vec<FilebenchFigures>,
    /// What a reader should know: what was left out, what was not as in Filebench.
    pub notes: Vec<String>,
}

/// What one run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct FilebenchFigures {
    /// The language of the script, which decides how rows are shown.
    pub dialect: Dialect,
    /// Rows in the order of definition.
    pub rows: Vec<ReportRow>,
    /// All operations on files and directories together.
    pub summary: Counted,
    /// Of them, reads.
    pub reads: Counted,
    /// Of them, writes.
    pub writes: Counted,
    /// How long the measurement lasted, in nanoseconds.
    pub elapsed_ns: u64,
    /// What came before it and is not counted, in nanoseconds.
    pub warm_up_ns: u64,
    /// The summary's operations and bytes, interval by interval.
    pub series: OperationSeries,
    /// The summary's operations, window by window: for figures of a part.
    pub windows: Windows,
    /// Number of threads.
    pub threads: usize,
    /// Why it ended before its time, where it did: its figures are not those of the work
    /// that was asked for.
    pub stopped_early: Option<String>,
    /// CPU time of the threads in user space, warm-up included, in nanoseconds.
    pub user_ns: u64,
    /// Their CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
}

/// What the flowops of one name did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportRow {
    /// The flowop's name.
    pub name: String,
    /// Whether the summary counts it.
    pub io: bool,
    /// What was counted.
    pub counted: Counted,
}

/// Operations and bytes, interval by interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationSeries {
    /// Length of an interval, in nanoseconds.
    pub interval_ns: u64,
    /// Operations in each interval.
    pub operations: Vec<u64>,
    /// Bytes in each interval.
    pub bytes: Vec<u64>,
}

impl FilebenchReport {
    /// How long all measurements lasted, in seconds.
    pub fn seconds(&self) -> f64 {
        self.runs.iter().map(FilebenchFigures::seconds).sum()
    }
}

impl FilebenchFigures {
    /// How long it lasted, in seconds.
    pub fn seconds(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    /// Operations per second of the summary; 0 where no time went by.
    pub fn operations_per_second(&self) -> f64 {
        per_second(self.summary.operations, self.elapsed_ns)
    }

    /// Bytes per second of the summary; 0 where no time went by.
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.summary.bytes, self.elapsed_ns)
    }
}

/// A count per second; 0 where no time went by.
pub(crate) fn per_second(count: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count as f64 * 1e9 / elapsed_ns as f64 }
}
