//! A file system without much room, or with less than those that it is compared with.

use disklab_units::per_cent;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::{afflicted, differing};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "nearly-full",
    severity: Severity::Warning,
    detects: "file systems that are nearly full, or fuller than those that they are compared with",
    evidence: "used and all blocks of the file system before and after the workload",
    remedy: "make room; compare file systems that are equally full and old",
    reproducer: Reproducer::Lab("a file that fills its file system"),
    check,
};

/// Beyond this, file systems search long for room and tear files apart (btrfs(5),
/// zfsprops(7) and the manuals of others name 80 to 90 %).
const FULL: f64 = 0.9;
/// What was there before, in steps of so much of the whole: less is no other age.
const STEP: f64 = 0.1;

fn full(used: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { used as f64 / all as f64 }
}

fn at_the_end(cell: &CellFacts) -> Option<f64> {
    let space = cell.conditions().space?;
    let used = space.used_after.unwrap_or(0).max(space.used_before);
    Some(full(used, space.bytes)).filter(|full| *full > FULL)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    if let Some(cells) = afflicted(evidence, at_the_end) {
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "The file system was {} full at the end of {}: near its end it searches long for \
                 room, tears files apart, and on a disk it writes on the slow inner tracks.",
                per_cent(cells.worst().1),
                cells.words()
            ),
            advice: "Use smaller files or larger drives, unless a full file system is the \
                     question."
                .to_owned(),
            groups: cells.groups,
        });
    }
    let before = |cell: &CellFacts| {
        let space = cell.conditions().space?;
        let steps = (full(space.used_before, space.bytes) / STEP).round();
        Some(format!("{:.0} % full", steps * STEP * 100.0))
    };
    if let Some(differs) = differing(evidence, before).filter(|d| d.parts_stacks()) {
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "The file systems were not equally full before: {}. A fuller one is an older one, \
                 with less room on the fast tracks.",
                differs.words()
            ),
            advice: "Compare file systems that are equally full and equally old; new ones are \
                     both."
                .to_owned(),
            groups: differs.groups,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Space};

    use super::*;
    use crate::testing::RunFixture;

    fn add(fixture: &mut RunFixture, stack: &str, before: u64, after: u64) {
        let space = Space {
            bytes: 100,
            used_before: before,
            used_after: Some(after),
            spread_over: None,
            files: None,
        };
        fixture.under(
            stack,
            "dd-4k",
            0,
            Conditions { space: Some(space), ..Conditions::default() },
        );
    }

    #[test]
    fn a_full_file_system_is_reported() {
        let mut fixture = RunFixture::new("");
        add(&mut fixture, "single/ext4", 1, 96);
        assert!(fixture.texts(AUDIT.name)[0].starts_with("The file system was 96 % full"));
    }

    #[test]
    fn a_previously_fuller_file_system_is_reported() {
        let mut fixture = RunFixture::new("");
        add(&mut fixture, "single/ext4", 2, 10);
        add(&mut fixture, "single/btrfs", 71, 80);
        let texts = fixture.texts(AUDIT.name);
        assert!(texts[0].contains("0 % full (single/ext4); 70 % full (single/btrfs)"), "{texts:?}");
    }

    #[test]
    fn room_for_all_is_clean() {
        let mut fixture = RunFixture::new("");
        add(&mut fixture, "single/ext4", 1, 85);
        add(&mut fixture, "single/btrfs", 4, 40);
        assert!(fixture.texts(AUDIT.name).is_empty());
    }

    #[test]
    fn fullness_is_that_of_the_fuller_end() {
        let mut fixture = RunFixture::new("");
        // What was there before was removed.
        add(&mut fixture, "single/ext4", 95, 10);
        add(&mut fixture, "single/btrfs", 90, 90);
        let texts = fixture.texts(AUDIT.name);
        let expected = "95 % full at the end of 1 of 2 cells (dd-4k with single/ext4)";
        assert!(texts[0].contains(expected), "{texts:?}");
        let mut empty = RunFixture::new("");
        let none =
            Space { bytes: 0, used_before: 5, used_after: None, spread_over: None, files: None };
        let conditions = Conditions { space: Some(none), ..Conditions::default() };
        empty.under("single/ext4", "dd-4k", 0, conditions);
        assert_eq!(empty.texts(AUDIT.name), [""; 0], "nobody knows how large it is");
    }
}
