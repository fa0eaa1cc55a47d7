//! An array without one of its members.

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "degraded-array",
    severity: Severity::Severe,
    detects: "an array, Btrfs or pool that lacks a member",
    evidence: "md's degraded, Btrfs's devinfo, the state of ZFS pools, after the workload",
    remedy: "replace the member, let it resync, and measure again",
    reproducer: Reproducer::Directory("Btrfs RAID1 of which one device is gone (as root)"),
    check,
};

/// Name and state of the first array that is not whole.
fn broken(cell: &CellFacts) -> Option<String> {
    let conditions = cell.conditions();
    let array = conditions.arrays.iter().find(|array| array.missing > 0).map(|array| {
        let level = array.level.as_deref().map(|level| format!(" ({level})")).unwrap_or_default();
        format!("{}{level} lacks {} of its members", array.name, array.missing)
    });
    let pool = conditions.pools.iter().find_map(|pool| {
        let state = pool.state.as_deref().filter(|state| *state != "ONLINE")?;
        Some(format!("the pool {} is {state}", pool.name))
    });
    array.or(pool)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let Some(cells) = afflicted(evidence, |cell| broken(cell).map(|_| 1.0)) else {
        return Vec::new();
    };
    let first = broken(cells.worst().0).unwrap_or_default();
    vec![Detection {
        severity: Severity::Severe,
        text: format!(
            "In {}: {first}. A degraded array computes what it reads from the other members, and \
             writes less than a whole one: its figures are those of a failure.",
            cells.words()
        ),
        advice: "Replace the missing member, wait for the resync, and measure again.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{ArrayState, Conditions, Pool};

    use super::*;
    use crate::testing::RunFixture;

    fn texts(missing: u32, state: &str) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let arrays = vec![ArrayState { name: "md0".into(), level: Some("raid5".into()), missing }];
        let pools = vec![Pool { name: "p".into(), state: Some(state.into()), ..Pool::default() }];
        fixture.under(
            "raid1/ext4",
            "dd-4k",
            0,
            Conditions { arrays, pools, ..Conditions::default() },
        );
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn a_missing_member_is_reported() {
        let found = texts(1, "ONLINE");
        assert!(found[0].starts_with("In the only cell: md0 (raid5) lacks 1 of its"), "{found:?}");
        assert!(texts(0, "DEGRADED")[0].contains("the pool p is DEGRADED"));
    }

    #[test]
    fn whole_arrays_are_clean() {
        assert!(texts(0, "ONLINE").is_empty());
    }
}
