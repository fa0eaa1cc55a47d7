//! Segments of data read, and reading ahead.

use super::geometry::{Geometry, MediumPosition};

/// A range of sectors in the drive's memory.
#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    /// Where a sequential reader would continue.
    next: u64,
    used: u64,
}

/// A segment that nothing was read into yet.
const EMPTY: Segment = Segment { start: 0, end: 0, next: u64::MAX, used: 0 };

/// Reading ahead: since `time`, the pass over the sectors continues from `pass`,
/// until `limit`. While `time` lies in the future, the arm is on its way.
///
/// What passes under the head are the sectors `shift` below those that the host
/// asks for, and only up to `fence`, where others follow: on a conventional drive 0,
/// and the end of the medium.
#[derive(Debug, Clone, Copy)]
struct Stream {
    segment: usize,
    time: u64,
    pass: u64,
    limit: u64,
    shift: u64,
    fence: u64,
}

/// The read segments. After a read the drive reads on into its segment until that
/// is full of data not yet asked for, or until the medium is needed. Nothing
/// happens while it does so: how far it came is computed when somebody asks.
#[derive(Debug, Clone)]
pub(crate) struct ReadCache {
    segments: Vec<Segment>,
    size: u64,
    sectors: u64,
    stream: Option<Stream>,
    clock: u64,
}

impl ReadCache {
    /// `count` segments of `size` sectors, on a drive of `sectors` sectors.
    pub(crate) fn new(count: u64, size: u64, sectors: u64) -> Self {
        let segments = vec![EMPTY; count.max(1) as usize];
        Self { segments, size, sectors, stream: None, clock: 0 }
    }

    /// Forgets what was read, and stops reading ahead.
    pub(crate) fn forget(&mut self) {
        self.segments.fill(EMPTY);
        self.stream = None;
    }

    /// The sector that the stream comes to next; its limit where it has ended.
    pub(crate) fn position(&self, geometry: &Geometry, now: u64) -> Option<u64> {
        let stream = self.stream?;
        let pass = stream.pass + now.saturating_sub(stream.time);
        Some(geometry.sector_at(pass).wrapping_add(stream.shift).min(stream.limit))
    }

    /// The end of what is held from `sector` on, if it is held.
    pub(crate) fn covered_until(&self, geometry: &Geometry, now: u64, sector: u64) -> Option<u64> {
        let live = self.stream.map(|stream| stream.segment);
        let mut best = None;
        for (index, segment) in self.segments.iter().enumerate() {
            if segment.start > sector {
                continue;
            }
            let mut end = segment.end;
            if live == Some(index) {
                end = end.max(self.position(geometry, now).unwrap_or(0));
            }
            if end > sector {
                best = best.max(Some(end));
            }
        }
        best
    }

    /// Notes that a read of `start..end` was served from memory at `now`. Where it
    /// continues sequentially in a segment whose reading ahead has ended and of which
    /// half was used up, gives the sector from which to continue: see
    /// [`ReadCache::resume`].
    pub(crate) fn hit(
        &mut self,
        geometry: &Geometry,
        now: u64,
        start: u64,
        end: u64,
    ) -> Option<u64> {
        let position = self.position(geometry, now);
        let live = self.stream.map(|stream| stream.segment);
        let index = self.segments.iter().position(|segment| segment.next == start)?;
        self.clock += 1;
        let segment = &mut self.segments[index];
        segment.used = self.clock;
        segment.next = end;
        if live == Some(index)
            && let Some(stream) = &mut self.stream
            && let Some(position) = position
        {
            segment.end = segment.end.max(position);
            segment.start = segment.start.max(segment.end.saturating_sub(self.size));
            if position < stream.limit {
                stream.limit = stream.limit.max((end + self.size).min(stream.fence));
                return None;
            }
        } else if let (Some(stream), Some(position)) = (self.stream, position)
            && position < stream.limit
        {
            // The head reads ahead for somebody else.
            return None;
        }
        let left = segment.end.saturating_sub(end);
        (left <= self.size / 2 && segment.end < self.sectors).then_some(segment.end)
    }

    /// Continues reading ahead at `sector`, which is under the head at `time`.
    pub(crate) fn resume(&mut self, place: &MediumPosition, time: u64, sector: u64) {
        let Some(segment) = self.segments.iter().position(|segment| segment.end == sector) else {
            return;
        };
        let limit = (self.segments[segment].next + self.size).min(self.sectors);
        let fence = self.sectors;
        self.stream = Some(Stream { segment, time, pass: place.pass, limit, shift: 0, fence });
    }

    /// Says what passes under the head while the drive reads ahead, just after that
    /// began: sectors `shift` below those that the host asks for, and only up to
    /// `fence`. A shingled drive's data lie so.
    pub(crate) fn confine(&mut self, shift: u64, fence: u64) {
        let Some(stream) = &mut self.stream else { return };
        (stream.shift, stream.fence) = (shift, fence.min(self.sectors));
        stream.limit = stream.limit.min(stream.fence);
        if stream.limit <= self.segments[stream.segment].end {
            self.stream = None;
        }
    }

    /// Whether the stream of read-ahead can come by all sectors before `end`.
    pub(crate) fn reaches(&self, end: u64) -> bool {
        self.stream.is_some_and(|stream| end <= stream.fence)
    }

    /// What lies between the sectors under the head and those that they stand for:
    /// see [`ReadCache::confine`].
    pub(crate) fn shift(&self) -> u64 {
        self.stream.map_or(0, |stream| stream.shift)
    }

    /// Where a read that must reach up to `start..end` finds the stream coming its
    /// way: when `start` is (or was) under the head. Within a track it is as fast
    /// to stay as to seek.
    pub(crate) fn ride(
        &self,
        geometry: &Geometry,
        now: u64,
        position: u64,
        start: u64,
    ) -> Option<u64> {
        let stream = self.stream?;
        if position >= stream.limit || start < self.segments[stream.segment].start {
            return None;
        }
        if start <= position {
            return Some(now);
        }
        if start > position + geometry.track_length(position.wrapping_sub(stream.shift)) {
            return None;
        }
        let place = geometry.place(start.wrapping_sub(stream.shift));
        Some((stream.time + (place.pass - stream.pass)).max(now))
    }

    /// When the stream has passed `end`; it will continue that far.
    pub(crate) fn ride_until(&mut self, geometry: &Geometry, end: u64) -> u64 {
        let Some(stream) = &mut self.stream else { return 0 };
        stream.limit = stream.limit.max((end + self.size).min(stream.fence));
        let end = end.wrapping_sub(stream.shift);
        if end > i64::MAX as u64 {
            // Before the first sector of the medium: it did not come from here, but from
            // where the read began that the stream continues from, and is in memory.
            return 0;
        }
        (stream.time + geometry.pass_of_end(end)).saturating_sub(stream.pass)
    }

    /// Ends reading ahead: the arm is needed.
    pub(crate) fn stop(&mut self, geometry: &Geometry, now: u64) {
        if let Some(position) = self.position(geometry, now)
            && let Some(stream) = self.stream.take()
        {
            let segment = &mut self.segments[stream.segment];
            segment.end = segment.end.max(position);
            segment.start = segment.start.max(segment.end.saturating_sub(self.size));
        }
    }

    /// Enters `start..end`, read until `now` when the pass was at `pass`, of which
    /// the host wanted all before `wanted`, and reads on. It is appended to a
    /// segment that ends there, or takes the place of the one longest unused.
    pub(crate) fn enter(&mut self, start: u64, end: u64, wanted: u64, now: u64, pass: u64) {
        let grows = |s: &Segment| s.start <= start && start <= s.end && s.end > s.start;
        let index = self.segments.iter().position(grows).or_else(|| {
            let oldest = self.segments.iter().enumerate().min_by_key(|(_, s)| s.used);
            oldest.map(|(index, _)| index)
        });
        let Some(index) = index else { return };
        self.clock += 1;
        let segment = &mut self.segments[index];
        if !grows(segment) {
            *segment = Segment { start, end, ..EMPTY };
        }
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.size));
        segment.next = wanted;
        segment.used = self.clock;
        let limit = (wanted + self.size).min(self.sectors);
        let overtaken = segment.end > end;
        self.stream = (!overtaken && limit > end).then_some(Stream {
            segment: index,
            time: now,
            pass,
            limit,
            shift: 0,
            fence: self.sectors,
        });
    }

    /// Notes that a read rode on the stream up to `end`.
    pub(crate) fn rode(&mut self, geometry: &Geometry, now: u64, end: u64) {
        let position = self.position(geometry, now).unwrap_or(end);
        let Some(stream) = self.stream else { return };
        self.clock += 1;
        let segment = &mut self.segments[stream.segment];
        segment.end = segment.end.max(end).max(position);
        segment.start = segment.start.max(segment.end.saturating_sub(self.size));
        segment.next = end;
        segment.used = self.clock;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drives;

    const SIZE: u64 = 1000;
    const FOREVER: u64 = 1_000_000_000;

    fn cache() -> (ReadCache, Geometry) {
        let (_, p) = drives().swap_remove(0);
        (ReadCache::new(3, SIZE, 1_000_000), Geometry::new(&p, 1))
    }

    /// Reads `start..end` from the medium until `now`.
    fn enter(cache: &mut ReadCache, geometry: &Geometry, start: u64, end: u64, now: u64) {
        cache.enter(start, end, end, now, geometry.pass_of_end(end));
    }

    #[test]
    fn reads_on_until_the_segment_is_full() {
        let (mut cache, geometry) = cache();
        enter(&mut cache, &geometry, 100, 200, 50);
        assert_eq!(cache.covered_until(&geometry, 50, 100), Some(200));
        let way = geometry.pass_of_end(500) - geometry.pass_of_end(200);
        assert_eq!(cache.position(&geometry, 50 + way), Some(500));
        assert_eq!(cache.covered_until(&geometry, 50 + way, 450), Some(500));
        assert_eq!(cache.covered_until(&geometry, 50 + way, 500), None);
        assert_eq!(cache.position(&geometry, FOREVER), Some(200 + SIZE));
    }

    #[test]
    fn stops_where_it_is_and_forgets_the_oldest() {
        let (mut cache, geometry) = cache();
        enter(&mut cache, &geometry, 0, 300, 0);
        cache.stop(&geometry, FOREVER);
        assert_eq!(cache.position(&geometry, FOREVER), None);
        // 1300 sectors came by, of which the segment holds the last.
        assert_eq!(cache.covered_until(&geometry, FOREVER, 299), None);
        assert_eq!(cache.covered_until(&geometry, FOREVER, 300), Some(300 + SIZE));
        for start in [10_000, 20_000, 30_000] {
            enter(&mut cache, &geometry, start, start + 8, FOREVER);
            cache.stop(&geometry, FOREVER);
        }
        assert_eq!(cache.covered_until(&geometry, FOREVER, 300), None);
        assert_eq!(cache.covered_until(&geometry, FOREVER, 10_000), Some(10_008));
    }

    #[test]
    fn a_sequential_reader_keeps_it_going() {
        let (mut cache, geometry) = cache();
        enter(&mut cache, &geometry, 0, 100, 0);
        // A hit while it runs moves its end.
        assert_eq!(cache.hit(&geometry, 0, 100, 100), None);
        assert_eq!(cache.hit(&geometry, FOREVER, 100, 200), None, "much is left");
        assert_eq!(cache.hit(&geometry, FOREVER, 5000, 5100), None, "no one's");
        assert_eq!(cache.hit(&geometry, FOREVER, 200, 800), Some(1100), "little is left");
        let place = geometry.place(1100);
        cache.stop(&geometry, FOREVER);
        cache.resume(&place, FOREVER + 5_000_000, 1100);
        assert_eq!(cache.position(&geometry, FOREVER), Some(1100), "the arm is on its way");
        assert_eq!(cache.position(&geometry, 2 * FOREVER), Some(800 + SIZE));
    }

    #[test]
    fn sectors_that_pass_soon_are_waited_for() {
        let (mut cache, geometry) = cache();
        enter(&mut cache, &geometry, 100, 200, 0);
        assert_eq!(cache.ride(&geometry, 0, 200, 200), Some(0));
        let soon = geometry.place(300).pass - geometry.pass_of_end(200);
        assert_eq!(cache.ride(&geometry, 0, 200, 300), Some(soon));
        assert_eq!(cache.ride(&geometry, 0, 200, 50), None, "behind it");
        assert_eq!(cache.ride(&geometry, 0, 200, 100_000), None, "too far");
        let done = cache.ride_until(&geometry, 400);
        assert_eq!(done, geometry.pass_of_end(400) - geometry.pass_of_end(200));
        cache.rode(&geometry, done, 400);
        assert_eq!(cache.position(&geometry, FOREVER), Some(400 + SIZE));
    }
}
