//! Operations and bytes, second by second, and latencies, window by window.

use std::sync::{Mutex, PoisonError};

use disklab_sample::{OpenWindow, Windows};

use crate::report::OperationSeries;

/// Longest series: more than a day of seconds.
const MOST: usize = 100_000;
const SECOND_NS: u64 = 1_000_000_000;

/// What all threads add to, each once per interval.
#[derive(Debug)]
pub(crate) struct SharedSeries {
    interval_ns: u64,
    counts: Mutex<Vec<(u64, u64)>>,
    windows: Mutex<Windows>,
}

impl SharedSeries {
    /// For a run that lasts so long, as far as that is known.
    pub fn new(limit_ns: Option<u64>) -> Self {
        let seconds = limit_ns.map_or(0, |limit| limit / SECOND_NS);
        let interval_ns = seconds.div_ceil(MOST as u64).max(1) * SECOND_NS;
        let windows = Mutex::new(Windows::new(interval_ns));
        Self { interval_ns, counts: Mutex::default(), windows }
    }

    fn add(&self, interval: u64, operations: u64, bytes: u64) {
        let Ok(interval) = usize::try_from(interval) else { return };
        if operations == 0 || interval >= MOST {
            return;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() <= interval {
            counts.resize(interval + 1, (0, 0));
        }
        counts[interval].0 += operations;
        counts[interval].1 = counts[interval].1.saturating_add(bytes);
    }

    /// Operations and bytes so far.
    pub fn sum(&self) -> (u64, u64) {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().fold((0, 0), |(n, bytes), (m, more)| (n + m, bytes + more))
    }

    /// The series of a run that lasted `elapsed_ns`; intervals in which nothing was
    /// done are there too, and one that the end cut short is not. The windows hold all
    /// that was counted.
    pub fn take(self, elapsed_ns: u64) -> (OperationSeries, Windows) {
        let mut counts = self.counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let whole = usize::try_from(elapsed_ns / self.interval_ns).unwrap_or(MOST).min(MOST);
        counts.resize(whole, (0, 0));
        let (operations, bytes) = counts.into_iter().unzip();
        let windows = self.windows.into_inner().unwrap_or_else(PoisonError::into_inner);
        (OperationSeries { interval_ns: self.interval_ns, operations, bytes }, windows)
    }
}

/// What one thread did in the current interval.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// When the interval ends, in nanoseconds of the measurement.
    until: u64,
    interval: u64,
    operations: u64,
    bytes: u64,
    open: OpenWindow,
    /// When the open window ends.
    closes: u64,
}

impl Own {
    /// Counts an operation that took `ns` and ended `at` so many nanoseconds into the
    /// measurement.
    pub fn count(&mut self, at: u64, bytes: u64, ns: u64, shared: &SharedSeries) {
        if at >= self.closes {
            self.close(at, shared);
        }
        self.open.record(bytes, ns);
        if at >= self.until {
            self.flush(shared);
            self.interval = at / shared.interval_ns;
            self.until = (self.interval + 1).saturating_mul(shared.interval_ns);
        }
        self.operations += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Hands over the open window; the next one holds `at`.
    #[cold]
    fn close(&mut self, at: u64, shared: &SharedSeries) {
        let mut windows = shared.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.add(self.closes.saturating_sub(1), &mut self.open);
        self.closes = windows.end_of(at);
    }

    /// Hands over all that was counted.
    pub fn end(&mut self, shared: &SharedSeries) {
        self.flush(shared);
        self.close(self.closes.saturating_sub(1), shared);
    }

    /// Hands over what was counted.
    fn flush(&mut self, shared: &SharedSeries) {
        shared.add(self.interval, self.operations, self.bytes);
        (self.operations, self.bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_are_kept() {
        let shared = SharedSeries::new(Some(4 * SECOND_NS));
        let (mut one, mut other) = (Own::default(), Own::default());
        for at in [0, 1, SECOND_NS, 3 * SECOND_NS + 5] {
            one.count(at, 10, at + 1, &shared);
        }
        other.count(SECOND_NS + 1, 1, 7, &shared);
        one.end(&shared);
        other.end(&shared);
        let (series, windows) = shared.take(3 * SECOND_NS + 6);
        assert_eq!(series.operations, [2, 2, 0]);
        assert_eq!(series.bytes, [20, 11, 0]);
        let (whole, part) = (windows.since(0), windows.since(1));
        assert_eq!((whole.operations, whole.bytes), (5, 41));
        assert_eq!((part.operations, part.bytes, part.histogram.quantile(0.0)), (3, 21, 7));
    }

    #[test]
    fn long_runs_have_longer_intervals() {
        let shared = SharedSeries::new(Some(250_000 * SECOND_NS));
        assert_eq!(shared.interval_ns, 3 * SECOND_NS);
        assert!(SharedSeries::new(Some(u64::MAX)).take(u64::MAX).0.operations.len() <= MOST);
    }
}
