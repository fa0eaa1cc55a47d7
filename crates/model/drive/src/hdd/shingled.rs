//! How the medium of a shingled drive is used: the translation layer says what and
//! where, here is how long it takes.

use super::command::Command;
use super::disk::{DiskWork, HardDisk};
use super::events::Event;
use super::geometry::SECTOR;
use crate::Operation;
use crate::smr::{self, Band, Cleaning, ShingleStep, Shingles};

/// Sectors of a write past the cache that are passed on at a time: 4 MiB.
const SLICE: u64 = 8192;

impl HardDisk {
    /// A shingled drive at rest, its persistent cache empty; otherwise as
    /// [`HardDisk::new`]. The parameters must have passed [`smr::Parameters::check`].
    pub fn shingled(parameters: &smr::Parameters, seed: u64) -> Self {
        let log = parameters.log_size / SECTOR;
        Self::with_recording(&parameters.medium(), log, seed, |geometry| {
            Some(Box::new(Shingles::new(parameters, &geometry.stretches())))
        })
    }

    /// Where a sector lies on the medium, and the sector up to which that continues.
    pub(super) fn lies_at(&self, sector: u64) -> (u64, u64) {
        match &self.shingles {
            None => (sector, u64::MAX),
            Some(shingles) => {
                let (log, until) = shingles.cache.find(sector);
                (log.unwrap_or(sector), until)
            }
        }
    }

    /// Whether all that is on the medium counts as committed. On a shingled drive
    /// that may take until later; then the drive wakes.
    pub(super) fn is_committed(&mut self, now: u64) -> bool {
        let Some(shingles) = &mut self.shingles else { return true };
        let ready = shingles.commit();
        if ready > now {
            self.wake_at(ready);
            return false;
        }
        true
    }

    /// Passes a write past the cache, or a zeroing, on to the destage, as a flush
    /// would: in slices, for nothing can be written in place. Gives whether all of
    /// it is on the medium.
    pub(super) fn pass_through(&mut self, now: u64, command: &Command) -> bool {
        let slice = SLICE.min(self.writes.limit());
        while let Some(shingles) = &mut self.shingles
            && shingles.passed < command.sectors
        {
            let start = command.sector + shingles.passed;
            let end = (start + slice).min(command.end());
            if !self.writes.reserve(start, end) {
                return false;
            }
            shingles.note_write(start, end, now, command.arrived);
            shingles.passed += end - start;
            let received = match command.operation {
                Operation::Write => self.link.write(now, (end - start) * SECTOR).1,
                _ => now,
            };
            self.events.push(received, Event::Passed(start, end));
        }
        if !self.writes.is_drained() || !self.is_committed(now) {
            return false;
        }
        if let Some(shingles) = &mut self.shingles {
            shingles.passed = 0;
        }
        true
    }

    /// Gives the medium its next work, if it is free and there is some: as
    /// [`HardDisk::dispatch`], and when nothing is left to do, bands are cleaned. What
    /// was begun is never interrupted.
    pub(super) fn dispatch_shingled(&mut self, now: u64) {
        while self.work.is_none() {
            let Some(shingles) = &self.shingles else { return };
            let dirty = self.writes.is_dirty();
            let blocked = !self.admission.is_empty() || !self.write_cache;
            let old = self.writes.since().map_or(u64::MAX, |since| since + self.destage_age);
            let pressed = dirty && (blocked || old <= now);
            let step = shingles.plan(now, &self.writes, blocked);
            let due = step.filter(|step| !matches!(step, ShingleStep::Wait(_)));
            if !self.queue.is_empty() && (!pressed || self.destaged_last || due.is_none()) {
                self.destaged_last = false;
                self.carry_out_next(now);
                continue;
            }
            let wake = match (due, step) {
                (Some(step), _) if pressed || self.quiet_until <= now => {
                    self.destaged_last = true;
                    self.take(now, step);
                    continue;
                }
                (Some(_), _) => self.quiet_until.min(old),
                (None, Some(ShingleStep::Wait(until))) => until,
                _ => {
                    let idle = !dirty && self.outstanding == 0;
                    let Some(band) = shingles.oldest().filter(|_| idle) else { return };
                    let from = shingles.active + shingles.idle_delay;
                    if from <= now {
                        self.clean(now, band, false);
                        continue;
                    }
                    from
                }
            };
            self.wake_at(wake);
            return;
        }
    }

    fn take(&mut self, now: u64, step: ShingleStep) {
        match step {
            ShingleStep::Stream { start, end } => self.stream_home(now, start, end),
            ShingleStep::Append { start, end } => self.append_to_log(now, start, end),
            ShingleStep::Clean(band) => self.clean(now, band, true),
            ShingleStep::FlushMap => self.flush_map(now),
            ShingleStep::Wait(_) => {}
        }
    }

    fn stream_home(&mut self, now: u64, start: u64, end: u64) {
        self.leave_stream(now);
        let Some(shingles) = &mut self.shingles else { return };
        let from = shingles.home_from(start);
        let mut begun = now;
        if from < start {
            // What the host left out is read, and written again with the rest.
            begun = self.read_over(begun, from, start).1;
        }
        let Some(shingles) = &mut self.shingles else { return };
        shingles.begin_stream(from, end);
        self.begin_destage(start, end);
        let done = self.run_over(begun, from, end, true);
        self.end_step(now, done, from, end);
    }

    fn append_to_log(&mut self, now: u64, start: u64, end: u64) {
        self.leave_stream(now);
        let partial = self.is_partial(now, start, end);
        let Some(shingles) = &mut self.shingles else { return };
        let (first, last) = shingles.whole(start, end);
        let mut begun = now;
        if partial {
            // The rest of the physical sectors that are cut is read first.
            self.counts.partial_writes += 1;
            for (from, to) in [(first, start), (end, last)] {
                if from < to {
                    begun = self.read_over(begun, from, to).1;
                }
            }
        }
        let Some(shingles) = &mut self.shingles else { return };
        let log = shingles.begin_append(now, start, end);
        shingles.counts.log_bytes += (last - first) * SECTOR;
        self.begin_destage(start, end);
        let done = self.run_over(begun, log, log + (last - first), true);
        self.end_step(now, done, first, last);
    }

    fn end_step(&mut self, now: u64, done: u64, start: u64, end: u64) {
        self.counts.destages += 1;
        self.counts.bytes_to_medium += (end - start) * SECTOR;
        self.work(now, done, DiskWork::Destage);
    }

    fn flush_map(&mut self, now: u64) {
        self.leave_stream(now);
        let Some(shingles) = &mut self.shingles else { return };
        let (sector, time) = (shingles.begin_map_flush(), shingles.map_flush);
        let place = self.arm.geometry.place(sector);
        let done = now + self.arm.positioning(now, &place, true) + time;
        self.arm.set_position(&place, true);
        self.work(now, done, DiskWork::FlushMap);
    }

    /// Cleans a band; `needed` where somebody waits for the room.
    fn clean(&mut self, now: u64, band: Band, needed: bool) {
        self.leave_stream(now);
        let Some(shingles) = &self.shingles else { return };
        let overhead = shingles.cleaning_overhead;
        let place = self.arm.geometry.place(band.start);
        let pass = self.arm.geometry.pass_of_end(band.end) - place.pass;
        let how = shingles.cleaning(band, 2 * pass + overhead);
        let mut done = now;
        if let Cleaning::Small(time) = how {
            done += self.arm.positioning(done, &place, true) + time;
            self.arm.set_position(&place, true);
        } else {
            if how == Cleaning::Rewrite {
                done = self.run_over(done, band.start, band.end, false);
            }
            done = self.run_over(done, band.start, band.end, true) + overhead;
            self.counts.bytes_to_medium += band.sectors() * SECTOR;
        }
        if let Some(shingles) = &mut self.shingles {
            shingles.counts.cleaning += done - now;
            shingles.counts.cleaning_while_needed += if needed { done - now } else { 0 };
        }
        self.work(now, done, DiskWork::Clean(band, how));
    }

    pub(super) fn cleaned(&mut self, band: Band, how: Cleaning) {
        if let Some(shingles) = &mut self.shingles {
            shingles.cleaned(band, how);
        }
    }

    /// Reads what a command needs, piece by piece, wherever each lies.
    pub(super) fn read_pieces(&mut self, now: u64, command: Command, start: u64, end: u64) {
        let (since, done) = self.read_over(now, start, end);
        self.counts.bytes_from_medium += (end - start) * SECTOR;
        self.work(now, done, DiskWork::Read { command, start, end, since, rides: false });
    }

    /// Moves the arm through all pieces of `start..end`; gives when the first began
    /// to come and when the last had come.
    fn read_over(&mut self, now: u64, start: u64, end: u64) -> (u64, u64) {
        let (mut sector, mut since, mut done) = (start, None, now);
        while sector < end {
            let (medium, until) = self.lies_at(sector);
            let stop = until.min(end);
            let place = self.arm.geometry.place(medium);
            done += self.arm.positioning(done, &place, false);
            since.get_or_insert(done);
            done = self.pass(done, &place, medium + (stop - sector), false);
            sector = stop;
        }
        (since.unwrap_or(now), done)
    }

    /// Moves the arm to sectors of the medium and over them; gives when it is through.
    fn run_over(&mut self, now: u64, start: u64, end: u64, writes: bool) -> u64 {
        let place = self.arm.geometry.place(start);
        let begun = now + self.arm.positioning(now, &place, writes);
        self.pass(begun, &place, end, writes)
    }
}
