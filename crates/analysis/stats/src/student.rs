//! Student's t distribution, and mean and deviation.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The two-sided multiplier of a t interval: what |t| exceeds with a
/// probability of `1 - confidence`. Infinite for 0 degrees of freedom.
pub(crate) fn multiplier(confidence: f64, freedom: f64) -> f64 {
    let Ok(t) = StudentsT::new(0.0, 1.0, freedom) else { return f64::INFINITY };
    t.inverse_cdf((1.0 + confidence.clamp(0.0, 1.0)) / 2.0)
}

/// Probability that |t| is as large as this or larger.
pub(crate) fn two_sided_p(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    StudentsT::new(0.0, 1.0, freedom)
        .map_or(1.0, |distribution| (2.0 * distribution.sf(t.abs())).clamp(0.0, 1.0))
}

/// Mean and sample standard deviation (n − 1) of at least one value.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|x| x / n).sum::<f64>();
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_match_the_tables() {
        // Fisher and Yates's table, and the Bonferroni multipliers of 12
        // candidates at 12 looks, computed with R's qt().
        let strict = 1.0 - 0.05 / (12.0 * 11.0);
        for (confidence, freedom, expected) in [
            (0.95, 1, 12.7062),
            (0.95, 2, 4.3027),
            (0.95, 3, 3.1824),
            (0.95, 4, 2.7764),
            (0.95, 9, 2.2622),
            (0.95, 30, 2.0423),
            (0.95, 1000, 1.9623),
            (strict, 2, 51.366),
            (strict, 4, 11.069),
            (strict, 7, 6.3676),
            (strict, 11, 5.0386),
        ] {
            let freedom = f64::from(freedom);
            let got = multiplier(confidence, freedom);
            assert!((got / expected - 1.0).abs() < 5e-5, "{confidence} {freedom}: {got}");
            let p = two_sided_p(got, freedom);
            assert!((p - (1.0 - confidence)).abs() < 1e-9, "{p}");
        }
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(multiplier(0.95, 0.0), f64::INFINITY);
        assert_eq!(two_sided_p(f64::INFINITY, 3.0), 0.0);
        assert!((two_sided_p(0.0, 3.0) - 1.0).abs() < 1e-12);
    }
}
