//! The middle of some values.

/// The middle value, or the mean of the two in the middle; `None` of none.
pub fn median(values: &[f64]) -> Option<f64> {
    median_of_sorted(&sorted(values))
}

/// The middle value, of an even number the lower one, so that it is one of the values; `None`
/// of none.
pub fn median_low(values: &[f64]) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    sorted(values).get(last / 2).copied()
}

/// As [`median`], of values in ascending order.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let (low, high) = (sorted.get(n.checked_sub(1)? / 2)?, sorted.get(n / 2)?);
    // The sum of the largest values would be infinite.
    Some(if low == high { *low } else { low / 2.0 + high / 2.0 })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn medians_of_few_values() {
        for (values, median_expected, low) in [
            (&[][..], None, None),
            (&[3.0], Some(3.0), Some(3.0)),
            (&[4.0, 1.0], Some(2.5), Some(1.0)),
            (&[5.0, 1.0, 2.0], Some(2.0), Some(2.0)),
            (&[f64::MAX, f64::MAX], Some(f64::MAX), Some(f64::MAX)),
        ] {
            assert_eq!((median(values), median_low(values)), (median_expected, low), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn half_of_the_values_lie_on_each_side(values in prop::collection::vec(-1e9..1e9, 1..40)) {
            let (middle, low) = (median(&values).expect("one"), median_low(&values).expect("one"));
            let half = values.len().div_ceil(2);
            prop_assert!(values.iter().filter(|v| **v <= middle).count() >= half);
            prop_assert!(values.iter().filter(|v| **v >= middle).count() >= half);
            prop_assert!(values.contains(&low) && low <= middle);
        }
    }
}
