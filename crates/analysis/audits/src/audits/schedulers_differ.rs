//! Drives with different I/O schedulers.

use disklab_cell::LayerSpec;

use crate::Severity;
use crate::audits::support::{joined, unlike};
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "schedulers-differ",
    severity: Severity::Warning,
    detects: "I/O schedulers that differ between stacks, unless the study sets them",
    evidence: "queue/scheduler of each drive as the workload started",
    remedy: "choose the same for all drives",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let words = [
        "The drives' I/O schedulers were",
        "Mixed loads on disks depend on the scheduler.",
        "Choose the same for all, by /sys/block/…/queue/scheduler or a udev rule.",
    ];
    unlike(evidence, Severity::Warning, words, |cell| {
        let stack = evidence.study.stacks.iter().find(|stack| stack.id == cell.levels.stack);
        // Where the study sets it, it is what is compared.
        let sets = |layer: &LayerSpec| layer.name == "queue" && layer.option("scheduler").is_some();
        if stack.is_some_and(|stack| stack.layers.iter().any(sets)) {
            return None;
        }
        joined(cell.environment.drives.iter().filter_map(|drive| drive.scheduler.as_deref()))
    })
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveState, Environment};

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn schedulers_that_differ_are_reported_and_others_are_not() {
        for (other, expected) in [(Some("bfq"), 1), (Some("none"), 0), (None, 0)] {
            let mut fixture = RunFixture::new("");
            for (stack, scheduler) in [("single/ext4", Some("none")), ("raid1/ext4", other)] {
                let scheduler = scheduler.map(str::to_owned);
                let drives = vec![DriveState { scheduler, ..DriveState::default() }];
                fixture.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
            }
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{other:?}");
        }
    }

    #[test]
    fn a_scheduler_that_the_study_sets_is_what_it_compares() {
        let mut fixture = RunFixture::new("[stacks]\nset = \"queue[scheduler=bfq]/ext4\"\n");
        for (stack, scheduler) in [("single/ext4", "none"), ("set", "bfq")] {
            let drive = DriveState { scheduler: Some(scheduler.into()), ..DriveState::default() };
            let environment = Environment { drives: vec![drive], ..Environment::default() };
            fixture.around(stack, "dd-4k", 0, environment);
        }
        assert_eq!(fixture.findings(AUDIT.name), []);
    }
}
