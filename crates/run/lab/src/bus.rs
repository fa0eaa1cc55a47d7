//! A bus that all drives of a lab share: the link behind a port multiplier, the cable
//! of a dock, the one lane of a controller, the way from a chipset to the processor.
//!
//! It carries one transfer after another, in the order in which the drives are done
//! with them, each at its full rate: together they never get more, and a drive alone
//! whose own link is no faster than the bus does not feel it. A transfer may cross as
//! soon as the drive's own link begins with it, and is there when both have carried it.
//!
//! Commands, flushes, discards and zeroing carry no data and wait for nothing. What a
//! drive is sent, it has when its own link has carried it; only the host hears of it
//! later. So a drive may begin to write out data a little before they could be there.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use disklab_drive::{Completion, Drive, Durable, Nanos, Operation, Request, Statistics, Status};

use crate::{DiskOptions, LabError, OptionsProblem};

/// Nanoseconds in a second.
const SECOND: u128 = 1_000_000_000;

/// The slowest bus, bytes per second: slower ones would let drives wait for minutes,
/// which the guest's kernel takes for a fault.
const SLOWEST: u64 = 1_000_000;

/// A bus, and until when it is taken.
#[derive(Debug)]
struct Bus {
    /// Bytes per second.
    rate: u64,
    free: u64,
}

impl Bus {
    /// When `bytes` are across that the drive's own link was done with at `done`, after
    /// it had worked on them for `link` ns.
    fn carry(&mut self, done: Nanos, link: u64, bytes: u64) -> Nanos {
        let begins = self.free.max(done.0.saturating_sub(link));
        self.free = begins.saturating_add(time(bytes, self.rate));
        Nanos(self.free.max(done.0))
    }
}

/// How long `bytes` take at `rate` bytes per second, ns, rounded up.
fn time(bytes: u64, rate: u64) -> u64 {
    let time = (u128::from(bytes) * SECOND).div_ceil(u128::from(rate.max(1)));
    u64::try_from(time).unwrap_or(u64::MAX)
}

/// A drive on a bus that it shares with others.
struct OnBus {
    drive: Box<dyn Drive>,
    /// What the drive's own link carries, bytes per second; where that is not known, a
    /// transfer crosses when the drive is done with it.
    link: Option<u64>,
    bus: Arc<Mutex<Bus>>,
    /// Bytes that each request in flight has for the bus, by its id.
    bytes: HashMap<u64, u64>,
    /// What the drive is done with and the bus is not: when it will be, an order, ids, and how
    /// they end.
    crossing: BinaryHeap<Reverse<(u64, u64, u64, Status)>>,
    crossed: u64,
    done: Vec<Completion>,
}

impl OnBus {
    fn new(drive: Box<dyn Drive>, link: Option<u64>, bus: Arc<Mutex<Bus>>) -> Self {
        Self {
            drive,
            link,
            bus,
            bytes: HashMap::new(),
            crossing: BinaryHeap::new(),
            crossed: 0,
            done: Vec::new(),
        }
    }
}

impl Drive for OnBus {
    fn submit(&mut self, now: Nanos, request: Request) {
        if matches!(request.operation, Operation::Read | Operation::Write) && request.sectors > 0 {
            self.bytes.insert(request.id, request.sectors.saturating_mul(512));
        }
        self.drive.submit(now, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        let crossed = self.crossing.peek().map(|Reverse((at, ..))| Nanos(*at));
        self.drive.next_event().into_iter().chain(crossed).min()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.drive.advance(now, &mut self.done);
        for Completion { id, at, status } in self.done.drain(..) {
            let at = match self.bytes.remove(&id) {
                // No thread ends while it holds the lock.
                Some(bytes) => {
                    let link = self.link.map_or(0, |rate| time(bytes, rate));
                    let mut bus = self.bus.lock().unwrap_or_else(PoisonError::into_inner);
                    bus.carry(at, link, bytes)
                }
                None => at,
            };
            self.crossed += 1;
            self.crossing.push(Reverse((at.0, self.crossed, id, status)));
        }
        while let Some(Reverse((at, _, id, status))) = self.crossing.peek().copied()
            && at <= now.0
        {
            self.crossing.pop();
            completions.push(Completion { id, at: Nanos(at), status });
        }
    }

    /// The bus only ever delays.
    fn least_latency(&self) -> Nanos {
        self.drive.least_latency()
    }

    fn watch_durability(&mut self) {
        self.drive.watch_durability();
    }

    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        self.drive.take_durable(durable);
    }

    fn snapshot(&self) -> Box<dyn Drive> {
        self.drive.snapshot()
    }

    fn statistics(&self) -> Statistics {
        self.drive.statistics()
    }

    fn sectors(&self) -> u64 {
        self.drive.sectors()
    }

    fn write_cache(&self) -> bool {
        self.drive.write_cache()
    }

    fn set_write_cache(&mut self, now: Nanos, on: bool) {
        self.drive.set_write_cache(now, on);
    }
}

/// Whether a bus can have this rate, in bytes per second.
///
/// # Errors
/// [`OptionsProblem::Bus`] if it is too slow.
pub fn check_bus(rate: u64) -> Result<(), OptionsProblem> {
    if rate < SLOWEST { Err(OptionsProblem::Bus(rate)) } else { Ok(()) }
}

/// Puts all disks on one bus of `rate` bytes per second.
///
/// # Errors
/// As for [`check_bus`].
pub(crate) fn share(disks: Vec<DiskOptions>, rate: u64) -> Result<Vec<DiskOptions>, LabError> {
    check_bus(rate)?;
    let bus = Arc::new(Mutex::new(Bus { rate, free: 0 }));
    let on = |disk: DiskOptions| DiskOptions {
        drive: Box::new(OnBus::new(disk.drive, disk.link_rate, Arc::clone(&bus))),
        ..disk
    };
    Ok(disks.into_iter().map(on).collect())
}

#[cfg(test)]
mod tests;
