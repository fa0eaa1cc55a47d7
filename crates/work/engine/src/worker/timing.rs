//! What a clone does when it is time: the ramp's end, progress, `rate_min`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::clone::Clone;
use crate::io_failure::IoFailure;
use crate::measure::now_ns;

/// How often progress is told.
const PROGRESS_NS: u64 = 100_000_000;

/// So long after its start a job may be slower than `rate_min`: fio's settle period
/// (`__check_min_rate`, backend.c).
const SETTLE_NS: u64 = 2_000_000_000;

impl Clone<'_> {
    /// It begins now.
    pub(super) fn begin(&mut self) {
        let now = now_ns();
        let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let ramp = ns(self.job.timing.ramp);
        self.ramp_ends_ns = if ramp > 0 { now.saturating_add(ramp) } else { u64::MAX };
        if let Some(runtime) = self.job.timing.runtime {
            self.deadline_ns = now.saturating_add(ramp).saturating_add(ns(runtime));
        }
        self.settles_ns = Some(now.saturating_add(SETTLE_NS));
        self.restart(now);
    }

    /// Counting begins now.
    pub(super) fn restart(&mut self, now: u64) {
        self.tally.restart(now);
        self.limiter.begin(now);
        self.reported = [0; 2];
        self.cycle = (now, [0; 2], [0; 2]);
        if let Some(thinker) = &mut self.thinker {
            thinker.begin(now);
        }
        if let Some(search) = &mut self.search {
            search.begin(now);
        }
        self.set_event(now);
    }

    fn set_event(&mut self, now: u64) {
        let cycle = self.cycle_ns().map_or(u64::MAX, |ns| {
            self.settles_ns.unwrap_or_else(|| self.cycle.0.saturating_add(ns))
        });
        let progress = if self.shared.bytes.is_some() { now + PROGRESS_NS } else { u64::MAX };
        self.next_event_ns = self.deadline_ns.min(self.ramp_ends_ns).min(cycle).min(progress);
    }

    /// Whether it still warms up.
    pub(super) fn is_warming_up(&self) -> bool {
        self.ramp_ends_ns != u64::MAX
    }

    fn cycle_ns(&self) -> Option<u64> {
        let pace = &self.job.pace;
        let least = [pace.rate_min.read, pace.rate_min.write];
        let least_ios = [pace.rate_iops_min.read, pace.rate_iops_min.write];
        let limited = least.iter().chain(&least_ios).any(Option::is_some);
        limited.then(|| u64::try_from(pace.cycle.as_nanos()).unwrap_or(u64::MAX).max(1))
    }

    /// What the time asks for: the ramp's end, progress, `rate_min`, the job's end.
    ///
    /// # Errors
    /// [`IoFailure::Slow`] if the job is slower than `rate_min` or `rate_iops_min` allows.
    #[cold]
    pub(super) fn on_time(&mut self, now: u64) -> Result<(), IoFailure> {
        if now >= self.ramp_ends_ns {
            self.ramp_ends_ns = u64::MAX;
            // The measured time is whole, however late the ramp's end was noticed.
            if let Some(runtime) = self.job.timing.runtime {
                let ns = u64::try_from(runtime.as_nanos()).unwrap_or(u64::MAX);
                self.deadline_ns = now.saturating_add(ns);
            }
            self.restart(now);
        }
        if let Some(cycle_ns) = self.cycle_ns()
            && now >= self.settles_ns.unwrap_or_else(|| self.cycle.0.saturating_add(cycle_ns))
        {
            if self.settles_ns.take().is_none() && self.ramp_ends_ns == u64::MAX {
                self.check_rates(now)?;
            } else {
                self.cycle = (now, self.tally.bytes(), self.tally.operations());
            }
        }
        self.tell_progress();
        self.set_event(now);
        Ok(())
    }

    fn check_rates(&mut self, now: u64) -> Result<(), IoFailure> {
        let (since, bytes, ios) = self.cycle;
        let seconds = (now - since) as f64 / 1e9;
        let pace = &self.job.pace;
        let (bytes_now, ios_now) = (self.tally.bytes(), self.tally.operations());
        let checks = [
            ("rate_min", 0, pace.rate_min.read, bytes_now[0] - bytes[0]),
            ("rate_min", 1, pace.rate_min.write, bytes_now[1] - bytes[1]),
            ("rate_iops_min", 0, pace.rate_iops_min.read, ios_now[0] - ios[0]),
            ("rate_iops_min", 1, pace.rate_iops_min.write, ios_now[1] - ios[1]),
        ];
        for (option, side, least, got) in checks {
            let Some(least) = least else { continue };
            let reached = got as f64 / seconds;
            if reached < least as f64 {
                let requests = ["reads", "writes"][side];
                return Err(IoFailure::Slow { option, requests, reached, least });
            }
        }
        self.cycle = (now, bytes_now, ios_now);
        Ok(())
    }

    /// Adds what was done since the last time to what all have done.
    pub(super) fn tell_progress(&mut self) {
        if let Some(all) = self.shared.bytes {
            let bytes = self.tally.bytes();
            for side in 0..2 {
                all[side].fetch_add(bytes[side] - self.reported[side], Ordering::Relaxed);
            }
            self.reported = bytes;
        }
    }
}
