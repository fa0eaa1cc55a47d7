//! A program of the workload that ended with an error.

use std::collections::BTreeSet;

use disklab_units::list;

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "tool-failed",
    severity: Severity::Severe,
    detects: "figures of a program that ended with an error",
    evidence: "the exit status of each program in the trace",
    remedy: "find the error in the raw output, remove its cause, and measure again",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let failed = afflicted(evidence, |cell| {
        (!cell.failed_programs.is_empty()).then_some(cell.failed_programs.len() as f64)
    });
    let Some(cells) = failed else { return Vec::new() };
    let names: BTreeSet<&str> =
        cells.cells.iter().flat_map(|(c, _)| &c.failed_programs).map(String::as_str).collect();
    vec![Detection {
        severity: Severity::Severe,
        text: format!(
            "A program of the workload ended with an error in {} ({}): its figures are those of \
             work that was not done, or not all of it.",
            cells.words(),
            list(names, 4)
        ),
        advice: "Its output among the raw files says why; remove the cause and measure again."
            .to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Sample;

    use super::*;
    use crate::testing::{RunFixture, trace};

    fn texts(argv: &[&str], status: &str) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let sample = Sample { trace: vec![trace(argv, status)], ..Sample::default() };
        fixture.full_sample("single/ext4", "dd-4k", 0, sample);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn failed_work_is_reported() {
        let found = texts(&["/usr/bin/fio", "job"], "exit code 1");
        assert!(found[0].contains("in the only cell (fio: exit code 1)"), "{found:?}");
    }

    #[test]
    fn done_work_and_mere_questions_are_clean() {
        assert!(texts(&["fio", "job"], "0").is_empty());
        assert!(texts(&["hdparm", "-I", "/dev/sda"], "exit code 5").is_empty());
        assert!(texts(&["blkid", "-p", "/dev/sda"], "exit code 2").is_empty());
    }
}
