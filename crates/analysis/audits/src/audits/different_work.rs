//! Stacks that did not do the same work.

use disklab_study::{ChartKind, Measure, WorkloadSpec};
use disklab_units::{list, per_cent};

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Severity, measure_of};

pub(super) const AUDIT: Audit = Audit {
    name: "different-work",
    severity: Severity::Severe,
    detects: "elapsed times of different amounts of work",
    evidence: "bytes and operations of each figure whose elapsed time is compared",
    remedy: "the same files for all stacks",
    reproducer: Reproducer::Lab("a second of reading on a disk and on an SSD"),
    check,
};

/// The last file of a tree may be cut elsewhere.
const SHARE: f64 = 0.02;

fn amount(group: &Group) -> f64 {
    let bytes: f64 = group.observations.iter().map(|o| o.bytes as f64).sum();
    let operations: f64 =
        group.observations.iter().filter_map(|o| o.operations).map(|n| n as f64).sum();
    let work = if bytes > 0.0 { bytes } else { operations };
    work / group.observations.len().max(1) as f64
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let timed = evidence.suspects(|_, group| {
        // A whole drive is asked for, or all of a stack's, however much that is.
        let of_group = |work: &&WorkloadSpec| work.id == group.key.levels.workload;
        let of_drives = |work: &WorkloadSpec| ["rebuild", "scrub"].contains(&work.kind.as_str());
        if evidence.study.workloads.iter().find(of_group).is_some_and(of_drives) {
            return None;
        }
        let question = evidence.study.questions.iter().any(|question| {
            question.measure == Some(Measure::Elapsed)
                && question.workloads.iter().any(|pattern| {
                    let (workload, step) = pattern.split_once(':').unwrap_or((pattern, "*"));
                    disklab_study::matches(workload, &group.key.levels.workload)
                        && disklab_study::matches(step, &group.key.step)
                })
        });
        let chosen = measure_of(&[group], &ChartKind::Bars) == Measure::Elapsed;
        (question || chosen).then(|| amount(group)).filter(|amount| *amount > 0.0)
    });
    let unequal: Vec<(String, f64, Vec<usize>)> = timed
        .iter()
        .filter_map(|suspects| {
            let (low, high) = suspects.range();
            let share = high / low - 1.0;
            (share > SHARE).then(|| (suspects.figure.clone(), share, suspects.groups()))
        })
        .collect();
    if unequal.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> = unequal
        .iter()
        .map(|(figure, share, _)| format!("{figure} (up to {} more)", per_cent(*share)))
        .collect();
    vec![Detection {
        severity: Severity::Severe,
        text: format!(
            "Elapsed times of different amounts of work are compared: {}.",
            list(listed.iter().map(String::as_str), 6)
        ),
        advice: "Give all stacks the same files, or compare rates instead of times.".to_owned(),
        groups: unequal.into_iter().flat_map(|(.., groups)| groups).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(measure: &str, other: u64) -> usize {
        let asks =
            format!("[[questions]]\nask = \"?\"\nworkloads = \"fio\"\nmeasure = \"{measure}\"");
        let mut fixture = RunFixture::new(&asks);
        for (stack, bytes) in [("single/ext4", 1_000_000), ("raid1/ext4", other)] {
            let one = step("fio", vec![figure(Direction::Read, bytes, 1.0)]);
            fixture.sample(stack, "fio", 0, vec![one]);
        }
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn whole_drives_are_scrubbed_however_large() {
        let asks = "[[questions]]\nask = \"?\"\nworkloads = \"fio\"\nmeasure = \"elapsed\"";
        let mut fixture = RunFixture::new(asks);
        for (stack, bytes) in [("single/ext4", 1_000_000), ("raid1/ext4", 2_000_000)] {
            let one = step("fio", vec![figure(Direction::Read, bytes, 1.0)]);
            fixture.sample(stack, "fio", 0, vec![one]);
        }
        assert_eq!(fixture.findings(AUDIT.name).len(), 1);
        let of = |wanted: &str, kind: &str| {
            let mut fixture = fixture.clone();
            let works = fixture.study.workloads.iter_mut();
            works.filter(|work| work.id == wanted).for_each(|work| work.kind = kind.to_owned());
            fixture.findings(AUDIT.name).len()
        };
        assert_eq!((of("fio", "scrub"), of("fio", "rebuild")), (0, 0));
        assert_eq!(of("copy", "scrub"), 1, "another workload's kind");
    }

    #[test]
    fn times_of_unequal_work_are_reported_and_rates_are_not() {
        assert_eq!(found("elapsed", 1_300_000), 1);
        assert_eq!(found("elapsed", 1_010_000), 0);
        assert_eq!(found("throughput", 1_300_000), 0);
    }

    #[test]
    fn what_has_no_bytes_is_counted_in_operations() {
        let removed = |other: Option<u64>| {
            let mut fixture = RunFixture::new("");
            for (stack, files) in [("single/ext4", Some(1000)), ("raid1/ext4", other)] {
                let mut remove = figure(Direction::Remove, 0, 1.0);
                remove.operations = files;
                fixture.sample(stack, "copy", 0, vec![step("rm", vec![remove])]);
            }
            fixture.texts(AUDIT.name)
        };
        let texts = removed(Some(1300));
        assert!(texts[0].ends_with("are compared: copy (up to 30 % more)."), "{texts:?}");
        assert_eq!(removed(Some(1000)), [""; 0]);
        assert_eq!(removed(None), [""; 0], "how many is not known");
    }
}
