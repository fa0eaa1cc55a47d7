//! What drives say outlasts a loss of power.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use disklab_drive::{
    Completion, Drive, Durable, Nanos, Operation, Request, ResumedDrive, UnsettledWrites, shipped,
};
use proptest::prelude::*;

use crate::common::script::{Script, operation, script};

/// A disk, one whose cache partly outlasts a loss of power, a shingled one; solid-state drives
/// with a buffer that does and without.
const MODELS: [&str; 6] = [
    "hdn721010ale604",
    "wuh721818ale6l4",
    "st8000as0002",
    "samsung-970pro-512gb",
    "samsung-pm983-960gb",
    "samsung-870evo-1tb",
];

fn writes(request: &Request) -> bool {
    !matches!(request.operation, Operation::Read | Operation::Flush) && request.sectors > 0
}

/// A drive that is watched.
struct Watched {
    drive: Box<dyn Drive>,
    unsettled: UnsettledWrites<u64>,
    /// Sectors of each write that could be lost.
    left: BTreeMap<u64, u64>,
    done: BTreeSet<u64>,
    /// What each flush must find on the medium: the writes that were done when it came.
    owed: BTreeMap<u64, BTreeSet<u64>>,
    requests: BTreeMap<u64, Request>,
}

impl Watched {
    fn new(mut drive: Box<dyn Drive>) -> Self {
        drive.watch_durability();
        Self {
            drive,
            unsettled: UnsettledWrites::default(),
            left: BTreeMap::new(),
            done: BTreeSet::new(),
            owed: BTreeMap::new(),
            requests: BTreeMap::new(),
        }
    }

    fn submit(&mut self, now: u64, request: Request) {
        let Request { id, operation, sector, sectors } = request;
        self.drive.submit(Nanos(now), request);
        self.requests.insert(id, request);
        if operation == Operation::Flush {
            self.owed.insert(id, self.done.clone());
        }
        if writes(&request) {
            let range = (sector, sector + sectors);
            let Ok(()) = self.unsettled.enter(id, range, |_| Ok::<_, Infallible>(id));
            self.left.insert(id, sectors);
        }
    }

    /// Advances, and checks what has ended. `through`: whether writes end on the medium.
    fn advance(&mut self, now: u64, through: bool) -> Result<(), TestCaseError> {
        let (mut completions, mut durable) = (Vec::new(), Vec::<Durable>::new());
        self.drive.advance(Nanos(now), &mut completions);
        self.drive.take_durable(&mut durable);
        for part in durable {
            prop_assert!(part.through < self.requests.len() as u64, "{part:?} was not asked for");
            let left = &mut self.left;
            let each = |(start, end), id: &u64| {
                if let Some(sectors) = left.get_mut(id) {
                    *sectors -= end - start;
                }
            };
            self.unsettled.settle(part, each, drop);
        }
        self.left.retain(|_, sectors| *sectors > 0);
        for completion in completions {
            let id = completion.id;
            if writes(&self.requests[&id]) {
                self.done.insert(id);
                prop_assert!(!through || !self.left.contains_key(&id), "{id} is done and lost");
            }
            for owed in self.owed.remove(&id).unwrap_or_default() {
                prop_assert!(!self.left.contains_key(&owed), "flush {id} lost {owed}");
            }
        }
        Ok(())
    }
}

/// Requests that fit every drive.
fn scripts() -> impl Strategy<Value = Script> {
    let pause = prop_oneof![2 => 0..200_000_u64, 1 => 0..30_000_000_u64];
    script(
        pause,
        operation(1, 8),
        (0..3000_u64).prop_map(|p| p * 8),
        (1..33_u64).prop_map(|l| l * 8),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// What was done before a flush outlasts a loss of power when the flush is done; without a
    /// write cache, whatever is done does; at rest, all that a disk was given.
    #[test]
    fn what_is_promised_is_durable(
        model in prop::sample::select(&MODELS),
        write_cache: bool,
        script in scripts(),
    ) {
        let model = shipped(model).expect("a model");
        let mut drive = model.build(3);
        drive.set_write_cache(Nanos(0), write_cache);
        let mut watched = Watched::new(drive);
        let mut now = 0;
        for (pause, request) in script {
            let until = now + pause;
            while let Some(at) = watched.drive.next_event().filter(|at| at.0 <= until) {
                now = now.max(at.0);
                watched.advance(now, !write_cache)?;
            }
            now = until;
            watched.submit(now, request);
        }
        let rest = now + 60_000_000_000;
        while let Some(at) = watched.drive.next_event().filter(|at| at.0 <= rest) {
            now = now.max(at.0);
            watched.advance(now, !write_cache)?;
        }
        prop_assert!(watched.owed.is_empty(), "a flush never ended");
        if !matches!(model.kind, disklab_drive::Kind::Ssd(_)) {
            prop_assert!(watched.left.is_empty(), "{:?} never came to the medium", watched.left);
        }
    }

    /// A drive that continues for another user does what it would have done for the first.
    #[test]
    fn a_resumed_drive_continues_where_it_was(
        model in prop::sample::select(&MODELS),
        before in scripts(), after in scripts(), write_cache in any::<bool>(),
    ) {
        let mut first = shipped(model).expect("a model").build(3);
        let (mut now, mut done) = (0, Vec::new());
        carry_out(first.as_mut(), before.clone(), &mut now, &mut done);
        let count = before.len() as u64;
        let mut next = ResumedDrive::new(first.snapshot(), Nanos(now), count);
        next.watch_durability();
        first.watch_durability();
        first.set_write_cache(Nanos(now), write_cache);
        next.set_write_cache(Nanos(0), write_cache);
        prop_assert_eq!((first.write_cache(), next.write_cache()), (write_cache, write_cache));
        let began = now;
        let (mut own, mut resumed) = (Vec::new(), Vec::new());
        carry_out(first.as_mut(), after.clone(), &mut now, &mut own);
        let mut now = 0;
        carry_out(&mut next, after, &mut now, &mut resumed);
        own.iter_mut().for_each(|completion| completion.at.0 -= began);
        prop_assert_eq!(own, resumed);
        prop_assert_eq!(first.statistics(), next.statistics());
        let (mut own, mut resumed) = (Vec::new(), Vec::new());
        first.take_durable(&mut own);
        next.take_durable(&mut resumed);
        own.retain(|part| part.through >= count);
        own.iter_mut().for_each(|part| part.through -= count);
        prop_assert_eq!(own, resumed);
    }
}

/// Gives a drive a script at `now`, and waits until all is done.
fn carry_out(drive: &mut dyn Drive, script: Script, now: &mut u64, done: &mut Vec<Completion>) {
    let all = done.len() + script.len();
    for (pause, request) in script {
        let until = *now + pause;
        while let Some(at) = drive.next_event().filter(|at| at.0 <= until) {
            *now = at.0.max(*now);
            drive.advance(Nanos(*now), done);
        }
        *now = until;
        drive.submit(Nanos(until), request);
    }
    while done.len() < all {
        *now = drive.next_event().expect("a request is in flight").0.max(*now);
        drive.advance(Nanos(*now), done);
    }
}
