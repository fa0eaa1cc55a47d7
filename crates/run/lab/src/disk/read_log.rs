//! When a drive answered reads from its own memory.
//!
//! The lab's process keeps it, so that the guest does nothing for it and its clock does not
//! move. Which step a read belongs to is known when the guest has said when its steps began.

use disklab_drive::{Nanos, Statistics};

/// More entries are kept in longer intervals.
const MOST: usize = 1 << 16;
/// The first intervals.
const FINEST_NS: u64 = 1 << 10;

/// Reads that a drive answered from its own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadsFromMemory {
    /// How many.
    pub reads: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Reads from memory over virtual time: sums at the ends of the intervals in which they grew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadLog {
    interval_ns: u64,
    sums: Vec<(u64, ReadsFromMemory)>,
    last: ReadsFromMemory,
}

impl Default for ReadLog {
    fn default() -> Self {
        Self { interval_ns: FINEST_NS, sums: Vec::new(), last: ReadsFromMemory::default() }
    }
}

impl ReadLog {
    /// Takes in what a drive has done by `now`, which is not before any earlier time.
    pub fn note(&mut self, now: Nanos, done: &Statistics) {
        let sum = ReadsFromMemory { reads: done.read_hits, bytes: done.read_hit_bytes };
        if sum == self.last {
            return;
        }
        self.last = sum;
        keep(&mut self.sums, now.0 / self.interval_ns, sum);
        while self.sums.len() > MOST {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.interval_ns = self.interval_ns.saturating_mul(2);
        let mut sums = Vec::with_capacity(self.sums.len());
        for (interval, sum) in self.sums.drain(..) {
            keep(&mut sums, interval / 2, sum);
        }
        self.sums = sums;
    }

    fn by(&self, time: Nanos) -> ReadsFromMemory {
        let interval = time.0 / self.interval_ns;
        let until = self.sums.partition_point(|(at, _)| *at <= interval);
        until.checked_sub(1).map_or_else(ReadsFromMemory::default, |last| self.sums[last].1)
    }

    /// Those from one time to another.
    pub fn between(&self, from: Nanos, to: Nanos) -> ReadsFromMemory {
        let (before, after) = (self.by(from), self.by(to));
        ReadsFromMemory {
            reads: after.reads.saturating_sub(before.reads),
            bytes: after.bytes.saturating_sub(before.bytes),
        }
    }
}

/// The last sum of an interval is the one that counts.
fn keep(sums: &mut Vec<(u64, ReadsFromMemory)>, interval: u64, sum: ReadsFromMemory) {
    match sums.last_mut() {
        Some((last, known)) if *last == interval => *known = sum,
        _ => sums.push((interval, sum)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn done(hits: u64) -> Statistics {
        Statistics { read_hits: hits, read_hit_bytes: hits * 4096, ..Statistics::default() }
    }

    #[test]
    fn reads_belong_to_the_time_in_which_they_were_answered() {
        let mut log = ReadLog::default();
        for (at, hits) in [(5_000_000, 2), (6_000_000, 2), (9_000_000, 7), (20_000_000, 8)] {
            log.note(Nanos(at), &done(hits));
        }
        let reads = |from, to| log.between(Nanos(from), Nanos(to)).reads;
        assert_eq!((reads(0, 4_000_000), reads(0, 5_000_000)), (0, 2));
        assert_eq!((reads(6_000_000, 10_000_000), reads(10_000_000, u64::MAX)), (5, 1));
        let all = ReadsFromMemory { reads: 8, bytes: 8 * 4096 };
        assert_eq!(log.between(Nanos(0), Nanos(u64::MAX)), all);
        assert_eq!(reads(u64::MAX, 0), 0);
    }

    proptest! {
        #[test]
        fn many_reads_take_bounded_memory(steps in prop::collection::vec(1_u64..1 << 40, 1..50)) {
            let mut log = ReadLog::default();
            let (mut now, mut hits) = (0, 0);
            for step in steps {
                for _ in 0..4000 {
                    now += step;
                    hits += 1;
                    log.note(Nanos(now), &done(hits));
                }
            }
            prop_assert!(log.sums.len() <= MOST);
            prop_assert_eq!(log.by(Nanos(now)).reads, hits);
            prop_assert!(log.sums.is_sorted_by_key(|(at, _)| *at));
        }
    }
}
