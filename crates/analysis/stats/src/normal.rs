//! The standard normal distribution.

use statrs::distribution::{ContinuousCDF, Normal};

/// Probability of a value up to this one.
pub(crate) fn cumulative(z: f64) -> f64 {
    if z.is_nan() { 0.5 } else { Normal::standard().cdf(z) }
}

/// The value that is not exceeded with this probability; infinite for 0 and 1.
pub(crate) fn quantile(p: f64) -> f64 {
    if p.is_nan() { 0.0 } else { Normal::standard().inverse_cdf(p.clamp(0.0, 1.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_values() {
        for (p, z) in [(0.975, 1.959_963_985), (0.95, 1.644_853_627), (0.9, 1.281_551_566)] {
            assert!((quantile(p) - z).abs() < 1e-8);
            assert!((cumulative(z) - p).abs() < 1e-9);
        }
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((quantile(f64::NAN), cumulative(f64::NAN)), (0.0, 0.5));
    }
}
