//! Writes that were called durable though no drive was asked to flush.

use disklab_sample::Direction;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "no-flushes",
    severity: Severity::Warning,
    detects: "synchronous writes during which no drive with a write cache was asked to flush it",
    evidence: "flush requests of each drive, and queue/write_cache",
    remedy: "find the layer that swallows them: a mount option, a controller, a hypervisor",
    reproducer: Reproducer::Lab("synchronous writes on ext4 with nobarrier"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|index, group: &Group| {
        let profile = group.profile();
        // Direct synchronous writes are sent with FUA, which counts as no flush.
        if group.key.direction != Direction::Write || !profile.is_durable() || profile.is_direct() {
            return None;
        }
        let cells = evidence.cells_of(group);
        let mut drives = cells.iter().flat_map(|cell| &cell.environment.drives).peekable();
        let cached = drives.peek().is_some()
            && drives.all(|drive| drive.write_cache.as_deref() == Some("write back"));
        // Kernels before 5.5 count no flushes; then none is known, here and elsewhere.
        let counted = evidence.details.iter().flatten().any(|detail| detail.flushes > 0);
        let none = evidence.details[index].iter().all(|detail| detail.flushes == 0);
        let written = group.observations.iter().all(|o| o.drive_write > 0);
        let off = cells.iter().any(|cell| {
            cell.mount().is_some_and(|(_, options)| {
                options.iter().any(|o| matches!(*o, "nobarrier" | "barrier=0"))
            })
        });
        (cached && none && written && (counted || off)).then_some(0.0)
    });
    let findings = suspects.iter().map(|suspects| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: the writes were to be safe, the drives have write caches, and none was \
             asked to flush its own. A loss of power would have lost them.",
            suspects.figure,
            suspects.stacks()
        ),
        advice: "Look for the layer that swallows flushes: nobarrier, sync=disabled, a controller \
                 or a hypervisor (cache=unsafe). Caches with a battery or capacitors need none."
            .to_owned(),
        groups: suspects.groups(),
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveState, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(workload: &str, cache: &str, flushes: u64, others: u64) -> usize {
        let mut fixture = RunFixture::new("");
        for (stack, flushes) in [("single/ext4", flushes), ("raid1/ext4", others)] {
            let write = figure(Direction::Write, 1 << 20, 1.0);
            let mut one = on_drives(step("s", vec![write]), &[(0, 1 << 20)]);
            one.drives[0].flushes = flushes;
            let drives =
                vec![DriveState { write_cache: Some(cache.into()), ..DriveState::default() }];
            let environment = Environment { drives, ..Environment::default() };
            let sample = Sample { steps: vec![one], environment, ..Sample::default() };
            fixture.full_sample(stack, workload, 0, sample);
        }
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn durable_writes_without_flushes_are_reported() {
        assert_eq!(found("dd-4k", "write back", 0, 64), 1);
    }

    #[test]
    fn flushed_buffered_and_uncached_writes_and_old_kernels_are_clean() {
        assert_eq!(found("dd-4k", "write back", 64, 64), 0);
        assert_eq!(found("buffered", "write back", 0, 64), 0);
        assert_eq!(found("dd-4k", "write through", 0, 64), 0);
        assert_eq!(found("dd-4k", "write back", 0, 0), 0);
    }

    #[test]
    fn kernels_that_count_no_flushes_show_the_mount_option() {
        let found = |options: &str, caches: [&str; 2]| {
            let mut fixture = RunFixture::new("");
            let write = figure(Direction::Write, 1 << 20, 1.0);
            let one = on_drives(step("s", vec![write]), &[(0, 1 << 20)]);
            let drives = caches.map(|cache| DriveState {
                write_cache: Some(cache.to_owned()),
                ..DriveState::default()
            });
            let mounts =
                vec![format!("/dev/sda /mnt/a b ext4 {options}").parse().expect("a mount")];
            let environment =
                Environment { drives: drives.to_vec(), mounts, ..Environment::default() };
            let sample = Sample { steps: vec![one], environment, ..Sample::default() };
            fixture.full_sample("single/ext4", "dd-4k", 0, sample);
            fixture.findings(AUDIT.name).len()
        };
        let back = ["write back"; 2];
        assert_eq!([found("rw,nobarrier", back), found("rw,barrier=0", back)], [1, 1]);
        assert_eq!(found("rw,relatime", back), 0);
        assert_eq!(found("rw,nobarrier", ["write back", "write through"]), 0);
    }
}
