//! Resync, scrub, balance or lazy initialisation beside the workload.

use std::collections::BTreeSet;

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::{CellFacts, Evidence};
use crate::words::list;

pub(super) const AUDIT: Audit = Audit {
    name: "upkeep-running",
    severity: Severity::Severe,
    detects: "a resync, scrub, balance or lazy initialisation that ran beside the workload",
    evidence: "md's sync_action, Btrfs's exclusive_operation, zpool status, kernel threads, before and after the workload",
    remedy: "wait for its end (lazy-init = wait, resync = wait), or stop it",
    reproducer: Reproducer::Directory("ext4 whose tables the kernel still writes (as root)"),
    check,
};

fn running(cell: &CellFacts) -> Vec<String> {
    let conditions = cell.conditions();
    // Arrays have other numbers in other cells.
    let kinds = conditions.background.iter().map(|what| match what.split_once(" of md") {
        Some((action, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{action} of an md array")
        }
        _ => what.clone(),
    });
    let pools = conditions.pools.iter().filter_map(|pool| pool.at_work.as_ref());
    kinds.chain(pools.map(|work| format!("{work} of a ZFS pool"))).collect()
}

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let Some(cells) = afflicted(evidence, |cell| (!running(cell).is_empty()).then_some(1.0)) else {
        return Vec::new();
    };
    let what: BTreeSet<String> = cells.cells.iter().flat_map(|(cell, _)| running(cell)).collect();
    vec![Found {
        severity: Severity::Severe,
        text: format!(
            "Beside the workload of {} there ran: {}. Its reads and writes took their share of \
             the drives' time.",
            cells.words(),
            list(what.iter().map(String::as_str), 6)
        ),
        advice: "Wait until it has ended (resync = \"wait\" for md, lazy-init = \"wait\" for \
                 ext4), or stop it, and measure again."
            .to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_measure::{Conditions, Pool};

    use super::*;
    use crate::testing::Bed;

    #[test]
    fn a_resync_a_scrub_and_lazy_initialisation_are_told() {
        let mut bed = Bed::new("");
        let background =
            |what: &str| Conditions { background: vec![what.into()], ..Conditions::default() };
        bed.under("raid1/ext4", "dd-4k", 0, background("resync of md127"));
        bed.under("single/ext4", "dd-4k", 0, background("lazy initialisation of ext4"));
        let pool = Pool { at_work: Some("scrub".into()), ..Pool::default() };
        bed.under(
            "raid1/btrfs",
            "dd-4k",
            0,
            Conditions { pools: vec![pool], ..Conditions::default() },
        );
        bed.measured("single/btrfs", "dd-4k", 0, 1e6);
        let found = bed.findings(AUDIT.name);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].groups.len(), 3);
        let text = &found[0].text;
        assert!(
            text.starts_with("Beside the workload of 3 of 4 cells (dd-4k with raid1/ext4"),
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
    fn pools_and_arrays_at_rest_are_clean() {
        let mut bed = Bed::new("");
        let pool = Pool { name: "tank".into(), state: Some("ONLINE".into()), ..Pool::default() };
        bed.under(
            "raid1/ext4",
            "dd-4k",
            0,
            Conditions { pools: vec![pool], ..Conditions::default() },
        );
        bed.measured("single/ext4", "dd-4k", 0, 1e6);
        assert_eq!(bed.findings(AUDIT.name), []);
    }
}
