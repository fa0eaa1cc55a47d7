//! When threads begin, wait and end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::EarlyStop;
use crate::clock::RunClock;

/// Why a run ends before its time.
#[derive(Debug)]
pub(crate) enum StopCause {
    /// As the script wants: a `finishon…`, or `set mode quit firstdone`.
    Finished,
    /// A flowop failed or found no file, or all threads wait for one another.
    Early(Box<EarlyStop>),
}

/// What all threads of a run look at.
#[derive(Debug)]
pub(crate) struct RunControl {
    clock: RunClock,
    /// When the measurement begins; `u64::MAX` until the threads may start.
    begin: AtomicU64,
    /// When the run ends. Ending it early sets it to the present.
    end: AtomicU64,
    state: Mutex<State>,
    /// Threads that wait for the start or for a time, and the master.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: usize,
    started: bool,
    done: usize,
    /// Threads in `block`, `semblock` or a blocking `sempost`.
    held: usize,
    cause: Option<StopCause>,
}

/// The state stays whole whatever panicked while it was held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunControl {
    pub fn new(clock: RunClock) -> Self {
        Self {
            clock,
            begin: AtomicU64::new(u64::MAX),
            end: AtomicU64::new(u64::MAX),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// When the measurement begins, in nanoseconds.
    pub fn begin(&self) -> u64 {
        self.begin.load(Ordering::Relaxed)
    }

    /// When the run ends, in nanoseconds. One load: every flowop looks.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// A thread is ready; it waits for the start. Returns the time then.
    pub fn ready(&self) -> u64 {
        let mut state = lock(&self.state);
        state.ready += 1;
        self.changed.notify_all();
        while !state.started {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.now()
    }

    /// Waits until `threads` are ready, then lets them start: the measurement
    /// begins after `warm_up`, and ends after `limit` more. `first` is told when they
    /// start. Returns whether they did; not where `stop` says so.
    pub fn start(
        &self,
        threads: usize,
        warm_up: u64,
        limit: Option<u64>,
        first: impl FnOnce(u64),
        stop: impl Fn() -> bool,
    ) -> bool {
        let mut state = lock(&self.state);
        while state.ready < threads && !stop() {
            state = self.wait(state, POLL);
        }
        let now = self.now();
        first(now);
        let begin = now.saturating_add(warm_up);
        self.begin.store(begin, Ordering::Relaxed);
        let end = limit.map_or(u64::MAX, |limit| begin.saturating_add(limit));
        self.end.store(if stop() { now } else { end }, Ordering::Relaxed);
        state.started = true;
        self.changed.notify_all();
        !stop()
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until all threads are done, or the time is over. `look` is called about
    /// four times in a second; where it says true, the run ends.
    pub fn finish(&self, threads: usize, look: impl Fn() -> bool) {
        let mut state = lock(&self.state);
        let mut stuck_since = None;
        loop {
            let left = self.end().saturating_sub(self.now());
            if state.done >= threads || left == 0 {
                return;
            }
            if look() {
                self.end.store(self.now(), Ordering::Relaxed);
                self.changed.notify_all();
                return;
            }
            // Without an end nothing would ever wake them. A thread that was woken
            // counts as held until it runs.
            let alive = threads.saturating_sub(state.done);
            if state.held < alive || self.end() != u64::MAX {
                stuck_since = None;
            } else if self.now().saturating_sub(*stuck_since.get_or_insert(self.now())) > STUCK_NS {
                self.end_now(&mut state, StopCause::Early(EarlyStop::Deadlock.into()));
                return;
            }
            state = self.wait(state, POLL.min(Duration::from_nanos(left)));
        }
    }

    /// A thread is done.
    pub fn done(&self) {
        lock(&self.state).done += 1;
        self.changed.notify_all();
    }

    /// Ends the run where it has not ended; returns when it did.
    pub fn close(&self) -> u64 {
        let _state = lock(&self.state);
        let now = self.now();
        self.changed.notify_all();
        self.end.fetch_min(now, Ordering::Relaxed).min(now)
    }

    /// Ends the run for all, now. The first cause counts.
    pub fn stop(&self, cause: StopCause) {
        self.end_now(&mut lock(&self.state), cause);
    }

    fn end_now(&self, state: &mut State, cause: StopCause) {
        let now = self.now();
        if self.end() > now {
            state.cause.get_or_insert(cause);
        }
        self.end.fetch_min(now, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Why the run ended before its time, if so.
    pub fn take_cause(&self) -> Option<StopCause> {
        lock(&self.state).cause.take()
    }

    /// Sleeps until `time`, or until the run ends.
    pub fn sleep_until(&self, time: u64) {
        let mut state = lock(&self.state);
        loop {
            let left = time.min(self.end()).saturating_sub(self.now());
            if left == 0 {
                return;
            }
            state = self.wait(state, Duration::from_nanos(left));
        }
    }

    /// Counts a thread as held by others, or as free again.
    fn hold(&self, held: bool) {
        let mut state = lock(&self.state);
        state.held = if held { state.held + 1 } else { state.held.saturating_sub(1) };
    }
}

/// Threads that hold one another for so long do so for ever: 2 s.
const STUCK_NS: u64 = 2_000_000_000;

/// How often the master looks whether the user asked to stop.
const POLL: Duration = Duration::from_millis(250);

/// What the threads of one `block` or `semblock` wait for: one per instance.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<Posts>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Posts {
    /// How often it was woken.
    wakes: u64,
    /// How many of these the thread knows of.
    seen: u64,
    /// Posts that nobody took yet.
    posts: u64,
    /// Posts that blocking posters may still give.
    credit: u64,
}

impl Signal {
    /// One whose blocking posters may be so many posts ahead.
    pub fn new(highwater: u64) -> Self {
        let posts = Posts { credit: highwater, ..Posts::default() };
        Self { state: Mutex::new(posts), changed: Condvar::new() }
    }

    /// Wakes the threads that wait in [`block`](Self::block).
    pub fn wake(&self) {
        let mut state = lock(&self.state);
        state.wakes = state.wakes.wrapping_add(1);
        self.changed.notify_all();
    }

    /// Waits until it is woken, or the run ends. With `forgets`, only a wake from now
    /// on counts, as in Filebench: one that comes a moment too early is lost.
    pub fn block(&self, forgets: bool, control: &RunControl) {
        if forgets {
            let mut state = lock(&self.state);
            state.seen = state.wakes;
        }
        self.wait_for(control, |posts| {
            let woken = posts.wakes != posts.seen;
            posts.seen = posts.wakes;
            woken
        });
    }

    /// Gives the credit for `count` posts, and waits for them
    /// (`flowoplib_semblock`).
    pub fn take(&self, count: u64, control: &RunControl) {
        {
            let mut state = lock(&self.state);
            state.credit = state.credit.saturating_add(count);
        }
        self.changed.notify_all();
        self.wait_for(control, |posts| {
            let there = posts.posts >= count;
            if there {
                posts.posts -= count;
            }
            there
        });
    }

    /// Posts `count`; with `blocking`, as soon as there is credit for them.
    pub fn post(&self, count: u64, blocking: bool, control: &RunControl) {
        if blocking {
            self.wait_for(control, |posts| {
                let there = posts.credit >= count;
                if there {
                    posts.credit -= count;
                    posts.posts = posts.posts.saturating_add(count);
                }
                there
            });
        } else {
            let mut state = lock(&self.state);
            state.posts = state.posts.saturating_add(count);
        }
        self.changed.notify_all();
    }

    /// Wakes everyone, for the end of the run.
    pub fn shake(&self) {
        drop(lock(&self.state));
        self.changed.notify_all();
    }

    fn wait_for(&self, control: &RunControl, mut there: impl FnMut(&mut Posts) -> bool) {
        let mut state = lock(&self.state);
        if there(&mut state) {
            return;
        }
        control.hold(true);
        loop {
            let left = control.end().saturating_sub(control.now());
            if left == 0 || there(&mut state) {
                break;
            }
            let time = Duration::from_nanos(left.min(i64::MAX as u64));
            let waited = self.changed.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        control.hold(false);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn open(limit: Option<u64>) -> RunControl {
        let control = RunControl::new(RunClock::start());
        assert!(control.start(0, 0, limit, |_| {}, || false));
        control
    }

    #[test]
    fn a_thread_that_waits_is_woken_by_the_end() {
        let control = open(None);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| control.sleep_until(u64::MAX));
            control.stop(StopCause::Finished);
            sleeper.join().expect("ends");
        });
        assert!(matches!(control.take_cause(), Some(StopCause::Finished)));
    }

    #[test]
    fn posts_are_taken_and_credit_is_given_back() {
        let control = open(None);
        let signal = Signal::new(2);
        signal.post(2, true, &control);
        thread::scope(|scope| {
            let poster = scope.spawn(|| signal.post(1, true, &control));
            signal.take(2, &control);
            poster.join().expect("ends");
        });
        signal.take(1, &control);
        signal.post(5, false, &control);
        signal.take(5, &control);
        assert_eq!(lock(&signal.state).posts, 0);
    }

    #[test]
    fn threads_that_wait_for_one_another_are_reported() {
        let control = open(None);
        let signal = Signal::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                signal.block(false, &control);
                control.done();
            });
            control.finish(1, || false);
            signal.shake();
        });
        let Some(StopCause::Early(why)) = control.take_cause() else { panic!("it ended") };
        assert!(matches!(*why, EarlyStop::Deadlock));
    }

    #[test]
    fn the_first_cause_counts_and_none_after_the_end() {
        let control = open(Some(0));
        control.stop(StopCause::Early(EarlyStop::Deadlock.into()));
        assert!(control.take_cause().is_none());
        let control = open(None);
        control.stop(StopCause::Finished);
        control.stop(StopCause::Early(EarlyStop::Deadlock.into()));
        assert!(matches!(control.take_cause(), Some(StopCause::Finished)));
    }
}
