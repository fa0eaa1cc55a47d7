//! Writes that never reached the drives.

use disklab_sample::Direction;
use disklab_study::StackSpec;
use disklab_units::per_cents;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{Evidence, drive_share};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "zeros-compressed",
    severity: Severity::Severe,
    detects: "writes of which the drives saw less than half: compressed, deduplicated or never \
              written",
    evidence: "bytes that reached the drives against bytes that the workload wrote; for \
               imported zeros, the stack's options",
    remedy: "random data, or stacks that do not compress",
    reproducer: Reproducer::Lab("zeros by dd on Btrfs with compression (synology-2018)"),
    check,
};

/// Below this share of the bytes asked for, something else than the drives set
/// the figure. Copies and parity only ever raise the share.
const SHARE: f64 = 0.5;
/// Where zeros meet compression by the study's own words, less than all is proof
/// enough: a stack that stores every byte writes each at least once. What is left
/// are journals and metadata.
const SHARE_OF_ZEROS: f64 = 0.95;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    for severity in [Severity::Severe, Severity::Warning] {
        let suspects = evidence.suspects(|_, group| {
            let profile = group.profile();
            let stack = evidence.stack(group);
            let share = drive_share(group, |o| o.drive_write)?;
            let known = profile.writes_zeros() && stack.is_some_and(compresses);
            let matches = known == (severity == Severity::Severe);
            let limit = if known { SHARE_OF_ZEROS } else { SHARE };
            let writes = group.key.direction == Direction::Write;
            (writes && certainly_written(evidence, group) && matches && share < limit)
                .then_some(share)
        });
        all.extend(suspects.iter().map(|suspects| Detection {
            severity,
            text: format!(
                "{} with {}: {} of the bytes that the workload wrote reached the drives. {}",
                suspects.figure,
                suspects.stacks(),
                per_cents(suspects.range()),
                if severity == Severity::Severe {
                    "They were zeros, which the stack compresses away: the figure tells how fast \
                     nothing is written."
                } else {
                    "The rest was compressed, deduplicated, overwritten in memory or never written."
                }
            ),
            advice: "Write data that cannot be compressed, such as source = \"random\" for dd or \
                     refill_buffers for fio, or compare only stacks that do not compress."
                .to_owned(),
            groups: suspects.groups(),
        }));
    }
    all.extend(uncounted(evidence));
    all
}

/// Imported zeros on stacks that compress by their own options, where nobody counted what the
/// drives were written.
fn uncounted(evidence: &Evidence<'_>) -> Vec<Detection> {
    if !evidence.is_import() {
        return Vec::new();
    }
    let suspects = evidence.suspects(|_, group| {
        let counted = group.observations.iter().any(|o| !o.drives.is_empty());
        let zeros = group.key.direction == Direction::Write && group.profile().writes_zeros();
        let known = zeros && evidence.stack(group).is_some_and(compresses);
        (known && !counted).then_some(0.0)
    });
    let listed = suspects.iter().map(|suspects| Detection {
        severity: Severity::Severe,
        text: format!(
            "{} with {}: zeros were written to a stack that compresses: the figure tells how fast \
             nothing is written. What reached the drives was not counted.",
            suspects.figure,
            suspects.stacks()
        ),
        advice:
            "Write data that cannot be compressed, such as if=/dev/urandom to a file in memory \
                 first, or refill_buffers for fio."
                .to_owned(),
        groups: suspects.groups(),
    });
    listed.collect()
}

/// Whether a stack compresses or deduplicates by its own options. ZFS does so
/// unless told not to: OpenZFS turns zeros into holes with any compression on.
fn compresses(stack: &StackSpec) -> bool {
    let off = |value: &str| matches!(value, "off" | "no" | "none" | "0");
    stack.layers.iter().any(|layer| {
        let options = ["compress", "compress-force", "compression", "dedup"];
        let set: Vec<&str> = options.iter().filter_map(|name| layer.option(name)).collect();
        let zfs = layer.name.starts_with("zfs") && layer.option("off").is_none();
        set.iter().any(|value| !off(value)) || zfs && set.is_empty()
    })
}

/// OpenZFS took O_DIRECT for a hint until 2.3 and kept such writes in memory.
fn buffers_direct(stack: &StackSpec) -> bool {
    stack.layers.iter().any(|layer| layer.name.starts_with("zfs"))
}

/// Whether a group's writes certainly were on the drives when the clock stopped.
pub(super) fn certainly_written(evidence: &Evidence<'_>, group: &Group) -> bool {
    let profile = group.profile();
    profile.is_durable()
        || profile.is_direct() && !evidence.stack(group).is_some_and(buffers_direct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn fixture(stack: &str, workload: &str, direction: Direction, written: u64) -> RunFixture {
        let mut fixture = RunFixture::new("");
        for block in 0..3 {
            let one = figure(direction, 1 << 20, 1.0);
            fixture.sample(
                stack,
                workload,
                block,
                vec![on_drives(step(workload, vec![one]), &[(0, written)])],
            );
        }
        fixture
    }

    #[test]
    fn zeros_on_a_compressing_stack_are_severe() {
        let found = fixture("raid1/btrfs", "dd-4k", Direction::Write, 1 << 15).findings(AUDIT.name);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Severe);
        assert!(
            found[0].text.contains(
                "dd-4k with raid1/btrfs: 3.1 % of the bytes that the workload wrote reached"
            ),
            "{}",
            found[0].text
        );
        assert_eq!(found[0].groups, [0]);
    }

    #[test]
    fn uncounted_zeros_are_reported_on_compressing_stacks() {
        let of = |stack: &str, workload: &str| {
            let mut fixture = RunFixture::new("");
            fixture.info.bench = "import".parse().unwrap();
            let one = figure(Direction::Write, 1 << 20, 1.0);
            fixture.sample(stack, workload, 0, vec![step(workload, vec![one])]);
            fixture.findings(AUDIT.name)
        };
        let found = of("raid1/btrfs", "dd-4k");
        assert_eq!(found[0].severity, Severity::Severe);
        assert!(found[0].text.contains("zeros were written to a stack that compresses"));
        assert_eq!(of("raid1/ext4", "dd-4k"), []);
        assert_eq!(of("raid1/btrfs", "buffered"), [], "no zeros");
    }

    #[test]
    fn zeros_leave_journals_and_metadata() {
        let share = |tenths: u64| {
            fixture("single/btrfs", "dd-64k", Direction::Write, (tenths << 20) / 10)
                .findings(AUDIT.name)
        };
        assert_eq!(share(8).first().map(|f| f.severity), Some(Severity::Severe));
        assert_eq!(share(11), []);
    }

    #[test]
    fn without_a_known_cause_it_is_a_warning() {
        let found = fixture("single/ext4", "dd-4k", Direction::Write, 1 << 15).findings(AUDIT.name);
        assert_eq!(found.iter().map(|f| f.severity).collect::<Vec<_>>(), [Severity::Warning]);
    }

    #[test]
    fn full_writes_reads_and_writes_in_memory_are_clean() {
        for (stack, workload, direction, written) in [
            ("raid1/btrfs", "dd-4k", Direction::Write, 2 << 20),
            ("raid1/btrfs", "dd-4k", Direction::Read, 0),
            ("raid1/btrfs", "buffered", Direction::Write, 0),
        ] {
            assert_eq!(fixture(stack, workload, direction, written).findings(AUDIT.name), []);
        }
        // Nothing is known where no drive was watched.
        let mut unwatched = RunFixture::new("");
        let one = figure(Direction::Write, 1 << 20, 1.0);
        unwatched.sample("raid1/btrfs", "dd-4k", 0, vec![step("s", vec![one])]);
        assert_eq!(unwatched.findings(AUDIT.name), []);
    }

    #[test]
    fn zfs_compresses_unless_switched_off() {
        for (layers, expected) in [
            ("zfs", true),
            ("zfs-mirror[lz4]", true),
            ("zfs[compression=off]", false),
            ("zfs[off]", false),
            ("zfs[compression=zstd]", true),
            ("ext4[noatime]", false),
            ("btrfs[compress-force=zstd:3]", true),
            ("btrfs[compress=no]", false),
        ] {
            let fixture = RunFixture::new(&format!("[stacks]\nx = \"{layers}\""));
            let stack = fixture.study.stacks.last().expect("a stack");
            assert_eq!(compresses(stack), expected, "{layers}");
        }
    }
}
