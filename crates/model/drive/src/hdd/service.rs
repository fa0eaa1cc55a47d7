//! How the medium is used: what is carried out next, and how long it takes.

use super::command::Command;
use super::disk::{DiskWork, HardDisk};
use super::events::Event;
use super::geometry::{MediumPosition, SECTOR};
use super::queue::{Service, Waiting};
use crate::Operation;

impl HardDisk {
    /// The end of what is in memory from `sector` on, without a gap, up to `end`.
    pub(super) fn held_until(&self, now: u64, sector: u64, end: u64) -> u64 {
        let mut held = sector;
        while held < end {
            let written = self.writes.covered_until(held);
            let read = self.reads.covered_until(&self.arm.geometry, now, held);
            match written.max(read) {
                Some(next) => held = next,
                None => return held,
            }
        }
        end
    }

    /// Whether writing `start..end` cuts a physical sector whose other part is not
    /// in memory, and must be read first.
    pub(super) fn is_partial(&self, now: u64, start: u64, end: u64) -> bool {
        let first = start - start % self.physical;
        let last = end.next_multiple_of(self.physical);
        self.held_until(now, first, start) < start || self.held_until(now, end, last) < last
    }

    /// Sends what is in memory, or queues for the medium.
    pub(super) fn read(&mut self, now: u64, command: Command) {
        self.quiet_until = now + self.destage_delay;
        let end = command.end();
        let held = self.held_until(now, command.sector, end);
        if held == end {
            self.send_from_memory(now, command);
            return;
        }
        let start = held - held % self.physical;
        self.queue.push(Waiting {
            command,
            start,
            end: end.next_multiple_of(self.physical),
            place: self.arm.geometry.place(self.lies_at(start).0),
            writes: false,
            complete: false,
        });
    }

    fn count_hit(&mut self, command: &Command) {
        self.counts.read_hits += 1;
        self.counts.read_hit_bytes += command.bytes();
    }

    fn send_from_memory(&mut self, now: u64, command: Command) {
        self.count_hit(&command);
        let sent = self.link.read(now, now, command.bytes());
        self.events.push(sent, Event::Sent(command));
        let resume = self.reads.hit(&self.arm.geometry, now, command.sector, command.end());
        if let Some(sector) = resume
            && self.work.is_none()
            && self.queue.is_empty()
        {
            self.leave_stream(now);
            let (medium, until) = self.lies_at(sector);
            let place = self.arm.geometry.place(medium);
            let time = now + self.arm.positioning(now, &place, false);
            self.reads.resume(&place, time, sector);
            self.reads.confine(sector.wrapping_sub(medium), until);
            self.arm.set_position(&place, false);
        }
    }

    /// Queues a write that was admitted past the cache.
    pub(super) fn enqueue_write(&mut self, command: Command) {
        self.queue.push(Waiting {
            command,
            start: command.sector,
            end: command.end(),
            place: self.arm.geometry.place(command.sector),
            writes: true,
            complete: false,
        });
    }

    /// Gives the medium its next work, if it is free and there is some.
    ///
    /// Requests go before destages, unless written data must go: a write or a flush
    /// waits for them, the cache was switched off, or they are old. Then the two
    /// alternate, so that neither starves.
    pub(super) fn dispatch(&mut self, now: u64) {
        if self.shingles.is_some() {
            return self.dispatch_shingled(now);
        }
        while self.work.is_none() {
            let dirty = self.writes.is_dirty();
            if !self.unlogged.is_empty() && (self.queue.is_empty() || !self.destaged_last) {
                self.destaged_last = true;
                self.log(now);
                return;
            }
            if self.queue.is_empty() && !dirty {
                return;
            }
            let old = self.writes.since().map_or(u64::MAX, |since| since + self.destage_age);
            let exposed = !self.write_cache && !self.writes.is_persistent();
            let blocked = !self.admission.is_empty() || exposed;
            // What is in the log can wait, and the next write would wait for the arm.
            let keeps_log = !self.write_cache && self.log_write > 0;
            let pressed = dirty && (blocked || old <= now);
            if !self.queue.is_empty() && (!pressed || self.destaged_last) {
                self.destaged_last = false;
                self.carry_out_next(now);
            } else if pressed || (self.quiet_until <= now && !keeps_log) {
                self.destaged_last = true;
                // As long as a neighbour takes that is sent as soon as this one is on the medium.
                let hold = if blocked { 0 } else { self.arm.revolution() };
                let ripe = self.writes.ripe_from(now, hold).unwrap_or(now);
                if ripe <= now {
                    self.destage(now, hold);
                } else if self.queue.is_empty() {
                    self.wake_at(ripe);
                    return;
                }
            } else {
                self.wake_at(if keeps_log { old } else { self.quiet_until.min(old) });
                return;
            }
        }
    }

    /// Sees to it that the drive looks again at `wake`, if it does not sooner.
    pub(super) fn wake_at(&mut self, wake: u64) {
        if self.wake.is_none_or(|earlier| wake < earlier) {
            self.wake = Some(wake);
            self.events.push(wake, Event::Wake);
        }
    }

    pub(super) fn carry_out_next(&mut self, now: u64) {
        self.follow_stream(now);
        let Some((waiting, way)) = self.queue.take(now, &self.arm, &self.reads) else { return };
        let Waiting { command, start, end, place, writes, complete } = waiting;
        match way {
            Service::Ride(since) => {
                let done = self.reads.ride_until(&self.arm.geometry, end);
                if done <= now {
                    self.reads.rode(&self.arm.geometry, now, command.end());
                    self.count_hit(&command);
                    let sent = self.link.read(now, now, command.bytes());
                    self.events.push(sent, Event::Sent(command));
                    return;
                }
                self.work(now, done, DiskWork::Read { command, start, end, since, rides: true });
            }
            Service::Position(since) => {
                self.reads.stop(&self.arm.geometry, now);
                if self.shingles.is_some() {
                    return self.read_pieces(now, command, start, end);
                }
                let mut begun = since;
                if writes && !complete && self.is_partial(now, start, end) {
                    if let Some((first, last)) = self.read_rest(start, end) {
                        let place = self.arm.geometry.place(first);
                        let (start, end) = (first, last);
                        let waiting = Waiting { start, end, place, complete: true, ..waiting };
                        return self.work_until_read(
                            now,
                            start,
                            end,
                            DiskWork::CompleteFor(waiting),
                        );
                    }
                    begun += self.arm.revolution();
                }
                let done = self.pass(begun, &place, end, writes);
                let work = if writes {
                    self.counts.bytes_to_medium += (end - start) * SECTOR;
                    DiskWork::Write(command)
                } else {
                    DiskWork::Read { command, start, end, since, rides: false }
                };
                self.work(now, done, work);
            }
        }
        if !writes {
            self.counts.bytes_from_medium += (end - start) * SECTOR;
        }
    }

    /// Writes all that waits for it to the log, which lies near wherever the arm is.
    fn log(&mut self, now: u64) {
        self.leave_stream(now);
        self.logging = std::mem::take(&mut self.unlogged);
        let bytes: u64 = self.logging.iter().map(Command::bytes).sum();
        self.counts.bytes_to_medium += bytes;
        self.work(now, now + self.log_write, DiskWork::Log);
    }

    fn destage(&mut self, now: u64, hold: u64) {
        self.leave_stream(now);
        // Nothing comes before a flush that waits is done.
        let flushes = self.admission.front().is_some_and(|c| c.operation == Operation::Flush);
        let rest = if flushes { 0 } else { self.arm.revolution() };
        let chosen = self.writes.choose(now, &self.arm, hold, rest);
        let Some((start, end, place)) = chosen else { return };
        let mut begun = now + self.arm.positioning(now, &place, true);
        if self.is_partial(now, start, end) {
            if let Some((first, last)) = self.read_rest(start, end) {
                let work = DiskWork::Complete { start: first, end: last };
                return self.work_until_read(now, first, last, work);
            }
            begun += self.arm.revolution();
        }
        self.begin_destage(start, end);
        self.counts.destages += 1;
        self.counts.bytes_to_medium += (end - start) * SECTOR;
        let done = self.pass(begun, &place, end, true);
        self.work(now, done, DiskWork::Destage);
    }

    /// Begins with a write of `start..end` that cuts physical sectors: gives what to read
    /// before, after which it is written whole whenever that is soonest. `None` if it is longer
    /// than a track: then the rest is read in passing, and all is written a revolution later.
    fn read_rest(&mut self, start: u64, end: u64) -> Option<(u64, u64)> {
        self.counts.partial_writes += 1;
        let (first, last) = (start - start % self.physical, end.next_multiple_of(self.physical));
        (last - first <= self.arm.geometry.track_length(first)).then_some((first, last))
    }

    /// Reads `start..end` for something that is written later.
    fn work_until_read(&mut self, now: u64, start: u64, end: u64, work: DiskWork) {
        self.counts.bytes_from_medium += (end - start) * SECTOR;
        let place = self.arm.geometry.place(start);
        let begun = now + self.arm.positioning(now, &place, false);
        let done = self.pass(begun, &place, end, false);
        self.work(now, done, work);
    }

    /// Moves the arm through a transfer that begins at `place` at `begun`; gives
    /// when it has passed all before `end`.
    pub(super) fn pass(
        &mut self,
        begun: u64,
        place: &MediumPosition,
        end: u64,
        writes: bool,
    ) -> u64 {
        self.counts.seeks += u64::from(self.arm.must_seek(place));
        let last = self.arm.geometry.place(end - 1);
        self.arm.set_position(&last, writes);
        begun + (self.arm.geometry.pass_of_end(end) - place.pass)
    }

    pub(super) fn work(&mut self, now: u64, done: u64, work: DiskWork) {
        self.counts.medium_operations += 1;
        self.counts.busy += done - now;
        self.work = Some(work);
        self.events.push(done, Event::MediumDone);
    }

    /// Puts the arm where reading ahead has brought it.
    fn follow_stream(&mut self, now: u64) {
        if let Some(position) = self.reads.position(&self.arm.geometry, now) {
            let sector = position.wrapping_sub(self.reads.shift()).min(self.last_sector());
            let place = self.arm.geometry.place(sector);
            self.arm.set_position(&place, false);
        }
    }

    pub(super) fn leave_stream(&mut self, now: u64) {
        self.follow_stream(now);
        self.reads.stop(&self.arm.geometry, now);
    }

    pub(super) fn medium_done(&mut self, now: u64) {
        match self.work.take() {
            Some(DiskWork::Read { command, start, end, since, rides }) => {
                self.quiet_until = now + self.destage_delay;
                if rides {
                    self.reads.rode(&self.arm.geometry, now, command.end());
                } else {
                    let (last, until) = self.lies_at(end - 1);
                    let pass = self.arm.geometry.pass_of_end(last + 1);
                    self.reads.enter(start, end, command.end(), now, pass);
                    self.reads.confine((end - 1).wrapping_sub(last), until);
                }
                let sent = self.link.read(since.min(now), now, command.bytes());
                self.events.push(sent, Event::Sent(command));
            }
            Some(DiskWork::Write(command)) => {
                self.uncached -= 1;
                self.note_durable(&command);
                self.complete(now, &command);
                self.admit(now);
            }
            Some(DiskWork::Destage) => {
                self.end_destage();
                self.admit(now);
            }
            Some(DiskWork::Log) => {
                for command in std::mem::take(&mut self.logging) {
                    self.note_durable(&command);
                    self.complete(now, &command);
                }
                self.admit(now);
            }
            Some(DiskWork::Complete { start, end }) => {
                self.writes.complete(start, end, now, &self.arm);
            }
            Some(DiskWork::CompleteFor(waiting)) => self.queue.put_back(waiting),
            Some(DiskWork::Clean(band, how)) => self.cleaned(band, how),
            Some(DiskWork::FlushMap) => {}
            None => {}
        }
    }
}
