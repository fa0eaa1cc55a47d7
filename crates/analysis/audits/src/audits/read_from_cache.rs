//! Reads that the drives never saw.

use disklab_cell::Caches;
use disklab_sample::Direction;
use disklab_units::per_cents;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{Evidence, drive_share};
use crate::{Group, Severity};

/// No stack is taken by reads that it finds.
pub(crate) const NAME: &str = "read-from-cache";

pub(super) const AUDIT: Audit = Audit {
    name: NAME,
    severity: Severity::Severe,
    detects: "reads of which the drives delivered less than half: the rest came from memory",
    evidence: "bytes that the drives read against bytes that the workload read",
    remedy: "files larger than the memory, caches = \"cold\", data that cannot be compressed",
    reproducer: Reproducer::Lab(
        "a file read again with the caches kept, on ext4 (Phoronix #417) and ZFS (KDiskMark #148); repeated data on a compressing pool (xpenology-2023)",
    ),
    check,
};

/// Below this share of the bytes asked for, memory rather than the drives set
/// the figure.
const SHARE: f64 = 0.5;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    for kept in [false, true] {
        let suspects = evidence.suspects(|_, group| {
            let reads = matches!(group.key.direction, Direction::Read | Direction::Copy);
            if !reads || group.profile().is_of_memory() || keeps(evidence, group) != kept {
                return None;
            }
            drive_share(group, |o| o.drive_read).filter(|share| *share < SHARE)
        });
        all.extend(suspects.iter().map(|suspects| {
            Detection {
                severity: if kept { Severity::Note } else { Severity::Severe },
                text: format!(
                    "{} with {}: the drives delivered {} of the bytes that the workload read; the \
                 rest came from memory, or took no space on the drives. {}",
                    suspects.figure,
                    suspects.stacks(),
                    per_cents(suspects.range()),
                    if kept {
                        "The study keeps the caches, so this may be meant."
                    } else {
                        "The figure is not that of the drives."
                    }
                ),
                advice: "Read files larger than the memory, with caches = \"cold\" and data that \
                     cannot be compressed; on ZFS limit the ARC (primarycache=metadata)."
                    .to_owned(),
                groups: suspects.groups(),
            }
        }));
    }
    all
}

fn keeps(evidence: &Evidence<'_>, group: &Group) -> bool {
    evidence.workload(group).is_some_and(|w| w.caches == Caches::Keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(workload: &str, name: &str, direction: Direction, read: u64) -> Vec<Severity> {
        let mut fixture = RunFixture::new("");
        let one = figure(direction, 1 << 20, 1.0);
        let step = on_drives(step(name, vec![one]), &[(read / 2, 1 << 20), (read / 2, 1 << 20)]);
        fixture.sample("raid1/ext4", workload, 0, vec![step]);
        fixture.findings(AUDIT.name).iter().map(|f| f.severity).collect()
    }

    #[test]
    fn reads_that_the_drives_did_not_see_are_severe() {
        assert_eq!(found("fio", "fio", Direction::Read, 1 << 10), [Severity::Severe]);
        assert_eq!(found("copy", "cp", Direction::Copy, 0), [Severity::Severe]);
        assert_eq!(found("kept", "kept", Direction::Read, 0), [Severity::Note]);
    }

    #[test]
    fn real_reads_writes_and_cache_tests_are_clean() {
        assert_eq!(found("fio", "fio", Direction::Read, 1 << 20), []);
        assert_eq!(found("fio", "fio", Direction::Write, 0), []);
        assert_eq!(found("hdparm", "cached", Direction::Read, 0), []);
        assert_eq!(found("hdparm", "device", Direction::Read, 0), [Severity::Severe]);
    }
}
