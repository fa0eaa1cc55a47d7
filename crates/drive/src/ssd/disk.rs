//! The drive as a whole: requests come in, and when they are done is known at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::buffer::Buffer;
use super::flash::{Flash, SMALL};
use super::ftl::{Ftl, Stream, Wear, Work};
use super::lane::Lane;
use super::parameters::{Interface, Parameters};
use crate::{Completion, Drive, Nanos, Operation, Request, Statistics};

/// Bytes of a sector.
const SECTOR: u64 = 512;

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
/// is programmed, which it is when it is full, or when a flush asks for it. Reads of
/// what is in the buffer, and of what was never written or was discarded, need no
/// flash. Zeroing forgets whole units, as discarding does.
#[derive(Debug)]
pub struct SolidState {
    pub(super) ftl: Ftl,
    flash: Flash,
    buffer: Buffer,
    /// The link to the host and from it; one for both where it is half duplex.
    link: [Lane; 2],
    full_duplex: bool,
    nanoseconds_per_byte: f64,
    /// Requests under way: their ends, an order, and ids.
    under_way: BinaryHeap<Reverse<(u64, u64, u64)>>,
    begun: u64,
    /// Requests beyond the queue's depth.
    backlog: VecDeque<Request>,
    controller_free: u64,
    /// When the data are complete that the pages being filled wait for: by stream.
    ready: [u64; 3],
    /// When the last of what the flash does by itself is done.
    settled: u64,
    /// Whether anything was written since the last flush.
    dirty: bool,
    wake: Option<u64>,
    done: Vec<Completion>,
    counts: Statistics,
    now: u64,
    write_cache: bool,
    sectors: u64,
    logical: u64,
    unit: u64,
    page: u64,
    dies: u64,
    interface: Interface,
    protected: bool,
    flush_overhead: u64,
    fold_delay: u64,
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
            link: <[Lane; 2]>::default(),
            full_duplex: parameters.interface.full_duplex,
            nanoseconds_per_byte: 1e9 / parameters.interface.link_rate,
            under_way: BinaryHeap::new(),
            begun: 0,
            backlog: VecDeque::new(),
            controller_free: 0,
            ready: [0; 3],
            settled: 0,
            dirty: false,
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
            let next = self.under_way.peek().map(|Reverse((at, ..))| *at);
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

    /// Ends the request under way that is done first.
    fn complete(&mut self, at: u64) {
        let Some(Reverse((_, _, id))) = self.under_way.pop() else { return };
        self.done.push(Completion { id, at: Nanos(at) });
        if let Some(next) = self.backlog.pop_front() {
            self.begin(at, next);
        }
        if self.under_way.is_empty() && self.ftl.is_caching() {
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
        if pages > 0 && self.ftl.is_caching() {
            self.wake = Some(self.settled.max(at + 1));
        }
    }

    fn begin(&mut self, now: u64, request: Request) {
        self.wake = None;
        self.flash.forget(now);
        self.link.iter_mut().for_each(|lane| lane.forget(now));
        self.controller_free = self.controller_free.max(now) + self.interface.command;
        let decoded = self.controller_free;
        let end = self.carry_out(decoded, &request);
        self.begun += 1;
        self.under_way.push(Reverse((end.max(decoded), self.begun, request.id)));
    }

    /// Whether a request lies within the drive, on whole logical sectors.
    fn fits(&self, request: &Request) -> bool {
        let Request { sector, sectors, .. } = *request;
        request.operation == Operation::Flush
            || (sector.checked_add(sectors).is_some_and(|end| end <= self.sectors)
                && sector.is_multiple_of(self.logical)
                && sectors.is_multiple_of(self.logical))
    }

    /// When a request is done that was understood at `now`.
    fn carry_out(&mut self, now: u64, request: &Request) -> u64 {
        if !self.fits(request) {
            self.counts.refused += 1;
            return now;
        }
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
                if self.write_cache { received } else { self.drain(received) }
            }
            Operation::WriteZeroes => self.zero(now, begin, end),
            Operation::Discard => self.forget(now, begin, end),
        }
    }

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

    fn read(&mut self, now: u64, begin: u64, end: u64) -> u64 {
        let small = end - begin <= SMALL;
        let interface = &self.interface;
        let overhead = if small { interface.read_overhead } else { interface.large_read_overhead };
        let from = now + overhead;
        let (mut unit, last) = self.units(begin, end);
        let (mut done, mut hit) = (from, true);
        while unit < last {
            let (place, count) = self.ftl.locate(unit, last - unit);
            let bytes = self.within(unit, count, begin, end);
            let page = place.map(|place| self.ftl.layout.page_of(place));
            let page = page.filter(|page| !self.is_in_memory(from, *page));
            let ready = match page {
                None => from,
                Some(page) => {
                    hit = false;
                    self.read_page(from, page, bytes.next_multiple_of(SMALL))
                }
            };
            done = done.max(self.send(ready, bytes, true));
            unit += count;
        }
        self.counts.read_hits += u64::from(hit);
        done
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
    fn write(&mut self, now: u64, begin: u64, end: u64, sent: bool) -> u64 {
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

    /// Has done what the flash translation layer asks for, the host's data being
    /// there at `now` and before.
    fn perform(&mut self, now: u64) {
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
                    self.settled = self.settled.max(end);
                    self.counts.bytes_to_medium += self.page;
                    self.counts.destages += u64::from(stream != Stream::Copy);
                }
                // What lay there was read before.
                Work::Erase { .. } => {
                    self.flash.erase(now.max(self.ready[Stream::Copy as usize]));
                }
            }
        }
        self.ftl.work = works;
    }

    /// Has the pages programmed that are not full; gives when all that was written
    /// is on the flash.
    fn drain(&mut self, now: u64) -> u64 {
        self.ftl.pad();
        self.perform(now);
        self.buffer.drained().max(now)
    }

    fn flush(&mut self, now: u64) -> u64 {
        if self.protected || !std::mem::take(&mut self.dirty) {
            return now;
        }
        self.drain(now) + self.flush_overhead
    }

    /// Forgets the units that lie whole within `begin..end`.
    fn forget(&mut self, now: u64, begin: u64, end: u64) -> u64 {
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
    fn zero(&mut self, now: u64, begin: u64, end: u64) -> u64 {
        let mut done = self.forget(now, begin, end);
        let first = begin.next_multiple_of(self.unit).min(end);
        let last = (end - end % self.unit).max(first);
        for (begin, end) in [(begin, first), (last, end)] {
            // The drive's end may cut a unit, which then was forgotten.
            if begin < end && end < self.sectors * SECTOR {
                done = done.max(self.write(now, begin, end, false));
            }
        }
        if self.write_cache { done } else { self.drain(done) }
    }
}

impl Drive for SolidState {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.run_until(now);
        if (self.under_way.len() as u64) < self.interface.queue_depth {
            self.begin(self.now, request);
        } else {
            self.backlog.push_back(request);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        if let Some(done) = self.done.first() {
            return Some(done.at);
        }
        let next = self.under_way.peek().map(|Reverse((at, ..))| *at);
        next.into_iter().chain(self.wake).min().map(Nanos)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.run_until(now);
        completions.append(&mut self.done);
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
