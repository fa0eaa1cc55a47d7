//! Mounts without barriers: the drives are never asked to make writes durable.

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::differing;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "barriers-off",
    severity: Severity::Severe,
    detects: "barriers (cache flushes) switched off, on one side of a comparison or on all",
    evidence: "the options of the mounts, as the kernel shows them, and ZFS's sync property",
    remedy: "mount without nobarrier or barrier=0; sync=standard on ZFS",
    reproducer: Reproducer::Lab("ext4 with nobarrier and ext4 with barriers"),
    check,
};

/// `on` or `off`; none where the mount does not tell. (ext4(5), btrfs(5); XFS has no such
/// option since Linux 4.19; zfsprops(7), `sync`.)
fn barrier(cell: &CellFacts) -> Option<String> {
    let (kind, options) = cell.mount()?;
    let off = match kind {
        "zfs" => {
            let pools = &cell.conditions().pools;
            pools.iter().any(|pool| pool.sync.as_deref() == Some("disabled"))
        }
        // It knows no barriers.
        "ext2" => return None,
        _ => options.iter().any(|o| matches!(*o, "nobarrier" | "barrier=0" | "barrier=none")),
    };
    Some(if off { "off" } else { "on" }.to_owned())
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if let Some(differs) = differing(evidence, barrier) {
        return vec![Detection {
            severity: Severity::Severe,
            text: format!(
                "Barriers were {}. Without them the drive is never told to flush its write cache, \
                 so the stacks did not do the same work.",
                differs.words()
            ),
            advice: "Mount all alike, with barriers (no nobarrier or barrier=0; sync=standard on \
                     ZFS), unless they are the question."
                .to_owned(),
            // Stacks that have them can be compared with each other.
            groups: differs.groups_on(evidence, "off"),
        }];
    }
    if !evidence.cells.iter().any(|cell| barrier(cell).as_deref() == Some("off")) {
        return Vec::new();
    }
    vec![Detection {
        severity: Severity::Warning,
        text: "Barriers were off for all stacks: writes were reported as durable that a power \
               loss would destroy."
            .to_owned(),
        advice: "Mount without nobarrier or barrier=0, and on ZFS with sync=standard, unless the \
                 drives' caches survive a power loss."
            .to_owned(),
        groups: Vec::new(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Environment;

    use super::*;
    use crate::testing::RunFixture;

    fn severities(first: &str, second: &str) -> Vec<Severity> {
        let mut fixture = RunFixture::new("");
        for (stack, mount) in [("single/ext4", first), ("single/btrfs", second)] {
            let mounts = vec![format!("/dev/sda /mnt/a b {mount}").parse().expect("a mount")];
            fixture.around(stack, "dd-4k", 0, Environment { mounts, ..Environment::default() });
        }
        fixture.findings(AUDIT.name).into_iter().map(|f| f.severity).collect()
    }

    #[test]
    fn one_side_is_severe_and_both_are_a_warning() {
        assert_eq!(severities("ext4 rw,nobarrier", "btrfs rw"), [Severity::Severe]);
        assert_eq!(severities("ext4 rw,barrier=0", "btrfs rw,nobarrier"), [Severity::Warning]);
    }

    #[test]
    fn stacks_with_barriers_are_not_doubted() {
        let mut fixture = RunFixture::new("");
        for (stack, mount) in [
            ("single/ext4", "ext4 rw,nobarrier"),
            ("single/btrfs", "btrfs rw"),
            ("raid1/btrfs", "btrfs rw"),
        ] {
            let mounts = vec![format!("/dev/sda /mnt/a b {mount}").parse().expect("a mount")];
            fixture.around(stack, "dd-4k", 0, Environment { mounts, ..Environment::default() });
        }
        let analysis = fixture.audited();
        let [finding] = &fixture.findings(AUDIT.name)[..] else { panic!("one finding") };
        let doubted: Vec<_> =
            finding.groups.iter().map(|g| analysis.groups[*g].key.levels.stack.as_str()).collect();
        assert_eq!(doubted, ["single/ext4"]);
        assert!(finding.text.contains("raid1/btrfs"), "{}", finding.text);
    }

    #[test]
    fn barriers_are_on_by_default() {
        assert_eq!(severities("ext4 rw,relatime", "xfs rw,noatime"), []);
        assert_eq!(severities("ext4 rw,barrier=1", "ext2 rw"), []);
    }
}
