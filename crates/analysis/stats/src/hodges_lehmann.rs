//! Hodges and Lehmann's estimate of a shift, with Wilcoxon's interval.
//!
//! Hodges and Lehmann, 'Estimates of location based on rank tests', Annals of
//! Mathematical Statistics 34 (1963). One wild value moves it no more than one mild
//! value does, and yet it uses all of them.

use crate::wilcoxon::{
    left_out, rank_sum, rank_sum_distribution, signed_rank_distribution, signed_rank_p,
};
use crate::{Interval, normal};

/// More values than these are refused: all their pairs are looked at.
const MOST: usize = 2000;
/// Up to so many, the interval's ranks are exact.
const EXACT: usize = 60;

/// A shift, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocationShift {
    /// The shift: the median of all pairs' means, or differences.
    pub centre: f64,
    /// Its interval; none where there are too few values for the confidence asked.
    pub interval: Option<Interval>,
    /// Probability of values as one-sided as these where the shift is 0 (Wilcoxon).
    pub p: f64,
}

/// The centre of paired differences: the median of the means of all pairs of them,
/// each with itself included (Walsh averages). The interval covers it with at least
/// `confidence` if the differences are symmetric about it, whatever their tails: from
/// 6 differences on for 0.95. None for no values, for more than 2,000, and where a
/// value is not finite.
pub fn paired_shift(differences: &[f64], confidence: f64) -> Option<LocationShift> {
    let n = differences.len();
    if n == 0 || n > MOST || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    // Halved first, so that large values do not overflow.
    let halves: Vec<f64> = differences.iter().map(|d| d / 2.0).collect();
    let pairs =
        halves.iter().enumerate().flat_map(|(i, a)| halves[..=i].iter().map(move |b| a + b));
    let walsh = pairs.collect();
    let ranks = if n <= EXACT {
        left_out(&signed_rank_distribution(n), confidence)
    } else {
        let n = n as f64;
        large(n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0, confidence)
    };
    Some(shift(walsh, ranks, signed_rank_p(differences)))
}

/// How much the first sample lies above the second: the median of all differences
/// between the two. The interval covers the shift with at least `confidence` if the
/// two differ in nothing else. None where a side is empty, where there are more than
/// 2,000 on a side, and where a value is not finite.
pub fn unpaired_shift(x: &[f64], y: &[f64], confidence: f64) -> Option<LocationShift> {
    let (m, n) = (x.len(), y.len());
    if m.max(n) > MOST || x.iter().chain(y).any(|v| !v.is_finite()) {
        return None;
    }
    let (_, p) = rank_sum(x, y)?;
    let differences = x.iter().flat_map(|a| y.iter().map(move |b| bounded(a - b))).collect();
    let ranks = if m.max(n) <= EXACT {
        left_out(&rank_sum_distribution(m, n), confidence)
    } else {
        let (m, n) = (m as f64, n as f64);
        large(m * n / 2.0, m * n * (m + n + 1.0) / 12.0, confidence)
    };
    Some(shift(differences, ranks, p))
}

/// Ranks from the normal approximation of a test statistic.
fn large(mean: f64, variance: f64, confidence: f64) -> Option<(usize, f64)> {
    let z = normal::quantile((1.0 + confidence.clamp(0.0, 1.0)) / 2.0);
    let count = (mean - 0.5 - z * variance.sqrt()).floor();
    (count >= 1.0).then_some((count as usize, confidence))
}

fn shift(mut pairs: Vec<f64>, ranks: Option<(usize, f64)>, p: f64) -> LocationShift {
    let n = pairs.len();
    // Four places of the order, and not all of it: there are as many pairs as the square of the values.
    let mut ranked = |rank: usize| *pairs.select_nth_unstable_by(rank, f64::total_cmp).1;
    let (a, b) = (ranked((n - 1) / 2), ranked(n / 2));
    let centre = if a == b { a } else { a / 2.0 + b / 2.0 };
    let interval = ranks.map(|(count, confidence)| Interval {
        low: ranked(count - 1),
        high: ranked(n - count),
        confidence,
    });
    LocationShift { centre, interval, p }
}

/// A difference of finite values that stays finite.
fn bounded(difference: f64) -> f64 {
    difference.clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 5e-7 * (1.0 + b.abs())
    }

    /// Hollander and Wolfe's data of R's `wilcox.test`: permeability of membranes.
    const X: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const Y: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    #[test]
    fn two_samples_as_r_has_them() {
        let shift = unpaired_shift(&X, &Y, 0.95).expect("valid");
        let interval = shift.interval.expect("large enough");
        assert!(close(shift.centre, 0.305) && close(interval.low, -0.15), "{shift:?}");
        assert!(close(interval.high, 0.76) && (shift.p - 0.2544).abs() < 5e-5, "{shift:?}");
        let (x, y) = (X.map(f64::ln), Y.map(f64::ln));
        let logs = unpaired_shift(&x, &y, 0.95).expect("valid");
        let interval = logs.interval.expect("large enough");
        assert!(close(logs.centre.exp(), 1.311_767), "{logs:?}");
        assert!(close(interval.low.exp(), 0.859_504) && close(interval.high.exp(), 1.959_459));
    }

    // One value happens to be near π.
    #[allow(clippy::approx_constant)]
    #[test]
    fn pairs_as_r_has_them() {
        // Depression scale factors before and after (R's `wilcox.test`).
        let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
        let shift = paired_shift(&differences, 0.95).expect("valid");
        let interval = shift.interval.expect("large enough");
        assert!(close(shift.centre, 0.46) && close(shift.p, 0.039_062_5), "{shift:?}");
        assert!(close(interval.low, 0.01) && close(interval.high, 0.786), "{shift:?}");
    }

    #[test]
    fn intervals_from_six_on_cover_95_to_97_per_cent() {
        for n in 1..=60 {
            let confidence = left_out(&signed_rank_distribution(n), 0.95).map(|(_, c)| c);
            match confidence {
                None => assert!(n < 6),
                Some(c) => assert!((0.95..0.97).contains(&c) && n >= 6, "{n} {c}"),
            }
        }
    }

    #[test]
    fn hostile_input_has_no_shift() {
        assert_eq!(paired_shift(&[], 0.95), None);
        assert_eq!(paired_shift(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(paired_shift(&[f64::INFINITY], 0.95), None);
        assert_eq!(paired_shift(&vec![1.0; MOST + 1], 0.95), None);
        assert_eq!(unpaired_shift(&[], &[1.0], 0.95), None);
        assert_eq!(unpaired_shift(&[1.0], &[f64::NAN], 0.95), None);
        let once = paired_shift(&[3.0], 0.95).expect("one");
        assert_eq!((once.centre, once.interval, once.p), (3.0, None, 1.0));
        let ties = paired_shift(&[2.0; 9], 0.95).expect("nine");
        assert!(ties.interval.is_some_and(|i| i.low == 2.0 && i.high == 2.0));
        let far = unpaired_shift(&[f64::MAX; 9], &[f64::MIN; 9], 0.95).expect("finite");
        assert!(far.centre.is_finite());
    }

    proptest! {
        #[test]
        fn shift_moves_and_stretches_with_the_values(
            values in proptest::collection::vec(-100.0_f64..100.0, 1..70), by in -50.0_f64..50.0,
            factor in 0.01_f64..100.0
        ) {
            let moved: Vec<f64> = values.iter().map(|v| v * factor + by).collect();
            let (a, b) = (paired_shift(&values, 0.95).expect("some"), paired_shift(&moved, 0.95).expect("some"));
            let same = |x: f64, y: f64| (x * factor + by - y).abs() < 1e-7 * (1.0 + y.abs());
            prop_assert!(same(a.centre, b.centre));
            prop_assert_eq!(a.interval.is_some(), b.interval.is_some());
            if let (Some(a), Some(b)) = (a.interval, b.interval) {
                prop_assert!(same(a.low, b.low) && same(a.high, b.high));
            }
        }

        #[test]
        fn the_interval_holds_the_centre_and_agrees_with_p(
            values in proptest::collection::vec(-10.0_f64..10.0, 1..70)
        ) {
            let shift = paired_shift(&values, 0.95).expect("some");
            if let Some(interval) = shift.interval {
                prop_assert!(interval.contains(shift.centre));
                // The interval is the test turned round: 0 outside is p below 5 %.
                if values.len() <= EXACT {
                    prop_assert_eq!(shift.p < 1.0 - 0.95 + 1e-12, !interval.contains(0.0));
                }
            }
        }

        #[test]
        fn swapping_the_samples_turns_the_shift(
            x in proptest::collection::vec(-10.0_f64..10.0, 1..20), y in proptest::collection::vec(-10.0_f64..10.0, 1..20)
        ) {
            let (a, b) = (unpaired_shift(&x, &y, 0.95).expect("some"), unpaired_shift(&y, &x, 0.95).expect("some"));
            prop_assert!((a.centre + b.centre).abs() < 1e-9 && (a.p - b.p).abs() < 1e-9);
        }
    }
}
