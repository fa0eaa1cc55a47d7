//! Intervals of medians from ranks alone, without any assumption about the distribution.
//!
//! The number of observations below the true median is binomially
//! distributed, so ranks can be found between which it lies with a known
//! probability. Nair, 'Table of confidence interval for the median in samples
//! from any continuous population', Sankhyā 4 (1940); Hoefler and Belli,
//! 'Scientific benchmarking of parallel computing systems', SC'15; Maricq et
//! al., 'Taming performance variability', OSDI'18. Both papers give an
//! approximation that is too narrow for small samples; the ranks here are exact.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::Interval;

/// Ranks of a median's interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianRanks {
    /// The lower end is the k-th smallest observation, counted from 1, the upper
    /// end the k-th largest.
    pub k: usize,
    /// Probability with which the interval covers the median.
    pub confidence: f64,
}

/// The narrowest symmetric ranks whose interval covers the median with at least
/// `confidence`; none where `n` is too small (below 6 for 0.95).
pub fn median_ranks(n: usize, confidence: f64) -> Option<MedianRanks> {
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    let cover = |k: usize| 1.0 - 2.0 * binomial.cdf(k as u64 - 1);
    // Coverage falls with k: search for the last that is enough.
    let (mut enough, mut too_few) = (0, n / 2 + 1);
    while too_few - enough > 1 {
        let k = enough + (too_few - enough) / 2;
        if cover(k) >= confidence { enough = k } else { too_few = k }
    }
    (enough > 0).then(|| MedianRanks { k: enough, confidence: cover(enough) })
}

/// The interval of the median of observations in ascending order that covers it with
/// `confidence`, neither more nor less: between the exact interval of ranks, which covers
/// it with more (0.992 instead of 0.95 for eight observations), and the next narrower one.
/// Hardly less free of the distribution than ranks. None where `n` is too small for ranks.
///
/// Hettmansperger and Sheather, 'Confidence intervals based on interpolated order
/// statistics', Statistics & Probability Letters 4 (1986); Nyblom, same journal 14 (1992).
pub fn median_interval(sorted: &[f64], confidence: f64) -> Option<Interval> {
    let n = sorted.len();
    let ranks = median_ranks(n, confidence)?;
    let k = ranks.k;
    let exact = Interval { low: sorted[k - 1], high: sorted[n - k], confidence: ranks.confidence };
    if k >= n / 2 {
        return Some(exact);
    }
    let narrower = 1.0 - 2.0 * Binomial::new(0.5, n as u64).ok()?.cdf(k as u64);
    let share = (ranks.confidence - confidence) / (ranks.confidence - narrower);
    let (n_k, k) = ((n - k) as f64, k as f64);
    let weight = n_k * share / (k + (n as f64 - 2.0 * k) * share);
    // By shares of each, so that neither end overflows.
    let between = |wide: f64, narrow: f64| (1.0 - weight) * wide + weight * narrow;
    let k = ranks.k;
    let low = between(sorted[k - 1], sorted[k]).clamp(sorted[k - 1], sorted[k]);
    let high = between(sorted[n - k], sorted[n - k - 1]).clamp(sorted[n - k - 1], sorted[n - k]);
    Some(Interval { low, high, confidence })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_are_those_of_nairs_table() {
        // Nair 1940. The approximation of both papers gives 9 and 22 for n = 30.
        for (n, k, confidence) in [(6, 1, 0.969), (10, 2, 0.979), (20, 6, 0.959), (30, 10, 0.957)] {
            let ranks = median_ranks(n, 0.95).expect("large enough");
            assert_eq!(ranks.k, k, "{n}");
            assert!((ranks.confidence - confidence).abs() < 6e-4, "{n}: {}", ranks.confidence);
        }
        for n in 0..6 {
            assert_eq!(median_ranks(n, 0.95), None, "{n}");
        }
    }

    #[test]
    fn between_ranks_the_interval_covers_just_as_much() {
        // Coverage of a uniform sample's median, by the formula of Hettmansperger and
        // Sheather at each end of the range of weights: the exact intervals themselves.
        let sorted: Vec<f64> = (1..=8).map(f64::from).collect();
        let ends = |confidence| median_interval(&sorted, confidence).map(|i| (i.low, i.high));
        let exact = median_ranks(8, 0.95).expect("eight");
        assert_eq!((exact.k, ends(exact.confidence)), (1, Some((1.0, 8.0))));
        let got = median_interval(&sorted, 0.95).expect("eight");
        // (0.9921875 − 0.95) ÷ (0.9921875 − 0.9296875) = 0.675; 7·0.675 ÷ (1 + 6·0.675).
        assert!((got.low - (1.0 + 4.725 / 5.05)).abs() < 1e-9, "{got:?}");
        assert!((got.high - (8.0 - 4.725 / 5.05)).abs() < 1e-9 && got.confidence == 0.95);
        assert_eq!(median_interval(&sorted[..5], 0.95), None);
        // Of twelve the third and the tenth cover 0.961, the fourth and the ninth 0.854.
        let sorted: Vec<f64> = (1..=12).map(f64::from).collect();
        let got = median_interval(&sorted, 0.95).expect("twelve");
        assert!((got.low - 3.263_118).abs() < 1e-6 && (got.high - 9.736_882).abs() < 1e-6);
        // Where no narrower ranks are left, the interval is the exact one.
        let two = median_interval(&[1.0, 2.0], 0.4).expect("two");
        assert_eq!((two.low, two.high), (1.0, 2.0));
        assert!((two.confidence - 0.5).abs() < 1e-9, "{two:?}");
    }

    proptest! {
        #[test]
        fn coverage_is_kept_and_one_rank_more_would_break_it(n in 6_usize..500) {
            let ranks = median_ranks(n, 0.95).expect("large enough");
            let binomial = Binomial::new(0.5, n as u64).expect("valid");
            prop_assert!(ranks.confidence >= 0.95);
            prop_assert!(2 * ranks.k <= n + 1);
            prop_assert!(1.0 - 2.0 * binomial.cdf(ranks.k as u64) < 0.95);
        }

        #[test]
        fn the_medians_interval_lies_within_that_of_ranks(
            mut values in proptest::collection::vec(-1e9_f64..1e9, 6..100)
        ) {
            values.sort_by(f64::total_cmp);
            let (n, ranks) = (values.len(), median_ranks(values.len(), 0.95).expect("enough"));
            let interval = median_interval(&values, 0.95).expect("enough");
            prop_assert!(interval.lies_within(values[ranks.k - 1], values[n - ranks.k]));
            prop_assert!(interval.low <= values[(n - 1) / 2] && values[n / 2] <= interval.high);
        }
    }
}
