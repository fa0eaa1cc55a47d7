//! `latency_target`: which depth keeps to a latency. fio's search (lat_target_check and its
//! like in io_u.c): doubled until it fails, then between what failed and what did not.

use disklab_jobfile::LatencyTarget;

/// After so many trials of one depth the one that failed is taken for possible again.
const STABLE: u32 = 3;

/// What the job has to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing changes.
    Continue,
    /// Wait for what is in flight, then try another depth.
    Drain,
    /// The depth is found: wait for what is in flight, and count from there.
    Measure,
    /// It has been measured.
    Done,
    /// Not even one I/O at a time keeps to it.
    Failed,
}

/// The search of one clone.
#[derive(Debug)]
pub(super) struct DepthSearch {
    pub(super) target: LatencyTarget,
    largest: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    since_ns: u64,
    ios: u64,
    late: u64,
    is_final: bool,
}

impl DepthSearch {
    pub(super) fn new(target: LatencyTarget, largest: u32) -> Self {
        Self {
            target,
            largest: largest.max(1),
            depth: 1,
            low: 1,
            high: largest.max(1),
            stable: 0,
            since_ns: 0,
            ios: 0,
            late: 0,
            is_final: false,
        }
    }

    /// The depth that is tried.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// A trial begins.
    pub(super) fn begin(&mut self, now_ns: u64) {
        (self.since_ns, self.ios, self.late) = (now_ns, 0, 0);
    }

    /// An I/O has ended.
    pub(super) fn ended(&mut self, ns: u64) {
        self.ios += 1;
        self.late += u64::from(u128::from(ns) > self.target.latency.as_nanos());
    }

    /// What follows from the I/Os of this trial.
    pub(super) fn judge(&mut self, now_ns: u64) -> Verdict {
        // Where all have to keep to it, the first that does not decides.
        if self.target.percentile >= 100.0 && self.late > 0 {
            return self.failed(now_ns, true);
        }
        let passed = u128::from(now_ns.saturating_sub(self.since_ns));
        if self.ios == 0 || passed < self.target.window.as_nanos() {
            return Verdict::Continue;
        }
        let kept = (self.ios - self.late) as f64 * 100.0 / self.ios as f64;
        if kept >= self.target.percentile {
            self.succeeded(now_ns)
        } else {
            self.failed(now_ns, false)
        }
    }

    fn failed(&mut self, now_ns: u64, is_fatal: bool) -> Verdict {
        self.begin(now_ns);
        if self.depth == 1 {
            return if is_fatal { Verdict::Failed } else { Verdict::Continue };
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low).max(1);
        self.stable = 0;
        Verdict::Drain
    }

    fn succeeded(&mut self, now_ns: u64) -> Verdict {
        let before = self.depth;
        self.low = self.depth;
        if self.depth + 1 == self.high {
            self.stable += 1;
            if self.stable >= STABLE {
                self.high += 1;
                self.stable = 0;
            }
        }
        self.depth = if self.high == self.largest {
            self.depth.saturating_mul(2)
        } else {
            u32::midpoint(self.depth, self.high)
        }
        .min(self.largest);
        self.begin(now_ns);
        match (self.depth == before && !self.target.keeps_seeking, self.is_final) {
            (false, _) => Verdict::Continue,
            (true, true) => Verdict::Done,
            (true, false) => {
                self.is_final = true;
                Verdict::Measure
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The depth found on a drive whose latency grows by 100 µs for each I/O in flight.
    fn found(latency_us: u64, percentile: f64, largest: u32) -> (u32, Verdict, bool) {
        let target = LatencyTarget {
            latency: Duration::from_micros(latency_us),
            window: Duration::from_millis(100),
            percentile,
            keeps_seeking: false,
        };
        let mut search = DepthSearch::new(target, largest);
        let (mut now, mut measured) = (0, false);
        search.begin(now);
        for _ in 0..1_000_000 {
            let latency = u64::from(search.depth()) * 100_000;
            now += latency / u64::from(search.depth());
            search.ended(latency);
            match search.judge(now) {
                Verdict::Continue => {}
                Verdict::Drain => search.begin(now),
                Verdict::Measure => {
                    measured = true;
                    search.begin(now);
                }
                verdict => return (search.depth(), verdict, measured),
            }
        }
        panic!("it does not end: {search:?}");
    }

    #[test]
    fn largest_depth_that_keeps_to_the_latency_is_found() {
        for percentile in [50.0, 99.9, 100.0] {
            assert_eq!(found(1000, percentile, 128), (10, Verdict::Done, true), "{percentile}");
            assert_eq!(found(700, percentile, 32), (7, Verdict::Done, true), "{percentile}");
            assert_eq!(found(9999, percentile, 16), (16, Verdict::Done, true), "{percentile}");
        }
        assert_eq!(found(50, 100.0, 16), (1, Verdict::Failed, false));
    }
}
