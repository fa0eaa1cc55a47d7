//! The persistent cache: a log on the medium, and the map of what lies in it.

use std::collections::BTreeMap;

/// What lies in the log instead of in its band. Sectors are counted, at home (where
/// their bands hold them) and in the log.
///
/// The log is a ring. Addresses in it count on for ever; the sector on the medium is
/// the address modulo the size. Space becomes free when everything older is: what
/// was overwritten or cleaned in the middle waits for its elders.
#[derive(Debug, Clone)]
pub(crate) struct PersistentCache {
    size: u64,
    /// Where the log continues.
    head: u64,
    /// Home → end at home, address in the log.
    by_home: BTreeMap<u64, (u64, u64)>,
    /// Address in the log → home.
    by_age: BTreeMap<u64, u64>,
    cached: u64,
}

impl PersistentCache {
    /// An empty cache of so many sectors.
    pub(crate) fn new(size: u64) -> Self {
        Self {
            size: size.max(1),
            head: 0,
            by_home: BTreeMap::new(),
            by_age: BTreeMap::new(),
            cached: 0,
        }
    }

    /// Sectors that can be appended now.
    pub(crate) fn room(&self) -> u64 {
        let tail = self.by_age.first_key_value().map_or(self.head, |(address, _)| *address);
        self.size - (self.head - tail)
    }

    /// Sectors until the log continues at its beginning.
    pub(crate) fn until_revolution(&self) -> u64 {
        self.size - self.head % self.size
    }

    /// The sector of the medium at which the log continues.
    pub(crate) fn next_sector(&self) -> u64 {
        self.head % self.size
    }

    /// Sectors that lie in the log.
    pub(crate) fn cached(&self) -> u64 {
        self.cached
    }

    /// Extents in the map.
    pub(crate) fn entries(&self) -> u64 {
        self.by_home.len() as u64
    }

    /// The home of the oldest sectors in the log.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.by_age.first_key_value().map(|(_, home)| *home)
    }

    /// Appends `start..end`, which must fit into [`PersistentCache::room`] and into
    /// [`PersistentCache::until_revolution`]. Where it `joins`, it makes one extent with
    /// what was appended just before it and ends at its beginning.
    pub(crate) fn append(&mut self, start: u64, end: u64, joins: bool) {
        if start >= end {
            return;
        }
        self.remove(start, end);
        let address = self.head;
        self.head += end - start;
        self.cached += end - start;
        if joins
            && !address.is_multiple_of(self.size)
            && let Some((&first, (last, begun))) = self.by_home.range_mut(..start).next_back()
            && *last == start
            && *begun + (start - first) == address
        {
            *last = end;
            return;
        }
        self.by_home.insert(start, (end, address));
        self.by_age.insert(address, start);
    }

    /// Leaves sectors unused, as far as there is room.
    pub(crate) fn pad(&mut self, sectors: u64) {
        self.head += sectors.min(self.room());
    }

    /// Takes `start..end` out: it lies at home now.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if let Some((&first, &(last, address))) = self.by_home.range(..start).next_back()
            && last > start
        {
            self.by_home.insert(first, (start, address));
            self.cached -= last - start;
            if last > end {
                self.enter(end, last, address + (end - first));
                return;
            }
        }
        while let Some((&first, &(last, address))) = self.by_home.range(start..end).next() {
            self.by_home.remove(&first);
            self.by_age.remove(&address);
            self.cached -= last - first;
            if last > end {
                self.enter(end, last, address + (end - first));
            }
        }
    }

    fn enter(&mut self, start: u64, end: u64, address: u64) {
        self.by_home.insert(start, (end, address));
        self.by_age.insert(address, start);
        self.cached += end - start;
    }

    /// Where `sector` lies: the sector of the log, where it is there, and the sector
    /// at home up to which that continues.
    pub(crate) fn find(&self, sector: u64) -> (Option<u64>, u64) {
        if let Some((&first, &(last, address))) = self.by_home.range(..=sector).next_back()
            && last > sector
        {
            return (Some((address + (sector - first)) % self.size), last);
        }
        let next = self.by_home.range(sector..).next();
        (None, next.map_or(u64::MAX, |(first, _)| *first))
    }

    /// The lengths of the extents that begin within `start..end`.
    pub(crate) fn lengths(&self, start: u64, end: u64) -> impl Iterator<Item = u64> + '_ {
        self.by_home.range(start..end).map(|(first, (last, _))| last - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOME: usize = 120;
    const SIZE: u64 = 100;

    proptest! {
        /// The same as a log of single sectors: each sector written lies at one
        /// place, no two at the same, and the log never holds more than it can.
        #[test]
        fn keeps_every_sector_at_one_place(
            steps in prop::collection::vec((0_u8..8, 0_usize..100, 1_usize..20, any::<bool>()), 1..200),
        ) {
            let mut cache = PersistentCache::new(SIZE);
            let mut places: Vec<Option<u64>> = vec![None; HOME];
            let mut head = 0_u64;
            for (kind, start, length, joins) in steps {
                let range = start..start + length;
                let (from, to) = (start as u64, (start + length) as u64);
                match kind {
                    0..=4 => {
                        if cache.room() < length as u64 || cache.until_revolution() < length as u64 {
                            cache.pad(cache.until_revolution());
                            head += cache.head - head;
                            continue;
                        }
                        cache.append(from, to, joins);
                        for sector in range {
                            places[sector] = Some(head);
                            head += 1;
                        }
                    }
                    5 => {
                        cache.remove(from, to);
                        places[range].fill(None);
                    }
                    6 => {
                        let before = cache.room();
                        cache.pad(length as u64);
                        prop_assert_eq!(cache.room(), before - before.min(length as u64)
                            + if cache.cached() == 0 { before.min(length as u64) } else { 0 });
                        head = cache.head;
                    }
                    _ => {
                        let oldest = places.iter().enumerate().filter_map(|(s, p)| Some((p.as_ref()?, s))).min();
                        prop_assert_eq!(cache.oldest(), oldest.map(|(_, sector)| sector as u64));
                        if let Some(home) = cache.oldest() {
                            let (_, end) = cache.find(home);
                            cache.remove(home, end);
                            places[home as usize..end as usize].fill(None);
                        }
                    }
                }
                prop_assert_eq!(cache.head, head);
                let live: Vec<u64> = places.iter().flatten().copied().collect();
                prop_assert_eq!(cache.cached(), live.len() as u64);
                let tail = live.iter().min().copied().unwrap_or(head);
                prop_assert!(head - tail <= SIZE);
                prop_assert_eq!(cache.room(), SIZE - (head - tail));
                prop_assert_eq!(cache.by_age.len(), cache.by_home.len());
                prop_assert_eq!(cache.lengths(0, HOME as u64).sum::<u64>(), cache.cached());
                for sector in 0..HOME {
                    let (place, end) = cache.find(sector as u64);
                    prop_assert_eq!(place, places[sector].map(|address| address % SIZE));
                    prop_assert!(end > sector as u64);
                    for (offset, later) in places[sector..HOME.min(end as usize)].iter().enumerate() {
                        prop_assert_eq!(*later, places[sector].map(|p| p + offset as u64));
                    }
                }
            }
        }
    }

    #[test]
    fn adjacent_extents_are_merged_if_asked() {
        let mut cache = PersistentCache::new(1000);
        cache.append(10, 20, true);
        cache.append(20, 30, true);
        assert_eq!(cache.entries(), 1);
        cache.append(30, 40, false);
        assert_eq!(cache.entries(), 2);
        cache.pad(5);
        cache.append(40, 50, true);
        assert_eq!(cache.entries(), 3, "the padding lies between");
        assert_eq!(cache.find(45), (Some(40), 50));
    }
}
