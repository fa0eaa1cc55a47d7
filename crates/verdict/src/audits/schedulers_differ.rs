//! Drives with different I/O schedulers.

use crate::Severity;
use crate::audits::support::{joined, unlike};
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "schedulers-differ",
    severity: Severity::Warning,
    detects: "I/O schedulers that differ between stacks",
    evidence: "queue/scheduler of each drive as the workload started",
    remedy: "choose the same for all drives",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let words = [
        "The drives' I/O schedulers were",
        "Mixed loads on disks depend on the scheduler.",
        "Choose the same for all, by /sys/block/…/queue/scheduler or a udev rule.",
    ];
    unlike(evidence, Severity::Warning, words, |cell| {
        joined(cell.environment.drives.iter().filter_map(|drive| drive.scheduler.as_deref()))
    })
}

#[cfg(test)]
mod tests {
    use disklab_measure::{DriveState, Environment};

    use super::*;
    use crate::testing::Bed;

    #[test]
    fn schedulers_that_differ_are_told_and_others_are_not() {
        for (other, expected) in [(Some("bfq"), 1), (Some("none"), 0), (None, 0)] {
            let mut bed = Bed::new("");
            for (stack, scheduler) in [("single/ext4", Some("none")), ("raid1/ext4", other)] {
                let scheduler = scheduler.map(str::to_owned);
                let drives = vec![DriveState { scheduler, ..DriveState::default() }];
                bed.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
            }
            assert_eq!(bed.findings(AUDIT.name).len(), expected, "{other:?}");
        }
    }
}
