//! Benjamini and Hochberg's correction: few false claims among many.

/// Adjusted p-values, in the order given: of the comparisons whose adjusted value
/// is at most α, a share of at most α is false on average (where the comparisons
/// are independent, or depend on each other positively, as those with one baseline
/// do). Where nothing differs at all, any claim is false, so that the probability
/// of one is at most α, as with Holm's. Values that are no probabilities count as 1.
///
/// Benjamini and Hochberg, 'Controlling the false discovery rate', Journal of the
/// Royal Statistical Society B 57 (1995); for positive dependence Benjamini and
/// Yekutieli, Annals of Statistics 29 (2001).
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = p.iter().map(|p| if (0.0..=1.0).contains(p) { *p } else { 1.0 }).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let n = p.len() as f64;
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (rank, index) in order.into_iter().enumerate().rev() {
        // Rounding must not lower a value.
        least = least.min((p[index] * n / (rank + 1) as f64).max(p[index]));
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::holm;

    #[test]
    fn the_papers_fifteen() {
        // Benjamini and Hochberg (1995), section 4: at 5 % Holm claims three, they four.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let adjusted = benjamini_hochberg(&p);
        for (got, expected) in adjusted.iter().zip([0.0015, 0.003, 0.0095, 0.035_625, 0.0603]) {
            assert!((got - expected).abs() < 1e-9, "{got} {expected}");
        }
        assert_eq!(adjusted.iter().filter(|p| **p <= 0.05).count(), 4);
    }

    #[test]
    fn nonsense_is_never_a_discovery() {
        assert!(benjamini_hochberg(&[]).is_empty());
        assert_eq!(benjamini_hochberg(&[f64::NAN, -1.0, 2.0]), [1.0, 1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn between_the_raw_ones_and_holms(p in proptest::collection::vec(0.0_f64..=1.0, 1..40)) {
            let adjusted = benjamini_hochberg(&p);
            for ((raw, mine), holm) in p.iter().zip(&adjusted).zip(holm(&p)) {
                prop_assert!(raw <= mine && *mine <= holm + 1e-12 && *mine <= 1.0);
            }
            for (a, x) in p.iter().zip(&adjusted) {
                for (b, y) in p.iter().zip(&adjusted) {
                    prop_assert!(a > b || x <= y);
                }
            }
        }
    }
}
