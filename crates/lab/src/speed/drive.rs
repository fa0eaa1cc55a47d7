//! A drive that takes the same time for each request, and marks by which the guest
//! says where it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use disklab_drive::{Completion, Drive, Nanos, Operation, Request, Statistics};

/// Capacity: 10 TB, in sectors of 512 B.
const SECTORS: u64 = 10_000_000_000_000 / 4096 * 8;
/// What each request takes: a mean seek, half a turn and the transfer of a drive
/// of 7200 turns a minute.
const LATENCY_NS: u64 = 10_860_000;
/// Writes of this many sectors to the drive's end are marks.
const MARK_SECTORS: u64 = super::job::PAGE as u64 / 512;

/// The state of things when the guest made a mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// Real time.
    pub real: Instant,
    /// The guest's time.
    pub virtual_time: Nanos,
    /// Requests to all drives so far.
    pub requests: u64,
}

/// What the drives of one guest tell.
#[derive(Debug, Default)]
struct Told {
    requests: u64,
    marks: Vec<Mark>,
}

/// What the drives of one guest tell, shared by them.
#[derive(Debug, Clone, Default)]
pub(super) struct Record(Arc<Mutex<Told>>);

impl Record {
    /// The marks, in their order.
    pub fn marks(&self) -> Vec<Mark> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).marks.clone()
    }

    fn note(&self, now: Nanos, request: &Request) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if request.operation == Operation::Write && request.sector == SECTORS - MARK_SECTORS {
            let requests = told.requests;
            told.marks.push(Mark { real: Instant::now(), virtual_time: now, requests });
        } else {
            told.requests += 1;
        }
    }
}

/// A drive that does one request after another.
#[derive(Debug, Default)]
pub(super) struct Steady {
    queue: std::collections::VecDeque<Completion>,
    free_at: u64,
    record: Record,
}

impl Steady {
    /// A drive that tells `record` what it does.
    pub fn boxed(record: &Record) -> Box<dyn Drive> {
        Box::new(Self { record: record.clone(), ..Self::default() })
    }
}

impl Drive for Steady {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.record.note(now, &request);
        self.free_at = self.free_at.max(now.0).saturating_add(LATENCY_NS);
        self.queue.push_back(Completion { id: request.id, at: Nanos(self.free_at) });
    }

    fn next_event(&self) -> Option<Nanos> {
        self.queue.front().map(|c| c.at)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while self.queue.front().is_some_and(|c| c.at <= now) {
            completions.extend(self.queue.pop_front());
        }
    }

    fn statistics(&self) -> Statistics {
        Statistics::default()
    }

    fn sectors(&self) -> u64 {
        SECTORS
    }

    fn write_cache(&self) -> bool {
        false
    }

    fn set_write_cache(&mut self, _now: Nanos, _on: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_how_many_requests_came_before() {
        let record = Record::default();
        let mut drives = [Steady::boxed(&record), Steady::boxed(&record)];
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
