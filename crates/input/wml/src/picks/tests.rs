use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;

use super::{PickPool, Picks};

/// What Filebench does, as plainly as can be.
struct Model {
    inside: Vec<bool>,
    rotor: usize,
}

impl Model {
    fn from(&mut self, from: usize) -> Option<usize> {
        let n = self.inside.len();
        let found = (0..n).map(|i| (from + i) % n).find(|i| self.inside[*i])?;
        self.inside[found] = false;
        Some(found)
    }

    fn pick(&mut self) -> Option<usize> {
        let found = self.from(self.rotor)?;
        self.rotor = (found + 1) % self.inside.len();
        Some(found)
    }
}

#[derive(Debug, Clone)]
enum Step {
    Pick,
    PickOwn,
    PickAt(u64),
    PutFirst,
    PutLast,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Pick),
        1 => Just(Step::PickOwn),
        1 => any::<u64>().prop_map(Step::PickAt),
        2 => Just(Step::PutFirst),
        2 => Just(Step::PutLast),
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    #[test]
    fn alone_it_picks_as_filebench_does(
        len in prop_oneof![1_usize..10, 60_usize..70, 4000_usize..5000],
        share in 0_usize..=4, steps in steps(),
    ) {
        let inside = |i: usize| i % 4 < share;
        let pool = PickPool::new(len, inside);
        let mut model = Model { inside: (0..len).map(inside).collect(), rotor: 0 };
        let (mut held, mut rotor) = (Vec::new(), 0);
        for step in steps {
            let (got, wanted) = match step {
                Step::Pick => (pool.pick(), model.pick()),
                Step::PickOwn => {
                    let wanted = model.from(rotor);
                    (pool.pick_with(&mut rotor), wanted)
                }
                Step::PickAt(index) => {
                    (pool.pick_at(index), model.from((index % len as u64) as usize))
                }
                Step::PutFirst | Step::PutLast => {
                    if held.is_empty() {
                        continue;
                    }
                    let at = if matches!(step, Step::PutFirst) { 0 } else { held.len() - 1 };
                    let entry: usize = held.remove(at);
                    prop_assert!(!pool.contains(entry));
                    pool.put(entry);
                    model.inside[entry] = true;
                    prop_assert!(pool.contains(entry));
                    continue;
                }
            };
            prop_assert_eq!(got, wanted);
            held.extend(got);
            prop_assert!(pool.is_consistent());
        }
    }
}

#[test]
fn an_empty_pool_gives_nothing() {
    let pool = PickPool::new(0, |_| true);
    assert!(pool.is_empty() && pool.pick().is_none() && pool.pick_at(5).is_none());
    assert_eq!(pool.pick_with(&mut 3), None);
    pool.put(0);
    assert_eq!((pool.pick(), pool.take(0)), (None, false));
}

/// Threads pick, hold and put back; nobody may ever have what another holds.
fn hammer(len: usize, threads: usize, iterations: usize) {
    let pool = PickPool::new(len, |_| true);
    let held: Vec<AtomicBool> = (0..len).map(|_| AtomicBool::new(false)).collect();
    let (picked, begin) = (AtomicUsize::new(0), Barrier::new(threads));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (pool, held, picked, begin) = (&pool, &held, &picked, &begin);
            scope.spawn(move || {
                let mut own = 0;
                begin.wait();
                for iteration in 0..iterations {
                    let entry = match (thread + iteration) % 5 {
                        0 => pool.pick_with(&mut own),
                        1 => pool.pick_at((iteration * 31) as u64),
                        _ => pool.pick(),
                    };
                    let Some(entry) = entry else { continue };
                    assert!(!held[entry].swap(true, Ordering::SeqCst), "{entry} was given twice");
                    picked.fetch_add(1, Ordering::Relaxed);
                    if iteration % 16 == 0 {
                        std::thread::yield_now();
                    }
                    assert!(held[entry].swap(false, Ordering::SeqCst));
                    pool.put(entry);
                }
            });
        }
    });
    assert!(pool.is_consistent());
    assert!((0..len).all(|entry| pool.contains(entry)), "an entry was lost");
    // Where there are more entries than threads, nobody goes without.
    if len >= threads {
        assert_eq!(picked.into_inner(), threads * iterations);
    }
}

#[test]
fn nothing_is_given_twice_or_lost() {
    hammer(1, 4, 5_000);
    hammer(3, 4, 5_000);
    hammer(8, 8, 5_000);
    hammer(64, 8, 5_000);
    hammer(130, 16, 5_000);
    hammer(10_000, 8, 5_000);
}

#[test]
fn together_threads_go_round_once() {
    // Each entry is picked and kept: every one must come exactly once.
    let len = 20_000;
    let pool = PickPool::new(len, |_| true);
    let mut all: Vec<usize> = std::thread::scope(|scope| {
        let pick = || std::iter::from_fn(|| pool.pick()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(pick)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    all.sort_unstable();
    assert_eq!(all, (0..len).collect::<Vec<_>>());
}

#[test]
fn files_come_and_go() {
    let picks = Picks::new(10, |i| i < 8);
    let new = picks.missing.pick().expect("two are missing");
    assert_eq!(new, 8);
    picks.existing.put(new);
    picks.opened(new);
    assert_eq!(picks.open_count(new), 1);
    picks.closed(new);
    assert_eq!((picks.open_count(new), picks.open_count(99)), (0, 0));
    let old = picks.existing.pick().expect("some exist");
    assert_eq!(old, 0);
    picks.missing.put(old);
    // The rotor is at 9; then it begins again.
    assert_eq!(picks.missing.pick(), Some(9));
    assert_eq!(picks.missing.pick(), Some(0));
    assert_eq!(picks.missing.pick(), None);
}
