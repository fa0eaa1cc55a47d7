//! Latencies of work that is to come at a rate, measured from when it was sent.

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "coordinated-omission",
    severity: Severity::Warning,
    detects: "latencies of rate-limited work that leave out how long requests waited to be sent",
    evidence: "rate, rate_iops or thinktime of the job, and the longest latency against the pace",
    remedy: "look at missed deadlines (streams), or let the work come without waiting (iodepth)",
    reproducer: Reproducer::Lab("writes at a pace on a shingled disk that stalls"),
    check,
};

/// Stalls of so many requests' time leave as many out of the quantiles.
const STALLED: f64 = 10.0;

/// With so many in flight others come while one waits.
const DEEP: u32 = 16;

/// How many requests' time the longest took, where the work comes at a pace and waits.
fn stalled(group: &Group) -> Option<f64> {
    let profile = group.profile();
    if !profile.paced || profile.depth.is_some_and(|depth| depth > DEEP) {
        return None;
    }
    let stalls = group.observations.iter().filter_map(|o| {
        let worst = o.latency?.worst_ns / 1e9;
        Some(worst * o.iops?)
    });
    stalls.reduce(f64::max).filter(|requests| *requests > STALLED)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| stalled(group));
    let findings = suspects.iter().map(|suspects| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: the work was to come at a pace, and one request took the time of {:.0}. \
             Those that should have been sent meanwhile waited uncounted, so the quantiles of \
             latency are too good.",
            suspects.figure,
            suspects.stacks(),
            suspects.range().1
        ),
        advice: "Count deadlines missed (the kind streams), or give the job an iodepth that lets \
                 requests come while others wait."
            .to_owned(),
        groups: suspects.groups(),
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, Latency, LatencyHistogram};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(job: &str, worst_ms: u64) -> usize {
        let mut fixture = RunFixture::new(&format!(
            "[[workloads]]\nid = \"paced\"\nfio = {{ size = \"1G\", rw = \"randread\", {job} }}"
        ));
        let mut histogram = LatencyHistogram::new();
        histogram.record(5_000_000, 990);
        histogram.record(worst_ms * 1_000_000, 10);
        let mut one = figure(Direction::Read, 4_096_000, 10.0);
        one.operations = Some(1000);
        one.latency = Some(Latency::from_histogram(histogram));
        fixture.sample("single/ext4", "paced", 0, vec![step("paced", vec![one])]);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn stalls_of_paced_work_are_reported() {
        assert_eq!(found("rate_iops = 100", 800), 1);
        assert_eq!(found("rate_iops = 100", 30), 0);
        assert_eq!(found("iodepth = 1", 800), 0);
        assert_eq!(found("rate_iops = 100, iodepth = 16", 800), 1);
        assert_eq!(found("rate_iops = 100, iodepth = 17", 800), 0);
        assert_eq!(found("rate_iops = 100, iodepth = 64", 800), 0);
    }
}
