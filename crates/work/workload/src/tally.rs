//! Operations that disklab does and clocks itself, one after the other.

use std::time::Instant;

use disklab_sample::{Direction, Figure, Latency, LatencyHistogram, OperationKind};

use crate::StepOutcome;
use crate::duration::nanoseconds;
use crate::reader::thread_time;

/// Counts and clocks the operations of one thread.
#[derive(Debug)]
pub(crate) struct Tally {
    began: Instant,
    last: Instant,
    used: (u64, u64),
    histogram: LatencyHistogram,
    bytes: u64,
    operations: u64,
}

impl Tally {
    /// One that begins now.
    pub fn begin() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            last: now,
            used: thread_time(),
            histogram: LatencyHistogram::new(),
            bytes: 0,
            operations: 0,
        }
    }

    /// Does an operation of so many bytes; it counts where it succeeds.
    ///
    /// # Errors
    /// That of `work`; its time is then not counted.
    pub fn time<T, E>(&mut self, bytes: u64, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let began = Instant::now();
        let done = work()?;
        self.record(nanoseconds(began.elapsed()), bytes);
        Ok(done)
    }

    /// Adds an operation that has just ended, and that began where the last one
    /// ended: half as many looks at the clock. For loops that do nothing else.
    pub fn lap(&mut self, bytes: u64) {
        let now = Instant::now();
        self.record(nanoseconds(now - self.last), bytes);
        self.last = now;
    }

    /// Adds an operation that was clocked elsewhere.
    pub fn record(&mut self, ns: u64, bytes: u64) {
        self.histogram.record(ns, 1);
        self.add(1, bytes);
    }

    /// Adds operations without latencies of their own.
    pub fn add(&mut self, operations: u64, bytes: u64) {
        self.operations += operations;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Ends now, with one figure, whose operations are of this kind.
    pub fn end(self, direction: Direction, operation: OperationKind) -> StepOutcome {
        let elapsed = self.began.elapsed();
        let used = thread_time();
        let figure =
            figure(direction, self.bytes, self.operations, nanoseconds(elapsed), self.histogram);
        StepOutcome {
            figures: vec![Figure { operation, ..figure }],
            user_ns: used.0.saturating_sub(self.used.0),
            system_ns: used.1.saturating_sub(self.used.1),
            ..StepOutcome::default()
        }
    }
}

/// A figure from what was counted; rates are absent where there is nothing to count.
pub(crate) fn figure(
    direction: Direction,
    bytes: u64,
    operations: u64,
    elapsed_ns: u64,
    histogram: LatencyHistogram,
) -> Figure {
    let per_second =
        |n: u64| (elapsed_ns > 0 && n > 0).then(|| n as f64 / (elapsed_ns as f64 / 1e9));
    Figure {
        direction,
        bytes,
        operations: Some(operations),
        elapsed_ns,
        bytes_per_second: per_second(bytes),
        operations_per_second: per_second(operations),
        latency: (histogram.count() > 0).then(|| Latency::from_histogram(histogram)),
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successful_operations_are_counted() {
        let mut tally = Tally::begin();
        for size in [10, 20] {
            tally.time(size, || Ok::<_, ()>(())).expect("works");
        }
        assert!(tally.time(30, || Err::<(), _>("no")).is_err());
        tally.lap(0);
        tally.add(5, 0);
        let outcome = tally.end(Direction::Write, OperationKind::Commit);
        let figure = &outcome.figures[0];
        assert_eq!((figure.bytes, figure.operations), (30, Some(8)));
        assert_eq!(figure.operation.rate_unit(), "commits/s");
        assert_eq!(figure.latency.as_ref().map(|l| l.histogram.count()), Some(3));
        assert!(figure.bytes_per_second.is_some_and(|r| r > 0.0));
    }

    #[test]
    fn nothing_has_no_rate() {
        let figure = &Tally::begin().end(Direction::Read, OperationKind::Io).figures[0];
        assert_eq!((figure.bytes_per_second, figure.operations_per_second), (None, None));
        assert!(figure.latency.is_none());
    }
}
