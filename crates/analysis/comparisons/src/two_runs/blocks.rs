//! The ratio of two figures whose repeats are paired: a block at two levels of an axis, or the same
//! draws in two runs of the lab. What a block has in common cancels out.

use disklab_stats::{Interval, block_interval, block_ratio};

use super::ratio::JudgedRatio;

/// Second ÷ first of pairs (first, second), as [`super::two_sample::two_sample`] has it of independent
/// repeats. None if there is no pair, or a value has no ratio.
pub fn paired(pairs: &[(f64, f64)], band: f64, significance: f64) -> Option<JudgedRatio> {
    let sound = |value: f64| value > 0.0 && value.is_finite();
    if !pairs.iter().all(|(first, second)| sound(*first) && sound(*second)) {
        return None;
    }
    let ratio = block_ratio(&turned(pairs, 1.0), significance, None)?;
    let p_beyond = if ratio.p.is_none() {
        None
    } else if (1.0 / band..=band).contains(&ratio.centre) {
        Some(1.0)
    } else {
        let edge = if ratio.centre > 1.0 { band } else { 1.0 / band };
        block_ratio(&turned(pairs, edge), significance, None)?.p
    };
    Some(JudgedRatio { centre: ratio.centre, interval: ratio.interval, p_beyond })
}

/// The interval of the same ratio that holds together with those of all comparisons that are judged
/// at this level; none for one pair.
pub fn interval_of_all(pairs: &[(f64, f64)], level: f64) -> Option<Interval> {
    block_interval(&turned(pairs, 1.0), 1.0 - level, None)?.1
}

/// Pairs (second, first), of which the first ones are so many times as large.
fn turned(pairs: &[(f64, f64)], times: f64) -> Vec<(f64, f64)> {
    pairs.iter().map(|(first, second)| (*second, first * times)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::two_sample::two_sample;
    use super::*;

    #[test]
    fn what_a_block_has_in_common_cancels_out() {
        // Blocks that differ by half, and a second side that is 8 % slower in each.
        let first = [100.0, 150.0, 80.0, 120.0];
        let second = [92.1, 137.8, 73.7, 110.3];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let interval = paired(&pairs, 1.05, 0.05).expect("sound").interval.expect("four");
        assert!(interval.low > 0.915 && interval.high < 0.925, "{interval:?}");
        let apart = two_sample(&first, &second, 1.05, 0.05).expect("sound").interval.expect("four");
        assert!(apart.low < 0.6 && apart.high > 1.3, "{apart:?}");
    }

    #[test]
    fn a_pair_has_no_interval_and_a_zero_no_ratio() {
        let one = paired(&[(2.0, 3.0)], 1.05, 0.05).expect("a ratio");
        assert!((one.centre - 1.5).abs() < 1e-9);
        assert_eq!((one.interval, one.p_beyond), (None, None));
        assert_eq!(paired(&[(2.0, 3.0), (0.0, 1.0)], 1.05, 0.05), None);
        assert_eq!(paired(&[], 1.05, 0.05), None);
    }

    proptest! {
        #[test]
        fn turning_the_sides_turns_the_ratio(
            pairs in prop::collection::vec((0.1_f64..10.0, 0.1_f64..10.0), 2..12)
        ) {
            let back: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
            let (one, other) =
                (paired(&pairs, 1.05, 0.05).expect("sound"), paired(&back, 1.05, 0.05).expect("sound"));
            prop_assert!((one.centre * other.centre - 1.0).abs() < 1e-9);
            let (p, q) = (one.p_beyond.expect("two"), other.p_beyond.expect("two"));
            prop_assert!((p - q).abs() < 1e-6, "{p} {q}");
        }
    }
}
