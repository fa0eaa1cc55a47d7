//! Intervals of anything that can be computed from repeats, by resampling.
//!
//! Efron, 'Better bootstrap confidence intervals', Journal of the American
//! Statistical Association 82 (1987): bias-corrected and accelerated (BCa). For
//! figures derived from repeats that have no interval of their own, from about ten
//! repeats on; with fewer, resampling knows too little of the tails.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::normal::{cumulative, quantile};
use crate::{CONFIDENCE, Interval};

/// Resamples: enough that another seed moves an end by less than a hundredth of the
/// width.
const RESAMPLES: usize = 10_000;

/// What resampling says of a statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the values themselves.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Half the resamples lie below the value: 0; else how far from it, in standard
    /// normal deviates (z₀).
    pub bias: f64,
    /// How the standard error changes with the value (a).
    pub acceleration: f64,
    /// Shares of the resamples at which the interval's ends lie.
    pub levels: [f64; 2],
    /// The BCa interval (95 %).
    pub interval: Interval,
    /// The plain percentile interval (95 %).
    pub percentile: Interval,
}

/// Resamples `values` with a fixed seed. `statistic` is called with as many values as
/// there are, in any order. None for fewer than two values, and where a value or the
/// statistic of the values or of a resample is not finite.
pub fn bootstrap(
    values: &[f64],
    seed: u64,
    statistic: impl Fn(&[f64]) -> f64,
) -> Option<Bootstrap> {
    if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut resample = values.to_vec();
    let mut replicates = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for place in &mut resample {
            *place = values[random.random_range(0..values.len())];
        }
        replicates.push((statistic(&resample), 1));
    }
    bca(statistic(values), &jackknife(values, &statistic), replicates)
}

/// The 95 % percentile interval of a statistic's ratio between two independent
/// samples, each resampled. None as for [`bootstrap`], and where a ratio is not
/// finite.
pub fn bootstrap_ratio(
    first: &[f64],
    second: &[f64],
    seed: u64,
    statistic: impl Fn(&[f64]) -> f64,
) -> Option<(f64, Interval)> {
    let short = first.len() < 2 || second.len() < 2;
    if short || first.iter().chain(second).any(|v| !v.is_finite()) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut a, mut b) = (first.to_vec(), second.to_vec());
    let mut replicates = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        a.iter_mut().for_each(|place| *place = first[random.random_range(0..first.len())]);
        b.iter_mut().for_each(|place| *place = second[random.random_range(0..second.len())]);
        replicates.push((statistic(&a) / statistic(&b), 1));
    }
    let ratio = statistic(first) / statistic(second);
    let sorted = sorted(replicates)?;
    ratio.is_finite().then(|| (ratio, between(&sorted, tails())))
}

/// The statistic without each value in turn.
fn jackknife(values: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let without = |index: usize| {
        let mut rest = values.to_vec();
        rest.swap_remove(index);
        statistic(&rest)
    };
    (0..values.len()).map(without).collect()
}

fn tails() -> [f64; 2] {
    [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0]
}

/// Ascending, each with how often it came; none where one is not finite.
fn sorted(mut replicates: Vec<(f64, u64)>) -> Option<Vec<(f64, u64)>> {
    replicates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    replicates.iter().all(|(v, _)| v.is_finite()).then_some(replicates)
}

/// Replicates at two shares.
fn between(sorted: &[(f64, u64)], levels: [f64; 2]) -> Interval {
    let total: u64 = sorted.iter().map(|(_, times)| times).sum();
    let [low, high] = levels.map(|level| {
        let wanted = level * total as f64;
        let mut seen = 0;
        let found = sorted.iter().find(|(_, times)| {
            seen += times;
            seen as f64 >= wanted
        });
        found.or(sorted.last()).map_or(f64::NAN, |(value, _)| *value)
    });
    Interval { low, high, confidence: CONFIDENCE }
}

fn bca(value: f64, jackknife: &[f64], replicates: Vec<(f64, u64)>) -> Option<Bootstrap> {
    if !value.is_finite() || jackknife.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let sorted = sorted(replicates)?;
    let total = sorted.iter().map(|(_, times)| *times).sum::<u64>() as f64;
    let count = |is: fn(f64, f64) -> bool| -> f64 {
        sorted.iter().filter(|(v, _)| is(*v, value)).map(|(_, times)| *times as f64).sum()
    };
    // Rounding tells replicates apart that are equal to the value.
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (a.abs() + b.abs());
    let equal: f64 =
        sorted.iter().filter(|(v, _)| same(*v, value)).map(|(_, times)| *times as f64).sum();
    let below = count(|v, value| v < value && (v - value).abs() > 1e-12 * (v.abs() + value.abs()));
    let bias = quantile((below + equal / 2.0) / total);
    let middle = jackknife.iter().map(|v| v / jackknife.len() as f64).sum::<f64>();
    let sum = |power: i32| jackknife.iter().map(|v| (middle - v).powi(power)).sum::<f64>();
    let squares = sum(2);
    let acceleration = if squares > 0.0 { sum(3) / (6.0 * squares.powf(1.5)) } else { 0.0 };
    let levels = tails().map(|tail| {
        let z = bias + quantile(tail);
        let level = cumulative(bias + z / (1.0 - acceleration * z));
        if bias.is_finite() && level.is_finite() { level } else { tail }
    });
    let mean = sorted.iter().map(|(v, times)| v * (*times as f64 / total)).sum::<f64>();
    let variance: f64 =
        sorted.iter().map(|(v, times)| (v - mean).powi(2) * (*times as f64 / total)).sum();
    Some(Bootstrap {
        value,
        standard_error: variance.sqrt(),
        bias,
        acceleration,
        levels,
        interval: between(&sorted, levels),
        percentile: between(&sorted, tails()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Survival of mice (Efron and Tibshirani 1993, table 2.1).
    const MICE: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn median(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
    }

    /// The statistic of each of the n^n resamples, with how many of them have it: one
    /// entry for each choice of how often each value comes.
    fn all_resamples(values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> Vec<(f64, u64)> {
        fn choose(
            values: &[f64],
            chosen: &mut Vec<f64>,
            ways: u64,
            left: u64,
            all: &mut Vec<(Vec<f64>, u64)>,
        ) {
            let Some((value, rest)) = values.split_first() else {
                if left == 0 {
                    all.push((chosen.clone(), ways));
                }
                return;
            };
            // `left` places are free; of those, `times` hold this value.
            let mut choices = 1;
            for times in 0..=left {
                choose(rest, chosen, ways * choices, left - times, all);
                chosen.push(*value);
                choices = choices * (left - times) / (times + 1);
            }
            chosen.truncate(chosen.len() - left as usize - 1);
        }
        let mut all = Vec::new();
        choose(values, &mut Vec::new(), 1, values.len() as u64, &mut all);
        let total: u64 = all.iter().map(|(_, ways)| ways).sum();
        assert_eq!(total, (values.len() as u64).pow(values.len() as u32));
        all.into_iter().map(|(resample, ways)| (statistic(&resample), ways)).collect()
    }

    #[test]
    fn all_resamples_of_the_mice_give_the_published_interval() {
        let replicates = all_resamples(&MICE, mean);
        let got = bca(mean(&MICE), &jackknife(&MICE, &mean), replicates).expect("finite");
        let close = |a: f64, b: f64, by: f64| assert!((a - b).abs() < by, "{a} {b} {got:?}");
        close(got.standard_error, 23.3635, 5e-5);
        close(got.bias, 0.030_663, 5e-7);
        close(got.acceleration, 0.029_121, 5e-7);
        close(got.levels[0], 0.036_246, 5e-7);
        close(got.levels[1], 0.983_975, 5e-7);
        close(got.interval.low, 46.2857, 5e-5);
        close(got.interval.high, 138.2857, 5e-5);
        close(got.percentile.low, 43.4286, 5e-5);
        close(got.percentile.high, 134.4286, 5e-5);
        let replicates = all_resamples(&MICE, median);
        let got = bca(94.0, &jackknife(&MICE, &median), replicates).expect("finite");
        let close = |a: f64, b: f64, by: f64| assert!((a - b).abs() < by, "{a} {b} {got:?}");
        close(got.standard_error, 37.8347, 5e-5);
        close(got.acceleration, -0.017_619, 5e-7);
        close(got.interval.low, 23.0, 1e-9);
        close(got.interval.high, 141.0, 1e-9);
    }

    #[test]
    fn ten_thousand_resamples_come_near() {
        let got = bootstrap(&MICE, 1, mean).expect("finite");
        assert!((got.interval.low - 46.2857).abs() < 3.0, "{got:?}");
        assert!((got.interval.high - 138.2857).abs() < 3.0, "{got:?}");
        assert_eq!(bootstrap(&MICE, 1, mean), Some(got));
        assert_ne!(bootstrap(&MICE, 2, mean), Some(got));
    }

    #[test]
    fn a_ratio_of_medians() {
        let (x, y) = ([100.0, 104.0, 98.0, 110.0, 103.0], [90.0, 95.0, 88.0, 93.0, 91.0]);
        let (a, b) = (all_resamples(&x, median), all_resamples(&y, median));
        let ratios = a.iter().flat_map(|(x, m)| b.iter().map(move |(y, n)| (x / y, m * n)));
        let exact = between(&sorted(ratios.collect()).expect("finite"), tails());
        let (ratio, interval) = bootstrap_ratio(&x, &y, 7, median).expect("finite");
        assert!((ratio - 1.131_868).abs() < 5e-7);
        assert!((exact.low - 1.053_763).abs() < 5e-7 && (exact.high - 1.208_791).abs() < 5e-7);
        assert!((interval.low - exact.low).abs() < 0.02, "{interval:?}");
        assert!((interval.high - exact.high).abs() < 0.02, "{interval:?}");
    }

    #[test]
    fn hostile_input_has_no_interval() {
        assert_eq!(bootstrap(&[], 1, mean), None);
        assert_eq!(bootstrap(&[1.0], 1, mean), None);
        assert_eq!(bootstrap(&[1.0, f64::NAN], 1, mean), None);
        assert_eq!(bootstrap(&[1.0, 2.0], 1, |_| f64::NAN), None);
        assert_eq!(bootstrap_ratio(&[1.0, 2.0], &[0.0, 0.0], 1, mean), None);
        let equal = bootstrap(&[5.0; 9], 1, mean).expect("finite");
        assert!((equal.interval.low - 5.0).abs() < 1e-12 && equal.standard_error < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn it_moves_and_stretches_with_the_values(
            values in proptest::collection::vec(1_i32..100, 3..12), by in -50_i32..50, power in -3_i32..3
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let factor = 2.0_f64.powi(power);
            let moved: Vec<f64> = values.iter().map(|v| v * factor + f64::from(by)).collect();
            let (a, b) = (bootstrap(&values, 1, mean).expect("some"), bootstrap(&moved, 1, mean).expect("some"));
            // A rounded level may fall on the next replicate.
            let near = (a.standard_error * factor).max(1e-9) * 0.2;
            prop_assert!((a.interval.low * factor + f64::from(by) - b.interval.low).abs() <= near);
            prop_assert!(a.interval.low <= a.interval.high);
        }
    }
}
