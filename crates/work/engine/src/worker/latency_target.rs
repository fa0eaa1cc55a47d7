//! `latency_target`: a clone's steps in the search for a depth.

use super::clone::Clone;
use super::depth_search::Verdict;
use crate::io_failure::IoFailure;
use crate::measure::now_ns;

impl Clone<'_> {
    /// What the search for a depth asks for.
    ///
    /// # Errors
    /// If not even one I/O at a time keeps to the latency.
    pub(super) fn verdict(&mut self, now_ns: u64) -> Result<Verdict, IoFailure> {
        if self.is_warming_up() {
            return Ok(Verdict::Continue);
        }
        let Some(search) = &mut self.search else { return Ok(Verdict::Continue) };
        match search.judge(now_ns) {
            Verdict::Failed => Err(IoFailure::LatencyTarget(search.target.latency)),
            verdict => Ok(verdict),
        }
    }

    /// Does so, when nothing is in flight.
    pub(super) fn follow(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Measure => self.restart(now_ns()),
            Verdict::Drain => {
                if let Some(search) = &mut self.search {
                    search.begin(now_ns());
                }
            }
            Verdict::Continue | Verdict::Done | Verdict::Failed => {}
        }
    }
}
