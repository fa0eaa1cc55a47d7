//! A snapshot of the volume that is measured.

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "snapshot-present",
    severity: Severity::Warning,
    detects: "a volume of which an LVM snapshot exists, whose first writes copy the old data",
    evidence: "the names that LVM gives to devices beneath the directory",
    remedy: "remove the snapshot, unless its cost is the question",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let has = |cell: &CellFacts| {
        cell.conditions().beneath.iter().any(|what| what == "snapshot").then_some(1.0)
    };
    let Some(cells) = afflicted(evidence, has) else { return Vec::new() };
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The volume of {} has an LVM snapshot: each first write to a chunk reads and writes \
             the old data too.",
            cells.words()
        ),
        advice: "Remove the snapshot (lvs shows it), unless its cost is the question.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Conditions;

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn a_snapshot_is_reported_and_encryption_is_not() {
        for (what, expected) in [("snapshot", 1), ("encryption", 0)] {
            let mut fixture = RunFixture::new("");
            let beneath = vec![what.to_owned()];
            fixture.under(
                "single/ext4",
                "dd-4k",
                0,
                Conditions { beneath, ..Conditions::default() },
            );
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{what}");
        }
    }
}
