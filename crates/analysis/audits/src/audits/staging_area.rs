//! Writes that fit into the area where a drive keeps them first.

use disklab_sample::Direction;
use disklab_units::{Bytes, list};

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "fits-staging-area",
    severity: Severity::Warning,
    detects: "writes that fit into a shingled disk's cache area, or into an SSD's fast cells",
    evidence: "bytes written to each drive, the model's area, or the maker's lists of shingled disks",
    remedy: "write several times as much, and look at what comes after",
    reproducer: Reproducer::Lab("small writes on a shingled disk"),
    check,
};

/// Disks that their makers call shingled, by the beginning of their model. (Western
/// Digital's list of April 2020; Seagate's 'CMR and SMR hard drives' page and the data
/// sheets of Archive; Toshiba's statement of April 2020.)
const SHINGLED: [&str; 18] = [
    "WD20EFAX",
    "WD30EFAX",
    "WD40EFAX",
    "WD60EFAX",
    "WD20EZAZ",
    "WD60EZAZ",
    "WD10SPZX",
    "WD20SPZX",
    "ST8000AS0002",
    "ST5000AS0011",
    "ST6000AS0002",
    "ST8000AS0022",
    "ST2000DM008",
    "ST4000DM004",
    "ST8000DM004",
    "ST5000DM000",
    "HDWD240",
    "HDWD260",
];
/// What such disks keep at the least; Skylight (Aghayev and Desnoyers, FAST 2015) found
/// 20 to 40 GB.
const AREA: u64 = 20_000_000_000;

/// The smallest area of a cell's drives, and whether it is a disk's.
fn area(cell: &CellFacts) -> Option<(u64, bool)> {
    let known = cell.conditions().drives.iter().filter_map(|known| {
        let state = cell.environment.drives.iter().find(|drive| drive.drive == known.drive);
        Some((known.staging_bytes?, state.is_some_and(|drive| drive.rotational == Some(true))))
    });
    let listed = cell.environment.drives.iter().filter_map(|drive| {
        let model = drive.model.as_deref()?;
        let word = |word: &str| SHINGLED.iter().any(|front| word.starts_with(front));
        model.split([' ', '-']).any(word).then_some((AREA, true))
    });
    known.chain(listed).min_by_key(|(bytes, _)| *bytes)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    for disk in [true, false] {
        let suspects = evidence.suspects(|_, group: &Group| {
            let written = matches!(
                group.key.direction,
                Direction::Write | Direction::Copy | Direction::Mixed
            );
            let cells = evidence.cells_of(group);
            let (bytes, is_disk) =
                cells.iter().filter_map(|cell| area(cell)).min_by_key(|a| a.0)?;
            let most = cells.iter().map(|cell| cell.most_written).max()?;
            (written && is_disk == disk && most > 0 && most < bytes).then_some(bytes as f64)
        });
        if suspects.is_empty() {
            continue;
        }
        let listed: Vec<String> =
            suspects.iter().map(|s| format!("{} with {}", s.figure, s.stacks())).collect();
        let bytes = suspects.iter().map(|s| s.range().0).fold(f64::INFINITY, f64::min);
        let area = Bytes(bytes as u64).si();
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "{} Less than that was written: {}. What comes when it is full was not measured.",
                if disk {
                    format!("A shingled disk takes writes into an area of about {area} first, and merges them into its bands later.")
                } else {
                    format!("The SSD takes writes into up to {area} of fast cells first, and moves them later.")
                },
                list(listed.iter().map(String::as_str), 6)
            ),
            advice: "Write several times as much in one run, and look at the steady part; or read \
                     these figures as those of short bursts."
                .to_owned(),
            groups: suspects.iter().flat_map(|s| s.groups()).collect(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, DriveConditions, DriveState, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn texts(model: &str, staging: Option<u64>, rotational: bool, bytes: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let one = on_drives(step("s", vec![figure(Direction::Write, bytes, 1.0)]), &[(0, bytes)]);
        let drive = DriveState {
            drive: "d-1".into(),
            model: Some(model.into()),
            rotational: Some(rotational),
            ..DriveState::default()
        };
        let known = DriveConditions {
            drive: "d-1".into(),
            staging_bytes: staging,
            ..DriveConditions::default()
        };
        let conditions = Some(Conditions { drives: vec![known], ..Conditions::default() });
        let environment = Environment { drives: vec![drive], conditions, ..Environment::default() };
        fixture.full_sample(
            "single/ext4",
            "dd-1M",
            0,
            Sample { steps: vec![one], environment, ..Sample::default() },
        );
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn writes_within_the_area_are_reported() {
        assert!(texts("x", Some(30_000_000_000), true, 1 << 30)[0].contains("A shingled disk"));
        assert!(texts("x", Some(30_000_000_000), false, 1 << 30)[0].contains("The SSD takes"));
        assert_eq!(texts("WDC WD40EFAX-68JH4N0", None, true, 1 << 30).len(), 1);
        assert_eq!(texts("ST8000AS0002-1NA17Z", None, true, 1 << 30).len(), 1);
    }

    #[test]
    fn more_than_that_and_other_drives_are_clean() {
        assert!(texts("x", Some(30_000_000_000), true, 40_000_000_000).is_empty());
        assert!(texts("WDC WD40EFRX-68N32N0", None, true, 1 << 30).is_empty());
    }
}
