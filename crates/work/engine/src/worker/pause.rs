//! Waiting, and thinking.

use std::time::Duration;

use super::clone::Clone;
use crate::measure::now_ns;

/// The wish to stop is looked at so often.
const SLICE: Duration = Duration::from_millis(50);

impl Clone<'_> {
    /// Waits until a time of the clock, or the job's end, or the wish to stop.
    pub(super) fn wait_until(&mut self, until_ns: u64) {
        let until_ns = until_ns.min(self.deadline_ns);
        loop {
            let left = until_ns.saturating_sub(now_ns());
            if left == 0 || self.shared.is_stopped() {
                return;
            }
            // Never spun: in virtual time each look at the clock is a system call, and
            // a timetable forgives being late by a wake-up.
            std::thread::sleep(Duration::from_nanos(left).min(SLICE));
        }
    }

    /// A pause, where it is time for one. No I/O may be in flight. Returns the
    /// time after it.
    pub(super) fn think(&mut self, now: u64) -> u64 {
        let Some(thinker) = &mut self.thinker else { return now };
        let think = thinker.think;
        let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let end = now.saturating_add(ns(think.time));
        let spun = now.saturating_add(ns(think.spin)).min(self.deadline_ns);
        while now_ns() < spun && !self.shared.is_stopped() {
            std::hint::spin_loop();
        }
        self.wait_until(end);
        let after = now_ns();
        if let Some(thinker) = &mut self.thinker {
            thinker.begin(after);
        }
        if !self.job.pace.ignore_thinktime {
            self.limiter.skip(after - now);
        }
        after
    }

    /// Whether it is time for a pause.
    pub(super) fn thinks(&self, now: u64) -> bool {
        self.thinker.as_ref().is_some_and(|thinker| thinker.is_due(now))
    }
}
