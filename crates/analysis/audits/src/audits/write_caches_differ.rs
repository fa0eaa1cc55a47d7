//! Drives whose write cache is on for one stack and off for another.

use crate::Severity;
use crate::audits::support::{joined, unlike};
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "write-caches-differ",
    severity: Severity::Severe,
    detects: "write caches of drives that are on for one stack and off for another, unless the study sets them",
    evidence: "queue/write_cache of each drive as the workload started",
    remedy: "set write-cache in the study's layouts, the same for all",
    reproducer: Reproducer::Lab("a drive without its write cache among drives with it"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let value = |cell: &CellFacts| {
        let stack = evidence.study.stacks.iter().find(|stack| stack.id == cell.levels.stack);
        // Where the study sets it, it is what is compared.
        if stack.is_some_and(|stack| stack.write_cache.is_some()) {
            return None;
        }
        joined(cell.environment.drives.iter().filter_map(|drive| drive.write_cache.as_deref()))
    };
    let words = [
        "The drives' write caches were",
        "Synchronous writes differ by a factor of ten and more between the two.",
        "Set write-cache for all stacks in the study, or switch it with hdparm -W before the run.",
    ];
    unlike(evidence, Severity::Severe, words, value)
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveState, Environment};

    use super::*;
    use crate::testing::RunFixture;

    fn texts(more: &str, other: &str) -> Vec<String> {
        let mut fixture = RunFixture::new(more);
        let stacks = if more.is_empty() { ["single/ext4", "raid1/ext4"] } else { ["on", "off"] };
        for (stack, cache) in stacks.into_iter().zip(["write back", other]) {
            let drive = DriveState { write_cache: Some(cache.into()), ..DriveState::default() };
            fixture.around(
                stack,
                "dd-4k",
                0,
                Environment { drives: vec![drive], ..Environment::default() },
            );
        }
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn caches_that_differ_are_reported() {
        let found = texts("", "write through");
        assert!(
            found[0].contains("write back (single/ext4); write through (raid1/ext4)"),
            "{found:?}"
        );
    }

    #[test]
    fn equal_caches_and_those_that_the_study_sets_are_clean() {
        assert!(texts("", "write back").is_empty());
        let set = "[stacks]\non = { layers = \"ext4\", drives = 1, write-cache = \"on\" }\noff = { layers = \"ext4\", drives = 1, write-cache = \"off\" }";
        assert!(texts(set, "write through").is_empty());
    }
}
