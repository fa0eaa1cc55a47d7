//! Cells that have not run.

use disklab_units::count;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "unfinished",
    severity: Severity::Warning,
    detects: "a run that was interrupted before all its cells had run",
    evidence: "cells without a sample",
    remedy: "continue with --resume",
    reproducer: Reproducer::Directory("a run that is interrupted"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let waiting = evidence.unfinished.iter().filter(|cell| cell.error.is_none()).count();
    if waiting == 0 {
        return Vec::new();
    }
    let all = evidence.cells.len() + evidence.unfinished.len();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "{waiting} of {} {} not run: the run was interrupted, and some stacks may have fewer \
             repeats than others.",
            count(all, "cell"),
            if waiting == 1 { "has" } else { "have" }
        ),
        advice: "Continue with --resume.".to_owned(),
        groups: Vec::new(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_store::CellState;

    use crate::testing::RunFixture;

    #[test]
    fn waiting_cells_are_counted() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        fixture.unfinished("single/ext4", "dd-4k", 3, CellState::Failed);
        assert_eq!(fixture.findings("unfinished"), []);
        fixture.unfinished("single/ext4", "dd-4k", 4, CellState::Waiting);
        let found = fixture.findings("unfinished");
        assert_eq!(found.len(), 1);
        assert!(found[0].text.starts_with("1 of 5 cells has not run"), "{}", found[0].text);
    }

    #[test]
    fn several_that_wait_are_several() {
        let mut fixture = RunFixture::new("");
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        for block in 1..4 {
            fixture.unfinished("single/ext4", "dd-4k", block, CellState::Waiting);
        }
        let texts = fixture.texts("unfinished");
        assert!(texts[0].starts_with("3 of 4 cells have not run"), "{texts:?}");
    }
}
