//! Holm's correction for several comparisons at once.

/// Adjusted p-values, in the order given: claiming every comparison whose
/// adjusted value is at most α makes a single false claim with a probability of
/// at most α. Values that are no probabilities count as 1.
///
/// Holm, 'A simple sequentially rejective multiple test procedure',
/// Scandinavian Journal of Statistics 6 (1979).
pub fn holm(p: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = p.iter().map(|p| if (0.0..=1.0).contains(p) { *p } else { 1.0 }).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        let left = (p.len() - rank) as f64;
        largest = largest.max((p[index] * left).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn benjamini_and_hochbergs_fifteen() {
        // The p-values of Benjamini and Hochberg (1995), section 4.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let adjusted = holm(&p);
        for (got, expected) in adjusted.iter().zip([0.0015, 0.0056, 0.0247, 0.114]) {
            assert!((got - expected).abs() < 1e-9, "{got} {expected}");
        }
        assert_eq!(adjusted.iter().filter(|p| **p <= 0.05).count(), 3);
    }

    #[test]
    fn nonsense_is_never_a_discovery() {
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[f64::NAN, -1.0, 2.0]), [1.0, 1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn adjusting_keeps_the_order_and_never_lowers(
            p in proptest::collection::vec(0.0_f64..=1.0, 1..40)
        ) {
            let adjusted = holm(&p);
            for (a, x) in p.iter().zip(&adjusted) {
                prop_assert!(x >= a && *x <= 1.0);
                for (b, y) in p.iter().zip(&adjusted) {
                    prop_assert!(a > b || x <= y);
                }
            }
        }
    }
}
