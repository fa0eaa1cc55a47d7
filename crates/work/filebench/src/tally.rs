//! What a thread counts: without locks, and merged when it ends.

use disklab_sample::{BINS, LatencyHistogram, bin, middle};

/// Latencies of one row and thread: 18 KiB once something is recorded.
#[derive(Debug, Clone, Default)]
struct Bins(Vec<u32>);

impl Bins {
    fn record(&mut self, ns: u64) {
        if self.0.is_empty() {
            self.0 = vec![0; BINS];
        }
        // `bin` is never above that of the highest latency.
        let entries = &mut self.0[bin(ns)];
        *entries = entries.saturating_add(1);
    }

    fn add_to(&self, histogram: &mut LatencyHistogram) {
        for (bin, count) in self.0.iter().enumerate() {
            histogram.record(middle(bin), u64::from(*count));
        }
    }
}

/// Counts and latencies of the flowops of one row in one thread.
#[derive(Debug, Clone)]
pub(crate) struct FlowopTally {
    /// Operations since the thread began: what limits and `finishon…` look at.
    pub all_operations: u64,
    /// Bytes since the thread began.
    pub all_bytes: u64,
    pub operations: u64,
    pub bytes: u64,
    pub total_ns: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    bins: Bins,
}

impl FlowopTally {
    pub fn new() -> Self {
        Self {
            all_operations: 0,
            all_bytes: 0,
            operations: 0,
            bytes: 0,
            total_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            bins: Bins::default(),
        }
    }

    /// Counts an operation that belongs to the measurement.
    pub fn measure(&mut self, bytes: u64, ns: u64) {
        self.operations += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.total_ns = self.total_ns.saturating_add(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.bins.record(ns);
    }

    /// What was measured, as a row without its name; nothing is left behind.
    pub fn take(&mut self) -> Counted {
        let mut histogram = LatencyHistogram::new();
        self.bins.add_to(&mut histogram);
        let counted = Counted {
            operations: self.operations,
            bytes: self.bytes,
            total_ns: self.total_ns,
            min_ns: if self.operations == 0 { 0 } else { self.min_ns },
            max_ns: self.max_ns,
            histogram,
        };
        let (all_operations, all_bytes) = (self.all_operations, self.all_bytes);
        *self = Self { all_operations, all_bytes, ..Self::new() };
        counted
    }
}

/// Operations that were counted, and how long they took.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counted {
    /// Number of operations.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies, in nanoseconds.
    pub total_ns: u64,
    /// The smallest latency, in nanoseconds; 0 where nothing was counted.
    pub min_ns: u64,
    /// The largest latency, in nanoseconds.
    pub max_ns: u64,
    /// Their latencies, within 0.4 %.
    pub histogram: LatencyHistogram,
}

impl Counted {
    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        if other.operations == 0 {
            return;
        }
        self.min_ns =
            if self.operations == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.operations = self.operations.saturating_add(other.operations);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.histogram.merge(&other.histogram);
    }

    /// Mean latency in nanoseconds; 0 where nothing was counted.
    pub fn mean_ns(&self) -> f64 {
        if self.operations == 0 { 0.0 } else { self.total_ns as f64 / self.operations as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_merged() {
        let (mut one, mut other) = (FlowopTally::new(), FlowopTally::new());
        one.measure(10, 1000);
        other.measure(5, 200);
        other.measure(5, 4000);
        let mut sum = one.take();
        sum.merge(&other.take());
        sum.merge(&FlowopTally::new().take());
        assert_eq!((sum.operations, sum.bytes, sum.total_ns), (3, 20, 5200));
        assert_eq!((sum.min_ns, sum.max_ns), (200, 4000));
        assert_eq!(sum.histogram.count(), 3);
        assert_eq!(one.take().operations, 0);
    }
}
