//! Intervals too wide to tell stacks apart.

use disklab_stats::estimate;
use disklab_study::{ChartKind, Measure};
use disklab_units::{count, per_cent};

use crate::audit::{Audit, Detection, Reproducer};
use crate::describe::figure_id;
use crate::evidence::Evidence;
use crate::{Severity, measure_in_sentence, measure_of};

pub(super) const AUDIT: Audit = Audit {
    name: "wide-interval",
    severity: Severity::Warning,
    detects: "figures whose interval is wider than ±10 % in spite of three repeats or more",
    evidence: "the intervals",
    remedy: "more repeats, or longer steps",
    reproducer: Reproducer::Lab("three times eight random reads"),
    check,
};

/// Half of an interval's width, as a share of the figure: less is printed as 10 %.
const HALF_WIDTH: f64 = 0.105;
/// Fewer repeats are the audit `few-repeats`'s business.
const REPEATS: usize = 3;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut judged = 0;
    let mut wide = Vec::new();
    for (index, group) in evidence.groups.iter().enumerate() {
        let which = measure_of(&[group], &ChartKind::Bars);
        // A share of a count that may be 0 says nothing.
        if which == Measure::Missed {
            continue;
        }
        let values: Vec<f64> = group.values(which).collect();
        let Some(estimate) = estimate(&values).filter(|e| e.n >= REPEATS) else { continue };
        judged += 1;
        let half = estimate.interval.map_or(0.0, |i| i.relative_half_width(estimate.centre));
        if half > HALF_WIDTH {
            wide.push((index, half, which));
        }
    }
    let Some((worst, half, which)) = wide.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let key = &evidence.groups[*worst].key;
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "{} of {} {} an interval wider than ±10 %: at worst ±{}, the {} of {} with {}.",
            wide.len(),
            count(judged, "figure"),
            if wide.len() == 1 { "has" } else { "have" },
            per_cent(*half),
            measure_in_sentence(
                *which,
                evidence.groups[*worst].operation,
                evidence.groups[*worst].committed
            ),
            figure_id(evidence.groups, key),
            key.levels.stack
        ),
        advice: "Add repeats, or make the steps longer (a larger file, a longer run time). \
                 Comparisons pair the blocks: what drifts from block to block widens these \
                 intervals, but not those of ratios."
            .to_owned(),
        groups: wide.iter().map(|(index, ..)| *index).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use crate::testing::RunFixture;

    #[test]
    fn noise_is_reported_with_its_worst_case() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1.01e6, 1e6]);
        fixture.repeats("single/btrfs", "dd-4k", &[1e6, 1.9e6, 1.2e6]);
        let found = fixture.findings("wide-interval");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].groups, [1]);
        assert!(found[0].text.starts_with("1 of 2 figures has an interval"), "{}", found[0].text);
        assert!(found[0].text.ends_with("with single/btrfs."), "{}", found[0].text);
    }

    #[test]
    fn quiet_figures_and_few_repeats_are_clean() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1.01e6, 1e6]);
        fixture.repeats("single/btrfs", "dd-4k", &[1e6, 1.9e6]);
        assert_eq!(fixture.findings("wide-interval"), []);
    }

    #[test]
    fn a_width_that_is_printed_as_the_limit_is_not_wide() {
        for (apart, wide) in [(0.041e6, 0), (0.044e6, 1)] {
            let mut fixture = RunFixture::new("");
            fixture.repeats("single/ext4", "dd-4k", &[1e6 - apart, 1e6, 1e6 + apart]);
            let found = fixture.findings("wide-interval");
            assert_eq!(found.len(), wide, "{found:?}");
        }
    }

    #[test]
    fn the_widest_of_several_is_named() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1.9e6, 1.2e6]);
        fixture.repeats("single/btrfs", "dd-4k", &[1e6, 1.3e6, 1.2e6]);
        let found = fixture.findings("wide-interval");
        assert_eq!(found[0].groups, [0, 1]);
        assert!(found[0].text.starts_with("2 of 2 figures have an interval"), "{}", found[0].text);
        assert!(found[0].text.ends_with("of dd-4k with single/ext4."), "{}", found[0].text);
    }
}
