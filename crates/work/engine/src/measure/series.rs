//! What was done, interval by interval.

use disklab_sample::Direction;

/// The finest interval: 1/128 s. Twice as long again and again, it becomes
/// exactly one second.
pub(crate) const FINEST_NS: u64 = 1_000_000_000 / 128;
/// So many intervals, then each two become one: 32 s of the finest, an hour of
/// whole seconds.
const MOST: usize = 4096;

/// What one interval holds for one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeriesBin {
    /// Operations that ended in it.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies in nanoseconds.
    pub latency_ns: u64,
}

impl SeriesBin {
    fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latency_ns += other.latency_ns;
    }
}

/// Counts per interval; read and write lists are equally long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeriesCells {
    /// Length of an interval in nanoseconds; 0 where nothing was counted.
    pub interval_ns: u64,
    /// Of reading requests, oldest first.
    pub read: Vec<SeriesBin>,
    /// Writes.
    pub write: Vec<SeriesBin>,
}

impl SeriesCells {
    /// One direction's list.
    pub fn of(&self, direction: Direction) -> &[SeriesBin] {
        if direction == Direction::Read { &self.read } else { &self.write }
    }

    /// Adds another that began at the same time; both get the coarser intervals.
    pub fn merge(&mut self, mut other: Self) {
        if other.interval_ns == 0 {
            return;
        }
        if self.interval_ns == 0 {
            *self = other;
            return;
        }
        let longer = self.interval_ns.max(other.interval_ns);
        self.coarsen(longer);
        other.coarsen(longer);
        for (own, more) in [(&mut self.read, other.read), (&mut self.write, other.write)] {
            own.resize(own.len().max(more.len()), SeriesBin::default());
            for (cell, other) in own.iter_mut().zip(more) {
                cell.add(other);
            }
        }
        let all = self.read.len().max(self.write.len());
        self.read.resize(all, SeriesBin::default());
        self.write.resize(all, SeriesBin::default());
    }

    /// Joins intervals until one lasts at least `ns`: by whole multiples, so the
    /// result is exact where `ns` is a multiple of the interval.
    pub fn coarsen(&mut self, ns: u64) {
        if self.interval_ns == 0 || ns <= self.interval_ns {
            return;
        }
        // 1/128 s is 7 812 500 ns exactly, so every power of two of it is whole.
        let factor = ns.div_ceil(self.interval_ns);
        let step = usize::try_from(factor).unwrap_or(usize::MAX);
        for list in [&mut self.read, &mut self.write] {
            *list = list
                .chunks(step)
                .map(|cells| {
                    let mut sum = SeriesBin::default();
                    cells.iter().for_each(|cell| sum.add(*cell));
                    sum
                })
                .collect();
        }
        self.interval_ns = self.interval_ns.saturating_mul(factor);
    }
}

/// Fills a [`SeriesCells`] without allocating.
#[derive(Debug)]
pub(crate) struct Counter {
    series: SeriesCells,
    /// When the first interval began.
    began_ns: u64,
    /// When the current interval ends.
    ends_ns: u64,
    /// Which interval is current.
    at: usize,
}

impl Counter {
    /// A counter whose first interval begins at a time of the clock.
    pub(crate) fn new(began_ns: u64) -> Self {
        let list = || vec![SeriesBin::default(); MOST];
        Self {
            series: SeriesCells { interval_ns: FINEST_NS, read: list(), write: list() },
            began_ns,
            ends_ns: began_ns + FINEST_NS,
            at: 0,
        }
    }

    /// Counts an operation that ended at a time of the clock, not before the last.
    #[inline]
    pub(crate) fn count(&mut self, write: bool, bytes: u64, latency_ns: u64, now_ns: u64) {
        if now_ns >= self.ends_ns {
            self.advance(now_ns);
        }
        let list = if write { &mut self.series.write } else { &mut self.series.read };
        if let Some(cell) = list.get_mut(self.at) {
            cell.add(SeriesBin { operations: 1, bytes, latency_ns });
        }
    }

    #[cold]
    fn advance(&mut self, now_ns: u64) {
        loop {
            let at = (now_ns - self.began_ns) / self.series.interval_ns;
            if at < MOST as u64 {
                self.at = at as usize;
                self.ends_ns = self.began_ns + (at + 1) * self.series.interval_ns;
                return;
            }
            for list in [&mut self.series.read, &mut self.series.write] {
                for pair in 0..MOST / 2 {
                    let mut sum = list[2 * pair];
                    sum.add(list[2 * pair + 1]);
                    list[pair] = sum;
                }
                list[MOST / 2..].fill(SeriesBin::default());
            }
            self.series.interval_ns *= 2;
        }
    }

    /// Forgets what was counted; the first interval begins at a time of the clock.
    pub(crate) fn restart(&mut self, began_ns: u64) {
        *self = Self::new(began_ns);
    }

    /// What was counted until a time of the clock.
    pub(crate) fn finish(mut self, now_ns: u64) -> SeriesCells {
        if now_ns >= self.ends_ns {
            self.advance(now_ns);
        }
        self.series.read.truncate(self.at + 1);
        self.series.write.truncate(self.at + 1);
        self.series
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_are_counted_where_they_end() {
        let mut counter = Counter::new(1000);
        counter.count(false, 4096, 10, 1000);
        counter.count(true, 512, 20, 1000 + FINEST_NS);
        counter.count(true, 512, 30, 1000 + FINEST_NS * 3 / 2);
        let series = counter.finish(1000 + 2 * FINEST_NS);
        assert_eq!(series.interval_ns, 7_812_500);
        assert_eq!(series.read[0], SeriesBin { operations: 1, bytes: 4096, latency_ns: 10 });
        assert_eq!(series.write[1], SeriesBin { operations: 2, bytes: 1024, latency_ns: 50 });
        assert_eq!((series.read.len(), series.write.len()), (3, 3));
        assert_eq!(series.of(Direction::Write)[2], SeriesBin::default());
    }

    #[test]
    fn an_hour_has_intervals_of_a_second() {
        let mut counter = Counter::new(0);
        for second in 0..3600_u64 {
            counter.count(false, 1, 1, second * 1_000_000_000);
        }
        let series = counter.finish(3_600_000_000_000 - 1);
        assert_eq!((series.interval_ns, series.read.len()), (1_000_000_000, 3600));
        assert!(series.read.iter().all(|cell| cell.operations == 1));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            a in prop::collection::vec(0_u64..1 << 38, 0..50),
            b in prop::collection::vec(0_u64..1 << 33, 0..50),
        ) {
            let filled = |times: &[u64]| {
                let mut sorted = times.to_vec();
                sorted.sort_unstable();
                let mut counter = Counter::new(0);
                for time in &sorted {
                    counter.count(time % 2 == 0, *time, 3, *time);
                }
                counter.finish(sorted.last().copied().unwrap_or(0))
            };
            let mut all = filled(&a);
            all.merge(filled(&b));
            all.coarsen(500_000_000);
            let cells = || all.read.iter().chain(&all.write);
            let operations: u64 = cells().map(|c| c.operations).sum();
            prop_assert_eq!(operations, (a.len() + b.len()) as u64);
            let bytes: u64 = cells().map(|c| c.bytes).sum();
            prop_assert_eq!(bytes, a.iter().chain(&b).sum::<u64>());
            prop_assert!(all.interval_ns >= 500_000_000);
        }
    }
}
