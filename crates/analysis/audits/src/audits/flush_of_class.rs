//! Durable writes to modelled drives whose flush is assumed from similar drives.

use std::collections::BTreeSet;

use disklab_sample::Direction;
use disklab_units::show_nanoseconds;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence, Suspects};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "flush-of-class",
    severity: Severity::Note,
    detects: "durable writes in the lab to a drive whose flush is assumed from similar drives",
    evidence: "flush requests, and whether the drive's file has a published figure of its model",
    remedy: "move buffer.flush-overhead through its range (--set-drive, disklab sensitivity)",
    reproducer: Reproducer::MadeUp,
    check,
};

/// What a flush takes in the model and may take, by the cell's drive whose range is the widest.
fn widest(cell: &CellFacts) -> Option<[u64; 3]> {
    let known = cell.conditions().drives.iter().filter_map(|drive| drive.flush_of_class_ns);
    known.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}

fn ratio([_, low, high]: &[u64; 3]) -> f64 {
    *high as f64 / (*low).max(1) as f64
}

/// The same of a figure whose writes wait for flushes.
fn waited_for(evidence: &Evidence<'_>, index: usize, group: &Group) -> Option<[u64; 3]> {
    let writes = matches!(group.key.direction, Direction::Write | Direction::Mixed);
    let flushes = evidence.details[index].iter().any(|detail| detail.flushes > 0);
    if !writes || !flushes || !group.profile().is_durable() {
        return None;
    }
    evidence.cells_of(group).into_iter().find_map(widest)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let groups = evidence.groups.iter().enumerate();
    let waited: Vec<Option<[u64; 3]>> =
        groups.map(|(index, group)| waited_for(evidence, index, group)).collect();
    // Stacks may lie on drives of different kinds.
    let flushes: BTreeSet<[u64; 3]> = waited.iter().flatten().copied().collect();
    let mut all = Vec::new();
    for flush in flushes {
        let suspects = evidence.suspects(|index, _| (waited[index] == Some(flush)).then_some(0.0));
        all.extend(suspects.iter().map(|suspects| detection(flush, suspects)));
    }
    all
}

fn detection(flush: [u64; 3], suspects: &Suspects<'_>) -> Detection {
    let [own, low, high] = flush.map(|ns| show_nanoseconds(ns as f64));
    Detection {
        severity: Severity::Note,
        text: format!(
            "{} with {}: each durable write waits for a flush, which takes the modelled drive {own} \
             besides its data. That is the figure of similar drives: none is published for this model. \
             Such drives take {low} to {high}.",
            suspects.figure,
            suspects.stacks(),
        ),
        advice: "Compare stacks on this drive, not drives. For the figure itself, try both ends: \
                 --set-drive MODEL:buffer.flush-overhead=TIME."
            .to_owned(),
        groups: suspects.groups(),
    }
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, DriveConditions, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn texts(workload: &str, of_class: Option<[u64; 3]>, flushes: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        add(&mut fixture, "single/ext4", workload, of_class, flushes);
        fixture.texts(AUDIT.name)
    }

    fn add(
        fixture: &mut RunFixture,
        stack: &str,
        workload: &str,
        of_class: Option<[u64; 3]>,
        flushes: u64,
    ) {
        let write = figure(Direction::Write, 1 << 20, 1.0);
        let mut one = on_drives(step("s", vec![write]), &[(0, 1 << 20)]);
        one.drives[0].flushes = flushes;
        let known = DriveConditions {
            drive: "d-1".into(),
            flush_of_class_ns: of_class,
            ..DriveConditions::default()
        };
        let conditions = Some(Conditions { drives: vec![known], ..Conditions::default() });
        let environment = Environment { conditions, ..Environment::default() };
        let sample = Sample { steps: vec![one], environment, ..Sample::default() };
        fixture.full_sample(stack, workload, 0, sample);
    }

    #[test]
    fn a_durable_figure_says_that_its_flush_is_of_the_class() {
        let texts = texts("dd-4k", Some([117_000, 13_000, 600_000]), 64);
        assert_eq!(texts.len(), 1, "{texts:?}");
        for words in ["single/ext4", "117 µs", "to 600 µs"] {
            assert!(texts[0].contains(words), "{words}: {texts:?}");
        }
    }

    #[test]
    fn each_stack_has_the_flush_of_its_own_drives() {
        let mut fixture = RunFixture::new("");
        let disk = Some([8_000_000, 4_000_000, 16_000_000]);
        add(&mut fixture, "single/ext4", "dd-4k", disk, 64);
        add(&mut fixture, "single/btrfs", "dd-4k", Some([117_000, 13_000, 600_000]), 64);
        let texts = fixture.texts(AUDIT.name);
        let of = |stack| texts.iter().find(|text| text.contains(stack)).expect(stack);
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(of("single/ext4").contains("8.00 ms"), "{texts:?}");
        assert!(of("single/btrfs").contains("117 µs"), "{texts:?}");
    }

    #[test]
    fn figures_of_the_model_and_writes_that_wait_for_no_flush_are_clean() {
        assert!(texts("dd-4k", None, 64).is_empty());
        assert!(texts("dd-4k", Some([117_000, 13_000, 600_000]), 0).is_empty());
        assert!(texts("buffered", Some([117_000, 13_000, 600_000]), 64).is_empty());
    }

    #[test]
    fn the_drive_of_which_least_is_known_is_named() {
        let known =
            |range| DriveConditions { flush_of_class_ns: range, ..DriveConditions::default() };
        let narrow = known(Some([200_000, 100_000, 400_000]));
        let wide = known(Some([117_000, 13_000, 600_000]));
        let conditions = Conditions {
            drives: vec![narrow.clone(), known(None), wide, narrow],
            ..Conditions::default()
        };
        let levels = disklab_cell::Levels::new("s", "w");
        let cell = disklab_cell::Cell { number: 0, block: 0, levels, seed: 1 };
        let record = disklab_store::CellRecord::new(cell, disklab_store::CellState::Done);
        let environment = Environment { conditions: Some(conditions), ..Environment::default() };
        let facts = CellFacts::of(&record, &Sample { environment, ..Sample::default() });
        assert_eq!(widest(&facts), Some([117_000, 13_000, 600_000]));
    }
}
