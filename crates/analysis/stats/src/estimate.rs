//! A figure with its interval, from repeats.

use crate::median::median_of_sorted;
use crate::ranks::median_interval;
use crate::student::{mean_and_deviation, multiplier};
use crate::{CONFIDENCE, Interval};

/// How an [`Estimate`] was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One observation: no interval.
    Once,
    /// All observations are equal: no interval is needed.
    Deterministic,
    /// Geometric mean with a t interval of the logarithms (2 to 5 observations; at 99 %
    /// up to 7).
    LogT,
    /// Mean with a t interval of the observations themselves, where some are not
    /// positive and have no logarithm (2 to 5 observations).
    T,
    /// Median with the distribution-free interval, between ranks (6 or more).
    Median,
}

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Observations.
    pub n: usize,
    /// The figure.
    pub centre: f64,
    /// Its interval; none for one observation, without width for equal ones.
    pub interval: Option<Interval>,
    /// How it was made.
    pub method: Method,
}

/// The figure that independent repeats give, with its 95 % interval.
///
/// From 6 observations on it is the median with an interval between ranks, which
/// assumes next to nothing of the distribution. Fewer cannot give such an interval:
/// then it is the geometric mean with a t interval of the logarithms, which
/// assumes that what disturbs a figure multiplies it; where a value is zero or
/// negative, the mean with a t interval of the values as they are.
///
/// Values that are not finite are left out; none where nothing is left. The
/// order of the values does not matter.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    estimate_at(values, CONFIDENCE)
}

/// The same at another confidence, 0 to 1, exclusive: an interval of ranks takes 8
/// observations at 99 %.
pub fn estimate_at(values: &[f64], confidence: f64) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let of = |centre, interval, method| Some(Estimate { n, centre, interval, method });
    if n == 1 {
        return of(first, None, Method::Once);
    }
    if first == last {
        let interval = Interval { low: first, high: first, confidence: 1.0 };
        return of(first, Some(interval), Method::Deterministic);
    }
    if let Some(interval) = median_interval(&sorted, confidence) {
        let centre = median_of_sorted(&sorted).unwrap_or(first);
        return of(centre, Some(interval), Method::Median);
    }
    if first > 0.0 {
        let logs: Vec<f64> = sorted.iter().map(|x| x.ln()).collect();
        let (centre, half) = t_interval(&logs, confidence);
        let interval = Interval {
            low: (centre - half).exp(),
            high: (centre + half).exp().min(f64::MAX),
            confidence,
        };
        return of(centre.exp().clamp(first, last), Some(interval), Method::LogT);
    }
    let (centre, half) = t_interval(&sorted, confidence);
    let interval = Interval {
        low: (centre - half).max(f64::MIN),
        high: (centre + half).min(f64::MAX),
        confidence,
    };
    of(centre, Some(interval), Method::T)
}

/// Mean and half-width.
fn t_interval(values: &[f64], confidence: f64) -> (f64, f64) {
    let (mean, deviation) = mean_and_deviation(values);
    let n = values.len();
    (mean, multiplier(confidence, n as f64 - 1.0) * deviation / (n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::CONFIDENCE_OF_LOOKS;

    fn close(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    #[test]
    fn few_observations_give_a_log_t_interval() {
        // exp(mean ± 4.302653·s/√3) of the logarithms, worked by hand.
        let got = estimate(&[100.0, 110.0, 121.0]).expect("three values");
        assert_eq!((got.n, got.method), (3, Method::LogT));
        assert!((got.centre - 110.0).abs() < 1e-9);
        let half = 4.302_652_7 * 1.1_f64.ln() / 3.0_f64.sqrt();
        let interval = got.interval.expect("an interval");
        assert!((interval.low / (110.0 * (-half).exp()) - 1.0).abs() < 1e-6);
        assert!((interval.high / (110.0 * half.exp()) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn six_give_a_median_between_the_extremes() {
        let got = estimate(&[6.0, 1.0, 5.0, 2.0, 4.0, 3.0]).expect("six values");
        assert_eq!((got.centre, got.method), (3.5, Method::Median));
        let interval = got.interval.expect("an interval");
        // Ranks 1 and 6 would cover 0.969, ranks 2 and 5 0.781.
        assert!(interval.low > 1.0 && interval.low < 1.5, "{interval:?}");
        assert!(interval.high > 5.5 && interval.high < 6.0 && interval.confidence == 0.95);
    }

    #[test]
    fn special_cases_are_named() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[f64::NAN, f64::INFINITY]), None);
        let once = estimate(&[7.0]).expect("one value");
        assert_eq!((once.method, once.interval), (Method::Once, None));
        let equal = estimate(&[7.0; 4]).expect("four values");
        assert_eq!(equal.method, Method::Deterministic);
        assert!(equal.interval.is_some_and(|i| i.low == 7.0 && i.high == 7.0));
    }

    #[test]
    fn without_logarithms_the_values_themselves_are_used() {
        let got = estimate(&[0.0, 1.0, 2.0]).expect("three values");
        assert_eq!((got.centre, got.method), (1.0, Method::T));
        let interval = got.interval.expect("an interval");
        assert!((interval.high - (1.0 + 4.302_652_7 / 3.0_f64.sqrt())).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn scaling_scales_the_result(
            values in proptest::collection::vec(1e-3_f64..1e9, 1..20), power in -20_i32..20
        ) {
            // A power of two keeps the relative distances of floats as they are.
            let factor = 2.0_f64.powi(power);
            let scaled: Vec<f64> = values.iter().map(|x| x * factor).collect();
            let (a, b) = (estimate(&values).expect("some"), estimate(&scaled).expect("some"));
            prop_assert!(close(a.centre * factor, b.centre));
            prop_assert_eq!(a.method, b.method);
            prop_assert_eq!(a.interval.is_some(), b.interval.is_some());
            if let (Some(a), Some(b)) = (a.interval, b.interval) {
                prop_assert!(close(a.low * factor, b.low) && close(a.high * factor, b.high));
            }
        }

        #[test]
        fn a_surer_interval_holds_the_other(
            values in proptest::collection::vec(1e-3_f64..1e9, 2..30)
        ) {
            let n = values.len();
            let (usual, sure) = (estimate(&values), estimate_at(&values, CONFIDENCE_OF_LOOKS));
            let (usual, sure) = (usual.expect("some"), sure.expect("some"));
            prop_assert_eq!(sure.n, n);
            // At 6 and 7 the one is of ranks and the other of t.
            if let (Some(a), Some(b)) = (usual.interval, sure.interval) && usual.method == sure.method {
                prop_assert!(b.low <= a.low && a.high <= b.high);
            }
        }

        #[test]
        fn the_order_does_not_matter(
            (values, shuffled) in proptest::collection::vec(-1e6_f64..1e6, 1..15)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
        ) {
            prop_assert_eq!(estimate(&values), estimate(&shuffled));
        }

        #[test]
        fn the_interval_contains_the_centre(
            values in proptest::collection::vec(proptest::num::f64::ANY, 0..12)
        ) {
            if let Some(Estimate { centre, interval: Some(interval), .. }) = estimate(&values) {
                prop_assert!(interval.contains(centre), "{centre} {interval:?}");
                prop_assert!(interval.low.is_finite() && interval.high.is_finite());
            }
        }
    }
}
