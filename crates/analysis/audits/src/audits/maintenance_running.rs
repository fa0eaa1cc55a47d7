//! Resync, scrub, balance or lazy initialisation during the workload.

use std::collections::BTreeSet;

use disklab_sample::{OTHER_LAZY_INIT, OWN_LAZY_INIT, UNKNOWN_LAZY_INIT};
use disklab_units::list;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "maintenance-running",
    severity: Severity::Severe,
    detects: "a resync, scrub, balance or lazy initialisation that ran during the workload",
    evidence: "md's sync_action, Btrfs's exclusive_operation, zpool status, kernel threads, ext4's flags of inode tables that are left to be written, before and after the workload",
    remedy: "wait for its end (lazy-init = wait, resync = wait), or stop it",
    reproducer: Reproducer::Directory("ext4 whose tables the kernel still writes (as root)"),
    check,
};

/// How much what ran may have disturbed: ext4's thread serves all ext4 of a machine, and
/// works for the measured one, for another, or for an unknown one.
fn severity(what: &str, cell: &CellFacts) -> Option<Severity> {
    match what {
        OTHER_LAZY_INIT => Some(Severity::Note),
        // The table of an ext4 that is mounted so is never written.
        OWN_LAZY_INIT | UNKNOWN_LAZY_INIT if cell.mount().is_some_and(is_spared) => None,
        UNKNOWN_LAZY_INIT => Some(Severity::Warning),
        _ => Some(Severity::Severe),
    }
}

fn is_spared((fs_type, options): (&str, Vec<&str>)) -> bool {
    fs_type != "ext4" || options.contains(&"noinit_itable")
}

/// What ran and is as severe as that.
fn running(cell: &CellFacts, wanted: Severity) -> Vec<String> {
    let conditions = cell.conditions();
    // Arrays have other numbers in other cells.
    let kinds = conditions.background.iter().map(|what| match what.split_once(" of md") {
        Some((action, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{action} of an md array")
        }
        _ => what.clone(),
    });
    let pools = conditions.pools.iter().filter_map(|pool| pool.at_work.as_ref());
    let all = kinds.chain(pools.map(|work| format!("{work} of a ZFS pool")));
    all.filter(|what| severity(what, cell) == Some(wanted)).collect()
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    [Severity::Severe, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(|severity| found(evidence, severity))
        .collect()
}

fn found(evidence: &Evidence<'_>, severity: Severity) -> Option<Detection> {
    let cells = afflicted(evidence, |cell| (!running(cell, severity).is_empty()).then_some(1.0))?;
    let what: BTreeSet<String> =
        cells.cells.iter().flat_map(|(cell, _)| running(cell, severity)).collect();
    let effect = match severity {
        Severity::Severe => "Its reads and writes took their share of the drives' time.",
        Severity::Warning => "Whether that was on the measured drives could not be read.",
        Severity::Note => "It wrote nothing to the measured file system.",
    };
    Some(Detection {
        severity,
        text: format!(
            "Background maintenance during the workload of {}: {}. {effect}",
            cells.words(),
            list(what.iter().map(String::as_str), 6)
        ),
        advice: "Wait until it has ended (resync = \"wait\" for md, lazy-init = \"wait\" for \
                 ext4), or stop it, and measure again."
            .to_owned(),
        groups: cells.groups,
    })
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Environment, Pool};

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn a_resync_a_scrub_and_lazy_initialisation_are_reported() {
        let mut fixture = RunFixture::new("");
        let background =
            |what: &str| Conditions { background: vec![what.into()], ..Conditions::default() };
        fixture.under("raid1/ext4", "dd-4k", 0, background("resync of md127"));
        fixture.under("single/ext4", "dd-4k", 0, background("lazy initialisation of ext4"));
        let pool = Pool { at_work: Some("scrub".into()), ..Pool::default() };
        fixture.under(
            "raid1/btrfs",
            "dd-4k",
            0,
            Conditions { pools: vec![pool], ..Conditions::default() },
        );
        fixture.measured("single/btrfs", "dd-4k", 0, 1e6);
        let found = fixture.findings(AUDIT.name);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].groups.len(), 3);
        let text = &found[0].text;
        assert!(
            text.starts_with(
                "Background maintenance during the workload of 3 of 4 cells (dd-4k with raid1/btrfs, \
                 dd-4k with raid1/ext4 and dd-4k with single/ext4)"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "lazy initialisation of ext4, resync of an md array and scrub of a ZFS pool"
            ),
            "{text}"
        );
    }

    #[test]
    fn lazy_initialisation_elsewhere_is_not_severe() {
        for (what, mount, expected) in [
            (OWN_LAZY_INIT, "/dev/sda /mnt ext4 rw", Some(Severity::Severe)),
            (UNKNOWN_LAZY_INIT, "/dev/sda /mnt ext4 rw", Some(Severity::Warning)),
            (OTHER_LAZY_INIT, "/dev/sda /mnt ext4 rw", Some(Severity::Note)),
            // As recorded before it was known for whom the thread works.
            (OWN_LAZY_INIT, "/dev/sda /mnt ext4 rw,noinit_itable", None),
            (OWN_LAZY_INIT, "/dev/sda /mnt xfs rw", None),
        ] {
            let mut fixture = RunFixture::new("");
            let background = vec![what.to_owned()];
            let conditions = Some(Conditions { background, ..Conditions::default() });
            let mounts = vec![mount.parse().expect("a mount")];
            let environment = Environment { conditions, mounts, ..Environment::default() };
            fixture.around("single/ext4", "dd-4k", 0, environment);
            let found = fixture.findings(AUDIT.name);
            let severities: Vec<Severity> = found.iter().map(|f| f.severity).collect();
            assert_eq!(severities, Vec::from_iter(expected), "{what}, {mount}");
        }
    }

    #[test]
    fn pools_and_arrays_at_rest_are_clean() {
        let mut fixture = RunFixture::new("");
        let pool = Pool { name: "tank".into(), state: Some("ONLINE".into()), ..Pool::default() };
        fixture.under(
            "raid1/ext4",
            "dd-4k",
            0,
            Conditions { pools: vec![pool], ..Conditions::default() },
        );
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        assert_eq!(fixture.findings(AUDIT.name), []);
    }
}
