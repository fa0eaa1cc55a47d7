//! Intervals that hold at every time at once, however often one looks.
//!
//! For thousands of cheap values, such as single requests or intervals: for a few
//! expensive blocks they are far too wide, and a campaign uses planned looks instead.

/// Half the width of a sequence of intervals for a mean that all hold together with a
/// probability of 1 − `alpha` in the limit, in standard deviations of one value, after
/// `n` values. `rho` says for which n it is tightest: 0.4 suits some tens. None where
/// `n` is 0, `rho` is not positive, or `alpha` is no probability.
///
/// Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 'Time-uniform central limit theory
/// and asymptotic confidence sequences', Annals of Statistics 52 (2024), theorem 2.2.
pub fn mean_sequence_half_width(n: usize, rho: f64, alpha: f64) -> Option<f64> {
    if n == 0 || !(rho > 0.0 && rho.is_finite()) || !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let n = n as f64;
    let grown = n * rho * rho + 1.0;
    Some((2.0 * grown / (n * n * rho * rho) * (grown.sqrt() / alpha).ln()).sqrt())
}

/// How far, as a share of the values, the ranks of a sequence of intervals for the
/// quantile `p` lie from it after `n` values: together they hold with a probability of
/// 1 − `alpha`. None where `n` is 0 or `p` or `alpha` is no probability. From a median
/// of less than about 37 values no rank is left.
///
/// Howard and Ramdas, 'Sequential estimation of quantiles with applications to A/B
/// testing and best-arm identification', Bernoulli 28 (2022), equation 2.
pub fn quantile_sequence_reach(n: usize, p: f64, alpha: f64) -> Option<f64> {
    let share = |x: f64| x > 0.0 && x < 1.0;
    if n == 0 || !share(p) || !share(alpha) {
        return None;
    }
    let n = n as f64;
    // Below 2.1·n = e the double logarithm is negative; it counts as 0.
    let twice = (2.1 * n).ln().max(1.0).ln();
    let l = (1.4 * twice + (10.0 / alpha).ln()) / n;
    Some(1.5 * (p * (1.0 - p) * l).sqrt() + 0.8 * l)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_cases() {
        let mean = |n| mean_sequence_half_width(n, 0.4, 0.05).expect("valid");
        assert!((mean(50) - 0.429_238).abs() < 5e-7, "{}", mean(50));
        assert!((mean(100) - 0.306_206).abs() < 5e-7, "{}", mean(100));
        let median = |n| quantile_sequence_reach(n, 0.5, 0.05).expect("valid");
        assert!((median(100) - 0.268_543).abs() < 5e-7, "{}", median(100));
        assert!(median(36) > 0.5 && median(37) < 0.5, "{} {}", median(36), median(37));
    }

    #[test]
    fn nonsense_has_none() {
        assert_eq!(mean_sequence_half_width(0, 0.4, 0.05), None);
        assert_eq!(mean_sequence_half_width(5, f64::NAN, 0.05), None);
        assert_eq!(mean_sequence_half_width(5, 0.4, 1.0), None);
        assert_eq!(quantile_sequence_reach(0, 0.5, 0.05), None);
        assert_eq!(quantile_sequence_reach(9, 0.0, 0.05), None);
        assert_eq!(quantile_sequence_reach(9, 0.5, f64::NAN), None);
    }

    proptest! {
        #[test]
        fn more_values_never_widen_it(n in 1_usize..100_000) {
            let mean = |n| mean_sequence_half_width(n, 0.4, 0.05).expect("valid");
            let reach = |n| quantile_sequence_reach(n, 0.5, 0.05).expect("valid");
            prop_assert!(mean(n + 1) <= mean(n) && reach(n + 1) <= reach(n) + 1e-12);
        }
    }
}
