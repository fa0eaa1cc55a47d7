//! Fewer requests in flight than the job asks for.

use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::median;
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "few-in-flight",
    severity: Severity::Warning,
    detects: "jobs that had less than half of the requests in flight that they ask for",
    evidence: "requests in flight by the engine's own count and by the drives' queues, against iodepth",
    remedy: "threads (io_submit_mode=offload, numjobs) or io_uring; or the iodepth that is meant",
    reproducer: Reproducer::Lab("buffered reads by libaio, eight at a time"),
    check,
};

/// Below this share of what was asked for, the figure is that of another depth.
const SHARE: f64 = 0.5;
/// Each job makes at least so many times as many requests as it asks to have in flight.
const ROUNDS: u64 = 4;

/// How many requests each job had in flight, where that is too few.
fn too_few(evidence: &Evidence<'_>, index: usize, group: &Group) -> Option<f64> {
    let profile = group.profile();
    let asked = u64::from(profile.depth.filter(|depth| *depth > 1 && !profile.paced)?);
    let jobs = u64::from(profile.jobs.unwrap_or(1).max(1));
    let details = evidence.details.get(index)?;
    let enough = details.iter().filter(|d| d.operations >= ROUNDS * asked * jobs);
    let means = enough.filter_map(|d| Some(d.in_flight?.max(d.queued? / jobs as f64)));
    median(means.collect()).filter(|mean| *mean < SHARE * asked as f64)
}

/// Why, as far as that is known.
fn reason(evidence: &Evidence<'_>, group: &Group) -> &'static str {
    let profile = group.profile();
    let cells = evidence.cells_of(group);
    let on_zfs = || cells.iter().any(|cell| cell.mount().is_some_and(|(kind, _)| kind == "zfs"));
    if on_zfs() {
        "ZFS carries out what Linux AIO submits within the call that submits it"
    } else if profile.direct == Some(false) {
        "buffered I/O is carried out within the call that submits it"
    } else if profile.is_durable_each() {
        "each write waits for its own sync"
    } else {
        "the interface takes one at a time, or the file system waited in the call that submits \
         (it allocated, or took direct I/O for buffered)"
    }
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|index, group| too_few(evidence, index, group));
    let findings = suspects.iter().map(|suspects| {
        let mut reasons: Vec<&str> =
            suspects.found.iter().map(|(_, group, _)| reason(evidence, group)).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let asked = suspects.found.first().and_then(|(_, group, _)| group.profile().depth);
        let (low, high) = suspects.range();
        let were = match format!("{low:.1}") == format!("{high:.1}") {
            true => format!("{low:.1}"),
            false => format!("{low:.1} to {high:.1}"),
        };
        Detection {
            severity: Severity::Warning,
            text: format!(
                "{} with {}: each job asks for {} requests in flight and had {were} on average: \
                 {}. The figure is that of the smaller depth.",
                suspects.figure,
                suspects.stacks(),
                asked.unwrap_or_default(),
                list(reasons.into_iter(), 3)
            ),
            advice: "Let threads make the requests, as QEMU does by default \
                     (io_submit_mode=offload, or numjobs), or io_uring; or ask for the depth that \
                     is meant."
                .to_owned(),
            groups: suspects.groups(),
        }
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, DriveTraffic, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    /// What is found of a job that had so many in flight, while drives had `queued`.
    fn found(job: &str, in_flight: Option<f64>, queued: f64, mount: &str) -> Vec<String> {
        let mut fixture = RunFixture::new(&format!(
            "[[workloads]]\nid = \"deep\"\nfio = {{ size = \"1G\", rw = \"randread\", {job} }}"
        ));
        let mut one = figure(Direction::Read, 4_096_000, 1.0);
        one.operations = Some(1000);
        let mut deep = step("deep", vec![one]);
        deep.in_flight = in_flight;
        let queue_ns = (queued * deep.elapsed_ns as f64) as u64;
        deep.drives = vec![DriveTraffic { reads: 1000, queue_ns, ..DriveTraffic::default() }];
        let environment = Environment {
            mounts: vec![format!("/dev/sda /mnt/a {mount} rw").parse().expect("a mount")],
            ..Environment::default()
        };
        let sample = Sample { steps: vec![deep], environment, ..Sample::default() };
        fixture.full_sample("single/ext4", "deep", 0, sample);
        let findings = fixture.findings(AUDIT.name);
        findings.into_iter().map(|finding| finding.text).collect()
    }

    const AIO: &str = "iodepth = 8, ioengine = \"libaio\", direct = 1";

    #[test]
    fn a_depth_that_was_not_reached_is_reported_with_the_reason() {
        let [text] = found(AIO, Some(1.1), 1.0, "zfs").try_into().expect("one");
        assert!(text.contains("asks for 8 requests in flight and had 1.1"), "{text}");
        assert!(text.contains("ZFS carries out"), "{text}");
        let buffered = "iodepth = 8, ioengine = \"libaio\"";
        assert!(found(buffered, Some(1.0), 1.0, "ext4")[0].contains("buffered I/O"));
        assert!(found(AIO, Some(2.0), 1.0, "btrfs")[0].contains("took direct I/O for buffered"));
        let synced =
            "rw = \"randwrite\", iodepth = 8, ioengine = \"libaio\", direct = 1, fsync = 1";
        let synced = synced.replace("rw = \"randwrite\", ", "");
        assert_eq!(found(&synced, Some(1.0), 1.0, "ext4").len(), 1);
    }

    #[test]
    fn a_depth_that_was_reached_paced_or_unknown_is_clean() {
        for (job, in_flight, queued) in [
            (AIO, Some(7.9), 7.5),
            (AIO, Some(4.1), 1.0),
            // The call waited for room in the drive's queue.
            (AIO, Some(1.0), 7.5),
            (AIO, None, 1.0),
            ("iodepth = 8, ioengine = \"libaio\", direct = 1, rate_iops = 50", Some(1.0), 1.0),
            ("iodepth = 8, ioengine = \"libaio\", direct = 1, thinktime = 900", Some(1.0), 1.0),
            ("iodepth = 1, direct = 1", Some(1.0), 1.0),
            // Too few requests to fill the queue.
            ("iodepth = 512, ioengine = \"libaio\", direct = 1", Some(90.0), 80.0),
        ] {
            assert_eq!(found(job, in_flight, queued, "zfs"), Vec::<String>::new(), "{job}");
        }
    }
}
