//! Data written that are not yet on the medium, and those that lately were not.

use super::arm::Arm;
use super::geometry::{Place, SECTOR};
use super::parameters::Parameters;
use super::ranges::Ranges;

/// Neighbouring sectors that wait for the medium.
#[derive(Debug, Clone, Copy)]
struct Extent {
    start: u64,
    end: u64,
    place: Place,
}

/// The write cache. Space is reserved when a write is admitted, filled when its
/// data have come over the link, and free again when they are on the medium. What
/// was written stays readable until its memory is needed.
#[derive(Debug)]
pub(crate) struct WriteCache {
    /// Sorted by sector; neighbours are joined.
    dirty: Vec<Extent>,
    dirty_sectors: u64,
    reserved_sectors: u64,
    reserved: u64,
    destaging: Option<(u64, u64)>,
    clean: Ranges,
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
            reserved_sectors: 0,
            reserved: 0,
            destaging: None,
            clean: Ranges::default(),
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

    /// Reserves space for a write, if there is any.
    pub(crate) fn reserve(&mut self, sectors: u64) -> bool {
        let used = self.waiting_sectors() + self.reserved_sectors;
        let fits =
            used + sectors <= self.limit && self.dirty.len() as u64 + self.reserved < self.extents;
        if fits {
            self.reserved += 1;
            self.reserved_sectors += sectors;
        }
        fits
    }

    /// Enters data for which space was reserved.
    pub(crate) fn fill(&mut self, start: u64, end: u64, now: u64, arm: &Arm) {
        self.reserved = self.reserved.saturating_sub(1);
        self.reserved_sectors = self.reserved_sectors.saturating_sub(end - start);
        self.since.get_or_insert(now);
        let first = self.dirty.partition_point(|extent| extent.end < start);
        let behind = first + self.dirty[first..].partition_point(|extent| extent.start <= end);
        let touched = &self.dirty[first..behind];
        let mut joined = Extent { start, end, place: Place::default() };
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
        self.dirty.is_empty() && self.destaging.is_none() && self.reserved == 0
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

    /// Begins to destage: the extent with the shortest positioning time from the
    /// arm, or its beginning. Gives the sectors and the place of the first.
    pub(crate) fn begin_destage(&mut self, now: u64, arm: &Arm) -> Option<(u64, u64, Place)> {
        let here = arm.angle(now);
        let (mut index, mut best) = (None, u32::MAX);
        for (candidate, extent) in self.dirty.iter().enumerate() {
            if let Some(time) = arm.positioning_within(here, &extent.place, true, best) {
                (index, best) = (Some(candidate), time);
            }
        }
        let index = index?;
        let Extent { start, end: last, place } = self.dirty[index];
        let mut end = start + self.step;
        end -= end % self.physical;
        if end >= last || end <= start {
            end = last;
            self.dirty.remove(index);
        } else {
            self.dirty[index].start = end;
            self.dirty[index].place = arm.geometry.place(end);
        }
        self.dirty_sectors -= end - start;
        self.destaging = Some((start, end));
        Some((start, end, place))
    }

    /// Ends the destage begun last.
    pub(crate) fn end_destage(&mut self) {
        if let Some((start, end)) = self.destaging.take() {
            self.clean.enter(start, end, self.room.saturating_sub(self.dirty_sectors));
        }
        if self.dirty.is_empty() {
            self.since = None;
        }
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
                left.push(Extent { start: end, end: extent.end, place: arm.geometry.place(end) });
            }
        }
        self.dirty_sectors += left.iter().map(|e| e.end - e.start).sum::<u64>();
        self.dirty.splice(first..behind, left);
        if self.dirty.is_empty() && self.destaging.is_none() {
            self.since = None;
        }
    }
}
