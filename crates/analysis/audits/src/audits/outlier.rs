//! One repeat that is far from the others.

use disklab_study::{ChartKind, Measure};
use disklab_units::{count, significant};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::median;
use crate::describe::figure_id;
use crate::evidence::Evidence;
use crate::{Group, Severity, measure_of};

pub(super) const AUDIT: Audit = Audit {
    name: "outlier",
    severity: Severity::Warning,
    detects: "a repeat that is far from all others of its figure",
    evidence: "the repeats, compared with their median and their median absolute deviation",
    remedy: "look at what else ran then; add repeats rather than leave it out",
    reproducer: Reproducer::Directory("a program that is stopped for three seconds of one repeat"),
    check,
};

/// With fewer repeats nobody can say which is the odd one.
const REPEATS: usize = 5;
/// Distances from the middle, in middle distances (MAD × 1.4826 is the standard deviation
/// of a normal distribution; Iglewicz and Hoaglin, 'How to Detect and Handle Outliers',
/// 1993, take 3.5 of these). Heavy tails are common here, so it is more.
const FAR: f64 = 8.0;
/// A ratio to the middle below which it does not matter.
const RATIO: f64 = 1.25;

/// The ratio of the farthest repeat to the middle, and its block.
fn farthest(group: &Group) -> Option<(f64, u32)> {
    let measure = measure_of(&[group], &ChartKind::Bars);
    if measure == Measure::Missed || group.observations.len() < REPEATS {
        return None;
    }
    let values: Vec<(f64, u32)> = group
        .observations
        .iter()
        .filter_map(|o| Some((o.value(measure).filter(|v| *v > 0.0)?.ln(), o.block)))
        .collect();
    let middle = median(values.iter().map(|(value, _)| *value).collect())?;
    let distance = median(values.iter().map(|(value, _)| (value - middle).abs()).collect())?;
    let far = |value: f64| (value - middle).abs();
    let (value, block) = values.into_iter().max_by(|a, b| far(a.0).total_cmp(&far(b.0)))?;
    // Figures of virtual time may be equal to the last digit.
    let limit = (FAR * 1.4826 * distance).max(RATIO.ln());
    (far(value) > limit).then(|| ((value - middle).exp(), block))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut found: Vec<(usize, f64, u32)> = Vec::new();
    for (index, group) in evidence.groups.iter().enumerate() {
        found.extend(farthest(group).map(|(ratio, block)| (index, ratio, block)));
    }
    let away = |ratio: f64| ratio.max(1.0 / ratio);
    let Some((worst, ratio, block)) =
        found.iter().max_by(|a, b| away(a.1).total_cmp(&away(b.1))).copied()
    else {
        return Vec::new();
    };
    let key = &evidence.groups[worst].key;
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "In {} one repeat is an outlier: at worst {} times the median, {} with {} in \
             block {}.",
            count(found.len(), "figure"),
            significant(ratio, 2),
            figure_id(evidence.groups, key),
            key.levels.stack,
            block + 1
        ),
        advice: "Look at what else ran then (background-io, swapping, SMART), and add repeats: to \
                 leave it out would hide what such drives do now and then."
            .to_owned(),
        groups: found.iter().map(|(index, ..)| *index).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RunFixture;

    fn texts(rates: &[f64]) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", rates);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn an_odd_one_out_is_reported() {
        let found = texts(&[1e6, 1.01e6, 0.99e6, 1.02e6, 3e6, 1e6]);
        assert!(
            found[0].contains("at worst 3.0 times the median, dd-4k with single/ext4 in block 5"),
            "{found:?}"
        );
    }

    #[test]
    fn noise_near_misses_and_few_repeats_are_clean() {
        assert!(texts(&[1e6, 1.3e6, 0.8e6, 1.1e6, 1.6e6, 0.9e6]).is_empty());
        assert!(texts(&[1e6, 1e6, 1e6, 1e6, 1.2e6]).is_empty());
        assert!(texts(&[1e6, 1e6, 1e6, 9e6]).is_empty());
    }

    #[test]
    fn the_worst_is_the_farthest_whether_slow_or_fast() {
        for (slow, worst) in
            [(0.2e6, "0.20 times the median, dd-4k"), (0.6e6, "3.0 times the median, dd-1M")]
        {
            let mut fixture = RunFixture::new("");
            fixture.repeats("single/ext4", "dd-4k", &[1e6, 1.01e6, 0.99e6, 1.02e6, 1e6, slow]);
            fixture.repeats("single/ext4", "dd-1M", &[1e6, 1.01e6, 0.99e6, 1.02e6, 3e6, 1e6]);
            let found = fixture.texts(AUDIT.name);
            assert!(found[0].contains("In 2 figures one repeat"), "{found:?}");
            assert!(found[0].contains(worst), "{found:?}");
        }
    }
}
