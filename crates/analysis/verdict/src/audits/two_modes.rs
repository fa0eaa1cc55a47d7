//! Figures that are sometimes one and sometimes another.

use disklab_stats::TwoModes;
use disklab_study::{Chart, Measure};
use disklab_units::significant;

use crate::audits::{Audit, Found, Reproducer};
use crate::describe::figure_id;
use crate::evidence::Evidence;
use crate::modes::modes_of;
use crate::words::count;
use crate::{Severity, choice};

/// Also the reason that a comparison of two runs gives.
pub(crate) const NAME: &str = "two-modes";

pub(super) const AUDIT: Audit = Audit {
    name: NAME,
    severity: Severity::Warning,
    detects: "repeats of a figure that fall into two modes, such as fast and slow; no comparison with it is called level",
    evidence: "the repeats, from eight on, split in two (Engelman and Hartigan 1969)",
    remedy: "find what decides between the modes; until then, twice as many repeats",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let mut found: Vec<(usize, TwoModes)> = Vec::new();
    for (index, group) in evidence.groups.iter().enumerate() {
        let measure = choice::measure(&[group], &Chart::Bars);
        if measure != Measure::Missed {
            found.extend(modes_of(group, measure).map(|modes| (index, modes)));
        }
    }
    let apart = |modes: &TwoModes| modes.high - modes.low;
    let Some((index, modes)) =
        found.iter().max_by(|a, b| apart(&a.1).total_cmp(&apart(&b.1))).copied()
    else {
        return Vec::new();
    };
    let key = &evidence.groups[index].key;
    let repeats = modes.in_low + modes.in_high;
    vec![Found {
        severity: Severity::Warning,
        text: format!(
            "The repeats of {} fall into two modes: at most, {} of {repeats} are {} times the \
             others, {} with {}.",
            count(found.len(), "figure"),
            modes.in_high,
            significant(apart(&modes).exp(), 3),
            figure_id(evidence.groups, key),
            key.stack
        ),
        advice: format!(
            "A ratio depends on how often each mode came; nothing there is called level. Find what \
             decides between them (placement on the drive, caches, other work), or run with \
             --repeats {}.",
            2 * repeats
        ),
        groups: found.iter().map(|(index, _)| *index).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::testing::RunFixture;

    /// Each second or third repeat is slower by a tenth; apart from that, half a per cent.
    fn bimodal(fast: f64, slow: f64, every: usize) -> Vec<f64> {
        (0..14)
            .map(|n| if n % every == 0 { slow } else { fast } * (1.0 + 0.002 * (n % 3) as f64))
            .collect()
    }

    #[test]
    fn modes_are_reported_with_their_distance() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &bimodal(1e6, 0.8e6, 3));
        let found = fixture.texts(AUDIT.name);
        assert!(
            found[0].contains("9 of 14 are 1.25 times the others, dd-4k with single/ext4"),
            "{found:?}"
        );
    }

    #[test]
    fn one_mode_one_outlier_few_repeats_and_near_modes_are_clean() {
        let one: Vec<f64> = (0..14).map(|n| 1e6 * (1.0 + 0.01 * f64::from(n * 5 % 7))).collect();
        let mut odd = one.clone();
        odd[3] = 3e6;
        let few = bimodal(1e6, 0.8e6, 2)[..7].to_vec();
        for rates in [one, odd, few, bimodal(1e6, 0.99e6, 2)] {
            let mut fixture = RunFixture::new("");
            fixture.repeats("single/ext4", "dd-4k", &rates);
            assert!(fixture.texts(AUDIT.name).is_empty(), "{rates:?}");
        }
    }

    #[test]
    fn nothing_with_two_modes_is_called_level() {
        let ask = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"\nmeasure = \"throughput\"";
        let outcome = |rates: &[f64]| {
            let mut fixture = RunFixture::new(ask);
            fixture.repeats("single/ext4", "dd-4k", rates);
            let moved: Vec<f64> = rates.iter().map(|rate| rate * 1.001).collect();
            fixture.repeats("raid1/ext4", "dd-4k", &moved);
            fixture.analyse().answers[0].comparisons[0].outcome
        };
        assert_eq!(outcome(&bimodal(1e6, 0.999e6, 3)), Outcome::Level);
        // Both stacks were slow in the same blocks: each ratio is 1.001.
        assert_eq!(outcome(&bimodal(1e6, 0.8e6, 3)), Outcome::Inconclusive);
    }
}
