//! Repeats that depend on those before them.

use std::collections::BTreeMap;

use disklab_stats::{lag_1, randomness_p};
use disklab_study::{ChartKind, Measure};
use disklab_units::significant;

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::median;
use crate::evidence::Evidence;
use crate::{Observation, Severity, measure_of};

/// Also the reason that a comparison of two runs gives.
pub const NAME: &str = "correlated-repeats";

pub(super) const AUDIT: Audit = Audit {
    name: NAME,
    severity: Severity::Warning,
    detects: "outside the lab: cells that resemble the ones before them, so that the repeats of a run are fewer observations than they seem",
    evidence: "all figures in the order of time, each against its middle, from ten cells on (Bartels' rank test, 1982)",
    remedy: "compare stacks within one run; to compare runs, spread the repeats over days",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Of a hundred machines without memory, one is suspected.
const SIGNIFICANCE: f64 = 0.01;
/// Fewer repeats have no middle of their own.
const REPEATS: usize = 3;

/// In the lab no cell meets another.
fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if evidence.is_lab() {
        return Vec::new();
    }
    let (levels, groups) = levels(evidence);
    if !randomness_p(&levels).is_some_and(|p| p < SIGNIFICANCE) {
        return Vec::new();
    }
    let correlation = lag_1(&levels).unwrap_or_default();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Each of the {} cells resembles the one before it (correlation {}): the machine has \
             swings that outlast a cell.",
            levels.len(),
            significant(correlation, 2)
        ),
        advice: "Stacks are compared within blocks, and that holds. The interval of a single \
                 figure is too narrow, and so is that of two runs against each other: \
                 `disklab compare` claims a change only if the gap between the runs is wider than \
                 either run's range."
            .to_owned(),
        groups,
    }]
}

/// How much faster than usual each cell was (as a logarithm), in the order of time, and the
/// groups that this was taken from.
fn levels(evidence: &Evidence<'_>) -> (Vec<f64>, Vec<usize>) {
    let mut changes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut groups = Vec::new();
    for (index, group) in evidence.groups.iter().enumerate() {
        let measure = measure_of(&[group], &ChartKind::Bars);
        if measure == Measure::Missed || group.observations.len() < REPEATS {
            continue;
        }
        let value = |o: &Observation| o.value(measure).filter(|v| *v > 0.0).map(f64::ln);
        let Some(middle) = median(group.observations.iter().filter_map(value).collect()) else {
            continue;
        };
        let sign = if measure.higher_is_better() { 1.0 } else { -1.0 };
        for observation in &group.observations {
            let change = value(observation).map(|v| sign * (v - middle));
            changes.entry(observation.cell).or_default().extend(change);
        }
        groups.push(index);
    }
    let mut cells: Vec<(Option<i64>, u32)> = changes
        .keys()
        .map(|number| (evidence.cell(*number).and_then(|cell| cell.ended_ms), *number))
        .collect();
    if cells.iter().any(|(ended, _)| ended.is_none()) {
        cells.iter_mut().for_each(|(ended, _)| *ended = None);
    }
    cells.sort_unstable();
    let level = |(_, number): (Option<i64>, u32)| median(changes.remove(&number)?);
    (cells.into_iter().filter_map(level).collect(), groups)
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    /// Two stacks in eight blocks; `swing` says how the machine is at a cell.
    fn texts(bench: &str, swing: impl Fn(u32) -> f64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = bench.parse().expect("a bench");
        for block in 0..8 {
            fixture.measured("single/ext4", "dd-4k", block, 1e6 * swing(2 * block));
            fixture.measured("raid1/ext4", "dd-4k", block, 3e6 * swing(2 * block + 1));
        }
        fixture.texts(AUDIT.name)
    }

    /// A wave whose period is ten cells.
    fn wave(cell: u32) -> f64 {
        1.0 + 0.1 * (0.628 * f64::from(cell)).sin()
    }

    #[test]
    fn a_machine_that_swings_is_reported() {
        let found = texts("disks:/dev/x", wave);
        assert!(found[0].contains("Each of the 16 cells resembles the one before"), "{found:?}");
    }

    /// Times grow where rates fall, and half a second is less than one.
    #[test]
    fn times_and_rates_swing_together() {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = "disks:/dev/x".parse().expect("a bench");
        for block in 0..8 {
            fixture.measured("single/ext4", "dd-4k", block, 1e6 * wave(2 * block));
            let copy = figure(Direction::Copy, 1 << 20, 0.5 / wave(2 * block + 1));
            fixture.sample("single/ext4", "copy", block, vec![step("cp", vec![copy])]);
        }
        let found = fixture.texts(AUDIT.name);
        assert!(found[0].contains("Each of the 16 cells resembles the one before"), "{found:?}");
    }

    /// With two repeats no cell has a middle of its own; with three it has.
    #[test]
    fn three_repeats_of_many_stacks_show_a_swing() {
        let found = |repeats: u32| {
            let mut fixture = RunFixture::new("");
            fixture.info.bench = "disks:/dev/x".parse().expect("a bench");
            for cell in 0..repeats * 8 {
                let stack = format!("stack-{}", cell % 8);
                fixture.measured(&stack, "dd-4k", cell / 8, 1e6 * wave(cell));
            }
            fixture.texts(AUDIT.name)
        };
        assert_eq!(found(3).len(), 1, "{:?}", found(3));
        assert_eq!(found(2), [""; 0]);
    }

    #[test]
    fn machines_without_memory_and_the_lab_are_clean() {
        assert!(texts("disks:/dev/x", |cell| 1.0 + 0.01 * f64::from(cell * 7 % 5)).is_empty());
        assert!(texts("disks:/dev/x", |_| 1.0).is_empty());
        assert!(texts("lab", wave).is_empty());
    }
}
