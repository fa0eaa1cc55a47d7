//! Whether values in the order of time depend on each other, by ranks.
//!
//! R. Bartels, 'The rank version of von Neumann's ratio test for randomness', Journal of the
//! American Statistical Association 77 (1982). Ranks, because a stall is no correlation.

use crate::normal::cumulative;

/// Fewer values say too little, and the approximation of p does not hold.
const FEWEST: usize = 10;

/// Probability that neighbours of independent values are as alike as these, or more; `None`
/// for fewer than ten values, for equal ones, or if one is not finite. Bartels' normal
/// approximation: mean 2, variance 20 ÷ (5n + 7).
pub fn randomness_p(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < FEWEST || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let ranks = mid_ranks(values);
    let mean = (n + 1) as f64 / 2.0;
    let squares: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    let steps: f64 = ranks.windows(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
    let deviate = (steps / squares - 2.0) / (20.0 / (5.0 * n as f64 + 7.0)).sqrt();
    deviate.is_finite().then(|| cumulative(deviate))
}

/// The rank of each value, from 1; equal values share the mean of theirs.
fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = first as f64 + (equal.len() + 1) as f64 / 2.0;
        for index in equal {
            ranks[*index] = rank;
        }
        first += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Ranks 1 to n in order have steps of 1: the ratio is 12 ÷ (n(n + 1)).
    #[test]
    fn ordered_values_are_not_random() {
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        let deviate = (12.0 / 110.0 - 2.0) / (20.0_f64 / 57.0).sqrt();
        assert_eq!(randomness_p(&rising), Some(cumulative(deviate)));
        assert!(cumulative(deviate) < 0.001);
        let saw: Vec<f64> = (0..10).map(|n| f64::from(n % 2 * 10 + n)).collect();
        assert!(randomness_p(&saw).is_some_and(|p| p > 0.5));
    }

    #[test]
    fn independent_values_are_suspected_as_often_as_promised() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for n in [10, 20, 60] {
            let mut one = || {
                let values: Vec<f64> = (0..n).map(|_| random.random::<f64>().powi(5)).collect();
                randomness_p(&values).is_some_and(|p| p < 0.01)
            };
            let found = (0..4000).filter(|_| one()).count();
            assert!((15..=70).contains(&found), "{n}: {found} of 4000");
        }
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(randomness_p(&[1.0; 9]), None);
        assert_eq!(randomness_p(&[1.0; 12]), None);
        assert_eq!(randomness_p(&[f64::NAN; 12]), None);
        assert_eq!(mid_ranks(&[2.0, 1.0, 2.0, 3.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    proptest! {
        #[test]
        fn only_ranks_matter(values in proptest::collection::vec(-50.0_f64..50.0, 10..40)) {
            let bent: Vec<f64> = values.iter().map(|x| (x / 10.0).exp()).collect();
            prop_assert_eq!(randomness_p(&values), randomness_p(&bent));
        }
    }
}
