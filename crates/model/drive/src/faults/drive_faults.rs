//! The faults of one drive, between its requests and its model.

use std::collections::HashMap;

use super::area::{Area, When};
use super::effect::{Effect, Fate, FaultDraw, Meeting, WrittenTo};
use crate::{Completion, Nanos, Operation, Request, Status};

/// How long a dead drive takes to refuse a request: a command that the link aborts. Assumed; it is not less
/// than any model's least latency.
const REFUSAL: Nanos = Nanos(1_000_000);

/// What goes wrong with a drive, when and where.
pub struct DriveFault {
    when: When,
    place: Area,
    effect: Box<dyn Effect>,
    /// The drive's sectors of 512 B, and those of a physical one.
    size: (u64, u64),
    seed: u64,
    /// When it began.
    since: Option<Nanos>,
    requests: u64,
    bytes: u64,
}

/// What came of a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultRecord {
    /// How long after the work's beginning it began; `None` if it did not.
    pub after: Option<Nanos>,
    /// How many requests it had end otherwise.
    pub requests: u64,
    /// How many bytes it changed.
    pub bytes: u64,
    /// How long a request of the drive took at most.
    pub longest: Nanos,
}

/// What becomes of a request before it reaches the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It goes to the drive, with its data.
    Sound,
    /// It goes to the drive, and fails in the end, for this sector of 512 B: no data are moved from
    /// there on.
    Unreadable(u64),
    /// It goes to the drive; its data go elsewhere.
    Written(WrittenTo),
    /// It does not go to the drive.
    Refused,
}

/// What was asked for when a fault began: which fault, what, in which ranges of sectors, and a seed.
pub struct DrawRequest {
    fault: usize,
    /// What is drawn.
    pub draw: FaultDraw,
    /// Sectors of 512 B, `start..end`.
    pub ranges: Vec<(u64, u64)>,
    /// Of the drawing.
    pub seed: u64,
    /// Sectors of 512 B in a physical one.
    pub physical: u64,
}

/// The faults of a drive, and the requests that wait because of them.
#[derive(Default)]
pub struct DriveFaults {
    faults: Vec<DriveFault>,
    /// Those that ended with the drive that had them.
    ended: Vec<DriveFault>,
    /// When the work began; nothing goes wrong before.
    began: Option<Nanos>,
    requests: u64,
    /// What becomes of requests in the drive.
    fates: HashMap<u64, Ending>,
    /// Ends that are later than the drive's.
    held: Vec<Completion>,
    /// The drive does nothing else before that.
    tries_until: Nanos,
    longest: Nanos,
}

/// What becomes of a request that is in the drive.
struct Ending {
    fate: Fate,
    submitted: Nanos,
    /// A bit for each fault of a part of the surface, if the request is there.
    places: u64,
}

impl DriveFault {
    pub(super) fn of(
        when: When,
        place: Area,
        effect: Box<dyn Effect>,
        size: (u64, u64),
        seed: u64,
    ) -> Self {
        Self { when, place, effect, size, seed, since: None, requests: 0, bytes: 0 }
    }

    /// Has it begin if it is due at `now`, the work having begun and the drive been given so many
    /// requests of it. Returns whether it has begun now.
    fn begins(&mut self, now: Nanos, began: Option<Nanos>, requests: u64) -> bool {
        let since = match self.when {
            When::At(after) => began.map(|began| Nanos(began.0.saturating_add(after.0))),
            When::After(count) => (requests >= count).then_some(now),
        };
        let since = since.filter(|since| *since <= now && self.since.is_none());
        self.since = self.since.or(since);
        since.is_some()
    }

    /// The sectors of a request that lie in its place. A flush is for the drive as a whole.
    fn part(&self, request: &Request) -> Option<(u64, u64)> {
        let Request { operation, sector, sectors, .. } = *request;
        match operation {
            Operation::Flush => self.place.0.is_empty().then_some((0, 0)),
            _ => self.place.cut(sector, sector.saturating_add(sectors)),
        }
    }

    /// What becomes of a request, if it meets the fault and that does something.
    fn meet(&mut self, now: Nanos, request: &Request) -> Option<Fate> {
        let since = self.since?;
        let (start, end) = self.part(request)?;
        let Request { operation, sectors, .. } = *request;
        let fate = self.effect.meet(Meeting { now, since, operation, start, end, sectors })?;
        self.requests += 1;
        Some(fate)
    }
}

impl DriveFaults {
    /// Those of a drive. They begin with the work: see [`DriveFaults::begin`].
    pub fn new(faults: Vec<DriveFault>) -> Self {
        Self { faults, ..Self::default() }
    }

    /// Whether the work has not begun.
    pub fn waits(&self) -> bool {
        self.began.is_none()
    }

    /// The work began at this time.
    pub fn begin(&mut self, at: Nanos) {
        self.began.get_or_insert(at);
    }

    /// Another drive is there from now on, with which nothing goes wrong. Requests that are in the
    /// old one end as they would have.
    pub fn end(&mut self) {
        self.ended.append(&mut self.faults);
        self.tries_until = Nanos(0);
    }

    /// What came of each.
    pub fn records(&self) -> Vec<FaultRecord> {
        let began = self.began.unwrap_or_default().0;
        let after = |since: Nanos| Nanos(since.0.saturating_sub(began));
        let record = |fault: &DriveFault| {
            let DriveFault { requests, bytes, .. } = *fault;
            FaultRecord { after: fault.since.map(after), requests, bytes, longest: self.longest }
        };
        self.ended.iter().chain(&self.faults).map(record).collect()
    }

    /// Begins what is due at `now`, before a request. What it draws must be answered by
    /// [`DriveFaults::drawn`].
    pub fn due(&mut self, now: Nanos) -> Vec<DrawRequest> {
        let mut draws = Vec::new();
        if self.began.is_some_and(|began| began <= now) {
            for (number, fault) in self.faults.iter_mut().enumerate() {
                let begins = fault.begins(now, self.began, self.requests);
                if let Some(draw) = fault.effect.draws().filter(|_| begins) {
                    let ((sectors, physical), seed) = (fault.size, fault.seed);
                    let ranges = fault.place.ranges(sectors);
                    draws.push(DrawRequest { fault: number, draw, ranges, seed, physical });
                }
            }
            self.requests += 1;
        }
        draws
    }

    /// What was drawn: bytes that were changed, or the first sectors of physical ones.
    pub fn drawn(&mut self, request: &DrawRequest, places: &[u64]) {
        if let Some(fault) = self.faults.get_mut(request.fault) {
            fault.effect.drawn(places);
            if request.draw.from == super::DrawFrom::BytesHeld {
                fault.bytes += places.len() as u64;
            }
        }
    }

    /// What becomes of a request that is about to be submitted at `now`.
    pub fn meet(&mut self, now: Nanos, request: &Request) -> Start {
        // An earlier request of this number may not have come to the drive.
        self.fates.remove(&request.id);
        let mut fate = Fate::default();
        for own in self.faults.iter_mut().filter_map(|fault| fault.meet(now, request)) {
            fate.refused |= own.refused;
            fate.fails_after = fate.fails_after.max(own.fails_after);
            fate.unreadable = fate.unreadable.into_iter().chain(own.unreadable).min();
            let both = fate.factor.zip(own.factor).map(|(one, other)| one * other);
            fate.factor = both.or(fate.factor).or(own.factor);
            fate.written_to = fate.written_to.or(own.written_to);
        }
        if fate.refused {
            let at = Nanos(now.0.saturating_add(REFUSAL.0));
            self.held.push(Completion { id: request.id, at, status: Status::Failed });
            return Start::Refused;
        }
        let bit = |(number, fault): (usize, &DriveFault)| {
            let is_there = !fault.place.0.is_empty() && fault.part(request).is_some();
            u64::from(is_there).checked_shl(number as u32).unwrap_or(0)
        };
        let places = self.faults.iter().enumerate().map(bit).fold(0, |all, bit| all | bit);
        if !self.faults.is_empty() {
            self.fates.insert(request.id, Ending { fate, submitted: now, places });
        }
        match (fate.unreadable, fate.written_to) {
            (Some(sector), _) => Start::Unreadable(sector),
            (None, Some(to)) => Start::Written(to),
            (None, None) => Start::Sound,
        }
    }

    /// When the next end is, of those that the drive had before.
    pub fn next_event(&self) -> Option<Nanos> {
        self.held.iter().map(|held| held.at).min()
    }

    /// Takes what the drive completed, and leaves what is completed by `now`.
    pub fn pass(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        if completions.is_empty() && self.next_event().is_none_or(|at| at > now) {
            return;
        }
        // Those that draw begin with a request.
        for fault in self.faults.iter_mut().filter(|fault| fault.effect.draws().is_none()) {
            fault.begins(now, self.began, self.requests.saturating_sub(1));
        }
        for mut completion in completions.drain(..) {
            let (mut places, mut began) = (0, completion.at);
            if let Some(ending) = self.fates.remove(&completion.id) {
                let Ending { fate, submitted, .. } = ending;
                (places, began) = (ending.places, submitted);
                let took = completion.at.0.saturating_sub(submitted.0);
                let took = fate.factor.map_or(took, |factor| (took as f64 * factor) as u64);
                completion.at = Nanos(submitted.0.saturating_add(took));
                if let Some(tries) = fate.fails_after {
                    completion.status = Status::Failed;
                    let at = completion.at.max(self.tries_until);
                    self.tries_until = Nanos(at.0.saturating_add(tries.0));
                }
            }
            // While it tries to read a sector, it does nothing else.
            completion.at = completion.at.max(self.tries_until);
            for (number, fault) in self.faults.iter_mut().enumerate() {
                let is_there = fault.place.0.is_empty()
                    || places.checked_shr(number as u32).is_some_and(|bits| bits & 1 == 1);
                if let Some(since) = fault.since.filter(|_| is_there)
                    && fault.effect.end(since, &mut completion)
                {
                    fault.requests += 1;
                }
            }
            self.longest = self.longest.max(Nanos(completion.at.0.saturating_sub(began.0)));
            self.held.push(completion);
        }
        self.held.sort_by_key(|held| held.at);
        let due = self.held.partition_point(|held| held.at <= now);
        completions.extend(self.held.drain(..due));
    }
}
