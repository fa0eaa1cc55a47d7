//! The jobs between two stone walls: who starts when, and who ends with whom.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;

use disklab_jobfile::Job;

use crate::context::{JobContext, JobProgress};
use crate::control::Controls;
use crate::error::EngineError;
use crate::files::Ends;
use crate::flow::Flows;
use crate::measure::now_ns;
use crate::steady::Watches;
use crate::worker::{self, CloneOutcome, SegmentShared};

/// A clone's stack: its buffers lie elsewhere. The lab's guest keeps all memory of its
/// first program in place, stacks included.
const STACK_BYTES: usize = 256 << 10;

/// So often it is looked how far the jobs are.
const TICK: Duration = Duration::from_millis(100);

/// Clones that start together wait here until all are prepared.
#[derive(Debug, Default)]
struct StartBarrier {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl StartBarrier {
    /// Called by a clone: it is prepared, and waits until the barrier opens.
    fn arrive(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Called by who started `clones` of them: opens when all are prepared.
    fn open(&self, clones: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 < clones {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.1 = true;
        self.changed.notify_all();
    }
}

/// What all jobs share.
pub(crate) struct Segments<'a> {
    pub(crate) jobs: &'a [Job],
    pub(crate) context: &'a JobContext,
    pub(crate) ends: &'a Ends,
    pub(crate) controls: &'a Controls,
    pub(crate) flows: &'a Flows,
    /// Bytes read and written so far.
    pub(crate) bytes: [AtomicU64; 2],
    pub(crate) watches: Watches,
}

/// The end of a clone: its job, its number, what it did.
type Ended = (usize, u32, CloneOutcome);

/// What runs, and what waits.
#[derive(Default)]
struct State {
    waiting: Vec<usize>,
    started: Vec<usize>,
    /// Clones of a job that have not ended.
    left: BTreeMap<usize, u32>,
    running: usize,
}

impl State {
    /// Jobs whose predecessor has ended; they wait no more.
    fn ready(&mut self, jobs: &[Job], range: &Range<usize>) -> Vec<usize> {
        let left = &self.left;
        let is_over = |index: usize| !range.contains(&index) || left.get(&index) == Some(&0);
        let is_ready = |index: &usize| jobs[*index].groups.wait_for.is_none_or(is_over);
        let (ready, waiting) = self.waiting.iter().partition(|index| is_ready(index));
        self.waiting = waiting;
        ready
    }
}

impl Segments<'_> {
    /// Runs the jobs of this range.
    ///
    /// # Errors
    /// [`EngineError::System`] if a thread cannot be started.
    pub(crate) fn run(
        &mut self,
        range: Range<usize>,
        outcomes: &mut BTreeMap<(usize, u32), CloneOutcome>,
    ) -> Result<(), EngineError> {
        let Self { jobs, context, ends, controls, flows, bytes, watches } = self;
        let (jobs, controls) = (*jobs, *controls);
        let bytes: &[AtomicU64; 2] = bytes;
        let reported = context.progress.is_some().then_some(bytes);
        let shared = |job: usize, clone: u32| SegmentShared {
            context,
            ends,
            control: controls.of(job, clone),
            flows,
            bytes: reported,
        };
        let ticks = context.progress.is_some() || !watches.is_empty();
        std::thread::scope(|scope| {
            let (sender, ended) = channel();
            let mut state = State { waiting: range.clone().collect(), ..State::default() };
            let mut failure = None;
            loop {
                let mut ready = state.ready(jobs, &range);
                ready.retain(|index| !controls.is_stopped(*index));
                if !ready.is_empty() && !context.interrupt.is_raised() && failure.is_none() {
                    for index in &ready {
                        state.left.insert(*index, jobs[*index].process.clones);
                    }
                    state.started.extend(&ready);
                    let (started, failed) = start(scope, jobs, &ready, &shared, &sender);
                    state.running += started;
                    if failed.is_some() {
                        range.clone().for_each(|job| controls.stop_job(job));
                    }
                    failure = failed;
                    watches.start(&ready, now_ns());
                }
                if state.running == 0 {
                    return failure.map_or(Ok(()), Err);
                }
                let message = next_end(&ended, ticks);
                watches.look(controls, now_ns());
                if let Some(hook) = &context.progress {
                    hook(progress(jobs, bytes, state.running, outcomes.len()));
                }
                let Some((index, clone, outcome)) = message else { continue };
                controls.ended(jobs, index, outcome.error.is_some(), &state.started);
                outcomes.insert((index, clone), outcome);
                state.running -= 1;
                if let Some(left) = state.left.get_mut(&index) {
                    *left = left.saturating_sub(1);
                }
            }
        })
    }
}

fn progress(jobs: &[Job], bytes: &[AtomicU64; 2], running: usize, ended: usize) -> JobProgress {
    JobProgress {
        read_bytes: bytes[0].load(Ordering::Relaxed),
        write_bytes: bytes[1].load(Ordering::Relaxed),
        running,
        ended,
        clones: jobs.iter().map(|job| job.process.clones as usize).sum(),
    }
}

/// The next clone that ends; none where it is time to look.
fn next_end(ended: &Receiver<Ended>, ticks: bool) -> Option<Ended> {
    if !ticks {
        // A sender lives as long as this is called.
        return ended.recv().ok();
    }
    ended.recv_timeout(TICK).ok()
}

/// Starts all clones of some jobs, and lets them go when all are prepared: how many, and
/// why not all.
fn start<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    jobs: &'env [Job],
    indices: &[usize],
    shared: &impl Fn(usize, u32) -> SegmentShared<'env>,
    sender: &Sender<Ended>,
) -> (usize, Option<EngineError>) {
    let barrier = Arc::new(StartBarrier::default());
    let mut started = 0;
    let mut failure = None;
    let clones = |index: &usize| {
        let index = *index;
        (0..jobs[index].process.clones).map(move |clone| (index, clone))
    };
    for (index, clone) in indices.iter().flat_map(clones) {
        let job = &jobs[index];
        let (barrier, sender) = (barrier.clone(), sender.clone());
        let shared = shared(index, clone);
        let thread = Builder::new()
            .name(format!("{}.{clone}", job.name).replace('\0', ""))
            .stack_size(STACK_BYTES);
        let spawned = thread.spawn_scoped(scope, move || {
            let arrived = std::cell::Cell::new(false);
            let ready = || {
                arrived.set(true);
                barrier.arrive();
                !shared.is_stopped()
            };
            // The others wait for this one: it has to tell its end, even by a bug.
            let work = AssertUnwindSafe(|| worker::run(job, index, clone, &shared, ready));
            let outcome = catch_unwind(work).unwrap_or_else(|_| {
                if !arrived.get() {
                    barrier.arrive();
                }
                worker::broken(job)
            });
            // The receiver lives until all clones have ended.
            let _ = sender.send((index, clone, outcome));
        });
        if let Err(source) = spawned {
            failure = Some(EngineError::System { action: "start a thread", source });
            break;
        }
        started += 1;
    }
    barrier.open(started);
    (started, failure)
}
