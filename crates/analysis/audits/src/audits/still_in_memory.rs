//! Writes that were still in the page cache when the clock stopped.

use disklab_sample::Direction;
use disklab_units::per_cents;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::zeros_compressed::certainly_written;
use crate::evidence::{Evidence, drive_share};

pub(super) const AUDIT: Audit = Audit {
    name: "still-in-memory",
    severity: Severity::Warning,
    detects: "buffered writes of which less than half had reached the drives when the clock stopped",
    evidence: "bytes that had reached the drives when the clock stopped",
    remedy: "end_fsync, conv = \"fsync\", or more data than memory",
    reproducer: Reproducer::Lab("a buffered write without fsync"),
    check,
};

/// Below this share of the bytes asked for, memory rather than the drives set
/// the figure.
const SHARE: f64 = 0.5;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| {
        let writes = matches!(group.key.direction, Direction::Write | Direction::Copy);
        if !writes || certainly_written(evidence, group) {
            return None;
        }
        drive_share(group, |o| o.drive_write).filter(|share| *share < SHARE)
    });
    suspects
        .iter()
        .map(|suspects| Detection {
            severity: Severity::Warning,
            text: format!(
                "{} with {}: {} of the bytes had reached the drives when the clock stopped; \
                 the rest was still in memory, or compressed. The figure is that of the page cache \
                 as well as of the drives.",
                suspects.figure,
                suspects.stacks(),
                per_cents(suspects.range())
            ),
            advice: "Write more than fits into memory, or include the flush in the time: \
                     end_fsync = 1 for fio, conv = \"fsync\" for dd, sync = true for copy."
                .to_owned(),
            groups: suspects.groups(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(workload: &str, written: u64) -> usize {
        let mut fixture = RunFixture::new("");
        let one = figure(Direction::Write, 1 << 20, 1.0);
        fixture.sample(
            "single/ext4",
            workload,
            0,
            vec![on_drives(step("s", vec![one]), &[(0, written)])],
        );
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn only_buffered_writes_can_be_in_memory() {
        assert_eq!(found("buffered", 1 << 18), 1);
        assert_eq!(found("buffered", 1 << 20), 0);
        assert_eq!(found("dd-4k", 1 << 18), 0);
    }
}
