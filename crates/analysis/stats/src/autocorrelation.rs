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

/// How many independent observations `n` correlated ones are worth, at least 1
/// and at most `n` (0 for none): n·(1−ρ)/(1+ρ) for a first-order process with a
/// lag-1 correlation of ρ. A negative correlation counts as none, because more
/// than `n` is never claimed.
pub fn effective_observations(n: usize, correlation: f64) -> f64 {
    let correlation = if correlation.is_nan() { 1.0 } else { correlation.clamp(0.0, 1.0) };
    let n = n as f64;
    (n * (1.0 - correlation) / (1.0 + correlation)).max(n.min(1.0))
}

/// A correlation at most this large either way counts as none (Li, Kanevsky, Bailey et
/// al., 'Pilot', MASCOTS 2016).
const NO_CORRELATION: f64 = 0.1;
/// A correlation of fewer values than these is not worth its name.
const FEWEST_BATCHES: usize = 8;

/// The means of batches of neighbours, so long that no batch predicts the next: pairs
/// of neighbours are merged until the correlation of each with the next is at most 0.1
/// either way. A last value without a partner is dropped. None where fewer than eight
/// batches would be left, so that the values do not bear an interval of their mean, and
/// where a value is not finite. Equal values are left as they are.
pub fn independent_batches(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut batches = values.to_vec();
    while batches.len() >= FEWEST_BATCHES {
        if lag_1(&batches).is_none_or(|rho| rho.abs() <= NO_CORRELATION) {
            return Some(batches);
        }
        batches = batches.chunks_exact(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0).collect();
    }
    None
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
        assert!((effective_observations(100, 0.5) - 33.33).abs() < 0.01);
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(lag_1(&[1.0]), None);
        assert_eq!(lag_1(&[2.0; 9]), None);
        assert_eq!(lag_1(&[1.0, f64::NAN, 2.0]), None);
        assert_eq!(effective_observations(0, 0.3), 0.0);
        assert_eq!(effective_observations(10, 1.0), 1.0);
        assert_eq!(effective_observations(10, -0.5), 10.0);
        assert_eq!(effective_observations(10, f64::NAN), 1.0);
    }

    #[test]
    fn neighbours_are_merged_until_they_are_strangers() {
        // Steps of eight equal values that change their sign at random.
        let steps = [
            1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0,
        ];
        let values: Vec<f64> =
            (0..128).map(|i| steps[i / 8] + 0.1 * (i as f64 * 1.7).sin()).collect();
        let batches = independent_batches(&values).expect("enough");
        assert!(batches.len() <= 16, "{}", batches.len());
        assert!(lag_1(&batches).is_some_and(|rho| rho.abs() <= 0.1));
        assert_eq!(independent_batches(&[3.0; 20]), Some(vec![3.0; 20]));
        let rising: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(independent_batches(&rising), None);
        assert_eq!(independent_batches(&[1.0; 7]), None);
        assert_eq!(independent_batches(&[f64::NAN; 20]), None);
    }

    proptest! {
        #[test]
        fn batches_keep_the_mean(values in proptest::collection::vec(-100.0_f64..100.0, 0..130)) {
            if let Some(batches) = independent_batches(&values) {
                let each = 1 << (values.len() / batches.len()).ilog2();
                let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
                prop_assert!((mean(&batches) - mean(&values[..each * batches.len()])).abs() < 1e-9);
            }
        }

        #[test]
        fn effective_observations_stay_between_one_and_n(n in 1_usize..10_000, rho in -2.0_f64..2.0) {
            let effective = effective_observations(n, rho);
            prop_assert!((1.0..=n as f64).contains(&effective));
        }

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
