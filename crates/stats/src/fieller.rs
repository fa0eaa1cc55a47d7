//! Fieller's interval of a ratio of two independent means.
//!
//! Fieller, 'Some problems in interval estimation', Journal of the Royal
//! Statistical Society B 16 (1954). Unlike an interval of logarithms it needs no
//! positive values, and it knows when a denominator may be 0.

use crate::student::multiplier;
use crate::{CONFIDENCE, Interval};

/// A mean and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its variance: that of the observations by their number.
    pub variance: f64,
}

/// A ratio of means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanRatio {
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval; none where the denominator may be 0, so that no ratio is
    /// ruled out on at least one side.
    pub interval: Option<Interval>,
    /// How uncertain the denominator is: from 1 on there is no interval.
    pub g: f64,
}

/// The ratio `a` ÷ `b` with `freedom` degrees of freedom. None where a value is not
/// finite, a variance is negative, `b` is 0, or `freedom` is not above 0.
pub fn mean_ratio(a: Mean, b: Mean, freedom: f64) -> Option<MeanRatio> {
    let usable = |m: &Mean| m.value.is_finite() && m.variance.is_finite() && m.variance >= 0.0;
    if !usable(&a) || !usable(&b) || b.value == 0.0 || freedom.is_nan() || freedom <= 0.0 {
        return None;
    }
    let t = multiplier(CONFIDENCE, freedom);
    let ratio = a.value / b.value;
    let g = t * t * b.variance / (b.value * b.value);
    if !ratio.is_finite() || g.is_nan() {
        return None;
    }
    let spread = a.variance + ratio * ratio * b.variance - g * a.variance;
    let half = t / b.value.abs() * spread.max(0.0).sqrt();
    let [low, high] = [(ratio - half) / (1.0 - g), (ratio + half) / (1.0 - g)];
    let bounded = g < 1.0 && low.is_finite() && high.is_finite();
    let interval = bounded.then_some(Interval { low, high, confidence: CONFIDENCE });
    Some(MeanRatio { ratio, interval, g })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mean(value: f64, variance: f64) -> Mean {
        Mean { value, variance }
    }

    #[test]
    fn the_worked_case() {
        let got = mean_ratio(mean(120.0, 4.0), mean(100.0, 9.0), 18.0).expect("valid");
        let interval = got.interval.expect("bounded");
        assert!((got.g - 0.003_972_49).abs() < 5e-9, "{got:?}");
        assert!((interval.low - 1.117_960).abs() < 5e-7, "{got:?}");
        assert!((interval.high - 1.291_612).abs() < 5e-7, "{got:?}");
    }

    #[test]
    fn a_denominator_that_may_be_0_has_no_interval() {
        let got = mean_ratio(mean(1.0, 1.0), mean(1.0, 1.0), 5.0).expect("valid");
        assert!(got.g >= 1.0 && got.interval.is_none());
        for (a, b, freedom) in [
            (mean(1.0, 1.0), mean(0.0, 1.0), 5.0),
            (mean(f64::NAN, 1.0), mean(1.0, 1.0), 5.0),
            (mean(1.0, -1.0), mean(1.0, 1.0), 5.0),
            (mean(1.0, 1.0), mean(1.0, f64::INFINITY), 5.0),
            (mean(1.0, 1.0), mean(1.0, 1.0), 0.0),
            (mean(1.0, 1.0), mean(1.0, 1.0), f64::NAN),
        ] {
            assert_eq!(mean_ratio(a, b, freedom), None);
        }
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_ratio(
            a in -1e6_f64..1e6, b in -1e6_f64..1e6, va in 0.0_f64..1e6, vb in 0.0_f64..1e6, freedom in 1.0_f64..100.0
        ) {
            if let Some(MeanRatio { ratio, interval: Some(interval), .. }) = mean_ratio(mean(a, va), mean(b, vb), freedom) {
                let slack = 1e-9 * (1.0 + ratio.abs());
                prop_assert!(interval.low <= ratio + slack && ratio <= interval.high + slack);
            }
        }
    }
}
