//! Ranges of sectors, oldest forgotten first.

use std::collections::{BTreeMap, VecDeque};

/// Ranges that do not overlap, of at most so many sectors altogether: entering
/// more forgets what was entered first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    /// Start → end and the number under which it was entered.
    by_start: BTreeMap<u64, (u64, u64)>,
    entered: VecDeque<(u64, u64, u64)>,
    sectors: u64,
    number: u64,
}

impl Ranges {
    /// The end of the range that holds `sector`.
    pub(crate) fn covered_until(&self, sector: u64) -> Option<u64> {
        let (_, (end, _)) = self.by_start.range(..=sector).next_back()?;
        (*end > sector).then_some(*end)
    }

    /// Enters `start..end` as the youngest range and forgets the oldest until
    /// `most` sectors are left.
    pub(crate) fn enter(&mut self, start: u64, end: u64, most: u64) {
        if start >= end {
            return;
        }
        self.remove(start, end);
        self.number += 1;
        self.by_start.insert(start, (end, self.number));
        self.entered.push_back((start, end, self.number));
        self.sectors += end - start;
        self.shrink(most);
    }

    /// Forgets the oldest until `most` sectors are left.
    pub(crate) fn shrink(&mut self, most: u64) {
        while self.sectors > most {
            let Some((start, end, number)) = self.entered.pop_front() else { return };
            // What of it was not overwritten since.
            let left: Vec<(u64, u64)> = self
                .by_start
                .range(start..end)
                .filter(|(_, (_, n))| *n == number)
                .map(|(start, (end, _))| (*start, *end))
                .collect();
            for (start, end) in left {
                self.by_start.remove(&start);
                self.sectors -= end - start;
            }
        }
    }

    /// Takes `start..end` out.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if let Some((&first, &(last, number))) = self.by_start.range(..start).next_back()
            && last > start
        {
            self.by_start.insert(first, (start, number));
            self.sectors -= last - start;
            if last > end {
                self.by_start.insert(end, (last, number));
                self.sectors += last - end;
                return;
            }
        }
        while let Some((&first, &(last, number))) = self.by_start.range(start..end).next() {
            self.by_start.remove(&first);
            self.sectors -= last - first;
            if last > end {
                self.by_start.insert(end, (last, number));
                self.sectors += last - end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same as marking single sectors with the number of the last entry.
        #[test]
        fn holds_what_single_sectors_would(
            steps in prop::collection::vec((0_u64..60, 1_u64..20, 0_u8..4), 1..60),
            most in 10_u64..80,
        ) {
            let mut ranges = Ranges::default();
            let mut marks = [0_u64; 80];
            let mut number = 0;
            for (start, length, kind) in steps {
                let span = start as usize..(start + length) as usize;
                if kind == 0 {
                    ranges.remove(start, start + length);
                    marks[span].fill(0);
                } else {
                    number += 1;
                    ranges.enter(start, start + length, most);
                    marks[span].fill(number);
                    while marks.iter().filter(|m| **m > 0).count() as u64 > most {
                        let oldest = marks.iter().filter(|m| **m > 0).min().copied().unwrap();
                        marks.iter_mut().filter(|m| **m == oldest).for_each(|m| *m = 0);
                    }
                }
                prop_assert_eq!(ranges.sectors, marks.iter().filter(|m| **m > 0).count() as u64);
                for sector in 0..80_u64 {
                    let end = ranges.covered_until(sector);
                    prop_assert_eq!(end.is_some(), marks[sector as usize] > 0, "{}", sector);
                    let same = |s: u64| marks[s as usize] == marks[sector as usize];
                    let all_same = end.is_none_or(|end| (sector..end).all(same));
                    prop_assert!(all_same, "{}", sector);
                }
            }
        }
    }
}
