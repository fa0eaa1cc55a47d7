//! What outlasts a loss of power, and what is still to be lost.

use std::collections::BTreeMap;

/// Sectors that are watched together: 4 KiB.
const GROUP: u64 = 8;

/// Sectors whose content outlasts a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durable {
    /// First sector, in units of 512 B.
    pub sector: u64,
    /// Number of sectors of 512 B.
    pub sectors: u64,
    /// Of the requests, counted from 0 in the order in which they were submitted, the last one
    /// that this is about: what it and those before it wrote there is on the medium, or was
    /// overwritten by one of them that is.
    pub through: u64,
}

/// What a drive reports about durability, if it is asked to.
#[derive(Debug, Clone, Default)]
pub struct DurabilityLog {
    watches: bool,
    submitted: u64,
    durable: Vec<Durable>,
}

impl DurabilityLog {
    /// Tells from now on.
    pub fn watch(&mut self) {
        self.watches = true;
    }

    /// Whether anybody wants to know.
    pub fn watches(&self) -> bool {
        self.watches
    }

    /// The number of a request that is submitted now.
    pub fn number(&mut self) -> u64 {
        let number = self.submitted;
        self.submitted += 1;
        number
    }

    /// Notes that `start..end` is on the medium as request `through` and those before left it.
    pub fn note(&mut self, start: u64, end: u64, through: u64) {
        if self.watches && start < end {
            self.durable.push(Durable { sector: start, sectors: end - start, through });
        }
    }

    /// Appends what was noted since the last time.
    pub fn take(&mut self, durable: &mut Vec<Durable>) {
        durable.append(&mut self.durable);
    }
}

/// A write of which a part could still be lost.
#[derive(Debug, Clone)]
struct UnsettledWrite<T> {
    number: u64,
    /// A bit for each sector of the group.
    sectors: u8,
    note: T,
}

/// Writes that a loss of power could still undo, in whole or in part, each with a note for each
/// 4 KiB of it.
#[derive(Debug, Clone)]
pub struct UnsettledWrites<T> {
    groups: BTreeMap<u64, Vec<UnsettledWrite<T>>>,
}

impl<T> Default for UnsettledWrites<T> {
    fn default() -> Self {
        Self { groups: BTreeMap::new() }
    }
}

impl<T> UnsettledWrites<T> {
    /// Enters a write of `start..end`, which comes after all that were entered before. `note` is
    /// asked for each 4 KiB, by its number on the drive.
    pub fn enter<E>(
        &mut self,
        number: u64,
        (start, end): (u64, u64),
        mut note: impl FnMut(u64) -> Result<T, E>,
    ) -> Result<(), E> {
        for group in start / GROUP..end.div_ceil(GROUP) {
            let sectors = mask(group, start, end);
            let write = UnsettledWrite { number, sectors, note: note(group)? };
            self.groups.entry(group).or_default().push(write);
        }
        Ok(())
    }

    /// Takes out what is durable. `each` gets the sectors of each part of a write, `start..end`,
    /// and what was noted of it; `last` of each note that no part needs any more.
    pub fn settle(
        &mut self,
        durable: Durable,
        mut each: impl FnMut((u64, u64), &T),
        mut last: impl FnMut(T),
    ) {
        let Durable { sector: start, sectors, through } = durable;
        let end = start.saturating_add(sectors);
        let touched: Vec<u64> = self
            .groups
            .range(start / GROUP..end.div_ceil(GROUP))
            .map(|(group, _)| *group)
            .collect();
        for group in touched {
            let Some(writes) = self.groups.get_mut(&group) else { continue };
            let settled = mask(group, start, end);
            let mut left = Vec::new();
            for mut write in std::mem::take(writes) {
                if write.number <= through {
                    let first = group * GROUP;
                    runs(write.sectors & settled)
                        .for_each(|(from, to)| each((first + from, first + to), &write.note));
                    write.sectors &= !settled;
                }
                if write.sectors == 0 { last(write.note) } else { left.push(write) }
            }
            if left.is_empty() {
                self.groups.remove(&group);
            } else {
                *writes = left;
            }
        }
    }

    /// What a loss of power undoes, newest first within each 4 KiB: the parts of a write,
    /// `start..end`, and its note. Nothing is unsettled then.
    pub fn undo(&mut self) -> impl Iterator<Item = (Vec<(u64, u64)>, T)> {
        std::mem::take(&mut self.groups).into_iter().flat_map(|(group, writes)| {
            let first = group * GROUP;
            let parts = move |sectors| -> Vec<(u64, u64)> {
                runs(sectors).map(|(from, to)| (first + from, first + to)).collect()
            };
            writes.into_iter().rev().map(move |write| (parts(write.sectors), write.note))
        })
    }
}

/// The bits of the sectors of a group that lie in `start..end`.
fn mask(group: u64, start: u64, end: u64) -> u8 {
    let first = group * GROUP;
    let bit = |sector: u64| start <= first + sector && first + sector < end;
    (0..GROUP).filter(|sector| bit(*sector)).map(|sector| 1 << sector).sum()
}

/// The bits that are set, as ranges.
fn runs(mask: u8) -> impl Iterator<Item = (u64, u64)> {
    let is_set = move |bit: u64| bit < GROUP && mask >> bit & 1 == 1;
    let begins = move |bit: &u64| is_set(*bit) && (*bit == 0 || !is_set(bit - 1));
    (0..GROUP).filter(begins).map(move |from| {
        let to = (from..=GROUP).find(|bit| !is_set(*bit)).unwrap_or(GROUP);
        (from, to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same as remembering, sector by sector, every write that could be lost.
        #[test]
        fn what_is_undone_is_what_was_not_durable(
            steps in prop::collection::vec(
                (any::<bool>(), 0_u64..60, 1_u64..30, 0_u64..20), 1..40
            ),
        ) {
            const SECTORS: usize = 100;
            let mut unsettled = UnsettledWrites::default();
            // By sector: the writes, oldest first, that could be lost, and all that there were.
            let mut model = vec![Vec::new(); SECTORS];
            let mut content = [u64::MAX; SECTORS];
            for (number, (writes, start, length, back)) in (0..).zip(steps) {
                let range = start as usize..(start + length) as usize;
                if writes {
                    let before = content;
                    let note = |group: u64| {
                        Ok::<_, ()>(before[(group * GROUP) as usize..].to_vec())
                    };
                    unsettled.enter(number, (start, start + length), note).expect("noted");
                    for sector in range {
                        model[sector].push((number, content[sector]));
                        content[sector] = number;
                    }
                } else {
                    let through = number.saturating_sub(back);
                    let durable = Durable { sector: start, sectors: length, through };
                    let mut counted = 0;
                    unsettled.settle(durable, |(from, to), _| counted += to - from, drop);
                    let mut expected = 0;
                    for sector in range {
                        let before = model[sector].len();
                        model[sector].retain(|(number, _)| *number > through);
                        expected += before - model[sector].len();
                    }
                    prop_assert_eq!(counted, expected as u64);
                }
            }
            let mut undone = content;
            for (parts, note) in unsettled.undo() {
                for sector in parts.into_iter().flat_map(|(from, to)| from..to) {
                    undone[sector as usize] = note[(sector % GROUP) as usize];
                }
            }
            for sector in 0..SECTORS {
                let oldest = model[sector].first();
                prop_assert_eq!(undone[sector], oldest.map_or(content[sector], |(_, was)| *was));
            }
        }
    }
}
