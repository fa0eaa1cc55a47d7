//! The drives were written much more than was asked for.

use disklab_sample::Direction;
use disklab_units::{list, significant};

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{Evidence, drive_share};

pub(super) const AUDIT: Audit = Audit {
    name: "write-amplification",
    severity: Severity::Note,
    detects: "writes that cost the drives more than three times their bytes",
    evidence: "bytes written to the drives against bytes asked for",
    remedy: "larger or fewer synchronous writes",
    reproducer: Reproducer::Lab("small synchronous writes on ext4"),
    check,
};

/// Bytes written to all drives together per byte asked for. A mirror of two
/// costs 2, RAID 5 and 6 in full stripes less than 2.
const MUCH: f64 = 3.0;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| {
        let writes = group.key.direction == Direction::Write;
        let share = drive_share(group, |o| o.drive_write)?;
        (writes && share > MUCH).then_some(share)
    });
    if suspects.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> = suspects
        .iter()
        .map(|s| {
            let (low, high) = s.range();
            let (low, high) = (significant(low, 2), significant(high, 2));
            let range = if low == high { low } else { format!("{low} to {high}") };
            format!("{range} for {} with {}", s.figure, s.stacks())
        })
        .collect();
    vec![Detection {
        severity: Severity::Note,
        text: format!(
            "The drives wrote over 3 bytes per byte requested, with copies, parity, journals and metadata: {}.",
            list(listed.iter().map(String::as_str), 6)
        ),
        advice: "Much of it comes from small synchronous writes; it wears flash drives and costs \
                 parity layouts a read for each write."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(direction: Direction, written: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let one = figure(direction, 1 << 20, 1.0);
        let traffic = [(1 << 20, written / 2), (1 << 20, written / 2)];
        fixture.sample("raid1/ext4", "dd-4k", 0, vec![on_drives(step("s", vec![one]), &traffic)]);
        fixture.findings(AUDIT.name).into_iter().map(|f| f.text).collect()
    }

    #[test]
    fn many_writes_per_byte_are_reported() {
        let texts = found(Direction::Write, 13 << 20);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].ends_with("metadata: 13 for dd-4k with raid1/ext4."), "{}", texts[0]);
    }

    #[test]
    fn copies_and_reads_are_clean() {
        assert!(found(Direction::Write, 2 << 20).is_empty());
        assert!(found(Direction::Read, 13 << 20).is_empty());
    }

    #[test]
    fn stacks_with_several_shares_have_a_range() {
        let mut fixture = RunFixture::new("");
        for (stack, times) in [("single/ext4", 4), ("raid1/ext4", 13), ("raid1/btrfs", 3)] {
            let one = figure(Direction::Write, 1 << 20, 1.0);
            let steps = vec![on_drives(step("s", vec![one]), &[(0, times << 20)])];
            fixture.sample(stack, "dd-4k", 0, steps);
        }
        let texts = fixture.texts(AUDIT.name);
        let expected = "metadata: 4.0 to 13 for dd-4k with single/ext4 and raid1/ext4.";
        assert!(texts[0].ends_with(expected), "{texts:?}");
    }
}
