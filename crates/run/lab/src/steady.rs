//! A drive for tests and for measuring the lab itself.

use std::collections::VecDeque;

use disklab_drive::{
    Completion, Drive, DurabilityLog, Durable, Nanos, Request, Statistics, Status,
};

/// A drive that does one request after another, each in the same time, and counts
/// nothing.
#[derive(Debug, Clone)]
pub struct Steady {
    sectors: u64,
    latency_ns: u64,
    free_at: u64,
    queue: VecDeque<(Completion, Durable)>,
    durability: DurabilityLog,
}

impl Steady {
    /// A drive of so many sectors of 512 bytes, whose requests take so many ns each.
    pub fn new(sectors: u64, latency_ns: u64) -> Self {
        Self {
            sectors,
            latency_ns,
            free_at: 0,
            queue: VecDeque::new(),
            durability: DurabilityLog::default(),
        }
    }
}

impl Drive for Steady {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.free_at = self.free_at.max(now.0).saturating_add(self.latency_ns);
        let Request { id, sector, sectors, .. } = request;
        let done = Completion { id, at: Nanos(self.free_at), status: Status::Done };
        self.queue
            .push_back((done, Durable { sector, sectors, through: self.durability.number() }));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.queue.front().map(|(done, _)| done.at)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while let Some((done, Durable { sector, sectors, through })) = self.queue.front().copied()
            && done.at <= now
        {
            self.queue.pop_front();
            self.durability.note(sector, sector.saturating_add(sectors), through);
            completions.push(done);
        }
    }

    fn least_latency(&self) -> Nanos {
        Nanos(self.latency_ns)
    }

    fn watch_durability(&mut self) {
        self.durability.watch();
    }

    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        self.durability.take(durable);
    }

    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }

    fn statistics(&self) -> Statistics {
        Statistics::default()
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn write_cache(&self) -> bool {
        false
    }

    fn set_write_cache(&mut self, _now: Nanos, _on: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use disklab_drive::Operation;

    #[test]
    fn one_request_after_another() {
        let mut drive = Steady::new(1000, 10);
        for id in 0..3 {
            let request = Request { id, operation: Operation::Read, sector: 0, sectors: 8 };
            drive.submit(Nanos(5), request);
        }
        let mut done = Vec::new();
        drive.advance(Nanos(25), &mut done);
        assert_eq!(done.iter().map(|c| (c.id, c.at.0)).collect::<Vec<_>>(), [(0, 15), (1, 25)]);
        assert_eq!(drive.next_event(), Some(Nanos(35)));
    }
}
