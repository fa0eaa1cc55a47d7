//! Filebench's output: rows and a summary, written and read.
//!
//! Formats: `stats_snap` of `stats.c` in 1.5, its tags alpha1 to alpha3, and 1.4.9.1.
//! MB is 2²⁰ bytes.

mod read;
mod write;

pub use read::{ParsedRow, ParsedSummary, parse_row, parse_stop, parse_summary};
pub use write::stopped_early;

/// Buckets of a latency histogram: bucket n counts latencies from 2ⁿ ns on.
pub const HISTOGRAM_BUCKETS: usize = 64;

/// Which Filebench the output looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// 1.5 as it stands: latencies with three digits.
    V15,
    /// The tags alpha1 to alpha3 of 1.5: latencies with one or two digits.
    V15Alpha,
    /// 1.4.9.1: with CPU time, ranges in whole milliseconds.
    V149,
}

/// What is counted of all flowops of one name, or of all I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowopCounts {
    /// Completed within the measured time.
    pub operations: u64,
    /// Of these reads (`read`, `readwholefile`).
    pub reads: u64,
    /// Of these writes (`write*`, `append*`, `aiowrite`).
    pub writes: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Sum of all latencies.
    pub latency_ns: u64,
    /// Smallest latency; meaningless without operations.
    pub shortest_ns: u64,
    /// Largest latency.
    pub longest_ns: u64,
    /// CPU time, for the format of 1.4.9.
    pub processor_ns: u64,
}

impl FlowopCounts {
    /// One operation.
    pub fn add(&mut self, bytes: u64, latency_ns: u64) {
        self.shortest_ns =
            if self.operations == 0 { latency_ns } else { self.shortest_ns.min(latency_ns) };
        self.longest_ns = self.longest_ns.max(latency_ns);
        self.operations += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.latency_ns = self.latency_ns.saturating_add(latency_ns);
    }

    /// All operations of another.
    pub fn merge(&mut self, other: &Self) {
        if other.operations > 0 {
            let both = self.operations > 0;
            self.shortest_ns =
                if both { self.shortest_ns.min(other.shortest_ns) } else { other.shortest_ns };
        }
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.operations += other.operations;
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.latency_ns = self.latency_ns.saturating_add(other.latency_ns);
        self.processor_ns = self.processor_ns.saturating_add(other.processor_ns);
    }
}

/// What Filebench prints of one flowop.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputRow {
    /// Name of the flowops.
    pub name: String,
    /// What they did.
    pub counts: FlowopCounts,
    /// `enable lathist`: how many operations fell into each bucket.
    pub histogram: Option<[u64; HISTOGRAM_BUCKETS]>,
}

/// The bucket of a latency, as upstream counts them (`flowop_endop`).
pub fn bucket(latency_ns: u64) -> usize {
    latency_ns.checked_ilog2().unwrap_or_default() as usize
}

/// How rows and summary are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Output {
    /// Whose format.
    pub format: OutputFormat,
    /// With upstream's flaws: counts wrap at 2³¹, and a row without operations
    /// has the largest number as its smallest latency.
    pub strict: bool,
    /// Measured seconds, above 0.
    pub seconds: f64,
}

#[cfg(test)]
mod tests;
