//! A directory in memory, or on another machine.

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "not-on-drives",
    severity: Severity::Severe,
    detects: "a directory whose files are in memory (tmpfs), or on another machine (NFS, SMB, iSCSI)",
    evidence: "the type of its mount, and the devices beneath it",
    remedy: "measure in a directory on the drives, on the machine that has them",
    reproducer: Reproducer::Directory("a directory on tmpfs"),
    check,
};

fn kind<'a>(cell: &'a CellFacts, front: &str) -> Option<&'a str> {
    cell.conditions().beneath.iter().map(String::as_str).find(|what| what.starts_with(front))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let found = |front: &str, severity, place: &str, tail: &str, advice: &str| {
        let cells = afflicted(evidence, |cell| kind(cell, front).map(|_| 1.0))?;
        let what = kind(cells.worst().0, front)?.to_owned();
        Some(Detection {
            severity,
            text: format!(
                "The files of {} are not on drives of this machine but {place} {what}: {tail}",
                cells.words()
            ),
            advice: advice.to_owned(),
            groups: cells.groups,
        })
    };
    let memory = found(
        "memory",
        Severity::Severe,
        "in",
        "all figures are those of memory.",
        "Choose a directory on the drives that you ask about; df shows what it is on.",
    );
    let network = found(
        "network",
        Severity::Warning,
        "on a",
        "network, server and its caches set the figures together with its drives.",
        "Measure on the server itself to learn of its drives and file systems.",
    );
    memory.into_iter().chain(network).collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::Conditions;

    use super::*;
    use crate::testing::RunFixture;

    fn severities(beneath: &[&str]) -> Vec<Severity> {
        let mut fixture = RunFixture::new("");
        let beneath = beneath.iter().map(|what| (*what).to_owned()).collect();
        fixture.under("as-it-is", "dd-4k", 0, Conditions { beneath, ..Conditions::default() });
        fixture.findings(AUDIT.name).into_iter().map(|f| f.severity).collect()
    }

    #[test]
    fn memory_and_networks_are_reported_and_drives_are_not() {
        assert_eq!(severities(&["memory (tmpfs)"]), [Severity::Severe]);
        assert_eq!(severities(&["network (nfs4)"]), [Severity::Warning]);
        assert_eq!(severities(&["encryption"]), []);
    }
}
