//! How many I/Os were in flight, on average, while more were begun.

/// I/Os in flight over time. What is drained after the last one was begun does not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DepthMeter {
    began_ns: u64,
    since_ns: u64,
    /// I/Os times nanoseconds.
    product: f64,
    /// What submitting took.
    submitting_ns: u64,
    /// When the last I/O was begun: the time, and both sums until then.
    last: (u64, f64, u64),
}

impl DepthMeter {
    pub(crate) fn new(now_ns: u64) -> Self {
        Self {
            began_ns: now_ns,
            since_ns: now_ns,
            product: 0.0,
            submitting_ns: 0,
            last: (now_ns, 0.0, 0),
        }
    }

    /// So many were in flight until now.
    #[inline]
    pub(crate) fn held(&mut self, count: usize, now_ns: u64) {
        self.product += count as f64 * now_ns.saturating_sub(self.since_ns) as f64;
        self.since_ns = self.since_ns.max(now_ns);
    }

    /// One is begun; so many were in flight until now.
    #[inline]
    pub(crate) fn begun(&mut self, count: usize, now_ns: u64) {
        self.held(count, now_ns);
        self.last = (self.since_ns, self.product, self.submitting_ns);
    }

    /// A call that submits took so long.
    #[inline]
    pub(crate) fn submitted(&mut self, ns: u64) {
        self.submitting_ns += ns;
    }

    /// The mean. While the call that submits waits, one I/O is carried out: those before it have
    /// ended and were not fetched yet. `cpu_ns` is CPU time of the thread, which is no wait.
    pub(crate) fn mean(&self, cpu_ns: u64) -> Option<f64> {
        let (until_ns, product, submitting_ns) = self.last;
        let span = until_ns.saturating_sub(self.began_ns) as f64;
        if span == 0.0 {
            return None;
        }
        let mean = product / span;
        let waited = submitting_ns.saturating_sub(cpu_ns) as f64 / span;
        Some(mean - waited.min(1.0) * (mean - 1.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Eight at a time, each done 7 ms after it was begun; then the queue is drained.
    fn full(drained_ms: u64) -> DepthMeter {
        let mut meter = DepthMeter::new(0);
        (0..8).for_each(|count| meter.begun(count, 0));
        for round in 1..=100 {
            meter.held(8, round * 7 * MS);
            meter.begun(7, round * 7 * MS);
        }
        meter.held(8, (700 + drained_ms) * MS);
        meter
    }

    #[test]
    fn a_drained_queue_does_not_count() {
        for drained in [0, 7, 10_000] {
            assert_eq!(full(drained).mean(0), Some(8.0), "{drained} ms");
        }
        assert_eq!(DepthMeter::new(5).mean(0), None);
    }

    #[test]
    fn a_call_that_waits_carries_out_one() {
        let mut meter = DepthMeter::new(0);
        let mut now = 0;
        for _ in 0..100 {
            for count in 0..8 {
                meter.begun(count, now);
                now += 7 * MS;
                meter.submitted(7 * MS);
            }
            (1..=8).rev().for_each(|count| meter.held(count, now));
        }
        let mean = meter.mean(0).expect("it ran");
        assert!((0.9..1.2).contains(&mean), "{mean}");
        // The same time, spent computing, is no wait.
        assert!(meter.mean(now).expect("it ran") > 3.0);
    }
}
