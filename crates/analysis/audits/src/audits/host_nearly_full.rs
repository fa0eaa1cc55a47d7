//! Files that stand for drives, on a disk without room for them.

use disklab_units::{Bytes, per_cent};

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "host-nearly-full",
    severity: Severity::Warning,
    detects: "sparse files for drives on a file system that has hardly room left",
    evidence: "free and all bytes of the file system behind loop devices",
    remedy: "make room, or put the files on another disk (--scratch)",
    reproducer: Reproducer::Loop("files on a file system with little room left (as root)"),
    check,
};

/// File systems fragment and allocate slowly beyond this.
const FULL: f64 = 0.9;

/// How full the file system behind a cell's drives was, and its free bytes.
fn fullest(cell: &CellFacts) -> Option<(f64, u64)> {
    let rooms = cell.conditions().drives.iter().filter_map(|drive| drive.room);
    let full =
        rooms.filter(|(_, all)| *all > 0).map(|(free, all)| (1.0 - free as f64 / all as f64, free));
    full.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(full, _)| *full > FULL)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let Some(cells) = afflicted(evidence, |cell| Some(fullest(cell)?.0)) else { return Vec::new() };
    let (worst, full) = cells.worst();
    let free = fullest(worst).map_or(0, |(_, free)| free);
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The disk with the files that stand for the drives was {} full in {}, with {} left: \
             it allocates slowly and in pieces, and the files, which grow as they are written, \
             may find no room.",
            per_cent(full),
            cells.words(),
            Bytes(free).si()
        ),
        advice: "Make room, or put the files on another disk with --scratch.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, DriveConditions};

    use super::*;
    use crate::testing::RunFixture;

    fn texts(free: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let room =
            DriveConditions { room: Some((free, 1_000_000_000)), ..DriveConditions::default() };
        fixture.under(
            "single/ext4",
            "dd-4k",
            0,
            Conditions { drives: vec![room], ..Conditions::default() },
        );
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn little_room_is_reported_and_enough_is_not() {
        assert!(
            texts(50_000_000)[0].contains("95 % full in the only cell, with 50 MB left"),
            "{:?}",
            texts(50_000_000)
        );
        assert!(texts(200_000_000).is_empty());
    }
}
