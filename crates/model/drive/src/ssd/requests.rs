//! What reads, writes, flushes and discards do, and when they are done.

use super::disk::{SECTOR, SolidState};
use super::flash::SMALL;

impl SolidState {
    /// When bytes have crossed the link that were ready at `from`.
    fn send(&mut self, from: u64, bytes: u64, to_host: bool) -> u64 {
        let time = (bytes as f64 * self.nanoseconds_per_byte).round() as u64;
        self.link[usize::from(self.full_duplex && to_host)].reserve(from, time)
    }

    /// The bytes of `begin..end` that lie in units.
    fn within(&self, unit: u32, count: u32, begin: u64, end: u64) -> u64 {
        let (first, last) = (u64::from(unit) * self.unit, u64::from(unit + count) * self.unit);
        last.min(end) - first.max(begin)
    }

    /// The units that hold bytes `begin..end`.
    fn units(&self, begin: u64, end: u64) -> (u32, u32) {
        // Checked parameters have fewer than 2³² units.
        ((begin / self.unit) as u32, end.div_ceil(self.unit) as u32)
    }

    pub(super) fn read(&mut self, now: u64, begin: u64, end: u64) -> u64 {
        let small = end - begin <= SMALL;
        let interface = &self.interface;
        let overhead = if small { interface.read_overhead } else { interface.large_read_overhead };
        let from = now + overhead;
        let (mut unit, last) = self.units(begin, end);
        let (mut done, mut hit) = (from, true);
        while unit < last {
            let (page, count) = self.page_in_flash(from, unit, last);
            let bytes = self.within(unit, count, begin, end);
            let ready = match page {
                None => from,
                Some(page) => match self.ahead.ready(page) {
                    Some(ready) => ready.max(from),
                    None => {
                        hit = false;
                        self.read_page(from, page, bytes.next_multiple_of(SMALL))
                    }
                },
            };
            done = done.max(self.send(ready, bytes, true));
            unit += count;
        }
        if let Some((begin, end)) = self.ahead.follow(begin, end) {
            self.read_ahead(now, begin, end);
        }
        if hit {
            self.counts.read_hits += 1;
            self.counts.read_hit_bytes += end - begin;
        }
        done
    }

    /// Has the pages of bytes `begin..end` read for a request that will come.
    fn read_ahead(&mut self, now: u64, begin: u64, end: u64) {
        let (mut unit, last) = self.units(begin, end.min(self.sectors * SECTOR));
        while unit < last {
            let (page, count) = self.page_in_flash(now, unit, last);
            if let Some(page) = page.filter(|page| self.ahead.ready(*page).is_none()) {
                let ready = self.read_page(now, page, u64::from(count) * self.unit);
                self.ahead.enter(page, ready);
            }
            unit += count;
        }
    }

    /// The page that holds units from `unit` on, and how many of those before `last`; no page if
    /// they need no flash at `now`.
    fn page_in_flash(&mut self, now: u64, unit: u32, last: u32) -> (Option<u32>, u32) {
        let (place, count) = self.ftl.locate(unit, last - unit);
        let page = place.map(|place| self.ftl.layout.page_of(place));
        (page.filter(|page| !self.is_in_memory(now, *page)), count)
    }

    fn read_page(&mut self, from: u64, page: u32, bytes: u64) -> u64 {
        self.counts.bytes_from_medium += bytes;
        self.counts.medium_operations += 1;
        self.flash.read(from, page, bytes, self.ftl.is_cached(page))
    }

    /// Whether a page is still being filled, or on its way to the flash.
    fn is_in_memory(&self, now: u64, page: u32) -> bool {
        self.buffer.holds(now, page) || self.ftl.is_open(page)
    }

    /// Takes bytes `begin..end` into the buffer, page by page, and has full pages
    /// programmed. The data come over the link, or are zeros.
    pub(super) fn write(&mut self, now: u64, begin: u64, end: u64, sent: bool) -> u64 {
        self.dirty = true;
        let (mut unit, last) = self.units(begin, end);
        let (mut at, mut received) = (now, now);
        while unit < last {
            // The first and the last unit alone, if only a part of them is written.
            let (whole, old) = self.whole_units(unit, last, begin, end);
            let (count, stream) = self.ftl.write(unit, whole);
            at = self.buffer.take(at, count);
            let bytes = self.within(unit, count, begin, end);
            let mut ready = if sent { self.send(at, bytes, false) } else { at };
            if let Some(page) = old {
                self.counts.partial_writes += 1;
                ready = ready.max(self.read_page(at, page, self.unit));
            }
            self.ready[stream as usize] = self.ready[stream as usize].max(ready);
            self.perform(ready);
            received = received.max(ready);
            unit += count;
        }
        received
    }

    /// How many units from `unit` on are written whole; 1 where it is only a part of
    /// this one, and the page that the rest must be read from, if it is on the flash.
    fn whole_units(&self, unit: u32, last: u32, begin: u64, end: u64) -> (u32, Option<u32>) {
        let start = u64::from(unit) * self.unit;
        if begin > start || end < start + self.unit {
            let (place, _) = self.ftl.locate(unit, 1);
            let page = place.map(|place| self.ftl.layout.page_of(place));
            return (1, page.filter(|page| !self.is_in_memory(self.now, *page)));
        }
        (((end - start) / self.unit).min(u64::from(last - unit)) as u32, None)
    }

    /// Has the pages programmed that are not full; gives when all that was written
    /// is on the flash.
    pub(super) fn drain(&mut self, now: u64) -> u64 {
        self.ftl.pad();
        self.perform(now);
        self.buffer.drained().max(now)
    }

    /// A flush begins when the one before is done; what it has programmed need not wait for that.
    /// If it comes before the last one is done, it costs as much although that one may have
    /// covered its data: callers gain 1.0 to 4 times by flushing at the same time, not as many times
    /// as they are (TheJJ/ceph-diskbench, seven NVMe drives).
    pub(super) fn flush(&mut self, now: u64) -> u64 {
        let dirty = std::mem::take(&mut self.dirty);
        if !dirty && self.flushed <= now {
            return now;
        }
        let programmed = if self.protected { now } else { self.drain(now) };
        self.flushed = programmed.max(self.flushed) + self.flush_overhead;
        self.flushed
    }

    /// Forgets the units that lie whole within `begin..end`.
    pub(super) fn forget(&mut self, now: u64, begin: u64, end: u64) -> u64 {
        let first = begin.next_multiple_of(self.unit);
        let last =
            if end == self.sectors * SECTOR { end.div_ceil(self.unit) } else { end / self.unit };
        let (unit, last) = (first / self.unit, last);
        if unit < last {
            self.ftl.discard(unit as u32, (last - unit) as u32);
            self.dirty = true;
        }
        let share = (end - begin) as f64 / (1_u64 << 30) as f64;
        now + (share * self.interface.discard_gib as f64).round() as u64
    }

    /// Zeroes bytes: whole units are forgotten, parts of units are written.
    pub(super) fn zero(&mut self, now: u64, begin: u64, end: u64) -> u64 {
        let mut done = self.forget(now, begin, end);
        let first = begin.next_multiple_of(self.unit).min(end);
        let last = (end - end % self.unit).max(first);
        for (begin, end) in [(begin, first), (last, end)] {
            // The drive's end may cut a unit, which then was forgotten.
            if begin < end && end < self.sectors * SECTOR {
                done = done.max(self.write(now, begin, end, false));
            }
        }
        if self.completes_in_memory() { done } else { self.drain(done) }
    }
}
