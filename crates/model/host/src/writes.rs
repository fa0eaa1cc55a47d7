//! Writes and flushes of the guest.

use disklab_drive::Operation;

use crate::HostedDrive;
use crate::events::HostEvent;
use crate::read_ahead::ReadAheadWindow;
use crate::requests::PAGE_SECTORS;

impl HostedDrive {
    /// A write waits for its turn at the image: the inode's lock.
    pub(crate) fn write(&mut self, now: u64, slot: usize) {
        if self.writing < self.settings.writes_at_once {
            self.writing += 1;
            self.write_now(now, slot);
        } else {
            self.unwritten.push_back(slot);
        }
    }

    /// Lets the next write into the image.
    fn unlock(&mut self, now: u64) {
        match self.unwritten.pop_front() {
            Some(next) => self.write_now(now, next),
            None => self.writing -= 1,
        }
    }

    fn write_now(&mut self, now: u64, slot: usize) {
        let Some(pending) = self.requests.get(slot).copied() else { return };
        let request = pending.request;
        if self.cache.is_none() {
            let place = (request.sector, request.sectors);
            return self.submit_data(now, slot, request.operation, place);
        }
        // Pages of which a part is written must be there first.
        let (start, end) = pending.pages();
        let last = request.sector + request.sectors;
        let partial = [
            (!request.sector.is_multiple_of(PAGE_SECTORS)).then_some(start),
            (!last.is_multiple_of(PAGE_SECTORS)).then_some(end - 1),
        ];
        let mut waits = false;
        for page in partial.into_iter().flatten() {
            self.fill(now, ReadAheadWindow { start: page, pages: 1, marker: None });
            waits |= self.wait_for(page, slot);
        }
        if !waits {
            self.admit(now, slot);
        }
    }

    /// A buffered write continues when it makes no more pages dirty than may be
    /// (`balance_dirty_pages`, mm/page-writeback.c, without its gentle slowing down).
    pub(crate) fn admit(&mut self, now: u64, slot: usize) {
        let Some(pending) = self.requests.get(slot).copied() else { return };
        let (start, end) = pending.pages();
        if self.makes_dirty() {
            let dirty = self.cache.as_ref().map_or(0, |cache| cache.dirty());
            if !self.write_back.admits(dirty, end - start) {
                self.write_back.throttled.push_back(slot);
                return self.write_some(now);
            }
            self.write_back.reserved += end - start;
            if let Some(pending) = self.requests.get_mut(slot) {
                pending.reserved = end - start;
            }
        }
        let copied = now + self.settings.copying(pending.bytes());
        self.events.push(copied, HostEvent::Copied(slot));
    }

    /// A write's data are in the page cache.
    pub(crate) fn copied_in(&mut self, now: u64, slot: usize) {
        let Some(pending) = self.requests.get(slot).copied() else { return };
        let (start, end) = pending.pages();
        self.write_back.reserved -= pending.reserved;
        self.copied = self.copied.max(pending.number);
        // The guest may have switched the cache while data were copied.
        let dirty = pending.reserved > 0 && self.makes_dirty();
        let Some(cache) = &mut self.cache else { return };
        for page in start..end {
            if dirty { cache.write(page) } else { cache.enter(page) }
        }
        self.unlock(now);
        if dirty {
            self.became_dirty(now);
            return self.finish(now, slot);
        }
        // O_DSYNC writes whole pages, outside of the lock (`generic_write_sync`).
        let place = self.sectors_of(start, end);
        self.submit_data(now, slot, Operation::Write, place);
    }

    /// The drive has carried a request's own data out.
    pub(crate) fn data_ended(&mut self, now: u64, slot: usize) {
        let Some(pending) = self.requests.get(slot) else { return };
        if pending.request.operation == Operation::Read {
            return self.finish(now, slot);
        }
        if self.cache.is_none() {
            self.unlock(now);
        }
        if self.write_cache { self.finish(now, slot) } else { self.flush_drive(now, slot) }
    }

    /// A flush of the guest: `fdatasync` of the image.
    pub(crate) fn flush(&mut self, now: u64, slot: usize) {
        if self.settings.cache.ignores_flushes {
            return self.finish(now, slot);
        }
        if self.cache.is_none() {
            return self.flush_drive(now, slot);
        }
        self.write_all(now);
        if self.write_back.wait(slot) {
            return;
        }
        self.flush_drive(now, slot);
    }

    /// Whether writes are done when they are in the page cache.
    fn makes_dirty(&self) -> bool {
        self.write_cache && self.cache.is_some()
    }
}
