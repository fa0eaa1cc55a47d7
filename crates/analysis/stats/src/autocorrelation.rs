//! How much values that follow each other depend on each other.
//!
//! Intervals of one run are no repeats: where a good second is followed by a
//! good second, a hundred of them are worth far fewer independent observations.

/// Correlation of each value with the next, −1 to 1; none for fewer than two
/// values, for equal ones, or where a value is not finite.
pub fn lag_1(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let first = *values.first()?;
    // Equal values are ranked apart here: rounding would give them a correlation.
    if values.iter().any(|x| !x.is_finite()) || values.iter().all(|x| *x == first) {
        return None;
    }
    let mean = values.iter().map(|x| x / n as f64).sum::<f64>();
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let correlation = products / squares;
    correlation.is_finite().then_some(correlation.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// R's data set `lh`: luteinizing hormone in blood samples at 10-minute
    /// intervals (Diggle 1990).
    const LH: [f64; 48] = [
        2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7, 2.2, 1.8, 3.2, 3.2, 2.7, 2.2,
        2.2, 1.9, 1.9, 1.8, 2.7, 3.0, 2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3, 2.6, 2.4, 1.8, 1.7,
        1.5, 1.4, 2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4, 3.0, 2.9,
    ];

    #[test]
    fn the_published_cases() {
        assert!(lag_1(&[1.0, 2.0, 3.0, 4.0, 5.0]).is_some_and(|r| (r - 0.4).abs() < 1e-12));
        assert!(lag_1(&LH).is_some_and(|r| (r - 0.575_524_5).abs() < 1e-6), "{:?}", lag_1(&LH));
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(lag_1(&[1.0]), None);
        assert_eq!(lag_1(&[2.0; 9]), None);
        assert_eq!(lag_1(&[1.0, f64::NAN, 2.0]), None);
    }

    proptest! {
        #[test]
        fn neither_shift_nor_scale_changes_the_correlation(
            values in proptest::collection::vec(-100.0_f64..100.0, 3..50),
            shift in -1000.0_f64..1000.0, scale in 0.1_f64..10.0
        ) {
            let moved: Vec<f64> = values.iter().map(|x| x * scale + shift).collect();
            if let (Some(a), Some(b)) = (lag_1(&values), lag_1(&moved)) {
                prop_assert!((a - b).abs() < 1e-6);
            }
        }
    }
}
