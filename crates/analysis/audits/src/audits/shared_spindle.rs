//! Several drives of a stack are files on one disk.

use std::collections::BTreeSet;

use disklab_options::BenchKind;
use disklab_sample::DriveState;
use disklab_units::list;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "shared-spindle",
    severity: Severity::Severe,
    detects: "drives of one stack that are files or partitions on one disk, which work one after the other",
    evidence: "the bench, and the drives' serial numbers",
    remedy: "compare layouts on drives of their own, or in the lab",
    reproducer: Reproducer::Loop("Btrfs RAID1 over two files (as root)"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = files_of_one_disk(evidence);
    all.extend(one_disk(evidence));
    all
}

/// Drives of a cell that are one disk by serial number or world-wide name.
fn same(cell: &CellFacts) -> Option<f64> {
    let drives = &cell.environment.drives;
    let name = |drive: &DriveState| drive.wwid.clone().or_else(|| drive.serial.clone());
    let names: Vec<String> = drives.iter().filter_map(name).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    (distinct.len() < names.len()).then_some(names.len() as f64)
}

fn one_disk(evidence: &Evidence<'_>) -> Option<Detection> {
    let cells = afflicted(evidence, same)?;
    Some(Detection {
        severity: Severity::Severe,
        text: format!(
            "Several drives of one stack are partitions of one disk in {}: its arm moves back and forth between them, and no layout gains what it would on separate disks.",
            cells.words()
        ),
        advice: "Give each of a stack's drives a disk of its own.".to_owned(),
        groups: cells.groups,
    })
}

fn files_of_one_disk(evidence: &Evidence<'_>) -> Vec<Detection> {
    if evidence.info.bench != BenchKind::Loop.into() {
        return Vec::new();
    }
    let several = |id: &str| evidence.study.stacks.iter().any(|s| s.id == id && s.drives.len() > 1);
    let groups: Vec<usize> = evidence
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| several(&group.key.levels.stack))
        .map(|(index, _)| index)
        .collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let mut stacks: Vec<&str> =
        groups.iter().map(|g| evidence.groups[*g].key.levels.stack.as_str()).collect();
    stacks.dedup();
    vec![Detection {
        severity: Severity::Note,
        text: format!(
            "The drives of {} are files in one directory of this machine. Real drives work at the \
             same time; these share what lies below the directory, so the gains and losses of RAID \
             seen here are not those of real drives.",
            list(stacks, 6)
        ),
        advice: "Compare file systems on the same layout here; for layouts, use real drives \
                 (--on disks:…) or the lab."
            .to_owned(),
        groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Environment;

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn only_the_loop_bench_and_only_stacks_of_several_drives() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        fixture.info.bench = "loop".parse().unwrap();
        assert_eq!(fixture.findings("shared-spindle"), []);
        fixture.repeats("raid1/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        let found = fixture.findings("shared-spindle");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].groups, [1]);
        assert!(found[0].text.starts_with("The drives of raid1/ext4 are files"));
        fixture.info.bench = "disks:/dev/disk/by-id/x".parse().unwrap();
        assert_eq!(fixture.findings("shared-spindle"), []);
    }

    #[test]
    fn partitions_of_one_disk_are_severe() {
        for (other, expected) in [("A", 1), ("B", 0)] {
            let mut fixture = RunFixture::new("");
            let drive =
                |serial: &str| DriveState { serial: Some(serial.into()), ..DriveState::default() };
            let drives = vec![drive("A"), drive(other)];
            fixture.around(
                "raid1/ext4",
                "dd-4k",
                0,
                Environment { drives, ..Environment::default() },
            );
            let found = fixture.findings("shared-spindle");
            assert_eq!(found.len(), expected, "{other}");
            assert!(found.iter().all(|f| f.severity == Severity::Severe));
        }
    }
}
