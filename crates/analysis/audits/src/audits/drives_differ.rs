//! Stacks on drives of different kinds.

use std::collections::BTreeSet;

use disklab_sample::DriveState;
use disklab_units::Bytes;

use crate::Severity;
use crate::audits::support::{joined, unlike};
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "drives-differ",
    severity: Severity::Warning,
    detects: "stacks on drives of different models, firmware or size",
    evidence: "model, firmware and size of each drive",
    remedy: "compare stacks on the same drives",
    reproducer: Reproducer::Lab("two stacks on drives of two sizes"),
    check,
};

/// What a drive is called: not its serial number.
fn kind(drive: &DriveState) -> String {
    let model = drive.model.as_deref().unwrap_or_default();
    let firmware = drive.firmware.as_deref().unwrap_or_default();
    let size =
        if drive.size_bytes > 0 { Bytes(drive.size_bytes).si().to_string() } else { String::new() };
    [model, firmware, &size]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let words = [
        "The drives are",
        "Their own differences look like those of the stacks, and the slowest drive of an array \
         sets its pace.",
        "Compare stacks on the same drives, or on drives of one model and firmware.",
    ];
    unlike(evidence, Severity::Warning, words, |cell| {
        let kinds: BTreeSet<String> = cell.environment.drives.iter().map(kind).collect();
        joined(kinds.iter().map(String::as_str))
    })
}

#[cfg(test)]
mod tests {
    use disklab_sample::Environment;

    use super::*;
    use crate::testing::RunFixture;

    fn drive(model: &str, serial: &str) -> DriveState {
        DriveState {
            model: Some(model.into()),
            serial: Some(serial.into()),
            ..DriveState::default()
        }
    }

    #[test]
    fn models_that_differ_are_reported_and_more_of_one_are_not() {
        for (others, expected) in [
            (vec![drive("Red", "2")], 1),
            (vec![drive("Blue", "2"), drive("Red", "3")], 1),
            (vec![drive("Blue", "2"), drive("Blue", "3")], 0),
        ] {
            let mut fixture = RunFixture::new("");
            for (stack, drives) in
                [("single/ext4", vec![drive("Blue", "1")]), ("raid1/ext4", others)]
            {
                fixture.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
            }
            assert_eq!(fixture.findings(AUDIT.name).len(), expected);
        }
    }
}
