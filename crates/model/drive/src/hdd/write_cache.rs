//! Data written that are not yet on the medium, and those that lately were not.

use super::arm::Arm;
use super::geometry::{MediumPosition, SECTOR};
use super::parameters::Parameters;
use super::ranges::Ranges;

/// Neighbouring sectors that wait for the medium.
#[derive(Debug, Clone, Copy)]
struct Extent {
    start: u64,
    end: u64,
    place: MediumPosition,
    /// When something was last added to it.
    touched: u64,
}

/// The write cache. Space is reserved when a write is admitted, filled when its
/// data have come over the link, and free again when they are on the medium. What
/// was written stays readable until its memory is needed.
#[derive(Debug, Clone)]
pub(crate) struct WriteCache {
    /// Sorted by sector; neighbours are joined.
    dirty: Vec<Extent>,
    dirty_sectors: u64,
    /// What was admitted and has not come over the link, with its sectors altogether.
    reserved: Vec<(u64, u64)>,
    reserved_sectors: u64,
    destaging: Option<(u64, u64)>,
    clean: Ranges,
    /// What may wait with the write cache on, and what of it outlasts a loss of power.
    volatile: u64,
    persistent: u64,
    /// What may wait.
    limit: u64,
    room: u64,
    extents: u64,
    step: u64,
    physical: u64,
    since: Option<u64>,
}

impl WriteCache {
    /// An empty cache.
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let read = parameters.segments * parameters.segment_size;
        Self {
            dirty: Vec::with_capacity(parameters.dirty_extents as usize + 1),
            dirty_sectors: 0,
            reserved: Vec::new(),
            reserved_sectors: 0,
            destaging: None,
            clean: Ranges::default(),
            volatile: parameters.dirty_limit / SECTOR,
            persistent: parameters.persistent.min(parameters.dirty_limit) / SECTOR,
            limit: parameters.dirty_limit / SECTOR,
            room: parameters.cache.saturating_sub(read) / SECTOR,
            extents: parameters.dirty_extents,
            step: parameters.destage_step / SECTOR,
            physical: parameters.sectors.physical() / SECTOR,
            since: None,
        }
    }

    /// Whether a write of so many sectors can ever be cached.
    pub(crate) fn can_hold(&self, sectors: u64) -> bool {
        sectors <= self.limit
    }

    /// Switches to what may wait with the write cache on, or off. Without memory that outlasts a
    /// loss of power, nothing is to be put here while it is off.
    pub(crate) fn set_on(&mut self, on: bool) {
        self.limit = if on || self.persistent == 0 { self.volatile } else { self.persistent };
    }

    /// Whether some of it outlasts a loss of power.
    pub(crate) fn can_persist(&self) -> bool {
        self.persistent > 0
    }

    /// Whether a loss of power would lose nothing of what is on its way to the medium.
    pub(crate) fn is_persistent(&self) -> bool {
        self.waiting_sectors() <= self.persistent
    }

    /// Whether all that was admitted is in memory, at least.
    pub(crate) fn is_received(&self) -> bool {
        self.reserved.is_empty()
    }

    /// The most sectors that may wait.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Reserves space for a write of `start..end`, if there is any.
    pub(crate) fn reserve(&mut self, start: u64, end: u64) -> bool {
        let sectors = end - start;
        let used = self.waiting_sectors() + self.reserved_sectors;
        let fits = used + sectors <= self.limit && self.has_extent_for(start, end);
        if fits {
            self.reserved.push((start, end));
            self.reserved_sectors += sectors;
        }
        fits
    }

    /// Whether the extents are enough for `start..end` too, when all that is reserved has come.
    fn has_extent_for(&self, start: u64, end: u64) -> bool {
        let dirty = self.dirty.len() as u64;
        // Nearly always, and counting costs more.
        if dirty + (self.reserved.len() as u64) < self.extents {
            return true;
        }
        let mut coming = self.reserved.clone();
        coming.push((start, end));
        coming.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(coming.len());
        for (start, end) in coming {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        let new = joined.iter().filter(|range| !self.continues(range));
        dirty + new.count() as u64 <= self.extents
    }

    /// Whether a range touches one that waits.
    fn continues(&self, (start, end): &(u64, u64)) -> bool {
        let index = self.dirty.partition_point(|extent| extent.end < *start);
        self.dirty.get(index).is_some_and(|extent| extent.start <= *end)
    }

    /// Enters data for which space was reserved.
    pub(crate) fn fill(&mut self, start: u64, end: u64, now: u64, arm: &Arm) {
        if let Some(index) = self.reserved.iter().position(|range| *range == (start, end)) {
            self.reserved.swap_remove(index);
            self.reserved_sectors -= end - start;
        }
        self.enter(start, end, now, arm);
    }

    /// Joins what was read of the physical sectors that waiting data cut, `start..end`: they can
    /// be written whole from now on. What no longer waits needs no such part.
    pub(crate) fn complete(&mut self, start: u64, end: u64, now: u64, arm: &Arm) {
        for sector in [start, end.saturating_sub(self.physical)] {
            let first = sector - sector % self.physical;
            let last = first + self.physical;
            let index = self.dirty.partition_point(|extent| extent.end <= first);
            if self.dirty.get(index).is_some_and(|extent| extent.start < last) {
                self.enter(first, last, now, arm);
            }
        }
    }

    fn enter(&mut self, start: u64, end: u64, now: u64, arm: &Arm) {
        self.since.get_or_insert(now);
        let first = self.dirty.partition_point(|extent| extent.end < start);
        let behind = first + self.dirty[first..].partition_point(|extent| extent.start <= end);
        let touched = &self.dirty[first..behind];
        let place = MediumPosition::default();
        let mut joined = Extent { start, end, place, touched: now };
        match touched.first() {
            Some(extent) if extent.start <= start => {
                joined.start = extent.start;
                joined.place = extent.place;
            }
            _ => joined.place = arm.geometry.place(start),
        }
        if let Some(extent) = touched.last() {
            joined.end = joined.end.max(extent.end);
        }
        self.dirty_sectors -= touched.iter().map(|e| e.end - e.start).sum::<u64>();
        self.dirty_sectors += joined.end - joined.start;
        match behind - first {
            1 => self.dirty[first] = joined,
            _ => drop(self.dirty.splice(first..behind, [joined])),
        }
        self.clean.shrink(self.room.saturating_sub(self.waiting_sectors()));
    }

    /// Forgets what is on the medium already.
    pub(crate) fn forget(&mut self) {
        self.clean.shrink(0);
    }

    /// Sectors that are not on the medium, those on their way to it included.
    pub(crate) fn waiting_sectors(&self) -> u64 {
        self.dirty_sectors + self.destaging.map_or(0, |(start, end)| end - start)
    }

    /// Whether something could be destaged.
    pub(crate) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Whether all that was admitted is on the medium.
    pub(crate) fn is_drained(&self) -> bool {
        self.dirty.is_empty() && self.destaging.is_none() && self.reserved.is_empty()
    }

    /// Since when it has not been empty.
    pub(crate) fn since(&self) -> Option<u64> {
        self.since
    }

    /// The end of what is held from `sector` on, if it is held.
    pub(crate) fn covered_until(&self, sector: u64) -> Option<u64> {
        let index = self.dirty.partition_point(|extent| extent.end <= sector);
        let dirty = self.dirty.get(index).filter(|e| e.start <= sector).map(|e| e.end);
        let moving = self.destaging.filter(|(start, end)| (*start..*end).contains(&sector));
        dirty.max(moving.map(|(_, end)| end)).max(self.clean.covered_until(sector))
    }

    /// When something can be destaged that is given `hold` ns to become whole: extents that
    /// begin or end within a physical sector, whose rest a neighbour may still bring. Of what can
    /// go at `now` any may be meant, so that the rest is not asked. `None` if nothing waits.
    pub(crate) fn ripe_from(&self, now: u64, hold: u64) -> Option<u64> {
        let mut first = None;
        for extent in &self.dirty {
            let ripe = self.ripe(extent, hold);
            if ripe <= now {
                return Some(ripe);
            }
            first = Some(first.map_or(ripe, |first: u64| first.min(ripe)));
        }
        first
    }

    fn ripe(&self, extent: &Extent, hold: u64) -> u64 {
        let cut = |sector: u64| !sector.is_multiple_of(self.physical);
        let Extent { start, end, touched, .. } = *extent;
        // What is whole within it can go at once. Most are, and each extent is asked each time.
        let has_whole = || start.next_multiple_of(self.physical) < end - end % self.physical;
        let waits = cut(start) || (cut(end) && !has_whole());
        if waits { touched + hold } else { 0 }
    }

    /// What to destage next: of the extents that are ripe, the one with the shortest positioning
    /// time from the arm, or its beginning. One that ends within a physical sector leaves that
    /// sector out if the rest of it may still come, for `rest` ns after the last did. Gives the
    /// sectors and the place of the first.
    pub(crate) fn choose(
        &self,
        now: u64,
        arm: &Arm,
        hold: u64,
        rest: u64,
    ) -> Option<(u64, u64, MediumPosition)> {
        let here = arm.angle(now);
        let (mut chosen, mut best) = (None, u32::MAX);
        for extent in self.dirty.iter().filter(|extent| self.ripe(extent, hold) <= now) {
            if let Some(time) = arm.positioning_within(here, &extent.place, true, best) {
                (chosen, best) = (Some(extent), time);
            }
        }
        let Extent { start, end: last, place, touched } = *chosen?;
        let step = start + self.step;
        let step = step - step % self.physical;
        let end = if step >= last || step <= start { last } else { step };
        let whole = end - end % self.physical;
        let grows = touched + rest > now && whole > start.next_multiple_of(self.physical);
        Some((start, if grows { whole } else { end }, place))
    }

    /// What could be destaged, in the order of sectors, from `sector` on and around.
    pub(crate) fn waiting_from(&self, sector: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let index = self.dirty.partition_point(|extent| extent.end <= sector);
        let (before, behind) = self.dirty.split_at(index);
        let cut = behind.first().filter(|extent| extent.start < sector);
        let behind = behind.iter().map(move |extent| (extent.start.max(sector), extent.end));
        let before = before.iter().map(|extent| (extent.start, extent.end));
        behind.chain(before).chain(cut.map(|extent| (extent.start, sector)))
    }

    /// Begins to destage `start..end`, all of which waits.
    pub(crate) fn begin_destage_of(&mut self, start: u64, end: u64, arm: &Arm) {
        self.destaging = Some((start, end));
        self.supersede(start, end, arm);
    }

    /// Ends the destage begun last; gives what it was.
    pub(crate) fn end_destage(&mut self) -> Option<(u64, u64)> {
        let destaged = self.destaging.take();
        if let Some((start, end)) = destaged {
            self.clean.enter(start, end, self.room.saturating_sub(self.dirty_sectors));
        }
        if self.dirty.is_empty() {
            self.since = None;
        }
        destaged
    }

    /// Forgets `start..end`, which was overwritten past the cache.
    pub(crate) fn supersede(&mut self, start: u64, end: u64, arm: &Arm) {
        let first = self.dirty.partition_point(|extent| extent.end <= start);
        let behind = first + self.dirty[first..].partition_point(|extent| extent.start < end);
        if first == behind {
            return;
        }
        let mut left = Vec::new();
        for extent in &self.dirty[first..behind] {
            self.dirty_sectors -= extent.end - extent.start;
            if extent.start < start {
                left.push(Extent { end: start, ..*extent });
            }
            if extent.end > end {
                left.push(Extent { start: end, place: arm.geometry.place(end), ..*extent });
            }
        }
        self.dirty_sectors += left.iter().map(|e| e.end - e.start).sum::<u64>();
        self.dirty.splice(first..behind, left);
        if self.dirty.is_empty() && self.destaging.is_none() {
            self.since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drives;
    use proptest::prelude::*;

    /// The extents are sorted, apart, counted, and at their places.
    fn check(cache: &WriteCache, arm: &Arm) {
        assert!(cache.dirty.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let sectors: u64 = cache.dirty.iter().map(|e| e.end - e.start).sum();
        assert_eq!(cache.dirty_sectors, sectors);
        for extent in &cache.dirty {
            assert!(extent.start < extent.end);
            assert_eq!(extent.place, arm.geometry.place(extent.start));
        }
    }

    proptest! {
        /// The same as marking single sectors.
        #[test]
        fn holds_what_single_sectors_would(
            steps in prop::collection::vec((0_u8..6, 0_u64..300, 1_u64..40), 1..80),
            step in 1_u64..6,
        ) {
            let (_, mut p) = drives().swap_remove(0);
            p.destage_step = step * 4096;
            let arm = Arm::new(&p, 1);
            let mut cache = WriteCache::new(&p);
            let mut dirty = [false; 340];
            let mut moving = 0..0;
            for (kind, start, length) in steps {
                let end = start + length;
                let range = start as usize..end as usize;
                match kind {
                    0..=2 => {
                        prop_assert!(cache.reserve(start, end));
                        prop_assert!(!cache.is_drained());
                        cache.fill(start, end, 5, &arm);
                        dirty[range].fill(true);
                    }
                    3 => {
                        cache.supersede(start, end, &arm);
                        dirty[range].fill(false);
                    }
                    4 if moving.is_empty() => {
                        let begun = cache.choose(5, &arm, 0, 1);
                        prop_assert_eq!(begun.is_some(), dirty.contains(&true));
                        let Some((start, end, place)) = begun else { continue };
                        cache.begin_destage_of(start, end, &arm);
                        prop_assert!(end - start <= step * 8);
                        prop_assert_eq!(place, arm.geometry.place(start));
                        moving = start as usize..end as usize;
                        prop_assert!(dirty[moving.clone()].iter().all(|d| *d));
                        dirty[moving.clone()].fill(false);
                    }
                    _ => {
                        cache.end_destage();
                        moving = 0..0;
                    }
                }
                check(&cache, &arm);
                prop_assert_eq!(cache.is_dirty(), dirty.contains(&true));
                for sector in (0..340).filter(|s| dirty[*s] || moving.contains(s)) {
                    prop_assert!(cache.covered_until(sector as u64) > Some(sector as u64));
                }
                let waiting = dirty.iter().filter(|d| **d).count() + moving.len();
                prop_assert_eq!(cache.waiting_sectors(), waiting as u64);
            }
        }
    }

    #[test]
    fn neighbours_are_written_in_one_step() {
        let (_, p) = drives().swap_remove(0);
        let arm = Arm::new(&p, 1);
        let mut cache = WriteCache::new(&p);
        for start in [16, 0, 24, 8] {
            assert!(cache.reserve(start, start + 8));
            cache.fill(start, start + 8, 0, &arm);
        }
        let (start, end, _) = cache.choose(0, &arm, 1000, 1000).unwrap();
        cache.begin_destage_of(start, end, &arm);
        assert_eq!((start, end), (0, 32));
        assert!(!cache.is_drained());
        cache.end_destage();
        assert!(cache.is_drained() && cache.since().is_none());
        assert_eq!(cache.covered_until(8), Some(32), "what was written stays readable");
    }

    #[test]
    fn space_and_extents_are_limited() {
        let (_, mut p) = drives().swap_remove(0);
        (p.dirty_limit, p.dirty_extents) = (64 * SECTOR, 3);
        let arm = Arm::new(&p, 1);
        let mut cache = WriteCache::new(&p);
        assert!(cache.can_hold(64) && !cache.can_hold(65));
        assert!(cache.reserve(0, 40) && !cache.reserve(100, 125), "space");
        assert!(cache.reserve(100, 104) && cache.reserve(200, 204));
        assert!(!cache.reserve(300, 301), "three extents");
        for (start, end) in [(0, 40), (100, 104), (200, 204)] {
            cache.fill(start, end, 0, &arm);
        }
        assert!(!cache.reserve(300, 301), "three extents");
        cache.begin_destage_of(200, 204, &arm);
        cache.end_destage();
        assert!(cache.reserve(300, 301), "one is on the medium");
        assert!(cache.reserve(40, 59) && !cache.reserve(59, 60), "no space is left");
    }

    #[test]
    fn what_continues_an_extent_needs_no_other() {
        let (_, mut p) = drives().swap_remove(0);
        p.dirty_extents = 2;
        let arm = Arm::new(&p, 1);
        let mut cache = WriteCache::new(&p);
        assert!(cache.reserve(0, 8));
        cache.fill(0, 8, 0, &arm);
        assert!(cache.reserve(100, 108) && !cache.reserve(200, 208));
        // Behind and before what waits or comes, over it, and in any order.
        for (start, end) in [(108, 116), (92, 100), (8, 16), (0, 8), (104, 120), (84, 92)] {
            assert!(cache.reserve(start, end), "{start}");
        }
        assert!(!cache.reserve(121, 129), "there is a sector between");
        for (start, end) in
            [(84, 92), (8, 16), (108, 116), (0, 8), (104, 120), (92, 100), (100, 108)]
        {
            cache.fill(start, end, 0, &arm);
        }
        let extents: Vec<_> = cache.dirty.iter().map(|e| (e.start, e.end)).collect();
        assert_eq!(extents, [(0, 16), (84, 120)]);
        // What it would have continued is on its way: it is one of its own again.
        assert!(cache.reserve(16, 24));
        cache.begin_destage_of(0, 16, &arm);
        assert!(!cache.reserve(200, 208));
    }

    #[test]
    fn writes_within_one_that_comes_need_no_extent() {
        let (_, mut p) = drives().swap_remove(0);
        p.dirty_extents = 1;
        let mut cache = WriteCache::new(&p);
        for (start, end) in [(0, 100), (10, 20), (50, 60)] {
            assert!(cache.reserve(start, end), "{start}");
        }
        assert!(!cache.reserve(101, 109));
    }

    /// The arm's drive has physical sectors of eight.
    #[test]
    fn cut_sectors_wait_for_their_rest() {
        let (_, p) = drives().swap_remove(0);
        let arm = Arm::new(&p, 1);
        let mut cache = WriteCache::new(&p);
        assert!(cache.reserve(0, 21));
        cache.fill(0, 21, 100, &arm);
        // What ends within a sector goes as far as it is whole.
        assert_eq!(cache.ripe_from(0, 50), Some(0));
        let chosen =
            |cache: &WriteCache, now| cache.choose(now, &arm, 50, 50).map(|(s, e, _)| (s, e));
        assert_eq!(chosen(&cache, 100), Some((0, 16)));
        cache.begin_destage_of(0, 16, &arm);
        cache.end_destage();
        assert_eq!((chosen(&cache, 149), chosen(&cache, 150)), (None, Some((16, 21))));
        assert_eq!(cache.ripe_from(0, 50), Some(150));
        // The rest was read meanwhile: it is written whole.
        cache.complete(16, 24, 150, &arm);
        assert_eq!(chosen(&cache, 150), Some((16, 24)));
        check(&cache, &arm);
        // What has waited for long enough goes whole, and so does what has no whole sector.
        assert!(cache.reserve(100, 117));
        cache.fill(100, 117, 200, &arm);
        assert_eq!((chosen(&cache, 150), chosen(&cache, 250)), (Some((16, 24)), Some((16, 24))));
        cache.supersede(0, 24, &arm);
        assert_eq!(chosen(&cache, 250), Some((100, 117)));
        cache.supersede(100, 117, &arm);
        assert!(cache.reserve(201, 209));
        cache.fill(201, 209, 300, &arm);
        let at_once = cache.choose(300, &arm, 0, 50).map(|(s, e, _)| (s, e));
        assert_eq!(at_once, Some((201, 209)), "both sectors in one visit");
        cache.supersede(201, 209, &arm);
        cache.enter(16, 24, 300, &arm);
        // What is gone is not filled up.
        cache.supersede(16, 24, &arm);
        cache.complete(16, 24, 150, &arm);
        assert!(!cache.is_dirty());
    }
}
