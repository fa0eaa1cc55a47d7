//! Files that touch a small part of a disk, or different parts of different ones.

use disklab_units::{Bytes, per_cent};

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "outer-tracks",
    severity: Severity::Note,
    detects: "hard disks of which only a small part was touched, mostly the fast outer tracks; or parts of one that begin at its inner tracks",
    evidence: "used and all bytes of the file system, where partitions begin, whether drives rotate",
    remedy: "read the figures as those of an empty disk; fill it, or use partitions at the end",
    reproducer: Reproducer::Lab("a small file on a large disk"),
    check,
};

/// Half the arm's way is spared below this share, and nothing of the rate is lost.
const SMALL: f64 = 0.1;
/// A partition that begins behind this share of its disk is on slower tracks.
const INNER: f64 = 0.3;

fn rotates(cell: &CellFacts) -> bool {
    let drives = &cell.environment.drives;
    !drives.is_empty() && drives.iter().all(|drive| drive.rotational == Some(true))
}

/// The share of its file system that a cell used, or over which its files lie; 0 is not told.
fn used(cell: &CellFacts) -> Option<f64> {
    let space = cell.conditions().space?;
    let used = space.used_after?.max(space.spread_over.unwrap_or(0)) as f64 / space.bytes as f64;
    (rotates(cell) && (0.0..SMALL).contains(&used)).then_some(used)
}

/// The share of its disk at which a cell's partition begins.
fn begins(cell: &CellFacts) -> Option<f64> {
    let conditions = cell.conditions();
    let starts = conditions.drives.iter().filter_map(|drive| {
        let whole = drive.whole_bytes.filter(|bytes| *bytes > 0)?;
        let start = *drive.partitions_at.first()?;
        Some(start as f64 / whole as f64)
    });
    starts.reduce(f64::max).filter(|share| rotates(cell) && *share > INNER)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    if let Some(cells) = afflicted(evidence, used) {
        let (cell, most) = cells.worst();
        let size = cell.conditions().space.map_or(0, |space| space.bytes);
        all.push(Detection {
            severity: Severity::Note,
            text: format!(
                "{} of the file system ({}) was in use in {}: the figures are those of a \
                 nearly empty disk, whose arm hardly moves and which mostly uses its outer tracks. \
                 The inner ones give about half the rate.",
                if most < 0.0005 {
                    "Less than 0.1 %".to_owned()
                } else {
                    format!("At most {}", per_cent(most))
                },
                Bytes(size).si(),
                cells.words()
            ),
            advice: "Compare stacks with each other here; expect less of a disk that is full, or \
                     measure with larger files."
                .to_owned(),
            groups: cells.groups,
        });
    }
    if let Some(cells) = afflicted(evidence, begins) {
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "The partition begins at {} of its disk in {}: on slower tracks than a whole disk, \
                 or a partition at its beginning.",
                per_cent(cells.worst().1),
                cells.words()
            ),
            advice: "Compare only what begins at the same place of equal disks.".to_owned(),
            groups: cells.groups,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, DriveConditions, DriveState, Environment, Space};

    use super::*;
    use crate::testing::RunFixture;

    fn severities(used: u64, rotational: bool, start: u64) -> Vec<Severity> {
        of_spread(used, None, rotational, start)
    }

    fn of_spread(
        used: u64,
        spread_over: Option<u64>,
        rotational: bool,
        start: u64,
    ) -> Vec<Severity> {
        let mut fixture = RunFixture::new("");
        let space =
            Space { bytes: 1000, used_before: 0, used_after: Some(used), spread_over, files: None };
        let drive = DriveConditions {
            partitions_at: vec![start],
            whole_bytes: Some(1000),
            ..DriveConditions::default()
        };
        let conditions =
            Conditions { space: Some(space), drives: vec![drive], ..Conditions::default() };
        let drives = vec![DriveState { rotational: Some(rotational), ..DriveState::default() }];
        let environment =
            Environment { drives, conditions: Some(conditions), ..Environment::default() };
        fixture.around("single/ext4", "dd-4k", 0, environment);
        fixture.findings(AUDIT.name).into_iter().map(|f| f.severity).collect()
    }

    #[test]
    fn empty_disks_and_inner_partitions_are_reported() {
        assert_eq!(severities(20, true, 1), [Severity::Note]);
        assert_eq!(severities(500, true, 600), [Severity::Warning]);
    }

    #[test]
    fn fuller_disks_and_flash_are_clean() {
        assert_eq!(severities(200, true, 1), []);
        assert_eq!(severities(20, false, 600), []);
        assert_eq!(of_spread(20, Some(500), true, 1), []);
    }

    #[test]
    fn shares_of_file_system_and_disk_are_named() {
        let texts = |used: Option<u64>, starts: &[u64]| {
            let mut fixture = RunFixture::new("");
            let space = Space {
                bytes: 10_000,
                used_before: 0,
                used_after: used,
                spread_over: None,
                files: None,
            };
            let of_drive = |start: &u64| DriveConditions {
                partitions_at: vec![*start],
                whole_bytes: Some(1000),
                ..DriveConditions::default()
            };
            let drives = starts.iter().map(of_drive).collect();
            let conditions =
                Some(Conditions { space: Some(space), drives, ..Conditions::default() });
            let drives = vec![DriveState { rotational: Some(true), ..DriveState::default() }];
            let environment = Environment { drives, conditions, ..Environment::default() };
            fixture.around("single/ext4", "dd-4k", 0, environment);
            fixture.texts(AUDIT.name)
        };
        let few = texts(Some(200), &[]);
        assert!(
            few[0].starts_with("At most 2.0 % of the file system (10 kB) was in use"),
            "{few:?}"
        );
        assert!(texts(Some(4), &[])[0].starts_with("Less than 0.1 % of the file system"));
        let inner = texts(None, &[310, 600]);
        assert!(inner[0].starts_with("The partition begins at 60 % of its disk"), "{inner:?}");
        assert_eq!(texts(Some(1000), &[300]), [""; 0], "a tenth is used, and it begins in time");
    }
}
