//! Where a series changes, by the distances between values: E-divisive.
//!
//! Matteson and James, 'A nonparametric approach for multiple change point analysis
//! of multivariate data', Journal of the American Statistical Association 109 (2014),
//! as MongoDB uses it on its benchmarks (Daly et al., 'The use of change point
//! detection to identify software performance regressions in a continuous integration
//! system', ICPE 2020).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Values on each side of a change: one alone is an outlier.
const LEAST: usize = 2;
/// Longer series are refused: the time grows with the square of the length.
const MOST: usize = 10_000;

/// The place at which a series falls apart most, and how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// The first value of the second part.
    pub index: usize,
    /// The distance of the two parts, q: n·m/(n+m) times the mean distance between the
    /// two, twice, less the mean distances within each.
    pub q: f64,
}

/// The best split of a series with at least two values on either side; the first of
/// several equal ones. None for fewer than four values, for more than 10,000, and
/// where a value is not finite.
pub fn best_split(values: &[f64]) -> Option<Split> {
    let n = values.len();
    if !(2 * LEAST..=MOST).contains(&n) || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let distance = |a: f64, b: f64| (a - b).abs().min(f64::MAX / 1e9);
    let to = |value: f64, others: &[f64]| -> f64 {
        others.iter().map(|other| distance(value, *other)).sum()
    };
    // Sums of distances within the left part, within the right one, and between them,
    // each pair once; one value at a time goes from right to left.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..n).map(|i| to(values[i], &values[i + 1..])).sum();
    let mut best: Option<Split> = None;
    for index in 1..=n - LEAST {
        let moved = values[index - 1];
        let (to_left, to_right) = (to(moved, &values[..index - 1]), to(moved, &values[index..]));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        let (a, b) = (index as f64, (n - index) as f64);
        let q = a * b / (a + b)
            * (2.0 * between / (a * b) - 2.0 * left / (a * a) - 2.0 * right / (b * b));
        if index >= LEAST && q.is_finite() && best.is_none_or(|best| q > best.q) {
            best = Some(Split { index, q });
        }
    }
    best
}

/// Change points by permutation tests, ascending: each the first value after a change.
/// The largest split of all segments is taken if at most a share `level` of
/// `permutations` shufflings within the segments split as far; then the next. The
/// seed fixes the shuffling. Empty where [`best_split`] has none.
pub fn e_divisive(values: &[f64], permutations: usize, level: f64, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut ends = vec![values.len()];
    loop {
        let starts: Vec<usize> =
            std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
        let segments = || starts.iter().zip(&ends).map(|(start, end)| *start..*end);
        let largest = segments()
            .filter_map(|s| best_split(&values[s.clone()]).map(|split| (s.start, split)))
            .max_by(|a, b| a.1.q.total_cmp(&b.1.q));
        let Some((start, split)) = largest.filter(|(_, split)| split.q > 0.0) else { break };
        let mut shuffled = values.to_vec();
        let mut as_far = 1_usize;
        for _ in 0..permutations {
            let split_anew = segments().filter_map(|s| {
                let part = &mut shuffled[s];
                part.shuffle(&mut random);
                best_split(part).map(|split| split.q)
            });
            as_far += usize::from(split_anew.fold(f64::NEG_INFINITY, f64::max) >= split.q);
        }
        if as_far as f64 / (permutations + 1) as f64 > level {
            break;
        }
        let at = start + split.index;
        let place = ends.partition_point(|end| *end < at);
        ends.insert(place, at);
    }
    ends.pop();
    ends
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The series of Hunter's own test.
    pub(crate) const HALVED: [f64; 20] = [
        1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55,
        0.50, 0.49, 0.51, 0.50, 0.49,
    ];

    #[test]
    fn hunters_series_splits_in_the_middle() {
        let split = best_split(&HALVED).expect("long enough");
        assert_eq!(split.index, 10);
        assert!((split.q - 4.717).abs() < 5e-4, "{split:?}");
        assert_eq!(e_divisive(&HALVED, 100, 0.05, 1), [10]);
    }

    #[test]
    fn two_changes_are_found() {
        let level = |i: usize| [10.0, 12.0, 9.0][i / 30];
        let values: Vec<f64> = (0..90).map(|i| level(i) + 0.3 * (i as f64 * 1.7).sin()).collect();
        assert_eq!(e_divisive(&values, 100, 0.05, 1), [30, 60]);
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(best_split(&[1.0; 3]), None);
        assert_eq!(best_split(&[1.0, f64::NAN, 1.0, 1.0]), None);
        assert_eq!(e_divisive(&[], 100, 0.05, 1), [0_usize; 0]);
        assert_eq!(e_divisive(&[3.0; 40], 20, 0.05, 1), [0_usize; 0]);
        assert!(
            best_split(&[f64::MAX, f64::MIN, f64::MAX, f64::MIN]).is_none_or(|s| s.q.is_finite())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn q_stretches_with_the_values_and_is_not_negative(
            values in proptest::collection::vec(-100.0_f64..100.0, 4..40), by in -50.0_f64..50.0
        ) {
            let moved: Vec<f64> = values.iter().map(|v| 2.0 * v + by).collect();
            let (a, b) = (best_split(&values).expect("some"), best_split(&moved).expect("some"));
            prop_assert!(a.q > -1e-9 && (2.0 * a.q - b.q).abs() < 1e-6 * (1.0 + b.q.abs()));
            prop_assert!((LEAST..=values.len() - LEAST).contains(&a.index));
        }

        #[test]
        fn change_points_ascend(values in proptest::collection::vec(0.0_f64..9.0, 0..40), seed: u64) {
            let points = e_divisive(&values, 19, 0.05, seed);
            prop_assert!(points.windows(2).all(|w| w[0] + LEAST <= w[1]));
            prop_assert!(points.iter().all(|p| (LEAST..=values.len() - LEAST).contains(p)));
        }
    }
}
