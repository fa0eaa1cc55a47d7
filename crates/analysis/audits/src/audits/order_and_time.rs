//! Order confounded with time, and drift.

use std::collections::BTreeMap;

use disklab_study::{ChartKind, Measure};
use disklab_units::{list, per_cent};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::median;
use crate::evidence::Evidence;
use crate::{Severity, measure_of};

pub(super) const AUDIT: Audit = Audit {
    name: "order-and-time",
    severity: Severity::Severe,
    detects: "outside the lab, where no cell meets another: stacks measured one after the other rather than in turn, and figures that drift over the run",
    evidence: "when each cell ended, and all figures over the blocks",
    remedy: "let disklab order the cells (repeats in blocks), and wait until the machine is warm",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Fewer blocks show no trend: with five, all in order happens once in 60 by chance, with
/// six once in 360.
const BLOCKS: usize = 6;
/// Change from the first to the last third of the blocks that is worth telling.
const DRIFT: f64 = 0.05;
/// Kendall's rank correlation between block and level; at six blocks, chance gives as much
/// once in 30 (M. G. Kendall, 'A New Measure of Rank Correlation', 1938), and all stacks
/// together must have drifted.
const TAU: f64 = 0.7;

/// In the lab each cell has a guest, drives and a clock of its own, and its figures depend on
/// its seed alone: nothing can change from one cell to the next, and a trend over blocks is
/// one of their draws. So neither finding exists there.
fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if evidence.is_lab() {
        return Vec::new();
    }
    confounded(evidence).into_iter().chain(drifted(evidence)).collect()
}

/// Whether all cells of each stack ran together, apart from those of the others.
fn confounded(evidence: &Evidence<'_>) -> Option<Detection> {
    let mut cells: Vec<_> = evidence.cells.iter().collect();
    // Numbers say what was planned; of an imported run, nothing.
    if cells.iter().any(|cell| cell.ended_ms.is_none()) {
        return None;
    }
    cells.sort_by_key(|cell| (cell.ended_ms, cell.number));
    let mut apart: Vec<usize> = Vec::new();
    let mut figures = Vec::new();
    for suspects in evidence.suspects(|_, group| (group.observations.len() > 1).then_some(0.0)) {
        if suspects.found.len() < 2 {
            continue;
        }
        let place = |number: u32| cells.iter().position(|cell| cell.number == number);
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (_, group, _) in &suspects.found {
            let places: Vec<usize> =
                group.observations.iter().filter_map(|o| place(o.cell)).collect();
            let (Some(first), Some(last)) = (places.iter().min(), places.iter().max()) else {
                continue;
            };
            spans.push((*first, *last));
        }
        spans.sort_unstable();
        if spans.len() > 1 && spans.windows(2).all(|pair| pair[0].1 < pair[1].0) {
            apart.extend(suspects.groups());
            figures.push(suspects.figure);
        }
    }
    (!figures.is_empty()).then(|| Detection {
        severity: Severity::Severe,
        text: format!(
            "All repeats of one stack ran before those of the next, in {}: what changed meanwhile \
             (heat, other work, a filling disk) looks like a difference between stacks.",
            list(figures.iter().map(String::as_str), 6)
        ),
        advice: "Run the stacks in turn, in blocks, as disklab does by itself; of figures made \
                 elsewhere, take only differences that are larger than any drift."
            .to_owned(),
        groups: apart,
    })
}

/// A drift that all stacks share, from block to block.
fn drifted(evidence: &Evidence<'_>) -> Option<Detection> {
    // Logarithms of each figure against its group's middle, by block.
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for group in evidence.groups {
        let measure = measure_of(&[group], &ChartKind::Bars);
        if measure == Measure::Missed || group.observations.len() < BLOCKS {
            continue;
        }
        let value = |o: &crate::Observation| o.value(measure).filter(|v| *v > 0.0).map(f64::ln);
        let Some(middle) = median(group.observations.iter().filter_map(value).collect()) else {
            continue;
        };
        // Time and latency grow where rates fall.
        let rate = matches!(measure, Measure::Throughput | Measure::Iops);
        for observation in &group.observations {
            let change = value(observation).map(|v| if rate { v - middle } else { middle - v });
            blocks.entry(observation.block).or_default().extend(change);
        }
    }
    let levels: Vec<f64> = blocks.into_values().filter_map(median).collect();
    if levels.len() < BLOCKS {
        return None;
    }
    let third = levels.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let change = (mean(&levels[levels.len() - third..]) - mean(&levels[..third])).exp() - 1.0;
    if change.abs() < DRIFT || kendall(&levels).abs() < TAU {
        return None;
    }
    Some(Detection {
        severity: Severity::Warning,
        text: format!(
            "All figures together became {} {} from the first third of the {} blocks to the last: \
             the machine or its drives changed meanwhile.",
            per_cent(change.abs()),
            if change > 0.0 { "faster" } else { "slower" },
            levels.len()
        ),
        advice: "Comparisons pair the blocks and hold; the figures themselves depend on when they \
                 were made. Wait until the machine is warm, and look for heat and other work."
            .to_owned(),
        groups: Vec::new(),
    })
}

/// Kendall's rank correlation of values with their order.
fn kendall(values: &[f64]) -> f64 {
    let mut score = 0.0;
    for (index, later) in values.iter().enumerate() {
        for earlier in &values[..index] {
            score +=
                (later - earlier).partial_cmp(&0.0).map_or(0.0, |order| f64::from(order as i8));
        }
    }
    let pairs = values.len() * values.len().saturating_sub(1) / 2;
    if pairs == 0 { 0.0 } else { score / pairs as f64 }
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    /// The cells ended in their order, a second apart.
    fn date(fixture: &mut RunFixture) {
        for (second, (record, _)) in fixture.cells.iter_mut().enumerate() {
            record.ended = jiff::Timestamp::from_second(second as i64).ok();
        }
    }

    fn on(bench: &str) -> RunFixture {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = bench.parse().unwrap();
        fixture
    }

    fn one_after_the_other(bench: &str) -> RunFixture {
        let mut fixture = on(bench);
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1.01e6, 1e6]);
        fixture.repeats("raid1/ext4", "dd-4k", &[2e6, 2.01e6, 2e6]);
        fixture
    }

    #[test]
    fn stacks_one_after_the_other_are_reported() {
        let mut fixture = one_after_the_other("loop");
        // Numbers alone say nothing.
        assert_eq!(fixture.findings(AUDIT.name), []);
        date(&mut fixture);
        let found = fixture.findings(AUDIT.name);
        assert_eq!(found.iter().map(|f| f.severity).collect::<Vec<_>>(), [Severity::Severe]);
        assert_eq!(found[0].groups, [0, 1]);
    }

    #[test]
    fn lab_has_neither_heat_nor_other_work() {
        let mut fixture = one_after_the_other("lab");
        date(&mut fixture);
        assert_eq!(fixture.findings(AUDIT.name), []);
        assert_eq!(drifting("lab", -0.02), Vec::<String>::new());
    }

    #[test]
    fn stacks_in_turn_and_single_repeats_are_clean() {
        let mut fixture = on("loop");
        for block in 0..3 {
            fixture.measured("single/ext4", "dd-4k", block, 1e6);
            fixture.measured("raid1/ext4", "dd-4k", block, 2e6);
        }
        fixture.measured("single/ext4", "dd-1M", 0, 1e6);
        fixture.measured("raid1/ext4", "dd-1M", 0, 1e6);
        date(&mut fixture);
        assert_eq!(fixture.findings(AUDIT.name), []);
    }

    fn drifting(bench: &str, step: f64) -> Vec<String> {
        let mut fixture = on(bench);
        for block in 0..9 {
            let wobble = 1.0 + 0.002 * f64::from(block % 3);
            let level = (1.0 + step * f64::from(block)) * wobble;
            fixture.measured("single/ext4", "dd-4k", block, 1e6 * level);
            fixture.measured("raid1/ext4", "dd-4k", block, 3e6 * level);
        }
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn a_drift_is_reported_and_noise_is_not() {
        let slower = drifting("disks:/dev/x", -0.02);
        assert!(slower[0].contains("slower from the first third of the 9 blocks"), "{slower:?}");
        assert!(drifting("disks:/dev/x", 0.003).is_empty());
    }

    #[test]
    fn times_that_grow_are_work_that_slows() {
        let found = |seconds: &[f64]| {
            let mut fixture = on("loop");
            for (block, seconds) in (0..).zip(seconds) {
                let copy = figure(Direction::Copy, 1 << 20, *seconds);
                fixture.sample("single/ext4", "copy", block, vec![step("cp", vec![copy])]);
            }
            fixture.texts(AUDIT.name)
        };
        let growing = found(&[10.0, 10.1, 10.2, 11.0, 11.1, 11.2]);
        assert!(growing[0].contains("together became 9.9 % slower from"), "{growing:?}");
        let shrinking = found(&[11.2, 11.1, 11.0, 10.2, 10.1, 10.0]);
        assert!(shrinking[0].contains("11 % faster from"), "{shrinking:?}");
        // As large a change, in no order.
        assert_eq!(found(&[10.2, 10.0, 10.1, 10.0, 11.2, 11.0]), [""; 0]);
        assert_eq!(found(&[10.0, 10.1, 10.2, 11.0, 11.1]), [""; 0], "five blocks show no trend");
        // 102 of 120 pairs in order and 18 against it: a correlation of 0.7, which is enough.
        let mut sixteen: Vec<f64> = (0..16).map(|block| 10.0 + 0.2 * f64::from(block)).collect();
        sixteen[1..7].reverse();
        sixteen[9..12].reverse();
        assert_eq!(found(&sixteen).len(), 1, "{:?}", kendall(&sixteen));
    }

    /// Not more than chance can give in so few blocks, whatever else ran in more of them.
    #[test]
    fn figures_of_few_blocks_show_no_drift() {
        let found = |blocks: &[u32]| {
            let mut fixture = on("loop");
            for block in 0..6 {
                fixture.measured("single/ext4", "dd-4k", block, 1e6);
            }
            for (number, block) in (0..).zip(blocks) {
                for stack in ["raid1/ext4", "raid1/btrfs"] {
                    fixture.measured(stack, "dd-4k", *block, 1e6 + 1e5 * f64::from(number));
                }
            }
            fixture.texts(AUDIT.name).len()
        };
        assert_eq!(found(&[0, 1, 2, 3, 4, 5]), 1);
        assert_eq!(found(&[0, 1, 2, 4, 5]), 0);
    }

    #[test]
    fn correlations_are_kendalls() {
        for (values, expected) in [
            (&[][..], 0.0),
            (&[1.0], 0.0),
            (&[1.0, 2.0, 3.0, 4.0], 1.0),
            (&[4.0, 3.0, 2.0, 1.0], -1.0),
            (&[1.0, 3.0, 2.0, 4.0], 4.0 / 6.0),
            (&[1.0, 1.0, 1.0], 0.0),
        ] {
            assert_eq!(kendall(values), expected, "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn correlations_are_none_beyond_1(values in prop::collection::vec(any::<f64>(), 0..12)) {
            prop_assert!(kendall(&values).abs() <= 1.0);
        }
    }
}
