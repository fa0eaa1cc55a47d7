//! Whether values fall into two modes.
//!
//! L. Engelman and J. A. Hartigan, 'Percentage points of a test for clusters', Journal of the
//! American Statistical Association 64 (1969): the values are split where the sum of squares
//! within both parts is least, and the ratio of the sums between and within is compared with
//! what a split of one normal distribution gives.

use crate::student::two_sided_p;

/// Fewer values are split well by chance too often for a mode to be told.
const FEWEST: usize = 8;
/// A single value is an outlier, not a mode.
const FEWEST_OF_A_MODE: usize = 2;

/// Two modes that values fall into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoModes {
    /// Mean of the lower values.
    pub low: f64,
    /// Mean of the higher values.
    pub high: f64,
    /// How many are low.
    pub in_low: usize,
    /// How many are high.
    pub in_high: usize,
    /// Probability that values of one normal distribution split as clearly.
    pub p: f64,
}

/// The best split of the values; `None` for fewer than eight, for equal ones, or if one is not
/// finite. Each part has two values or more.
pub fn two_modes(values: &[f64]) -> Option<TwoModes> {
    let n = values.len();
    if n < FEWEST || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = |part: &[f64]| part.iter().map(|x| x / part.len() as f64).sum::<f64>();
    let within = |part: &[f64]| {
        let mean = mean(part);
        part.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let below = squares_of_prefixes(sorted.iter());
    let above = squares_of_prefixes(sorted.iter().rev());
    let cost = |at: usize| below[at] + above[n - at];
    let at = (FEWEST_OF_A_MODE..=n - FEWEST_OF_A_MODE)
        .filter(|at| sorted[at - 1] < sorted[*at])
        .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))?;
    Some(TwoModes {
        low: mean(&sorted[..at]),
        high: mean(&sorted[at..]),
        in_low: at,
        in_high: n - at,
        p: chance(n, within(&sorted) / (within(&sorted[..at]) + within(&sorted[at..]))),
    })
}

/// The sum of squares about their mean of the first 0, 1, 2, … values: Welford's recurrence
/// ('Note on a method for calculating corrected sums of squares and products', Technometrics 4,
/// 1962), since a hundred thousand values have as many splits.
fn squares_of_prefixes<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut sums = vec![0.0];
    for (index, value) in values.enumerate() {
        let from_mean = value - mean;
        mean += from_mean / (index + 1) as f64;
        squares += from_mean * (value - mean);
        sums.push(squares);
    }
    sums
}

/// Probability that the sum of squares of `n` normal values is at least `ratio` times that
/// within both parts of their best split. Its logarithm is about normal, with mean
/// −ln(1 − 2/π) + 2.4 ÷ (n − 2) and variance 1 ÷ (n − 2) (Hartigan, 'Clustering Algorithms',
/// 1975, section 4.8). Of few values its upper tail is heavier (3.4 % instead of 1 % at eight,
/// simulated), so that it is taken from Student's t with n − 2 degrees of freedom.
fn chance(n: usize, ratio: f64) -> f64 {
    // No spread within the parts: 0 ÷ 0 does not occur, since the parts differ.
    if !ratio.is_finite() {
        return 0.0;
    }
    let freedom = (n - 2) as f64;
    let expected = 2.4 / freedom - (1.0 - 2.0 / std::f64::consts::PI).ln();
    let deviate = (ratio.ln() - expected) * freedom.sqrt();
    let beyond = two_sided_p(deviate, freedom) / 2.0;
    if deviate > 0.0 { beyond } else { 1.0 - beyond }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn normal(random: &mut ChaCha8Rng) -> f64 {
        crate::normal::quantile(random.random::<f64>())
    }

    #[test]
    fn one_normal_distribution_is_split_as_often_as_promised() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for n in [8, 12, 20, 40] {
            let mut one = || {
                let values: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
                two_modes(&values).is_some_and(|modes| modes.p < 0.01)
            };
            let found = (0..4000).filter(|_| one()).count();
            // At most 1 %, and what chance adds.
            assert!(found <= 60, "{n}: {found} of 4000");
        }
    }

    #[test]
    fn two_modes_are_distinguished() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut found = 0;
        for _ in 0..500 {
            let values: Vec<f64> = (0..12)
                .map(|_| if random.random_bool(0.4) { 6.0 } else { 0.0 } + normal(&mut random))
                .collect();
            found += u32::from(two_modes(&values).is_some_and(|modes| modes.p < 0.01));
        }
        assert!(found > 350, "{found} of 500");
        let clear = [1.0, 1.1, 5.0, 0.9, 5.1, 1.0, 5.2, 1.0, 0.95];
        let modes = two_modes(&clear).expect("nine values");
        assert_eq!((modes.in_low, modes.in_high), (6, 3));
        assert!((modes.high - 5.1).abs() < 1e-9 && modes.p < 1e-3, "{modes:?}");
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(two_modes(&[1.0; 7]), None);
        assert_eq!(two_modes(&[1.0; 12]), None);
        assert_eq!(two_modes(&[f64::INFINITY; 12]), None);
        // A single odd value is no mode.
        let odd = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0];
        assert_eq!(two_modes(&odd), None);
        let digits = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        assert!(two_modes(&digits).is_some_and(|modes| modes.p == 0.0));
    }

    #[test]
    fn many_values_are_split_in_one_pass() {
        let values: Vec<f64> = (0..1_000_000).map(|i| f64::from(i % 1000 + i % 2 * 5000)).collect();
        let modes = two_modes(&values).expect("a million values");
        assert_eq!((modes.in_low, modes.in_high), (500_000, 500_000));
        assert!((modes.high - modes.low - 5001.0).abs() < 1e-6, "{modes:?}");
    }

    proptest! {
        #[test]
        fn the_split_is_the_best_of_all(values in proptest::collection::vec(-100.0_f64..100.0, 8..40)) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let within = |part: &[f64]| {
                let mean = part.iter().sum::<f64>() / part.len() as f64;
                part.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
            };
            let cost = |at: usize| within(&sorted[..at]) + within(&sorted[at..]);
            let best = (2..=sorted.len() - 2).map(cost).fold(f64::INFINITY, f64::min);
            let modes = two_modes(&values).expect("values that differ");
            prop_assert!(cost(modes.in_low) <= best * (1.0 + 1e-9) + 1e-9);
        }

        #[test]
        fn neither_shift_nor_scale_changes_the_modes(
            values in proptest::collection::vec(-50.0_f64..50.0, 8..40),
            shift in -100.0_f64..100.0, scale in 0.1_f64..10.0
        ) {
            let moved: Vec<f64> = values.iter().map(|x| x * scale + shift).collect();
            if let (Some(a), Some(b)) = (two_modes(&values), two_modes(&moved)) {
                prop_assert!((a.p - b.p).abs() < 1e-6);
            }
        }
    }
}
