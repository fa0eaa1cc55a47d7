//! Random writes to an SSD that has hardly been written.

use disklab_options::{BenchKind, RunOrigin};
use disklab_sample::{Direction, Order};
use disklab_units::{list, per_cents};

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "fresh-ssd",
    severity: Severity::Warning,
    detects: "random writes to an SSD of which less than its size has been written since it was erased",
    evidence: "bytes written to each drive in the cell against its size, whether it rotates",
    remedy: "write the SSD full, twice, before it is measured (SNIA's preconditioning), or say 'fresh'",
    reproducer: Reproducer::MadeUp,
    check,
};

/// The share of its size from which on an SSD has no erased blocks left but its spare ones.
const SHARE: f64 = 1.0;
/// The file systems' making discards all that they get, so that each stack begins with
/// erased SSDs; a directory's file system has a past that nobody knows.
const fn discards(bench: &RunOrigin) -> bool {
    matches!(bench, RunOrigin::Bench(BenchKind::Lab | BenchKind::Disks(_)))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if !discards(&evidence.info.bench) {
        return Vec::new();
    }
    let suspects = evidence.suspects(|_, group| {
        let shares: Option<Vec<f64>> =
            evidence.cells_of(group).into_iter().map(CellFacts::written_share_of_ssds).collect();
        let share = shares?.into_iter().reduce(f64::max)?;
        (writes_at_random(group) && share < SHARE).then_some(share)
    });
    if suspects.is_empty() {
        return Vec::new();
    }
    let texts: Vec<String> = suspects
        .iter()
        .map(|s| format!("{} with {} ({})", s.figure, s.stacks(), per_cents(s.range())))
        .collect();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Random writes to SSDs of which less than the size had been written: {}. Erased blocks \
             were left; once there are none, the SSD moves data before each write and is several \
             times slower.",
            list(texts.iter().map(String::as_str), 6)
        ),
        advice: "Read these figures as those of a fresh SSD. For those of one in use, write it \
                 full twice, and let the job run until it is steady (part = \"steady\")."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

/// Whether a figure is of writes at random offsets.
fn writes_at_random(group: &Group) -> bool {
    group.profile().writes.is_some_and(|writes| writes.order == Order::Random)
        && group.key.direction == Direction::Write
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveState, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(bench: &str, order: &str, rotational: bool, written: u64) -> Vec<String> {
        let more = format!(
            "[[workloads]]\nid = \"w\"\nfio = {{ size = \"1G\", rw = \"{order}\", bs = \"4k\" }}"
        );
        let mut fixture = RunFixture::new(&more);
        fixture.info.bench = bench.parse().unwrap();
        let mut write = figure(Direction::Write, written, 1.0);
        write.operations = Some(481_862);
        let drive = DriveState {
            drive: "d-1".into(),
            rotational: Some(rotational),
            size_bytes: 100 << 30,
            ..DriveState::default()
        };
        let environment = Environment { drives: vec![drive], ..Environment::default() };
        let steps = vec![on_drives(step("w", vec![write]), &[(0, written)])];
        let sample = Sample { steps, environment, ..Sample::default() };
        fixture.full_sample("single/ext4", "w", 0, sample);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn a_fresh_ssd_is_found() {
        let texts = found("disks:/dev/sdx", "randwrite", false, 2 << 30);
        assert!(texts[0].contains("w with single/ext4 (2.0 %)"), "{texts:?}");
        assert_eq!(found("lab", "randrw", false, 2 << 30).len(), 1);
    }

    #[test]
    fn full_ones_disks_and_streams_are_clean() {
        assert!(found("disks:/dev/sdx", "randwrite", false, 101 << 30).is_empty());
        assert!(found("disks:/dev/sdx", "randwrite", true, 2 << 30).is_empty());
        assert!(found("disks:/dev/sdx", "write", false, 2 << 30).is_empty());
        assert!(found("dir:/x", "randwrite", false, 2 << 30).is_empty());
    }
}
