//! A histogram that takes a latency in a few nanoseconds.

use disklab_sample::{Latency, LatencyHistogram};

/// Values below 2^11 have bins of their own; above, each power of two has 1024.
/// These are the bins of [`LatencyHistogram`], so nothing is lost on the way there.
const FINE_BITS: u32 = 11;
/// Latencies over 1000 s count as 1000 s, as in [`LatencyHistogram`].
const HIGHEST_NS: u64 = 1_000_000_000_000;
const BINS: usize = index(HIGHEST_NS) + 1;

/// Latencies of one thread, in nanoseconds: no allocation, no lock, no division.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    bins: Box<[u64]>,
    count: u64,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

/// The bin of a value.
const fn index(ns: u64) -> usize {
    let shift = (64 - FINE_BITS).saturating_sub((ns | 1).leading_zeros());
    // The upper half of a run of 2^11 bins per power of two; the lower half is
    // the power below.
    ((shift as usize) << (FINE_BITS - 1)) + (ns >> shift) as usize
}

/// The smallest value of a bin.
fn value(index: usize) -> u64 {
    let half = 1_usize << (FINE_BITS - 1);
    let shift = (index / half).saturating_sub(1);
    ((index - shift * half) as u64) << shift
}

impl Histogram {
    /// One without entries.
    pub(crate) fn new() -> Self {
        Self {
            bins: vec![0; BINS].into_boxed_slice(),
            count: 0,
            sum: 0,
            squares: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Adds a latency.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.bins[index(ns.min(HIGHEST_NS))] += 1;
        self.count += 1;
        self.sum += u128::from(ns);
        self.squares = self.squares.wrapping_add(u128::from(ns) * u128::from(ns));
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds all entries of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.wrapping_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        // A new one costs only the pages that are used again.
        *self = Self::new();
    }

    /// All that is known: smallest, largest, mean and deviation (of a sample, as
    /// fio's) are those of the single latencies, not of their bins.
    pub(crate) fn latency(&self) -> Latency {
        let mut histogram = LatencyHistogram::new();
        for (index, count) in self.bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.record(value(index), *count);
        }
        let n = self.count.max(1) as f64;
        let mean_ns = self.sum as f64 / n;
        // n·Σx² − (Σx)² is exact in whole numbers wherever it does not overflow.
        let spread = u128::from(self.count)
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum))
            .map_or(0.0, |(a, b)| a.saturating_sub(b) as f64);
        let deviation_ns = if self.count < 2 { 0.0 } else { (spread / n / (n - 1.0)).sqrt() };
        Latency {
            min_ns: if self.count == 0 { 0 } else { self.min },
            max_ns: self.max,
            mean_ns,
            deviation_ns,
            histogram,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_one_is_zero() {
        let latency = Histogram::new().latency();
        assert_eq!((latency.min_ns, latency.max_ns, latency.mean_ns), (0, 0, 0.0));
        assert_eq!((latency.deviation_ns, latency.histogram.count()), (0.0, 0));
    }

    #[test]
    fn figures_are_those_of_the_single_latencies() {
        let mut a = Histogram::new();
        let mut b = Histogram::new();
        a.record(1_000_001);
        b.record(3_000_005);
        a.merge(&b);
        let latency = a.latency();
        assert_eq!((latency.min_ns, latency.max_ns), (1_000_001, 3_000_005));
        assert_eq!((a.count(), latency.mean_ns), (2, 2_000_003.0));
        assert!((latency.deviation_ns - 2_000_004.0 / 2_f64.sqrt()).abs() < 1e-3);
        a.clear();
        assert_eq!(a.latency(), Histogram::new().latency());
    }

    proptest! {
        #[test]
        fn bins_are_those_of_the_stored_histogram(values in prop::collection::vec(
            prop_oneof![0_u64..5000, 0_u64..1 << 42, any::<u64>()], 1..50)
        ) {
            let mut native = Histogram::new();
            let mut stored = LatencyHistogram::new();
            for ns in values {
                native.record(ns);
                stored.record(ns, 1);
                prop_assert!(value(index(ns.min(HIGHEST_NS))) <= ns);
            }
            prop_assert_eq!(native.latency().histogram, stored);
        }
    }
}
