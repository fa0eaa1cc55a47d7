//! A virtual disk: a drive with a host above it.

use std::collections::{BTreeMap, VecDeque};

use disklab_drive::{
    Completion, Drive, DurabilityLog, Durable, HostStatistics, Nanos, Operation, Request,
    Statistics, Status,
};

use crate::HostSettings;
use crate::backend::HostBackend;
use crate::events::{HostEvent, HostEvents};
use crate::page_cache::PageCache;
use crate::read_ahead::ReadAhead;
use crate::requests::RequestTable;
use crate::settings::PAGE;
use crate::write_back::WriteBack;

/// The latest time at which something can happen, so that no sum overflows.
const LATEST: u64 = u64::MAX / 4;

/// What a part of the drive's work is for.
#[derive(Debug, Clone)]
pub(crate) enum Use {
    /// A request's own data.
    Data(usize),
    /// A request's flush.
    Flush(usize),
    /// A request that lies beyond the disk.
    Misfit(usize),
    /// Pages read into the cache, from the first on, and the requests that wait for them.
    Fill(u64, Vec<usize>),
    /// Dirty pages written: the write-back's own number.
    WriteBack(u64),
}

/// A virtual disk of QEMU, as the guest sees it.
///
/// QEMU's main thread takes the requests one after the other and gives each to a thread
/// of its pool, which reads, writes or flushes the image as any program would.
#[derive(Clone)]
pub struct HostedDrive {
    pub(crate) settings: HostSettings,
    pub(crate) backend: HostBackend,
    /// Whether the guest may think that writes need a flush.
    pub(crate) write_cache: bool,
    /// The pages of the image, where the host's page cache is used.
    pub(crate) cache: Option<PageCache>,
    pub(crate) ahead: ReadAhead,
    pub(crate) requests: RequestTable,
    pub(crate) events: HostEvents,
    main_free: u64,
    threads: u64,
    untaken: VecDeque<usize>,
    /// Writes that are in the image.
    pub(crate) writing: u64,
    pub(crate) unwritten: VecDeque<usize>,
    pub(crate) uses: BTreeMap<u64, Use>,
    /// Pages on their way from the drive: first page to the one after the last, and the
    /// number of the drive's work.
    pub(crate) filling: BTreeMap<u64, (u64, u64)>,
    pub(crate) write_back: WriteBack,
    numbers: u64,
    done: Vec<Completion>,
    pub(crate) durability: DurabilityLog,
    /// The guest's last request whose data are in the page cache.
    pub(crate) copied: u64,
    /// Whether dirty pages could not be written since the last flush, which fails then, once
    /// (lib/errseq.c).
    lost_pages: bool,
    counts: HostStatistics,
    now: u64,
}

impl HostedDrive {
    /// A host over `drive`, which takes `depth` requests at a time. Its cache is empty.
    pub fn new(drive: Box<dyn Drive>, depth: u64, settings: HostSettings) -> Self {
        let pages = settings.memory / PAGE;
        Self {
            backend: HostBackend::new(drive, depth),
            write_cache: settings.cache.write_cache,
            cache: settings.cache.page_cache.then(|| PageCache::new(pages)),
            ahead: ReadAhead::new(settings.read_ahead / PAGE),
            requests: RequestTable::default(),
            events: HostEvents::default(),
            main_free: 0,
            threads: 0,
            untaken: VecDeque::new(),
            writing: 0,
            unwritten: VecDeque::new(),
            uses: BTreeMap::new(),
            filling: BTreeMap::new(),
            write_back: WriteBack::new(pages, settings.dirty),
            numbers: 0,
            done: Vec::new(),
            durability: DurabilityLog::default(),
            copied: 0,
            lost_pages: false,
            counts: HostStatistics::default(),
            now: 0,
            settings,
        }
    }

    fn run_until(&mut self, now: u64) {
        let now = now.min(LATEST);
        let mut ended = Vec::new();
        loop {
            let below = self.backend.next_event();
            let Some(next) = self.events.next().into_iter().chain(below).min() else { break };
            let at = next.max(self.now);
            if at > now {
                break;
            }
            self.now = at;
            if below.is_some_and(|below| below <= at) {
                self.backend.advance(at, &mut ended);
                ended.drain(..).for_each(|(number, status)| self.ended(at, number, status));
            }
            while let Some(event) = self.events.pop_until(at) {
                self.handle(at, event);
            }
        }
        self.now = self.now.max(now);
    }

    fn handle(&mut self, now: u64, event: HostEvent) {
        match event {
            HostEvent::Arrived(slot) if self.threads < self.settings.threads => {
                self.threads += 1;
                self.take_up(now, slot);
            }
            HostEvent::Arrived(slot) => self.untaken.push_back(slot),
            HostEvent::Taken(slot) => self.take_up(now, slot),
            HostEvent::Copied(slot) => match self.requests.get(slot).map(|p| p.request.operation) {
                Some(Operation::Read) => self.finish(now, slot),
                Some(_) => self.copied_in(now, slot),
                None => {}
            },
            HostEvent::Look => self.look_for_old(now),
        }
    }

    /// A thread begins with a request.
    fn take_up(&mut self, now: u64, slot: usize) {
        let Some(pending) = self.requests.get(slot).copied() else { return };
        let Request { operation, sector, sectors, .. } = pending.request;
        let end = sector.checked_add(sectors);
        let fits = sectors > 0 && end.is_some_and(|end| end <= self.backend.sectors());
        match operation {
            Operation::Flush => self.flush(now, slot),
            // Virtual disks ignore them unless told otherwise (`discard=ignore`).
            Operation::Discard => self.finish(now, slot),
            // What cannot be is the drive's to refuse.
            _ if !fits => self.submit_misfit(now, slot, operation, (sector, sectors)),
            Operation::Read if self.cache.is_some() => self.read_pages(now, slot),
            Operation::Read => {
                self.counts.reads += 1;
                self.submit_data(now, slot, operation, (sector, sectors));
            }
            Operation::Write | Operation::WriteZeroes => self.write(now, slot),
        }
    }

    /// A part of the drive's work has ended.
    fn ended(&mut self, now: u64, number: u64, status: Status) {
        match self.uses.remove(&number) {
            Some(Use::Data(slot)) => {
                self.end_with(slot, status);
                self.data_ended(now, slot);
            }
            Some(Use::Flush(slot)) => {
                let lost = std::mem::take(&mut self.lost_pages);
                self.end_with(slot, if lost { Status::Failed } else { status });
                self.finish(now, slot);
            }
            Some(Use::Misfit(slot)) => {
                self.end_with(slot, status);
                self.finish(now, slot);
            }
            Some(Use::Fill(first, waiters)) => {
                waiters.iter().for_each(|slot| self.end_with(*slot, status));
                if status == Status::Failed
                    && let Some((end, _)) = self.filling.get(&first).copied()
                    && let Some(cache) = &mut self.cache
                {
                    cache.forget(first, end);
                }
                self.filled(now, first, number, waiters);
            }
            Some(Use::WriteBack(work)) => {
                self.lost_pages |= status == Status::Failed;
                self.written_back(now, work);
            }
            None => {}
        }
    }

    /// A part of a request has ended.
    fn end_with(&mut self, slot: usize, status: Status) {
        if let Some(pending) = self.requests.get_mut(slot) {
            pending.status = pending.status.and(status);
        }
    }

    /// Gives the drive a request's own data.
    pub(crate) fn submit_data(
        &mut self,
        now: u64,
        slot: usize,
        operation: Operation,
        place: (u64, u64),
    ) {
        self.submit(now, Use::Data(slot), operation, place);
    }

    fn submit_misfit(&mut self, now: u64, slot: usize, operation: Operation, place: (u64, u64)) {
        self.numbers += 1;
        self.uses.insert(self.numbers, Use::Misfit(slot));
        self.backend.submit_alone(now, self.numbers, operation, place);
    }

    /// Gives the drive something to do; returns its number.
    pub(crate) fn submit(
        &mut self,
        now: u64,
        what_for: Use,
        operation: Operation,
        place: (u64, u64),
    ) -> u64 {
        self.numbers += 1;
        let through = match &what_for {
            Use::Data(slot) => self.requests.get(*slot).map_or(0, |pending| pending.number),
            _ => self.copied,
        };
        self.uses.insert(self.numbers, what_for);
        self.backend.submit(now, (self.numbers, through), operation, place);
        self.numbers
    }

    /// A request flushes the drive, where there is something to flush, and ends.
    pub(crate) fn flush_drive(&mut self, now: u64, slot: usize) {
        if self.backend.write_cache() {
            self.counts.flushes += 1;
            self.submit(now, Use::Flush(slot), Operation::Flush, (0, 0));
        } else {
            self.finish(now, slot);
        }
    }

    /// A read from the page cache is over, but for copying.
    pub(crate) fn count_read(&mut self, waited: bool) {
        self.counts.reads += 1;
        self.counts.hits += u64::from(!waited);
    }

    /// A request is done; its thread takes the next.
    pub(crate) fn finish(&mut self, now: u64, slot: usize) {
        let Some(pending) = self.requests.take(slot) else { return };
        let Request { id, operation, sector, sectors } = pending.request;
        if operation == Operation::Discard {
            self.durability.note(sector, sector.saturating_add(sectors), pending.number);
        }
        self.done.push(Completion { id, at: Nanos(now), status: pending.status });
        match self.untaken.pop_front() {
            Some(next) => self.events.push(now, HostEvent::Taken(next)),
            None => self.threads -= 1,
        }
    }
}

impl Drive for HostedDrive {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.run_until(now.0);
        let slot = self.requests.enter(request, self.durability.number());
        self.main_free = self.main_free.max(self.now) + self.settings.request;
        self.events.push(self.main_free, HostEvent::Arrived(slot));
    }

    fn next_event(&self) -> Option<Nanos> {
        let first = self.done.first().map(|done| done.at.0);
        let next = || self.events.next().into_iter().chain(self.backend.next_event()).min();
        first.or_else(next).map(Nanos)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.run_until(now.0);
        completions.append(&mut self.done);
    }

    fn watch_durability(&mut self) {
        self.durability.watch();
        self.backend.watch_durability();
    }

    /// What the host's page cache holds is lost with the host.
    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        let log = &mut self.durability;
        self.backend.take_durable(|start, end, through| log.note(start, end, through));
        log.take(durable);
    }

    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }

    fn statistics(&self) -> Statistics {
        let dirty = self.cache.as_ref().map_or(0, PageCache::dirty) + self.write_back.pages();
        let host = HostStatistics { dirty_bytes: dirty * PAGE, ..self.counts };
        Statistics { host, ..self.backend.statistics() }
    }

    fn sectors(&self) -> u64 {
        self.backend.sectors()
    }

    fn write_cache(&self) -> bool {
        self.write_cache
    }

    /// The guest switches the virtual disk's cache (`VIRTIO_BLK_F_CONFIG_WCE`), as QEMU
    /// does since 1.2: off, each write is flushed; what is dirty is written out. The
    /// page cache stays as it is; the drive below forgets what it holds for reading.
    fn set_write_cache(&mut self, now: Nanos, on: bool) {
        self.run_until(now.0);
        self.write_cache = on;
        if !on {
            self.write_all(self.now);
        }
        self.backend.forget(self.now);
    }
}
