//! Cells that failed.

use disklab_units::{count, list};

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "failed-cells",
    severity: Severity::Warning,
    detects: "cells that failed, whose figures are missing",
    evidence: "the cells' errors",
    remedy: "remove the cause and continue with --resume, or measure and import again",
    reproducer: Reproducer::Directory("deletes that run out of files"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let failed: Vec<(String, String)> = evidence
        .unfinished
        .iter()
        .filter_map(|cell| {
            let levels = &cell.levels;
            Some((format!("{} with {}", levels.workload, levels.stack), cell.reason()?))
        })
        .collect();
    let Some((_, first)) = failed.first() else { return Vec::new() };
    let mut names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    // If nothing at all was measured, that is all there is to say.
    let severity = if evidence.groups.is_empty() { Severity::Severe } else { Severity::Warning };
    vec![Detection {
        severity,
        text: format!(
            "{} failed: {}.{} The first said: {first}",
            count(failed.len(), "cell"),
            list(names, 6),
            without_figures(evidence)
        ),
        advice: if evidence.is_import() {
            "Remove the cause, measure them again with the program that gave them, and import its \
             outputs anew."
        } else {
            "Remove the cause and run the study again with --resume, which repeats only what is \
             missing."
        }
        .to_owned(),
        groups: evidence
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| {
                evidence.unfinished.iter().any(|cell| {
                    cell.error.is_some()
                        && cell.levels.stack == group.key.levels.stack
                        && cell.levels.workload == group.key.levels.workload
                })
            })
            .map(|(index, _)| index)
            .collect(),
    }]
}

/// The stacks of which nothing was measured, if something was of others.
fn without_figures(evidence: &Evidence<'_>) -> String {
    let mut stacks: Vec<&str> = Vec::new();
    for cell in evidence.unfinished.iter().filter(|cell| cell.error.is_some()) {
        let stack = cell.levels.stack.as_str();
        if !stacks.contains(&stack)
            && !evidence.groups.iter().any(|group| group.key.levels.stack == stack)
        {
            stacks.push(stack);
        }
    }
    if stacks.is_empty() || evidence.groups.is_empty() {
        return String::new();
    }
    format!(" Nothing was measured of {}.", list(stacks, 6))
}

#[cfg(test)]
mod tests {
    use disklab_store::CellState;

    use crate::testing::RunFixture;

    #[test]
    fn failures_are_named_with_their_reason() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        fixture.unfinished("single/ext4", "dd-1M", 0, CellState::Waiting);
        assert_eq!(fixture.findings("failed-cells"), []);
        fixture.unfinished("single/ext4", "dd-4k", 3, CellState::Failed);
        let found = fixture.findings("failed-cells");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].text,
            "1 cell failed: dd-4k with single/ext4. The first said: no space left"
        );
        assert_eq!(found[0].groups, [0]);
        for (error, said) in [
            (
                "out of memory: give it more. The end of its console:\n  Killed",
                "out of memory: give it more",
            ),
            ("\nmkfs failed:\n\n  no space\n", "mkfs failed: no space"),
            ("mkfs failed:", "mkfs failed"),
            (" \n", "no reason given"),
            (&"é".repeat(201), &("é".repeat(200) + "…")),
        ] {
            let levels = disklab_cell::Levels::new("a", "b");
            let cell = crate::Unfinished { levels, error: Some(error.to_owned()) };
            assert_eq!(cell.reason().as_deref(), Some(said));
        }
        assert!(found[0].advice.contains("--resume"), "{}", found[0].advice);
        fixture.info.bench = "import".parse().unwrap();
        let advice = &fixture.findings("failed-cells")[0].advice;
        assert!(advice.contains("import its outputs anew"), "{advice}");
    }

    #[test]
    fn a_run_of_which_all_failed_is_a_severe_finding() {
        let mut fixture = RunFixture::new("");
        fixture.unfinished("single/ext4", "dd-4k", 0, CellState::Failed);
        assert_eq!(fixture.findings("failed-cells")[0].severity, crate::Severity::Severe);
        fixture.repeats("single/ext4", "dd-1M", &[1e6, 1e6, 1e6]);
        let found = fixture.findings("failed-cells");
        assert_eq!(found[0].severity, crate::Severity::Warning);
        assert!(!found[0].text.contains("Nothing was measured"), "{}", found[0].text);
        fixture.unfinished("single/btrfs", "dd-4k", 0, CellState::Failed);
        let found = fixture.findings("failed-cells");
        assert!(
            found[0].text.contains(" Nothing was measured of single/btrfs. The"),
            "{}",
            found[0].text
        );
    }
}
