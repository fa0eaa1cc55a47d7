//! The drive as a whole: requests come in, and when they are done is known at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::buffer::Buffer;
use super::flash::{Flash, SMALL};
use super::ftl::{Ftl, Stream, Wear, Work};
use super::lane::Lane;
use super::parameters::{Interface, Parameters};
use super::read_ahead::Prefetch;
use crate::{
    Completion, Drive, DurabilityLog, Durable, Nanos, Operation, Request, Statistics, Status,
};

/// Bytes of a sector.
pub(super) const SECTOR: u64 = 512;

/// The latest time at which a request can come, 146 years: later ones count as this
/// one, so that no sum overflows.
const LATEST: u64 = u64::MAX / 4;

/// A solid-state drive.
///
/// Its structure is NVMeVirt's: the flash translation layer says which pages are read
/// and programmed, and each die, channel and direction of the link knows the times at
/// which it is busy, so that a request's end is known when it begins. Requests begin
/// in the order in which they came, as many at a time as the queue is deep.
///
/// A write completes when its data are in the buffer; they leave it when their page
/// is programmed, which it is when it is full, or when a flush asks for it. Flushes are done
/// one after the other. Of a sequential
/// reader's next data some are read ahead. Reads of what is in the buffer, and of what was never written or was discarded, need no
/// flash. Zeroing forgets whole units, as discarding does.
#[derive(Debug, Clone)]
pub struct SolidState {
    pub(super) ftl: Ftl,
    pub(super) flash: Flash,
    pub(super) buffer: Buffer,
    pub(super) ahead: Prefetch,
    /// The link to the host and from it; one for both where it is half duplex.
    pub(super) link: [Lane; 2],
    pub(super) full_duplex: bool,
    pub(super) nanoseconds_per_byte: f64,
    /// Requests in flight: their ends, an order, ids, and how they end.
    pub(super) in_flight: BinaryHeap<Reverse<(u64, u64, u64, Status)>>,
    pub(super) begun: u64,
    durability: DurabilityLog,
    /// The number of the request that is carried out.
    beginning: u64,
    /// What is going to be durable, and when.
    settling: BinaryHeap<Reverse<(u64, u64, u64, u64)>>,
    /// Requests beyond the queue's depth.
    pub(super) backlog: VecDeque<Request>,
    pub(super) controller_free: u64,
    /// When the data are complete that the pages being filled wait for: by stream.
    pub(super) ready: [u64; 3],
    /// When the last of what the flash does by itself is done.
    pub(super) settled: u64,
    /// Whether anything was written since the last flush.
    pub(super) dirty: bool,
    /// When the last flush is done.
    pub(super) flushed: u64,
    pub(super) wake: Option<u64>,
    pub(super) done: Vec<Completion>,
    pub(super) counts: Statistics,
    pub(super) now: u64,
    pub(super) write_cache: bool,
    pub(super) sectors: u64,
    pub(super) logical: u64,
    pub(super) unit: u64,
    pub(super) page: u64,
    pub(super) dies: u64,
    pub(super) interface: Interface,
    pub(super) protected: bool,
    pub(super) flush_overhead: u64,
    pub(super) fold_delay: u64,
}

impl SolidState {
    /// A drive as it is delivered: nothing is written, all flash is erased. The
    /// parameters must have passed [`Parameters::check`], as those of drive files
    /// have.
    pub fn new(parameters: &Parameters) -> Self {
        let cache = parameters.slc_cache.as_ref();
        let (buffer, unit) = (&parameters.buffer, parameters.flash.map_unit);
        Self {
            ftl: Ftl::new(parameters.layout(), cache.map_or(0.0, |cache| cache.fold_share)),
            flash: Flash::new(parameters),
            buffer: Buffer::new(u32::try_from(buffer.size / unit).unwrap_or(u32::MAX)),
            ahead: Prefetch::new(buffer.read_ahead, parameters.flash.page),
            link: <[Lane; 2]>::default(),
            full_duplex: parameters.interface.full_duplex,
            nanoseconds_per_byte: 1e9 / parameters.interface.link_rate,
            in_flight: BinaryHeap::new(),
            begun: 0,
            durability: DurabilityLog::default(),
            beginning: 0,
            settling: BinaryHeap::new(),
            backlog: VecDeque::new(),
            controller_free: 0,
            ready: [0; 3],
            settled: 0,
            dirty: false,
            flushed: 0,
            wake: None,
            done: Vec::new(),
            counts: Statistics::default(),
            now: 0,
            write_cache: buffer.write_cache,
            sectors: parameters.visible / SECTOR,
            logical: parameters.sectors.logical() / SECTOR,
            unit,
            page: parameters.flash.page,
            dies: parameters.all_dies(),
            interface: parameters.interface.clone(),
            protected: buffer.power_loss_protection,
            flush_overhead: buffer.flush_overhead,
            fold_delay: cache.map_or(0, |cache| cache.fold_delay),
        }
    }

    /// What was written to the flash.
    pub fn wear(&self) -> Wear {
        self.ftl.wear()
    }

    /// Bytes of memory that the map takes.
    pub fn memory(&self) -> u64 {
        self.ftl.memory()
    }

    fn run_until(&mut self, now: Nanos) {
        let now = now.0.min(LATEST);
        loop {
            let next = self.in_flight.peek().map(|Reverse((at, ..))| *at);
            let earlier = next.into_iter().chain(self.wake).min().unwrap_or(now);
            self.now = self.now.max(earlier.min(now));
            if let Some(at) = next.filter(|at| *at <= now && self.wake.is_none_or(|w| *at <= w)) {
                self.complete(at);
            } else if let Some(at) = self.wake.filter(|at| *at <= now) {
                self.fold(at);
            } else {
                break;
            }
        }
        self.now = self.now.max(now);
    }

    /// Ends the request in flight that is done first.
    fn complete(&mut self, at: u64) {
        let Some(Reverse((_, _, id, status))) = self.in_flight.pop() else { return };
        self.done.push(Completion { id, at: Nanos(at), status });
        if let Some(next) = self.backlog.pop_front() {
            self.begin(at, next);
        }
        if self.in_flight.is_empty() && self.ftl.awaits_rest() {
            self.wake = Some(at + self.fold_delay);
        }
    }

    /// Folds a page of the SLC cache on each die, while the host is quiet.
    fn fold(&mut self, at: u64) {
        self.wake = None;
        self.flash.forget(at);
        self.ftl.close_cache();
        let pages = (0..self.dies).take_while(|_| self.ftl.fold_page().is_some()).count();
        self.perform(at);
        self.ftl.rest();
        if pages > 0 && self.ftl.is_caching() {
            self.wake = Some(self.settled.max(at + 1));
        }
    }

    fn begin(&mut self, now: u64, request: Request) {
        self.wake = None;
        self.flash.forget(now);
        self.link.iter_mut().for_each(|lane| lane.forget(now));
        let interface = &self.interface;
        let reads = request.operation == Operation::Read;
        let command = if reads { interface.command } else { interface.write_command };
        self.controller_free = self.controller_free.max(now) + command;
        let decoded = self.controller_free;
        self.beginning = self.durability.number();
        let (end, status) = match self.fits(&request) {
            true => (self.carry_out(decoded, &request).max(decoded), Status::Done),
            false => (decoded, Status::Failed),
        };
        match status {
            Status::Done => self.note_durable(end, &request),
            Status::Failed => self.counts.refused += 1,
        }
        self.begun += 1;
        self.in_flight.push(Reverse((end, self.begun, request.id, status)));
    }

    /// Whether a write is done when it is in memory: by its setting, or because it is durable
    /// there.
    pub(super) fn completes_in_memory(&self) -> bool {
        self.write_cache || self.protected
    }

    /// Whether a request lies within the drive, on whole logical sectors.
    fn fits(&self, request: &Request) -> bool {
        let Request { sector, sectors, .. } = *request;
        request.operation == Operation::Flush
            || (sector.checked_add(sectors).is_some_and(|end| end <= self.sectors)
                && sector.is_multiple_of(self.logical)
                && sectors.is_multiple_of(self.logical))
    }

    /// When a request is done that fits and was understood at `now`.
    fn carry_out(&mut self, now: u64, request: &Request) -> u64 {
        let begin = request.sector * SECTOR;
        let end = begin + request.sectors * SECTOR;
        match request.operation {
            Operation::Read => self.counts.reads += 1,
            Operation::Write | Operation::WriteZeroes => self.counts.writes += 1,
            Operation::Flush => self.counts.flushes += 1,
            Operation::Discard => {}
        }
        match request.operation {
            Operation::Flush => self.flush(now),
            _ if begin == end => now,
            Operation::Read => self.read(now, begin, end),
            Operation::Write => {
                let pieces = (end - begin).div_ceil(SMALL);
                let overhead = self.interface.write_overhead;
                let from = now + overhead + pieces * self.interface.write_overhead_4k;
                let received = self.write(from, begin, end, true);
                if self.completes_in_memory() { received } else { self.drain(received) }
            }
            Operation::WriteZeroes => self.zero(now, begin, end),
            Operation::Discard => self.forget(now, begin, end),
        }
    }

    /// Notes what a request makes durable when it is done.
    fn note_durable(&mut self, end: u64, request: &Request) {
        let Request { operation, sector, sectors, .. } = *request;
        match operation {
            Operation::Read => {}
            Operation::Flush => self.note_settling(end, 0, self.sectors),
            _ if self.protected || !self.write_cache => {
                self.note_settling(end, sector, sector + sectors);
            }
            // A map that has changed is written with the next flush.
            Operation::Write | Operation::Discard | Operation::WriteZeroes => {}
        }
    }

    /// Notes that a page is programmed at `end`: what of it is still the newest.
    fn note_programmed(&mut self, end: u64, page: u32) {
        if !self.durability.watches() {
            return;
        }
        let unit = self.unit / SECTOR;
        let owners: Vec<u32> = self.ftl.owners(page).collect();
        for first in owners {
            let sector = u64::from(first) * unit;
            self.note_settling(end, sector, (sector + unit).min(self.sectors));
        }
    }

    fn note_settling(&mut self, at: u64, start: u64, end: u64) {
        if self.durability.watches() {
            self.settling.push(Reverse((at, self.beginning, start, end)));
        }
    }

    /// Has done what the flash translation layer asks for, the host's data being
    /// there at `now` and before.
    pub(super) fn perform(&mut self, now: u64) {
        let mut works = std::mem::take(&mut self.ftl.work);
        for work in works.drain(..) {
            self.counts.medium_operations += 1;
            match work {
                Work::Read { page, units, cached } => {
                    let bytes = u64::from(units) * self.unit;
                    let end = self.flash.read(now, page, bytes, cached);
                    let ready = &mut self.ready[Stream::Copy as usize];
                    *ready = end.max(*ready);
                }
                Work::Program { page, stream, host_units } => {
                    let from = self.ready[stream as usize].max(self.now);
                    let end = self.flash.program(from, page, stream == Stream::Cache);
                    self.ready[stream as usize] = 0;
                    self.buffer.program(self.now, page, host_units, end);
                    self.note_programmed(end, page);
                    self.settled = self.settled.max(end);
                    self.counts.bytes_to_medium += self.page;
                    self.counts.destages += u64::from(stream != Stream::Copy);
                }
                // What lay there was read before.
                Work::Erase { .. } => {
                    self.ahead.forget();
                    self.flash.erase(now.max(self.ready[Stream::Copy as usize]));
                }
            }
        }
        self.ftl.work = works;
    }
}

impl Drive for SolidState {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.run_until(now);
        if (self.in_flight.len() as u64) < self.interface.queue_depth {
            self.begin(self.now, request);
        } else {
            self.backlog.push_back(request);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        if let Some(done) = self.done.first() {
            return Some(done.at);
        }
        let next = self.in_flight.peek().map(|Reverse((at, ..))| *at);
        next.into_iter().chain(self.wake).min().map(Nanos)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.run_until(now);
        completions.append(&mut self.done);
    }

    fn watch_durability(&mut self) {
        self.durability.watch();
    }

    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        while let Some(Reverse((at, through, start, end))) = self.settling.peek().copied()
            && at <= self.now
        {
            self.settling.pop();
            self.durability.note(start, end, through);
        }
        self.durability.take(durable);
    }

    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }

    fn statistics(&self) -> Statistics {
        Statistics { dirty_bytes: self.buffer.waiting(self.now) * self.unit, ..self.counts }
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
        if !on {
            self.drain(self.now);
        }
    }
}
