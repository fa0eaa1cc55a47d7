//! The ratio of two figures that share no blocks, as those of two runs.
//!
//! Welch, 'The generalization of Student's problem when several different
//! population variances are involved', Biometrika 34 (1947). Only where there are no
//! blocks to pair: what drifts between the two counts as noise here, or, between
//! runs, as a difference.

use crate::paired::bounded;
use crate::student::{mean_and_deviation, multiplier, two_sided_p};
use crate::{CONFIDENCE, Interval, Ratio};

/// The ratio first ÷ second of independent repeats: geometric means, with Welch's t
/// interval of the logarithms. `pairs` is the smaller number of repeats. Values that
/// are not positive and finite are left out; none where a side has nothing left;
/// without interval where a side has only one.
pub fn unpaired_ratio(first: &[f64], second: &[f64]) -> Option<Ratio> {
    unpaired_ratio_at(first, second, CONFIDENCE)
}

/// The same with an interval at any confidence.
pub fn unpaired_ratio_at(first: &[f64], second: &[f64], confidence: f64) -> Option<Ratio> {
    let logs = |values: &[f64]| -> Vec<f64> {
        values.iter().filter(|v| **v > 0.0 && v.is_finite()).map(|v| v.ln()).collect()
    };
    let (a, b) = (logs(first), logs(second));
    let pairs = a.len().min(b.len());
    if pairs == 0 {
        return None;
    }
    let ((mean_a, deviation_a), (mean_b, deviation_b)) =
        (mean_and_deviation(&a), mean_and_deviation(&b));
    let difference = mean_a - mean_b;
    let centre = bounded(difference);
    if pairs == 1 {
        return Some(Ratio { pairs, centre, interval: None, p: None });
    }
    let (error, freedom) = error_and_freedom((deviation_a, a.len()), (deviation_b, b.len()));
    let half = if error == 0.0 { 0.0 } else { multiplier(confidence, freedom) * error };
    let interval =
        Interval { low: bounded(difference - half), high: bounded(difference + half), confidence };
    Some(Ratio {
        pairs,
        centre,
        interval: Some(interval),
        p: Some(p_of(difference, error, freedom)),
    })
}

/// Standard error of a difference of means, and Satterthwaite's degrees of freedom, of
/// (deviation, number) on each side.
fn error_and_freedom(a: (f64, usize), b: (f64, usize)) -> (f64, f64) {
    let variance = |(deviation, n): (f64, usize)| deviation * deviation / n as f64;
    let (va, vb) = (variance(a), variance(b));
    // Of shares, so that nothing overflows.
    let (share_a, share_b) = (va / (va + vb), vb / (va + vb));
    let (na, nb) = (a.1 as f64 - 1.0, b.1 as f64 - 1.0);
    let freedom = 1.0 / (share_a * share_a / na + share_b * share_b / nb);
    ((va + vb).sqrt(), freedom)
}

fn p_of(difference: f64, error: f64, freedom: f64) -> f64 {
    match (error == 0.0, difference == 0.0) {
        (true, true) => 1.0,
        (true, false) => 0.0,
        _ if error.is_nan() || freedom.is_nan() => 1.0,
        _ => two_sided_p(difference / error, freedom),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_blocks_the_drift_is_noise() {
        // The data of the paired ratio's test, whose interval is [1.02, 1.53].
        let ratio =
            unpaired_ratio(&[171_092.0, 107_767.0, 66_649.0], &[140_902.0, 78_532.0, 56_740.0]);
        let ratio = ratio.expect("valid");
        let interval = ratio.interval.expect("three each");
        assert!((ratio.centre - 1.2509).abs() < 5e-5, "{ratio:?}");
        assert!((interval.low - 0.4347).abs() < 5e-5, "{ratio:?}");
        assert!((interval.high - 3.5999).abs() < 5e-5, "{ratio:?}");
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(unpaired_ratio(&[], &[1.0]), None);
        assert_eq!(unpaired_ratio(&[-1.0, f64::NAN], &[1.0]), None);
        assert_eq!(unpaired_ratio(&[4.0], &[2.0, 2.0]).map(|r| r.interval), Some(None));
        assert_eq!(unpaired_ratio(&[4.0, 4.0], &[2.0, 2.0]).and_then(|r| r.p), Some(0.0));
        assert_eq!(unpaired_ratio(&[2.0, 2.0], &[2.0, 2.0]).and_then(|r| r.p), Some(1.0));
        let wild = unpaired_ratio(&[f64::MAX, 1e-300], &[1.0, 2.0]).expect("positive");
        assert!(wild.interval.is_some_and(|i| i.low > 0.0 && i.high.is_finite()));
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_the_ratio(
            a in proptest::collection::vec(1e-3_f64..1e6, 2..12), b in proptest::collection::vec(1e-3_f64..1e6, 2..12)
        ) {
            let (x, y) = (unpaired_ratio(&a, &b).expect("some"), unpaired_ratio(&b, &a).expect("some"));
            prop_assert!((x.centre * y.centre - 1.0).abs() < 1e-9);
            prop_assert!((x.p.expect("some") - y.p.expect("some")).abs() < 1e-9);
            prop_assert!(x.interval.expect("some").contains(x.centre));
        }
    }
}
