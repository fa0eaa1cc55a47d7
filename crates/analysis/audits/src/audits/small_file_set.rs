//! Work on too little to be reported apart from its surroundings.

use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::{decides_answer, on_hard_disks};
use crate::evidence::{CellFacts, Evidence};
use crate::floors::BelowFloor;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "small-file-set",
    severity: Severity::Severe,
    detects: "figures that rest on less work than an answer needs: files, bytes, requests",
    evidence: "the step's profile against the floors: 1,000 files, twice a drive's memory for random reads, 16 requests that wait, 32 MiB of a stream",
    remedy: "the study's own sizes or its quick form; a larger --scale",
    reproducer: Reproducer::Lab("a tree of 63 files, and random reads of 64 MiB"),
    check,
};

fn lack(evidence: &Evidence<'_>, group: &Group) -> Option<BelowFloor> {
    let cells =
        || evidence.cells_of(group).into_iter().filter_map(CellFacts::smallest_memory).min();
    let memory = on_hard_disks(evidence, group).then(cells).flatten();
    BelowFloor::of(group.profile(), group.key.direction, memory)
}

/// One finding of the figures that answer a question, and one of the others.
fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    [true, false].into_iter().filter_map(|decides| found(evidence, decides)).collect()
}

fn found(evidence: &Evidence<'_>, decides: bool) -> Option<Detection> {
    let suspects = evidence.suspects(|_, group| {
        let lacks = decides_answer(evidence, group) == decides && lack(evidence, group).is_some();
        lacks.then_some(0.0)
    });
    let reported = suspects.iter().filter_map(|suspects| {
        let (_, group, _) = suspects.found.first()?;
        Some(format!("{} ({})", suspects.figure, lack(evidence, group)?))
    });
    let reported: Vec<String> = reported.collect();
    if reported.is_empty() {
        return None;
    }
    let so = if decides { ", and nothing is concluded from it" } else { "" };
    Some(Detection {
        severity: if decides { Severity::Severe } else { Severity::Warning },
        text: format!(
            "Too little is worked on for an answer{so}: {}. So few files fit into one journal, so \
             small files into what a drive keeps and reads ahead, and of so few requests the \
             first weigh too much; larger sets can rank the stacks the other way round.",
            list(reported.iter().map(String::as_str), 6)
        ),
        advice: "Use more files, larger files, more requests: the study as it is, its quick form \
                 (--quick), or a larger --scale."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use disklab_sample::{
        Conditions, Direction, DriveConditions, DriveState, Environment, FileSet, Order, Sample,
        StepProfile, Task,
    };

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(workload: &str, direction: Direction, profile: StepProfile) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let mut one = step("s", vec![figure(direction, 1 << 20, 1.0)]);
        one.profile = Some(profile);
        let drive = DriveState { rotational: Some(true), ..DriveState::default() };
        let own = DriveConditions { cache_bytes: Some(256 << 20), ..DriveConditions::default() };
        let conditions = Some(Conditions { drives: vec![own], ..Conditions::default() });
        let environment = Environment { drives: vec![drive], conditions, ..Environment::default() };
        let sample = Sample { steps: vec![one], environment, ..Sample::default() };
        fixture.full_sample("single/ext4", workload, 0, sample);
        fixture.texts(AUDIT.name)
    }

    fn set(files: u64, bytes: u64) -> StepProfile {
        StepProfile { files: Some(FileSet { files, bytes }), ..StepProfile::default() }
    }

    #[test]
    fn few_files_are_reported_and_thousands_are_not() {
        let tree = |files, task| StepProfile { task: Some(task), ..set(files, 1 << 30) };
        let texts = found("copy", Direction::Copy, tree(63, Task::SmallFiles));
        assert!(texts[0].contains("copy (63 files of at least 1000)"), "{texts:?}");
        assert!(found("copy", Direction::Copy, tree(4000, Task::SmallFiles)).is_empty());
        assert!(found("copy", Direction::Remove, tree(1, Task::Delete)).is_empty());
    }

    #[test]
    fn figures_that_answer_a_question_are_severe() {
        let tree = StepProfile { task: Some(Task::SmallFiles), ..set(63, 1 << 30) };
        let severity = |stacks: &[&str]| {
            let mut fixture = RunFixture::new("");
            for stack in stacks {
                let mut one = step("s", vec![figure(Direction::Copy, 1 << 20, 1.0)]);
                one.profile = Some(tree.clone());
                fixture.sample(stack, "copy", 0, vec![one]);
            }
            let found = fixture.findings(AUDIT.name);
            found.iter().map(|f| f.severity).collect::<Vec<_>>()
        };
        assert_eq!(severity(&["single/ext4", "raid1/btrfs"]), [Severity::Severe]);
        assert_eq!(severity(&["single/ext4"]), [Severity::Warning]);
    }

    #[test]
    fn files_that_fit_into_a_drive_are_reported() {
        let reads = |bytes, order| StepProfile {
            reads: Some(disklab_sample::Requests::of_size(4096, order)),
            ..set(1, bytes)
        };
        let texts = found("fio", Direction::Read, reads(64 << 20, Order::Random));
        assert!(texts[0].contains("64 MiB of files, 256 MiB of memory"), "{texts:?}");
        assert!(found("fio", Direction::Read, reads(512 << 20, Order::Random)).is_empty());
        assert!(found("fio", Direction::Read, reads(64 << 20, Order::Sequential)).is_empty());
    }
}
