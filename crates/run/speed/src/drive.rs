//! A drive that takes the same time for each request, and marks by which the guest
//! says where it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use disklab_drive::{Completion, Drive, Durable, Nanos, Operation, Request, Statistics};

use disklab_lab::Steady;

/// Capacity: 10 TB, in sectors of 512 B.
const SECTORS: u64 = 10_000_000_000_000 / 4096 * 8;
/// What each request takes: a mean seek, half a revolution and the transfer of a
/// drive of 7200 rpm.
const LATENCY_NS: u64 = 10_860_000;
/// Writes of this many sectors to the drive's end are marks.
const MARK_SECTORS: u64 = super::raw_disk::PAGE as u64 / 512;

/// The state of things when the guest made a mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DriveMark {
    /// Real time.
    pub real: Instant,
    /// The guest's time.
    pub virtual_time: Nanos,
    /// Requests to all drives so far.
    pub requests: u64,
}

/// What the drives of one guest tell.
#[derive(Debug, Default)]
struct DriveRecord {
    requests: u64,
    marks: Vec<DriveMark>,
}

/// What the drives of one guest tell, shared by them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Arc<Mutex<DriveRecord>>);

impl Record {
    /// The marks, in their order.
    pub fn marks(&self) -> Vec<DriveMark> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).marks.clone()
    }

    fn note(&self, now: Nanos, request: &Request) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if request.operation == Operation::Write && request.sector == SECTORS - MARK_SECTORS {
            let requests = record.requests;
            record.marks.push(DriveMark { real: Instant::now(), virtual_time: now, requests });
        } else {
            record.requests += 1;
        }
    }
}

/// A drive that tells a record what it does.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    drive: Steady,
    record: Record,
}

impl Recorded {
    /// A drive that tells `record`.
    pub fn boxed(record: &Record) -> Box<dyn Drive> {
        Box::new(Self { drive: Steady::new(SECTORS, LATENCY_NS), record: record.clone() })
    }
}

impl Drive for Recorded {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.record.note(now, &request);
        self.drive.submit(now, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.drive.advance(now, completions);
    }

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
        Box::new(self.clone())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_how_many_requests_came_before() {
        let record = Record::default();
        let mut drives = [Recorded::boxed(&record), Recorded::boxed(&record)];
        let request = |operation, sector| Request { id: 0, operation, sector, sectors: 8 };
        let end = SECTORS - MARK_SECTORS;
        drives[0].submit(Nanos(1), request(Operation::Write, end));
        drives[1].submit(Nanos(2), request(Operation::Write, 0));
        drives[0].submit(Nanos(3), request(Operation::Read, end));
        drives[0].submit(Nanos(4), request(Operation::Write, end));
        let marks = record.marks();
        assert_eq!(marks.iter().map(|m| m.requests).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(marks[1].virtual_time, Nanos(4));
        assert_eq!(drives[0].next_event(), Some(Nanos(1 + LATENCY_NS)));
    }
}
