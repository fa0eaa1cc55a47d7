//! Native command queueing: which waiting request goes to the medium next.

use super::arm::Arm;
use super::command::Command;
use super::geometry::MediumPosition;
use super::parameters::Parameters;
use super::read_cache::ReadCache;

/// A request that needs the medium.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) command: Command,
    /// First sector that is needed, and the one behind the last.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) place: MediumPosition,
    pub(crate) writes: bool,
    /// Whether the rest of the physical sectors that it cuts was read.
    pub(crate) complete: bool,
}

/// What carries a request out soonest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// The stream of read-ahead comes by at this time.
    Ride(u64),
    /// Its sectors begin to pass under the head at this time, after moving the arm.
    Position(u64),
}

impl Service {
    fn at(self) -> u64 {
        match self {
            Self::Ride(at) | Self::Position(at) => at,
        }
    }
}

/// Requests that wait for the medium, in the order of their coming.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    waiting: Vec<Waiting>,
    quality: f64,
    window: u64,
    age: u64,
}

impl Queue {
    /// An empty queue.
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self {
            waiting: Vec::with_capacity(32),
            quality: parameters.ncq_quality,
            window: parameters.ncq_window,
            age: parameters.queue_age,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Puts one back that was taken, as old as it is.
    pub(crate) fn put_back(&mut self, waiting: Waiting) {
        let age = waiting.command.arrived;
        let index = self.waiting.partition_point(|other| other.command.arrived <= age);
        self.waiting.insert(index, waiting);
    }

    /// Takes the request with the shortest positioning time out of those that the
    /// drive looks at.
    pub(crate) fn take(
        &mut self,
        now: u64,
        arm: &Arm,
        reads: &ReadCache,
    ) -> Option<(Waiting, Service)> {
        let position = reads.position(&arm.geometry, now);
        let way = |waiting: &Waiting| {
            position
                .filter(|_| !waiting.writes && reads.reaches(waiting.end))
                .and_then(|position| reads.ride(&arm.geometry, now, position, waiting.start))
                .map_or_else(
                    || {
                        Service::Position(
                            now + arm.positioning(now, &waiting.place, waiting.writes),
                        )
                    },
                    Service::Ride,
                )
        };
        let oldest = self.waiting.first()?;
        let looked_at = if now.saturating_sub(oldest.command.arrived) > self.age {
            1
        } else {
            let share = self.quality * (self.waiting.len() - 1) as f64;
            1 + (share.round() as u64).min(self.window.saturating_sub(1)) as usize
        };
        let (index, way) = self
            .waiting
            .iter()
            .take(looked_at)
            .map(way)
            .enumerate()
            .min_by_key(|(_, way)| way.at())?;
        Some((self.waiting.remove(index), way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drives;
    use crate::{Operation, Request};

    /// A queue of reads, and which comes first.
    fn first(ncq_quality: f64, ncq_window: u64, now: u64, sectors: &[u64]) -> u64 {
        let (_, p) = drives().swap_remove(0);
        let arm = Arm::new(&p, 1);
        let reads = ReadCache::new(1, 8, p.capacity / 512);
        let mut queue =
            Queue::new(&Parameters { ncq_quality, ncq_window, queue_age: 1000, ..p.clone() });
        for (id, &sector) in (0..).zip(sectors) {
            let request = Request { id, operation: Operation::Read, sector, sectors: 8 };
            queue.push(Waiting {
                command: Command::new(request, 0, 0),
                start: sector,
                end: sector + 8,
                place: arm.geometry.place(sector),
                writes: false,
                complete: false,
            });
        }
        let (taken, way) = queue.take(now, &arm, &reads).unwrap();
        let all =
            sectors.iter().map(|s| now + arm.positioning(now, &arm.geometry.place(*s), false));
        if ncq_quality >= 1.0 && ncq_window >= sectors.len() as u64 && now <= 1000 {
            assert_eq!(Some(way.at()), all.min());
        }
        taken.command.id
    }

    #[test]
    fn the_soonest_goes_first_among_those_looked_at() {
        let sectors = [9_000_000_000, 15_000_000_000, 100, 19_000_000_000, 7_000_000_000];
        assert_eq!(first(1.0, 32, 0, &sectors), 2);
        assert_eq!(first(0.5, 32, 0, &sectors), 2, "three of five are looked at");
        assert_eq!(first(1.0, 3, 0, &sectors), 2, "three of five, too");
        assert_ne!(first(0.25, 32, 0, &sectors), 2, "two of five");
        assert_ne!(first(1.0, 2, 0, &sectors), 2, "two of five, too");
        assert_eq!(first(0.0, 32, 0, &sectors), 0);
        assert_eq!(first(1.0, 1, 0, &sectors), 0);
        assert_eq!(first(1.0, 32, 1001, &sectors), 0, "the oldest waits for too long");
    }
}
