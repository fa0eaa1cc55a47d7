//! A drive whose user's clock began when it had run for a while.

use crate::{Completion, Drive, Durable, Nanos, Request, Statistics};

/// A drive that continues from where an earlier user left it: that one's clock was at `began` when
/// the clock of this one was 0.
#[derive(Clone)]
pub struct ResumedDrive {
    drive: Box<dyn Drive>,
    began: u64,
    /// How many requests it had before.
    requests: u64,
}

impl ResumedDrive {
    /// `drive`, which was given so many requests, has none in flight and was not advanced beyond
    /// `began`. Its write cache may hold some of what they wrote, which counts as durable.
    pub fn new(drive: Box<dyn Drive>, began: Nanos, requests: u64) -> Self {
        Self { drive, began: began.0, requests }
    }

    fn own(&self, now: Nanos) -> Nanos {
        Nanos(now.0.saturating_add(self.began))
    }

    fn users(&self, own: Nanos) -> Nanos {
        Nanos(own.0.saturating_sub(self.began))
    }
}

impl Drive for ResumedDrive {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.drive.submit(self.own(now), request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event().map(|at| self.users(at))
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let known = completions.len();
        self.drive.advance(self.own(now), completions);
        for completion in &mut completions[known..] {
            completion.at = self.users(completion.at);
        }
    }

    fn least_latency(&self) -> Nanos {
        self.drive.least_latency()
    }

    fn watch_durability(&mut self) {
        self.drive.watch_durability();
    }

    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        let known = durable.len();
        self.drive.take_durable(durable);
        // Nobody asks about what was written before.
        let mut own = durable.split_off(known);
        own.retain(|of| of.through >= self.requests);
        own.iter_mut().for_each(|of| of.through -= self.requests);
        durable.append(&mut own);
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
        self.drive.set_write_cache(self.own(now), on);
    }
}
