//! Writing dirty pages of the page cache to the drive.
//!
//! After mm/page-writeback.c and fs/fs-writeback.c: in the background while more than a
//! share of the memory is dirty, all that there is once the oldest is 30 s old, and all
//! for a flush. The image is one file, whose pages go in their order.

use crate::HostedDrive;
use crate::events::HostEvent;
use crate::hosted::Use;
use disklab_drive::Operation;

/// How often the kernel looks for old pages, ns (`vm.dirty_writeback_centisecs`).
const POLL: u64 = 5_000_000_000;
/// How old is old, ns (`vm.dirty_expire_centisecs`).
const OLD: u64 = 30_000_000_000;
/// Requests that the host's queue takes (`nr_requests`, /sys/block/*/queue).
const AT_ONCE: usize = 128;
/// Pages written at a time: 512 KiB, the largest request.
const RUN: u64 = 128;
/// Pages of a round in the background (`MIN_WRITEBACK_PAGES`: 4 MiB).
const ROUND: u64 = 1024;

impl HostedDrive {
    /// Pages became dirty.
    pub(crate) fn became_dirty(&mut self, now: u64) {
        self.write_back.since.get_or_insert(now);
        self.look_later(now);
        self.write_some(now);
    }

    fn look_later(&mut self, now: u64) {
        if !self.write_back.looks {
            self.write_back.looks = true;
            self.events.push(now + POLL, HostEvent::Look);
        }
    }

    /// Writes out all where the oldest is old.
    pub(crate) fn look_for_old(&mut self, now: u64) {
        self.write_back.looks = false;
        if self.write_back.since.is_some_and(|since| now >= since + OLD) {
            self.write_all(now);
        }
        if self.cache.as_ref().is_some_and(|cache| cache.dirty() > 0) {
            self.look_later(now);
        }
    }

    /// Plans all that is dirty.
    pub(crate) fn write_all(&mut self, now: u64) {
        self.write_back.since = None;
        self.plan(0, u64::MAX, u64::MAX);
        self.issue(now);
    }

    /// Plans a round where more is dirty than may be for long, or somebody waits.
    pub(crate) fn write_some(&mut self, now: u64) {
        let dirty = self.cache.as_ref().map_or(0, |cache| cache.dirty());
        let waits = !self.write_back.throttled.is_empty();
        let over = dirty + self.write_back.pages > self.write_back.background;
        if self.write_back.plan.is_empty() && dirty > 0 && (over || waits) {
            let from = self.write_back.cursor;
            let planned = self.plan(from, u64::MAX, ROUND);
            if planned < ROUND {
                self.plan(0, from, ROUND - planned);
            }
        }
        self.issue(now);
    }

    /// Plans dirty pages from `from` on and before `until`, about `most`; returns how many.
    fn plan(&mut self, from: u64, until: u64, most: u64) -> u64 {
        let Some(cache) = &self.cache else { return 0 };
        let (mut at, mut planned) = (from, 0);
        while planned < most
            && let Some((start, end)) = cache.dirty_run(at, until, RUN)
        {
            self.write_back.add(start, end);
            planned += end - start;
            at = end;
        }
        if planned > 0 {
            self.write_back.cursor = at;
        }
        planned
    }

    /// Gives the drive what is planned, as much as the queue takes.
    fn issue(&mut self, now: u64) {
        while self.write_back.at_work.len() < AT_ONCE {
            let Some((start, end, run)) = self.write_back.plan.pop_front() else { return };
            let Some(cache) = &mut self.cache else { return };
            // It may have been written by now.
            let mut runs = Vec::new();
            let mut at = start;
            while let Some((first, behind)) = cache.dirty_run(at, end, RUN) {
                cache.clean(first, behind);
                runs.push((first, behind));
                at = behind;
            }
            for (first, behind) in runs {
                let work = self.write_back.works;
                self.write_back.works += 1;
                self.write_back.at_work.insert(work, (run, behind - first));
                *self.write_back.open.entry(run).or_default() += 1;
                self.write_back.pages += behind - first;
                let place = self.sectors_of(first, behind);
                self.submit(now, Use::WriteBack(work), Operation::Write, place);
            }
            self.write_back.close(run);
        }
    }

    /// A part has been written.
    pub(crate) fn written_back(&mut self, now: u64, work: u64) {
        let Some((run, pages)) = self.write_back.at_work.remove(&work) else { return };
        self.write_back.pages -= pages;
        self.write_back.close(run);
        self.write_some(now);
        while let Some(&slot) = self.write_back.throttled.front() {
            let dirty = self.cache.as_ref().map_or(0, |cache| cache.dirty());
            let (start, end) = self.requests.get(slot).map_or((0, 0), |p| p.pages());
            if !self.write_back.admits(dirty, end - start) {
                break;
            }
            self.write_back.throttled.pop_front();
            self.admit(now, slot);
        }
        let first = self.write_back.open.keys().next().copied().unwrap_or(u64::MAX);
        let flushes = std::mem::take(&mut self.write_back.flushes);
        for (until, slot) in flushes {
            if first >= until {
                self.flush_drive(now, slot);
            } else {
                self.write_back.flushes.push((until, slot));
            }
        }
    }
}
