//! `flow`: jobs that hold each other back, so that each has its share of all I/Os.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use disklab_jobfile::{Flow, Job};

/// The jobs with one `flow_id`: their I/Os, and the weights of those that run.
#[derive(Debug, Default)]
struct Group {
    ios: AtomicU64,
    weight: AtomicU64,
}

/// All of them, by `flow_id`.
#[derive(Debug)]
pub(crate) struct Flows(BTreeMap<u32, Group>);

impl Flows {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let ids = jobs.iter().filter_map(|job| job.pace.flow).map(|flow| flow.id);
        Self(ids.map(|id| (id, Group::default())).collect())
    }

    /// A clone takes part from now on, until what is returned is dropped.
    pub(crate) fn join(&self, flow: Flow) -> Option<FlowShare<'_>> {
        let group = self.0.get(&flow.id)?;
        group.weight.fetch_add(u64::from(flow.weight), Ordering::Relaxed);
        Some(FlowShare { group, flow, ios: 0 })
    }
}

/// The share of one clone.
#[derive(Debug)]
pub(crate) struct FlowShare<'a> {
    group: &'a Group,
    flow: Flow,
    ios: u64,
}

/// A clone that is held back looks again after so long if `flow_sleep` does not say.
const PAUSE_NS: u64 = 10_000;

impl FlowShare<'_> {
    /// How long the clone has to wait before it may ask again, in nanoseconds; nothing if it
    /// may begin an I/O, which is counted then.
    pub(crate) fn wait_ns(&mut self) -> Option<u64> {
        // As fio compares (flow_threshold_exceeded in flow.c), whose group counts from 1.
        let all = u128::from(self.group.ios.load(Ordering::Relaxed) + 1);
        let weights = u128::from(self.group.weight.load(Ordering::Relaxed));
        if u128::from(self.ios) * weights > u128::from(self.flow.weight) * all {
            let sleep_ns = u64::try_from(self.flow.sleep.as_nanos()).unwrap_or(u64::MAX);
            return Some(sleep_ns.max(PAUSE_NS));
        }
        self.group.ios.fetch_add(1, Ordering::Relaxed);
        self.ios += 1;
        None
    }
}

impl Drop for FlowShare<'_> {
    fn drop(&mut self) {
        self.group.weight.fetch_sub(u64::from(self.flow.weight), Ordering::Relaxed);
        self.group.ios.fetch_sub(self.ios, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::jobs;

    #[test]
    fn shares_are_those_of_the_weights() {
        let jobs = jobs(
            "[global]\nsize=1m\nflow_sleep=5\n[a]\nflow=1\n[b]\nflow=3\n[c]\nflow_id=1\nflow=7\n",
        );
        let flows = Flows::new(&jobs);
        let mut shares: Vec<_> = jobs.iter().filter_map(|job| flows.join(job.pace.flow?)).collect();
        let mut counts = [0_u32; 3];
        for _ in 0..4000 {
            for (share, count) in shares.iter_mut().zip(&mut counts) {
                *count += u32::from(share.wait_ns().is_none());
            }
        }
        // The third is alone; of the others each pass lets one with the larger share go.
        assert_eq!(counts[2], 4000);
        assert!(counts[1].abs_diff(3 * counts[0]) <= 6, "{counts:?}");
        // Who is left has all.
        drop(shares.remove(1));
        assert!((0..100).all(|_| shares[0].wait_ns().is_none()));
        assert_eq!(flows.0[&0].weight.load(Ordering::Relaxed), 1);
    }
}
