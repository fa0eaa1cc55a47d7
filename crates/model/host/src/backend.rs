//! The host's block layer: requests wait here while the drive has as many as it takes,
//! and are then sent in the order of sectors, neighbours together.
//!
//! A one-way elevator, as that of mq-deadline and of CFQ within a queue; their
//! deadlines and their preference for reads are not modelled.

use std::collections::BTreeMap;
use std::convert::Infallible;

use disklab_drive::{
    Completion, Drive, Durable, Nanos, Operation, Request, Statistics, Status, UnsettledWrites,
};

/// The most that neighbours are sent together, sectors: `max_sectors_kb` of 512, which
/// SATA drives had before Linux 4.x (1280 since then).
const MOST_SECTORS: u64 = 1024;

/// A part of the host's work for the drive.
#[derive(Debug, Clone, Copy)]
struct Part {
    operation: Operation,
    sectors: u64,
    /// The guest's last request whose data it has.
    through: u64,
}

/// The drive, and what waits for it.
#[derive(Clone)]
pub(crate) struct HostBackend {
    drive: Box<dyn Drive>,
    depth: usize,
    waiting: BTreeMap<(u64, u64), Part>,
    /// What the drive has, and whose it is.
    in_flight: BTreeMap<u64, Vec<u64>>,
    /// Where the last one ended.
    head: u64,
    sent: u64,
    ended: Vec<Completion>,
    /// Writes that the drive could still lose, with the guest's last request whose data they
    /// have; `None` while nobody wants to know.
    unsettled: Option<UnsettledWrites<u64>>,
}

impl HostBackend {
    /// A drive that takes `depth` requests at a time.
    pub fn new(drive: Box<dyn Drive>, depth: u64) -> Self {
        Self {
            drive,
            depth: usize::try_from(depth).unwrap_or(usize::MAX).max(1),
            waiting: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            head: 0,
            sent: 0,
            ended: Vec::new(),
            unsettled: None,
        }
    }

    /// Gives the drive something to do, under a number of the caller's, which is not in
    /// use. What it writes are the guest's data up to request `through`.
    pub fn submit(
        &mut self,
        now: u64,
        (number, through): (u64, u64),
        operation: Operation,
        place: (u64, u64),
    ) {
        let (sector, sectors) = place;
        if operation == Operation::Flush {
            // The kernel's flushes do not wait with the others (block/blk-flush.c).
            return self.send(now, operation, place, vec![number]);
        }
        self.waiting.insert((sector, number), Part { operation, sectors, through });
        self.dispatch(now);
    }

    /// Has the drive tell what becomes durable.
    pub fn watch_durability(&mut self) {
        self.drive.watch_durability();
        self.unsettled.get_or_insert_default();
    }

    /// Tells `each` what of the image is durable, `start..end`, and up to which of the guest's
    /// requests.
    pub fn take_durable(&mut self, mut each: impl FnMut(u64, u64, u64)) {
        let Some(unsettled) = &mut self.unsettled else { return };
        let mut below: Vec<Durable> = Vec::new();
        self.drive.take_durable(&mut below);
        for durable in below {
            unsettled.settle(durable, |(start, end), through| each(start, end, *through), |_| ());
        }
    }

    /// Gives the drive at once what it will refuse.
    pub fn submit_alone(&mut self, now: u64, number: u64, operation: Operation, place: (u64, u64)) {
        self.send(now, operation, place, vec![number]);
    }

    /// When the drive wants to be called.
    pub fn next_event(&self) -> Option<u64> {
        self.drive.next_event().map(|at| at.0)
    }

    /// Advances the drive to `now`; appends the numbers of what has ended, and how.
    pub fn advance(&mut self, now: u64, ended: &mut Vec<(u64, Status)>) {
        self.drive.advance(Nanos(now), &mut self.ended);
        for Completion { id, status, .. } in std::mem::take(&mut self.ended) {
            let whose = self.in_flight.remove(&id).unwrap_or_default();
            ended.extend(whose.into_iter().map(|number| (number, status)));
        }
        self.dispatch(now);
    }

    /// Whether the drive has a write cache that is on.
    pub fn write_cache(&self) -> bool {
        self.drive.write_cache()
    }

    /// Has the drive forget what it holds for reading.
    pub fn forget(&mut self, now: u64) {
        let on = self.drive.write_cache();
        self.drive.set_write_cache(Nanos(now), false);
        self.drive.set_write_cache(Nanos(now), on);
    }

    /// Capacity in sectors of 512 B.
    pub fn sectors(&self) -> u64 {
        self.drive.sectors()
    }

    /// What the drive did.
    pub fn statistics(&self) -> Statistics {
        self.drive.statistics()
    }

    fn dispatch(&mut self, now: u64) {
        while self.in_flight.len() < self.depth {
            let from = self.waiting.range((self.head, 0)..).next();
            let Some((&(sector, number), &part)) = from.or_else(|| self.waiting.iter().next())
            else {
                return;
            };
            self.waiting.remove(&(sector, number));
            let Part { operation, mut sectors, .. } = part;
            let mut whose = vec![number];
            self.note_unsettled(sector, part);
            while let Some((key, next)) = self.neighbour(operation, sector + sectors) {
                if sectors + next.sectors > MOST_SECTORS {
                    break;
                }
                self.waiting.remove(&key);
                self.note_unsettled(sector + sectors, next);
                sectors += next.sectors;
                whose.push(key.1);
            }
            self.send(now, operation, (sector, sectors), whose);
        }
    }

    /// Notes a part of what is sent next.
    fn note_unsettled(&mut self, sector: u64, part: Part) {
        let writes = matches!(part.operation, Operation::Write | Operation::WriteZeroes);
        if let Some(unsettled) = self.unsettled.as_mut().filter(|_| writes) {
            let range = (sector, sector.saturating_add(part.sectors));
            let Ok(()) = unsettled.enter(self.sent, range, |_| Ok::<_, Infallible>(part.through));
        }
    }

    /// What waits and begins at `sector`, of the same kind.
    fn neighbour(&self, operation: Operation, sector: u64) -> Option<((u64, u64), Part)> {
        let mut here = self.waiting.range((sector, 0)..=(sector, u64::MAX));
        here.find(|(_, part)| part.operation == operation).map(|(key, part)| (*key, *part))
    }

    fn send(&mut self, now: u64, operation: Operation, place: (u64, u64), whose: Vec<u64>) {
        let (sector, sectors) = place;
        let id = self.sent;
        self.sent += 1;
        if operation != Operation::Flush {
            self.head = sector.saturating_add(sectors);
        }
        self.in_flight.insert(id, whose);
        self.drive.submit(Nanos(now), Request { id, operation, sector, sectors });
    }
}
