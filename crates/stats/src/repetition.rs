//! At which level to repeat: machine, file system, run, interval.
//!
//! Kalibera and Jones, 'Rigorous benchmarking in reasonable time', ISMM 2013. Each
//! level adds its own variation; repeating only the lowest, which is the cheapest,
//! says ever more exactly what one file system on one day did.

use crate::student::{mean_and_deviation, multiplier};
use crate::{CONFIDENCE, Interval};

/// What nested repeats say.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The mean of all values.
    pub mean: f64,
    /// Its 95 % interval; none where the highest level was not repeated.
    pub interval: Option<Interval>,
    /// Variation that each level adds (T²), lowest level first. Below 0 where the
    /// level adds nothing that the one below does not explain.
    pub variation: Vec<f64>,
}

/// Analyses nested repeats. `repeats` has how often each level was repeated within
/// the next higher one, lowest level first; `values` has the lowest level's values
/// side by side, then the next level's. None where the numbers do not fit together, a
/// level was not repeated below the highest, or a value is not finite.
pub fn levels(values: &[f64], repeats: &[usize]) -> Option<Levels> {
    let wanted = repeats.iter().try_fold(1_usize, |all, r| all.checked_mul(*r))?;
    let fits = !repeats.is_empty() && wanted == values.len() && !values.is_empty();
    let (highest, lower) = repeats.split_last()?;
    if !fits || lower.iter().any(|r| *r < 2) || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut means = values.to_vec();
    let (mut variation, mut below) = (Vec::new(), 0.0);
    let mut last = (0.0, 0.0);
    for of in repeats {
        let groups: Vec<(f64, f64)> = means.chunks(*of).map(mean_and_deviation).collect();
        let squares = groups.iter().map(|(_, s)| s * s / groups.len() as f64).sum::<f64>();
        variation.push(squares - below);
        below = squares / *of as f64;
        last = (squares, *of as f64);
        means = groups.into_iter().map(|(mean, _)| mean).collect();
    }
    let mean = *means.first()?;
    let half = multiplier(CONFIDENCE, last.1 - 1.0) * (last.0 / last.1).sqrt();
    let interval = (*highest > 1 && half.is_finite()).then_some(Interval {
        low: mean - half,
        high: mean + half,
        confidence: CONFIDENCE,
    });
    if *highest < 2 {
        variation.pop();
    }
    Some(Levels { mean, interval, variation })
}

/// How often each level but the highest is best repeated within the next, lowest
/// level first: as often as its variation is worth against the cost of one more of
/// the next. `variation` is that of [`levels`]; `costs` are those of one repeat at each
/// level, lowest first, in any one unit: of the lowest the measuring itself, of the
/// others what must be done anew. None where the two differ in length or a cost is not
/// positive and finite.
pub fn best_repeats(variation: &[f64], costs: &[f64]) -> Option<Vec<usize>> {
    let usable = costs.iter().all(|c| c.is_finite() && *c > 0.0);
    if variation.len() != costs.len() || !usable || variation.iter().any(|v| v.is_nan()) {
        return None;
    }
    let pairs = variation.windows(2).zip(costs.windows(2));
    let repeats = pairs.map(|(variation, costs)| {
        let (own, next) = (variation[0].max(0.0), variation[1]);
        if own == 0.0 {
            1
        } else if next <= 0.0 {
            // The next level adds nothing: any number of this one serves as well.
            usize::MAX
        } else {
            // Saturates: costs and variations may differ by any factor.
            ((costs[1] / costs[0] * (own / next)).sqrt().ceil() as usize).max(1)
        }
    });
    Some(repeats.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VALUES: [f64; 12] = [3.0, 4.0, 3.0, 1.2, 3.1, 3.0, 0.2, 1.0, 1.5, 1.0, 2.0, 3.0];

    #[test]
    fn the_case_of_libkalibera() {
        let got = levels(&VALUES, &[3, 2, 2]).expect("valid");
        for (got, expected) in got.variation.iter().zip([0.726_667, 0.262_778, 0.774_722]) {
            assert!((got - expected).abs() < 5e-7, "{got} {expected}");
        }
        assert_eq!(best_repeats(&got.variation, &[3.0, 20.0, 100.0]), Some(vec![5, 2]));
        assert!(got.interval.is_some_and(|i| i.contains(got.mean)));
    }

    #[test]
    fn a_level_without_variation_is_not_repeated() {
        assert_eq!(best_repeats(&[0.0, 1.0], &[1.0, 10.0]), Some(vec![1]));
        assert_eq!(best_repeats(&[-0.5, 1.0], &[1.0, 10.0]), Some(vec![1]));
        assert_eq!(best_repeats(&[1.0, -0.5], &[1.0, 10.0]), Some(vec![usize::MAX]));
    }

    #[test]
    fn what_does_not_fit_is_none() {
        assert_eq!(levels(&VALUES, &[5, 2]), None);
        assert_eq!(levels(&VALUES, &[]), None);
        assert_eq!(levels(&[], &[0]), None);
        assert_eq!(levels(&VALUES, &[1, 12]), None);
        assert_eq!(levels(&[f64::NAN; 4], &[2, 2]), None);
        assert_eq!(levels(&VALUES, &[usize::MAX, 2]), None);
        assert_eq!(best_repeats(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(best_repeats(&[1.0, 1.0], &[0.0, 2.0]), None);
        let once = levels(&VALUES[..3], &[3, 1]).expect("valid");
        assert_eq!((once.interval, once.variation.len()), (None, 1));
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(
            values in proptest::collection::vec(0.0_f64..100.0, 12), factor in 0.01_f64..100.0
        ) {
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            let (a, b) = (levels(&values, &[3, 2, 2]).expect("fits"), levels(&scaled, &[3, 2, 2]).expect("fits"));
            for (a, b) in a.variation.iter().zip(&b.variation) {
                prop_assert!((a * factor * factor - b).abs() < 1e-6 * (1.0 + b.abs()));
            }
        }
    }
}
