//! The ratio of two stacks, paired over blocks.
//!
//! A block holds every stack once, so whatever drifts from block to block hits
//! both sides alike and cancels out of each block's ratio. The logarithms of
//! these ratios give a t interval. Without the pairing, a drift would widen the
//! interval until it says nothing: see the test, whose unpaired interval is
//! [0.4347, 3.5999].

use crate::student::{mean_and_deviation, multiplier, two_sided_p};
use crate::{CONFIDENCE, Interval};

/// A ratio, paired over blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Blocks in which both sides have a positive value.
    pub pairs: usize,
    /// First ÷ second: the geometric mean of the blocks' ratios, or, where a function says
    /// so, the centre by ranks.
    pub centre: f64,
    /// Its 95 % interval; none for one pair.
    pub interval: Option<Interval>,
    /// Probability of a ratio this far from 1 or farther where there is no
    /// difference; none for one pair.
    pub p: Option<f64>,
}

/// The ratio first ÷ second of pairs measured in the same block. Pairs in which
/// a value is not positive and finite are left out; none where no pair is left.
///
/// Where all blocks give exactly the same ratio, as in virtual time, the
/// interval has no width, and p is 0, or 1 for a ratio of 1.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let logs = logs_of(pairs);
    let n = logs.len();
    if n == 0 {
        return None;
    }
    let (mean, deviation) = mean_and_deviation(&logs);
    let centre = bounded(mean);
    if n == 1 {
        return Some(Ratio { pairs: 1, centre, interval: None, p: None });
    }
    let error = deviation / (n as f64).sqrt();
    let half = multiplier(CONFIDENCE, n as f64 - 1.0) * error;
    let p = match (error == 0.0, mean == 0.0) {
        (true, true) => 1.0,
        (true, false) => 0.0,
        _ => two_sided_p(mean / error, n as f64 - 1.0),
    };
    let interval =
        Interval { low: bounded(mean - half), high: bounded(mean + half), confidence: CONFIDENCE };
    Some(Ratio { pairs: n, centre, interval: Some(interval), p: Some(p) })
}

/// Logarithms of the usable pairs' ratios.
pub(crate) fn logs_of(pairs: &[(f64, f64)]) -> Vec<f64> {
    let usable = |x: f64| x > 0.0 && x.is_finite();
    pairs.iter().filter(|(a, b)| usable(*a) && usable(*b)).map(|(a, b)| a.ln() - b.ln()).collect()
}

/// exp() that stays positive and finite.
pub(crate) fn bounded(log: f64) -> f64 {
    log.exp().clamp(f64::MIN_POSITIVE, f64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairing_sees_what_a_drift_hides() {
        // Operations per second of Filebench's file server with 50 and with 16
        // threads in three blocks, on a machine that drifted by a factor of 2.6.
        let pairs = [(171_092.0, 140_902.0), (107_767.0, 78_532.0), (66_649.0, 56_740.0)];
        let ratio = paired_ratio(&pairs).expect("three pairs");
        let interval = ratio.interval.expect("an interval");
        assert_eq!(ratio.pairs, 3);
        assert!((ratio.centre - 1.2509).abs() < 5e-5, "{ratio:?}");
        assert!((interval.low - 1.0206).abs() < 5e-5, "{ratio:?}");
        assert!((interval.high - 1.5331).abs() < 5e-5, "{ratio:?}");
        assert!(ratio.p.is_some_and(|p| p > 0.03 && p < 0.05), "{ratio:?}");
    }

    #[test]
    fn one_pair_has_no_interval_and_equal_ratios_no_width() {
        let once = paired_ratio(&[(3.0, 2.0)]).expect("one pair");
        assert_eq!((once.pairs, once.interval, once.p), (1, None, None));
        let equal = paired_ratio(&[(4.0, 2.0), (4.0, 2.0)]).expect("two pairs");
        assert_eq!(equal.p, Some(0.0));
        assert!(equal.interval.is_some_and(|i| i.low == i.high));
        let level = paired_ratio(&[(2.0, 2.0), (5.0, 5.0)]).expect("two pairs");
        assert_eq!(level.p, Some(1.0));
    }

    #[test]
    fn unusable_pairs_are_left_out() {
        assert_eq!(paired_ratio(&[]), None);
        assert_eq!(paired_ratio(&[(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0)]), None);
        assert_eq!(paired_ratio(&[(0.0, 1.0), (1.0, 2.0)]).map(|r| r.pairs), Some(1));
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_the_ratio(
            pairs in proptest::collection::vec((1e-3_f64..1e9, 1e-3_f64..1e9), 2..12)
        ) {
            let swapped: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
            let (a, b) = (paired_ratio(&pairs).expect("some"), paired_ratio(&swapped).expect("some"));
            let close = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-9;
            prop_assert!(close(a.centre, 1.0 / b.centre));
            let (ai, bi) = (a.interval.expect("several"), b.interval.expect("several"));
            // Ends beyond the range of floats are cut off on either side.
            if ai.high < 1e300 && bi.high < 1e300 {
                prop_assert!(close(ai.low, 1.0 / bi.high) && close(ai.high, 1.0 / bi.low));
            }
            prop_assert!((a.p.expect("several") - b.p.expect("several")).abs() < 1e-9);
            prop_assert!(ai.contains(a.centre));
        }

        #[test]
        fn a_drift_of_the_blocks_changes_nothing(
            pairs in proptest::collection::vec((1.0_f64..1e6, 1.0_f64..1e6, 0.1_f64..10.0), 2..8)
        ) {
            let still: Vec<_> = pairs.iter().map(|(a, b, _)| (*a, *b)).collect();
            let drifted: Vec<_> = pairs.iter().map(|(a, b, d)| (a * d, b * d)).collect();
            let (a, b) = (paired_ratio(&still).expect("some"), paired_ratio(&drifted).expect("some"));
            prop_assert!((a.centre / b.centre - 1.0).abs() < 1e-9);
        }
    }
}
