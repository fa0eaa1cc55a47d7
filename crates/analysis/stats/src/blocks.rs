//! The ratio of two stacks over blocks, by the test that bears the claim.
//!
//! With few blocks only Student's t can be sure enough, and it takes for granted that
//! the noise is roughly normal. Wilcoxon's test takes nothing for granted but the lot
//! that drew the order; but n blocks cannot give it a p below 2^(1−n). So the number of
//! blocks and the level decide, never the values: a test chosen by the values it is to
//! judge would be no test.

use crate::hodges_lehmann::paired_shift;
use crate::moderated::VariancePrior;
use crate::paired::{bounded, logs_of};
use crate::student::{mean_and_deviation, multiplier, two_sided_p};
use crate::wilcoxon::{signed_rank_distribution, signed_rank_p};
use crate::{CONFIDENCE, Interval, Ratio};

/// The smallest p that ranks can give must be so many times below the level, so that a
/// block or two may contradict the others.
const ROOM: f64 = 5.0;

/// A test of ratios over blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockTest {
    /// Student's t on the logarithms, with their mean.
    Student,
    /// Wilcoxon's signed ranks on the logarithms, with Hodges and Lehmann's centre.
    Wilcoxon,
}

impl BlockTest {
    /// The test that `blocks` blocks bear at this level of significance: ranks from 8
    /// blocks on for 5 %, from 10 for a third of that, from 12 for a tenth.
    pub fn of(blocks: usize, level: f64) -> Self {
        let blocks = i32::try_from(blocks).unwrap_or(i32::MAX);
        if 2.0_f64.powi(1_i32.saturating_sub(blocks)) * ROOM <= level {
            Self::Wilcoxon
        } else {
            Self::Student
        }
    }
}

/// From so many pairs on 95 % intervals are of ranks. There is one for six, but it covers
/// 96.9 %, and is all the way from the smallest ratio to the largest.
const RANKED_INTERVAL: usize = 7;

/// The fewest blocks in which ranks show a difference at this level even where one stall
/// made the largest difference of all point the other way.
pub fn fewest_despite_a_stall(level: f64) -> usize {
    let shows = |blocks: &usize| {
        // The sum of the ranks against is that of the largest one, `blocks`.
        let against = signed_rank_distribution(*blocks).into_iter().take(blocks + 1).sum::<f64>();
        2.0 * against <= level
    };
    // At 40 blocks, levels far below any in use are reached.
    (2..40).find(shows).unwrap_or(40)
}

/// The ratio first ÷ second of pairs measured in the same block. Its 95 % interval, with
/// its centre, is of ranks from 7 blocks on, else of t; its p is of the test for `level`,
/// which is 5 % divided by the number of comparisons that are made together. Where t judges, the
/// variance is moderated by what it has in common with those of the other comparisons (`prior`).
///
/// Pairs in which a value is not positive and finite are left out; none where no pair
/// is left. Where all blocks give exactly the same ratio, as in virtual time, and nothing is known
/// of others, the interval has no width; p is then 0, or 1 for a ratio of 1, unless ranks are used.
pub fn block_ratio(
    pairs: &[(f64, f64)],
    level: f64,
    prior: Option<&VariancePrior>,
) -> Option<Ratio> {
    let logs = logs_of(pairs);
    let n = logs.len();
    let student = Student::of(&logs, prior)?;
    let p = match BlockTest::of(n, level) {
        BlockTest::Student => student.p(),
        BlockTest::Wilcoxon => Some(signed_rank_p(&logs)),
    };
    let ranked = (n >= RANKED_INTERVAL).then(|| by_ranks(&logs, CONFIDENCE)).flatten();
    let (centre, interval) = match ranked {
        Some((centre, interval)) => (centre, Some(interval)),
        None => (bounded(student.mean), student.interval(CONFIDENCE)),
    };
    Some(Ratio { pairs: n, centre, interval, p })
}

/// The same ratio with the interval that belongs to its p: by the test that bears
/// `family`, the level of each of the comparisons that are made together, at the level
/// `own`, at which this one is judged. It holds 1 where p is above `own`.
pub fn block_ratio_judged(
    pairs: &[(f64, f64)],
    family: f64,
    own: f64,
    prior: Option<&VariancePrior>,
) -> Option<Ratio> {
    let ratio = block_ratio(pairs, family, prior)?;
    let (centre, interval) = judged_interval(pairs, family, 1.0 - own, prior)?;
    // Ties and rounding aside the two say the same; the test is what is corrected.
    let interval = interval.map(|i| match ratio.p {
        Some(p) if p > own => Interval { low: i.low.min(1.0), high: i.high.max(1.0), ..i },
        _ => i,
    });
    Some(Ratio { centre, interval, ..ratio })
}

/// Centre and interval at any confidence, by the test that bears `level`; without an interval for
/// one pair.
fn judged_interval(
    pairs: &[(f64, f64)],
    level: f64,
    confidence: f64,
    prior: Option<&VariancePrior>,
) -> Option<(f64, Option<Interval>)> {
    let logs = logs_of(pairs);
    if BlockTest::of(logs.len(), level) == BlockTest::Wilcoxon
        && let Some((centre, interval)) = by_ranks(&logs, confidence)
    {
        return Some((centre, Some(interval)));
    }
    let student = Student::of(&logs, prior)?;
    Some((bounded(student.mean), student.interval(confidence)))
}

/// Student's t of logarithms, with a variance that others may have moderated.
struct Student {
    n: usize,
    mean: f64,
    error: f64,
    freedom: f64,
}

impl Student {
    /// None of no logarithm.
    fn of(logs: &[f64], prior: Option<&VariancePrior>) -> Option<Self> {
        let n = logs.len();
        let (mean, deviation) = (n > 0).then(|| mean_and_deviation(logs))?;
        let own = (deviation.powi(2), n as f64 - 1.0);
        let (variance, freedom) = match prior.filter(|_| n > 1) {
            Some(prior) => prior.moderate(own.0, own.1),
            None => own,
        };
        Some(Self { n, mean, error: (variance / n as f64).sqrt(), freedom })
    }

    fn p(&self) -> Option<f64> {
        (self.n > 1).then(|| match (self.error == 0.0, self.mean == 0.0) {
            (true, true) => 1.0,
            (true, false) => 0.0,
            _ => two_sided_p(self.mean / self.error, self.freedom),
        })
    }

    fn interval(&self, confidence: f64) -> Option<Interval> {
        // No spread has no width, however sure one wants to be.
        let half =
            if self.error == 0.0 { 0.0 } else { multiplier(confidence, self.freedom) * self.error };
        let (low, high) = (bounded(self.mean - half), bounded(self.mean + half));
        (self.n > 1).then_some(Interval { low, high, confidence })
    }
}

fn by_ranks(logs: &[f64], confidence: f64) -> Option<(f64, Interval)> {
    let shift = paired_shift(logs, confidence)?;
    let interval = shift.interval?;
    let (low, high) = (bounded(interval.low), bounded(interval.high));
    Some((bounded(shift.centre), Interval { low, high, confidence }))
}

/// Centre and interval of the ratio first ÷ second at any confidence, by the test for
/// it; without an interval for one pair. None as for [`block_ratio`].
pub fn block_interval(
    pairs: &[(f64, f64)],
    confidence: f64,
    prior: Option<&VariancePrior>,
) -> Option<(f64, Option<Interval>)> {
    judged_interval(pairs, 1.0 - confidence, confidence, prior)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::paired_ratio;

    /// Ratios near 1.05 in so many blocks, the last of them wild.
    fn with_a_stall(n: i32) -> Vec<(f64, f64)> {
        let ratio = |i: i32| 1.05 + 0.01 * (1.7 * f64::from(i)).sin();
        let mut pairs: Vec<(f64, f64)> = (0..n).map(|i| (100.0 * ratio(i), 100.0)).collect();
        pairs[0].0 /= 3.0;
        pairs
    }

    #[test]
    fn the_number_of_blocks_and_the_level_choose() {
        for (level, fewest) in [(0.05, 8), (0.05 / 3.0, 10), (0.05 / 11.0, 12), (0.05 / 132.0, 15)]
        {
            let first = (1..1100).find(|n| BlockTest::of(*n, level) == BlockTest::Wilcoxon);
            assert_eq!(first, Some(fewest));
            assert_eq!(BlockTest::of(fewest - 1, level), BlockTest::Student);
            assert_eq!(BlockTest::of(fewest, level), BlockTest::Wilcoxon);
        }
        assert_eq!(BlockTest::of(1000, 0.0), BlockTest::Student);
        assert_eq!(BlockTest::of(0, f64::NAN), BlockTest::Student);
    }

    #[test]
    fn a_ratio_that_is_judged_by_t_has_its_centre_too() {
        // 9 blocks are enough for an interval of ranks, and too few for a test by ranks among 132.
        let pairs = with_a_stall(9);
        let (alone, family) = (block_ratio(&pairs, 0.05, None), 0.05 / 132.0);
        let judged = block_ratio_judged(&pairs, family, 0.05, None).expect("positive");
        let Interval { low, high, .. } = judged.interval.expect("nine blocks");
        assert!((judged.centre - (low * high).sqrt()).abs() < 1e-9, "{judged:?}");
        assert!(alone.expect("positive").centre > judged.centre * 1.05, "{judged:?}");
    }

    #[test]
    fn few_blocks_are_the_paired_t() {
        let pairs = [(171_092.0, 140_902.0), (107_767.0, 78_532.0), (66_649.0, 56_740.0)];
        let (got, t) = (block_ratio(&pairs, 0.05, None), paired_ratio(&pairs));
        let (got, t) = (got.expect("three"), t.expect("three"));
        assert_eq!((got.pairs, got.centre, got.interval), (t.pairs, t.centre, t.interval));
        let p = |ratio: Ratio| ratio.p.expect("three");
        assert!((p(got) / p(t) - 1.0).abs() < 1e-9, "{got:?} {t:?}");
        assert_eq!(block_ratio(&pairs[..1], 0.05, None), paired_ratio(&pairs[..1]));
        assert_eq!(block_ratio(&[], 0.05, None), None);
        let equal = block_ratio(&[(7.0, 7.0); 3], 0.05, None).expect("three");
        assert_eq!((equal.centre, equal.p), (1.0, Some(1.0)));
    }

    #[test]
    fn one_stall_hides_nothing_from_ranks() {
        // Three comparisons: at 14 blocks, 110 of the 8192 sums are as small as that of
        // the one rank against, or smaller.
        let level = 0.05 / 3.0;
        assert_eq!(fewest_despite_a_stall(level), 14);
        let pairs = with_a_stall(14);
        let by_t = paired_ratio(&pairs).expect("fourteen");
        assert!(by_t.interval.is_some_and(|i| i.contains(1.0)), "{by_t:?}");
        let got = block_ratio(&pairs, level, None).expect("fourteen");
        assert!((got.centre - 1.05).abs() < 0.01, "{got:?}");
        assert!(got.interval.is_some_and(|i| i.low > 1.0 && i.high < 1.1), "{got:?}");
        assert!(got.p.is_some_and(|p| p <= level && p > 0.01), "{got:?}");
    }

    #[test]
    fn a_surer_interval_is_wider() {
        let pairs = with_a_stall(30);
        let width = |confidence: f64| {
            let interval =
                block_interval(&pairs, confidence, None).and_then(|(_, i)| i).expect("thirty");
            interval.high - interval.low
        };
        assert!(width(0.95) < width(0.99) && width(0.99) < width(0.9996));
        let equal =
            block_interval(&[(2.0, 1.0); 3], 0.9999, None).and_then(|(_, i)| i).expect("three");
        assert_eq!(equal.low, equal.high);
    }

    proptest! {
        #[test]
        fn any_values_give_a_consistent_result(
            pairs in proptest::collection::vec((proptest::num::f64::ANY, 1e-300_f64..1e300), 0..40),
            level in 1e-6_f64..0.1
        ) {
            if let Some(ratio) = block_ratio(&pairs, level, None) {
                prop_assert!(ratio.centre > 0.0 && ratio.centre.is_finite());
                prop_assert!(ratio.interval.is_none_or(|i| i.contains(ratio.centre)));
                prop_assert!(ratio.p.is_none_or(|p| (0.0..=1.0).contains(&p)));
                prop_assert_eq!(ratio.interval.is_some(), ratio.pairs > 1);
            }
        }

        #[test]
        fn a_judged_interval_says_what_its_p_says(
            logs in proptest::collection::vec(-1.0_f64..1.2, 2..30),
            number in 1_usize..40, rank in 0_usize..40
        ) {
            let pairs: Vec<(f64, f64)> = logs.iter().map(|l| (l.exp(), 1.0)).collect();
            let family = 0.05 / number as f64;
            let own = 0.05 / number.saturating_sub(rank).max(1) as f64;
            let ratio = block_ratio_judged(&pairs, family, own, None).expect("several");
            let (p, interval) = (ratio.p.expect("several"), ratio.interval.expect("several"));
            prop_assert!(interval.contains(ratio.centre));
            if (p / own - 1.0).abs() > 1e-6 {
                prop_assert_eq!(p > own, interval.contains(1.0), "{} {:?}", p, interval);
            }
        }

        #[test]
        fn ties_do_not_make_an_interval_say_more_than_its_p(
            steps in proptest::collection::vec(
                prop_oneof![-2_i8..4, Just(1), Just(0), -20_i8..40], 2..110
            ),
            number in 1_usize..40
        ) {
            let pairs: Vec<(f64, f64)> = steps.iter().map(|s| (f64::from(*s).exp2(), 1.0)).collect();
            let inverse: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
            for pairs in [pairs, inverse] {
                let level = 0.05 / number as f64;
                let ratio = block_ratio_judged(&pairs, level, level, None).expect("several");
                let (p, interval) = (ratio.p.expect("several"), ratio.interval.expect("several"));
                prop_assert!(p <= level || interval.contains(1.0), "{} {:?}", p, interval);
            }
        }

        #[test]
        fn units_and_the_order_of_blocks_do_not_matter(
            (pairs, shuffled) in proptest::collection::vec((1.0_f64..1e6, 1.0_f64..1e6), 2..30)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())),
            power in -20_i32..20
        ) {
            let unit = 2.0_f64.powi(power);
            let scaled: Vec<_> = shuffled.iter().map(|(a, b)| (a * unit, b * unit)).collect();
            let (a, b) = (block_ratio(&pairs, 0.01, None).expect("some"), block_ratio(&scaled, 0.01, None).expect("some"));
            let close = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-6;
            prop_assert!(close(a.centre, b.centre));
            prop_assert!((a.p.expect("several") - b.p.expect("several")).abs() < 1e-6);
            let (i, j) = (a.interval.expect("several"), b.interval.expect("several"));
            prop_assert!(close(i.low.max(1e-200), j.low.max(1e-200)) && close(i.high.min(1e200), j.high.min(1e200)));
        }
    }
}
