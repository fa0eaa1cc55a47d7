//! The drive as a whole: commands come in, wait, and are carried out.

use std::collections::VecDeque;

use super::arm::Arm;
use super::command::Command;
use super::events::{Event, Events};
use super::geometry::{Geometry, SECTOR};
use super::link::DriveLink;
use super::parameters::Parameters;
use super::queue::{Queue, Waiting};
use super::read_cache::ReadCache;
use super::write_cache::WriteCache;
use crate::smr::{Band, Cleaning, Shingles};
use crate::{
    Completion, Drive, DurabilityLog, Durable, Nanos, Operation, Request, Statistics, Status,
};

/// The latest time at which a request can come, 146 years: later ones count as this
/// one, so that no sum overflows.
const LATEST: u64 = u64::MAX / 4;

/// What the medium is at work on.
#[derive(Debug, Clone, Copy)]
pub(super) enum DiskWork {
    /// A read of `start..end` whose data began to come at `since`.
    Read { command: Command, start: u64, end: u64, since: u64, rides: bool },
    /// A write or zeroing that completes on the medium.
    Write(Command),
    /// A step of the destage.
    Destage,
    /// Writing data to a log in which they outlast a loss of power.
    Log,
    /// Reading the rest of the physical sectors in `start..end` that data in the write cache cut.
    Complete { start: u64, end: u64 },
    /// The same for a write that completes on the medium.
    CompleteFor(Waiting),
    /// A shingled drive's cleaning of a band.
    Clean(Band, Cleaning),
    /// A shingled drive's writing of its map.
    FlushMap,
}

/// A hard disk.
///
/// A command first occupies the controller (its overhead), one after the other.
/// A read that is in memory is then sent; any other waits in the queue for the
/// medium, which does one thing at a time. Writes and flushes are admitted in the
/// order in which they came: a cached write when there is space, a flush when all
/// that was admitted before is on the medium. So a flush blocks later writes, and
/// no read.
///
/// A write completes when its data are in memory; with the write cache off, or
/// where it is larger than the cache, when they are on the medium. If some memory outlasts a loss
/// of power, it completes there with the write cache off, too; a media cache is written first,
/// once for all writes that wait for it. Zeroing completes on the medium. Discarding is nothing to such a drive: it takes its
/// overhead and completes.
///
/// With shingled recording, a translation layer says where data lie and what else
/// the medium has to do; see [`crate::smr`]. Inside, sectors are counted from the
/// beginning of the medium, which is where the host's first sector lies unless
/// something lies before it.
#[derive(Debug, Clone)]
pub struct HardDisk {
    pub(super) arm: Arm,
    pub(super) link: DriveLink,
    pub(super) reads: ReadCache,
    pub(super) writes: WriteCache,
    pub(super) queue: Queue,
    pub(super) events: Events,
    /// Writes and flushes that were not admitted yet.
    pub(super) admission: VecDeque<Command>,
    /// Requests beyond the queue's depth, which the drive has not seen.
    backlog: VecDeque<Command>,
    pub(super) outstanding: u64,
    /// The translation layer of a shingled drive.
    pub(super) shingles: Option<Box<Shingles>>,
    /// Sectors of the medium before the host's first.
    origin: u64,
    /// Writes past the cache that were admitted and are not on the medium.
    pub(super) uncached: u64,
    /// Writes in memory that complete when they are in the log, and those that are on their way
    /// there.
    pub(super) unlogged: Vec<Command>,
    pub(super) logging: Vec<Command>,
    controller_free: u64,
    pub(super) work: Option<DiskWork>,
    pub(super) wake: Option<u64>,
    /// Until when reading ahead goes before destaging.
    pub(super) quiet_until: u64,
    pub(super) destaged_last: bool,
    pub(super) write_cache: bool,
    done: Vec<Completion>,
    pub(super) durability: DurabilityLog,
    /// The last request whose data are in the write cache, and the one that was when the step of
    /// the destage began.
    received: u64,
    destaged_through: u64,
    pub(super) counts: Statistics,
    now: u64,
    pub(super) sectors: u64,
    pub(super) logical: u64,
    pub(super) physical: u64,
    read_overhead: u64,
    write_overhead: u64,
    depth: u64,
    pub(super) destage_delay: u64,
    pub(super) destage_age: u64,
    pub(super) log_write: u64,
    keeps_flushed: bool,
}

impl HardDisk {
    /// A drive at rest, its arm at the outer edge, its caches empty. Its platters'
    /// angle at time 0 follows from `seed`. The parameters must have passed
    /// [`Parameters::check`], as those of drive files have.
    pub fn new(parameters: &Parameters, seed: u64) -> Self {
        Self::with_recording(parameters, 0, seed, |_| None)
    }

    /// A drive whose host sees what lies behind the first `origin` sectors of the
    /// medium, and whose recording is made for that medium.
    pub(super) fn with_recording(
        parameters: &Parameters,
        origin: u64,
        seed: u64,
        recording: impl FnOnce(&Geometry) -> Option<Box<Shingles>>,
    ) -> Self {
        let arm = Arm::new(parameters, seed);
        let shingles = recording(&arm.geometry);
        let sectors = parameters.visible / SECTOR;
        let segment = parameters.segment_size / SECTOR;
        let mut writes = WriteCache::new(parameters);
        writes.set_on(parameters.write_cache);
        Self {
            arm,
            link: DriveLink::new(parameters.link_rate),
            reads: ReadCache::new(parameters.segments, segment, origin + sectors),
            writes,
            queue: Queue::new(parameters),
            events: Events::default(),
            admission: VecDeque::new(),
            backlog: VecDeque::new(),
            outstanding: 0,
            shingles,
            origin,
            uncached: 0,
            unlogged: Vec::new(),
            logging: Vec::new(),
            controller_free: 0,
            work: None,
            wake: None,
            quiet_until: 0,
            destaged_last: false,
            write_cache: parameters.write_cache,
            done: Vec::new(),
            durability: DurabilityLog::default(),
            received: 0,
            destaged_through: 0,
            counts: Statistics::default(),
            now: 0,
            sectors,
            logical: parameters.sectors.logical() / SECTOR,
            physical: parameters.sectors.physical() / SECTOR,
            read_overhead: parameters.read_overhead,
            write_overhead: parameters.write_overhead,
            depth: parameters.queue_depth,
            destage_delay: parameters.destage_delay,
            destage_age: parameters.destage_age,
            log_write: parameters.persistent_write,
            keeps_flushed: parameters.persistent_flush,
        }
    }

    /// Does all that happens until `now`.
    fn run_until(&mut self, now: Nanos) {
        while let Some((at, event)) = self.events.pop_until(now.0) {
            self.handle(at, event);
        }
        self.now = self.now.max(now.0.min(LATEST));
    }

    fn handle(&mut self, now: u64, event: Event) {
        match event {
            Event::Decoded(command) => self.decoded(now, command),
            Event::Received(command) => {
                self.writes.fill(command.sector, command.end(), now, &self.arm);
                self.received = self.received.max(command.number);
                if self.write_cache || self.log_write == 0 {
                    if !self.write_cache {
                        self.note_durable(&command);
                    }
                    self.complete(now, &command);
                } else {
                    self.unlogged.push(command);
                }
            }
            Event::Passed(start, end) => {
                self.writes.fill(start, end, now, &self.arm);
                // Nothing else is admitted while a write is passed on.
                let passing = self.admission.front().map_or(0, |command| command.number);
                self.received = self.received.max(passing);
            }
            Event::Writable(command) => self.enqueue_write(command),
            Event::Sent(command) => self.complete(now, &command),
            Event::MediumDone => self.medium_done(now),
            Event::Wake => {
                if self.wake.is_some_and(|wake| wake <= now) {
                    self.wake = None;
                }
                if self.shingles.is_some() {
                    self.admit(now);
                }
            }
        }
        self.dispatch(now);
    }

    /// Lets the controller begin with a command, which it sees from now on: one that
    /// waited outside of the queue has no age.
    fn begin(&mut self, now: u64, command: Command) {
        let command = Command { arrived: now, ..command };
        self.outstanding += 1;
        let reads = command.operation == Operation::Read;
        let overhead = if reads { self.read_overhead } else { self.write_overhead };
        self.controller_free = self.controller_free.max(now) + overhead;
        self.events.push(self.controller_free, Event::Decoded(command));
    }

    fn decoded(&mut self, now: u64, command: Command) {
        if !command.fits(self.sectors, self.logical) {
            self.counts.refused += 1;
            return self.end(now, &command, Status::Failed);
        }
        let command = command.later_by(self.origin);
        match command.operation {
            Operation::Flush => self.admission.push_back(command),
            Operation::Discard => {
                self.note_durable(&command);
                return self.complete(now, &command);
            }
            _ if command.sectors == 0 => return self.complete(now, &command),
            Operation::Read => return self.read(now, command),
            Operation::Write | Operation::WriteZeroes => self.admission.push_back(command),
        }
        self.admit(now);
    }

    /// Admits writes and flushes in their order, as far as they can be.
    pub(super) fn admit(&mut self, now: u64) {
        while let Some(&command) = self.admission.front() {
            match command.operation {
                Operation::Flush => {
                    if !self.is_durable() || self.uncached > 0 || !self.is_committed(now) {
                        return;
                    }
                    // From the beginning of the medium on, whatever lies before the host's.
                    self.durability.note(self.origin, self.origin + self.sectors, command.number);
                    self.complete(now, &command);
                }
                Operation::Write
                    if (self.write_cache || self.writes.can_persist())
                        && self.writes.can_hold(command.sectors) =>
                {
                    if !self.writes.reserve(command.sector, command.end()) {
                        return;
                    }
                    if let Some(shingles) = &mut self.shingles {
                        shingles.note_write(command.sector, command.end(), now, command.arrived);
                    }
                    let (_, received) = self.link.write(now, command.bytes());
                    self.events.push(received, Event::Received(command));
                }
                _ if self.shingles.is_some() => {
                    if !self.pass_through(now, &command) {
                        return;
                    }
                    self.note_durable(&command);
                    self.complete(now, &command);
                }
                _ => self.admit_uncached(now, command),
            }
            self.admission.pop_front();
        }
    }

    /// Whether all that was admitted to memory outlasts a loss of power.
    fn is_durable(&self) -> bool {
        let stays = self.keeps_flushed || !self.write_cache;
        let logged = self.unlogged.is_empty() && self.logging.is_empty();
        self.writes.is_drained()
            || (stays && logged && self.writes.is_received() && self.writes.is_persistent())
    }

    fn admit_uncached(&mut self, now: u64, command: Command) {
        self.uncached += 1;
        self.writes.supersede(command.sector, command.end(), &self.arm);
        let mut from = now;
        if command.operation == Operation::Write {
            // The medium may begin when the first frame is there, unless the link
            // is the slower: then so late that the data never run out.
            let (first, all) = self.link.write(now, command.bytes());
            let geometry = &self.arm.geometry;
            let transfer =
                geometry.pass_of_end(command.end()) - geometry.place(command.sector).pass;
            from = first.max(all.saturating_sub(transfer));
        }
        self.events.push(from, Event::Writable(command));
    }

    /// The last sector that the host can reach, counted on the medium.
    pub(super) fn last_sector(&self) -> u64 {
        self.origin + self.sectors - 1
    }

    /// What a command wrote is where it outlasts a loss of power.
    pub(super) fn note_durable(&mut self, command: &Command) {
        self.durability.note(command.sector, command.end(), command.number);
    }

    /// Begins to destage `start..end`, all of which waits.
    pub(super) fn begin_destage(&mut self, start: u64, end: u64) {
        self.destaged_through = self.received;
        self.writes.begin_destage_of(start, end, &self.arm);
    }

    /// What was begun last is on the medium.
    pub(super) fn end_destage(&mut self) {
        if let Some((start, end)) = self.writes.end_destage() {
            self.durability.note(start, end, self.destaged_through);
        }
    }

    pub(super) fn complete(&mut self, now: u64, command: &Command) {
        match command.operation {
            Operation::Read => self.counts.reads += 1,
            Operation::Write | Operation::WriteZeroes => self.counts.writes += 1,
            Operation::Flush => self.counts.flushes += 1,
            Operation::Discard => {}
        }
        self.end(now, command, Status::Done);
    }

    /// Hands a command back and lets one that waits outside in.
    fn end(&mut self, now: u64, command: &Command, status: Status) {
        self.done.push(Completion { id: command.id, at: Nanos(now), status });
        self.outstanding -= 1;
        if let Some(shingles) = &mut self.shingles {
            shingles.active = now;
        }
        if let Some(next) = self.backlog.pop_front() {
            self.begin(now, next);
        }
    }
}

impl Drive for HardDisk {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.run_until(now);
        let command = Command::new(request, self.now, self.durability.number());
        if self.outstanding < self.depth {
            self.begin(self.now, command);
        } else {
            self.backlog.push_back(command);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.done.first().map(|done| done.at).or_else(|| self.events.next().map(Nanos))
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.run_until(now);
        completions.append(&mut self.done);
    }

    /// Of any command, the controller knows nothing before it is decoded.
    fn least_latency(&self) -> Nanos {
        Nanos(self.read_overhead.min(self.write_overhead))
    }

    fn watch_durability(&mut self) {
        self.durability.watch();
    }

    /// Of a shingled drive, what is in its log counts, too: it is read again when power is back.
    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        let first = durable.len();
        self.durability.take(durable);
        // The host's first sector may lie behind the beginning of the medium; no sector before it
        // is the host's.
        for part in &mut durable[first..] {
            part.sector = part.sector.saturating_sub(self.origin);
        }
    }

    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            dirty_bytes: self.writes.waiting_sectors() * SECTOR,
            shingled: self.shingles.as_ref().map(|s| s.statistics()).unwrap_or_default(),
            ..self.counts
        }
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn write_cache(&self) -> bool {
        self.write_cache
    }

    fn set_write_cache(&mut self, now: Nanos, on: bool) {
        self.run_until(now);
        self.write_cache = on;
        self.writes.set_on(on);
        if !on {
            self.reads.forget();
            self.writes.forget();
        }
        self.admit(self.now);
        self.dispatch(self.now);
    }
}
