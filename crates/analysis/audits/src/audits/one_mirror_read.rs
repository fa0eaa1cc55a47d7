//! A mirror whose reads came from one drive.

use disklab_sample::Direction;
use disklab_units::per_cents;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "one-mirror-read",
    severity: Severity::Note,
    detects: "mirrors whose reads came from one drive alone",
    evidence: "bytes read from each drive",
    remedy: "several readers at once (numjobs)",
    reproducer: Reproducer::Lab("one reader on a mirror"),
    check,
};

/// One drive's share of the bytes read from which it read alone.
const SHARE: f64 = 0.9;
/// Fewer bytes read may be those of metadata.
const LEAST: u64 = 1 << 20;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| {
        let reads = group.key.direction == Direction::Read && !group.profile().is_of_memory();
        (reads && keeps_copies(evidence, group)).then(|| alone(group)).flatten()
    });
    suspects
        .iter()
        .map(|suspects| Detection {
            severity: Severity::Note,
            text: format!(
                "{} with {}: {} of what the drives read came from one drive, though others hold \
                 the same data. A single reader gets one drive's speed here.",
                suspects.figure,
                suspects.stacks(),
                per_cents(suspects.range())
            ),
            advice: "Btrfs chooses the mirror by the reader's process id, md keeps a sequential \
                     reader on one drive: several readers at once (numjobs in fio) show what a \
                     mirror can do."
                .to_owned(),
            groups: suspects.groups(),
        })
        .collect()
}

/// Whether others of the stack's drives hold the same data as the one that is read.
fn keeps_copies(evidence: &Evidence<'_>, group: &Group) -> bool {
    evidence.info.stacks.iter().any(|stack| stack.id == group.key.levels.stack && stack.copies)
}

/// The smallest share, over all observations, of the drive that read most; none
/// where drives shared the work in one of them, or hardly anything was read.
fn alone(group: &Group) -> Option<f64> {
    let shares: Option<Vec<f64>> = group
        .observations
        .iter()
        .map(|o| {
            let most = o.drives.iter().map(|d| d.read).max()?;
            let share = most as f64 / o.drive_read as f64;
            (o.drives.len() > 1 && o.drive_read >= LEAST && share >= SHARE).then_some(share)
        })
        .collect();
    shares?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use disklab_study::PlannedStack;

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(stack: &str, traffic: &[(u64, u64)]) -> Vec<String> {
        let mut fixture = RunFixture::new("[stacks]\nbtrfs-raid1 = \"btrfs-raid1\"");
        let planned = |(id, copies): (&str, bool)| PlannedStack {
            id: id.to_owned(),
            layers: Vec::new(),
            drives: Vec::new(),
            capacity: 0,
            tolerates: u32::from(copies),
            loss: None,
            copies,
        };
        let stacks = [("btrfs-raid1", true), ("raid1/ext4", true), ("single/ext4", false)];
        fixture.info.stacks = stacks.map(planned).to_vec();
        let bytes: u64 = traffic.iter().map(|(read, _)| read).sum();
        let read = figure(Direction::Read, bytes, 1.0);
        fixture.sample(stack, "fio", 0, vec![on_drives(step("fio", vec![read]), traffic)]);
        fixture.findings(AUDIT.name).into_iter().map(|f| f.text).collect()
    }

    #[test]
    fn one_reading_drive_is_reported() {
        let texts = found("btrfs-raid1", &[(64 << 20, 0), (1 << 20, 0)]);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].starts_with("fio with btrfs-raid1: 98 % of"), "{}", texts[0]);
        assert_eq!(found("raid1/ext4", &[(0, 0), (64 << 20, 0)]).len(), 1);
    }

    #[test]
    fn shared_reads_little_reads_and_other_layouts_are_clean() {
        assert!(found("raid1/ext4", &[(32 << 20, 0), (32 << 20, 0)]).is_empty());
        assert!(found("raid1/ext4", &[(1 << 19, 0), (0, 0)]).is_empty());
        assert!(found("single/ext4", &[(64 << 20, 0)]).is_empty());
        // As two stripes that hold what is read, and others.
        assert!(found("single/ext4", &[(64 << 20, 0), (0, 0)]).is_empty());
    }
}
