//! Cells of one run on different kernels.

use crate::Severity;
use crate::audits::support::unlike;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "kernels-differ",
    severity: Severity::Warning,
    detects: "cells of one run on different kernels or versions of programs, as after an update and --resume",
    evidence: "the kernel's release in each cell, and versions of programs where a cell has its own",
    remedy: "run all cells anew on one kernel",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Kernel and versions of a cell; both are the run's where a cell has none.
fn versions(cell: &CellFacts) -> Option<String> {
    let kernel = cell.conditions().kernel.clone().map(|release| format!("kernel {release}"));
    let tools = cell.environment.tools.iter().map(|tool| tool.version.clone());
    let all: Vec<String> = kernel.into_iter().chain(tools).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let words = [
        "Kernel and programs were",
        "File systems, schedulers and programs change from release to release.",
        "Run all cells on one kernel; to learn what an update changes, make two runs and compare \
         them (disklab compare A B).",
    ];
    unlike(evidence, Severity::Warning, words, versions)
}

#[cfg(test)]
mod tests {
    use disklab_sample::Conditions;

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn another_kernel_is_reported_and_the_same_is_not() {
        for (other, expected) in [("6.12.2", 1), ("6.12.1", 0)] {
            let mut fixture = RunFixture::new("");
            for (block, release) in ["6.12.1", other].into_iter().enumerate() {
                let kernel = Some(release.to_owned());
                let conditions = Conditions { kernel, ..Conditions::default() };
                fixture.under("single/ext4", "dd-4k", block as u32, conditions);
            }
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{other}");
        }
    }
}
