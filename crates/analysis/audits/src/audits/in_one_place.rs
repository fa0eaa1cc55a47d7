//! Random offsets in one place of a disk, compared with those all over it.

use disklab_sample::Order;
use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::on_hard_disks;
use crate::evidence::Evidence;
use crate::{Group, Severity};

/// Nothing is concluded from the figures that it finds.
pub(crate) const NAME: &str = "in-one-place";

pub(super) const AUDIT: Audit = Audit {
    name: NAME,
    severity: Severity::Warning,
    detects: "random offsets in a file that lies in one place of a hard disk, where other stacks' files lie all over it",
    evidence: "over which part of the file system the large files were laid out, by stack",
    remedy: "compare such stacks with `spread = \"none\"`, which lays out no stack's files",
    reproducer: Reproducer::Lab("random reads on ext4 and Btrfs"),
    check,
};

/// The part of the file system over which the files of a group's cells lie, at least.
fn part(evidence: &Evidence<'_>, group: &Group) -> Option<f64> {
    let parts = evidence.cells_of(group).into_iter().filter_map(|cell| {
        let space = cell.conditions().space?;
        (space.bytes > 0).then(|| space.spread_over.unwrap_or(0) as f64 / space.bytes as f64)
    });
    parts.reduce(f64::min)
}

fn is_random(group: &Group) -> bool {
    let profile = group.profile();
    let mut requests = [profile.reads, profile.writes].into_iter().flatten();
    requests.any(|requests| requests.order == Order::Random)
}

/// Whether another stack's files lie over more than twice as much.
fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| {
        if !is_random(group) || !on_hard_disks(evidence, group) {
            return None;
        }
        let own = part(evidence, group)?;
        let same = |other: &&Group| {
            let (a, b) = (&other.key, &group.key);
            (&a.levels.workload, &a.step, a.direction) == (&b.levels.workload, &b.step, b.direction)
        };
        let others = evidence.groups.iter().filter(same).filter_map(|g| part(evidence, g));
        others.reduce(f64::max).filter(|most| *most > 2.0 * own)
    });
    if suspects.is_empty() {
        return Vec::new();
    }
    let reported: Vec<String> =
        suspects.iter().map(|s| format!("{} ({})", s.figure, s.stacks())).collect();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The file lies in one place of the disk, where other stacks' lie all over it, and \
             nothing is concluded from it: {}. Within one place a disk's arm hardly moves, and \
             random offsets are several times as fast.",
            list(reported.iter().map(String::as_str), 6)
        ),
        advice: "These file systems cannot spread a file without writing. Compare them with \
                 `spread = \"none\"` in the study."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{
        Conditions, Direction, DriveState, Environment, Requests, Sample, Space, StepProfile,
    };

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(spread: [Option<u64>; 2], order: Order) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        for (stack, spread_over) in ["single/ext4", "single/btrfs"].into_iter().zip(spread) {
            let mut one = step("s", vec![figure(Direction::Read, 1 << 20, 1.0)]);
            let reads = Some(Requests::of_size(4096, order));
            one.profile = Some(StepProfile { reads, ..StepProfile::default() });
            let space =
                Space { bytes: 1000, used_before: 0, used_after: None, spread_over, files: None };
            let drive = DriveState {
                rotational: Some(true),
                model: Some("m".to_owned()),
                ..DriveState::default()
            };
            let conditions = Some(Conditions { space: Some(space), ..Conditions::default() });
            let environment =
                Environment { drives: vec![drive], conditions, ..Environment::default() };
            let sample = Sample { steps: vec![one], environment, ..Sample::default() };
            fixture.full_sample(stack, "read", 0, sample);
        }
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn one_place_is_reported_where_others_are_spread() {
        let texts = found([Some(500), None], Order::Random);
        assert!(texts[0].contains("single/btrfs") && !texts[0].contains("ext4"), "{texts:?}");
        assert!(found([Some(500), Some(480)], Order::Random).is_empty());
        assert!(found([None, None], Order::Random).is_empty());
        assert!(found([Some(500), None], Order::Sequential).is_empty());
    }

    #[test]
    fn twice_as_much_is_still_alike() {
        assert!(found([Some(200), Some(100)], Order::Random).is_empty());
        let texts = found([Some(240), Some(100)], Order::Random);
        assert!(
            texts[0].contains("read:s (single/btrfs)") || texts[0].contains("read (single/btrfs)"),
            "{texts:?}"
        );
    }
}
