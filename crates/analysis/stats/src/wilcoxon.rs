//! Wilcoxon's tests, exactly, as far as that is worth while.
//!
//! Wilcoxon, 'Individual comparisons by ranking methods', Biometrics Bulletin 1
//! (1945). The only thing assumed of paired differences is that plus and minus are
//! equally likely where there is no effect. Where the order within blocks was drawn
//! at random, randomisation makes them so, whatever the noise.

use crate::normal;

/// Up to so many pairs, or observations on each side, probabilities are counted
/// out; beyond, the normal distribution is close enough.
const EXACT: usize = 60;
/// The same where values of two samples are tied: all ways to divide them are counted out, which
/// takes milliseconds from here on.
const EXACT_WITH_TIES: usize = 20;

/// Probabilities of each sum of the ranks 1 to n where each is taken with
/// probability ½, from 0 on.
pub(crate) fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let ranks: Vec<usize> = (1..=n).collect();
    subset_sums(&ranks)
}

/// Probabilities of each sum of a subset, from 0 on, each element taken with
/// probability ½.
fn subset_sums(parts: &[usize]) -> Vec<f64> {
    let mut probability = vec![0.0; parts.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    let mut top = 0;
    for part in parts {
        top += part;
        for sum in (0..=top).rev() {
            let with = if sum >= *part { probability[sum - part] } else { 0.0 };
            probability[sum] = (probability[sum] + with) / 2.0;
        }
    }
    probability
}

/// Probabilities of each value of Mann and Whitney's U for samples of these sizes,
/// from 0 on; each number of pairs in which the first is larger.
pub(crate) fn rank_sum_distribution(m: usize, n: usize) -> Vec<f64> {
    // way[i] is the distribution for i of the first and j of the second, grown by j;
    // the largest observation is one of the first with probability i/(i+j), and then
    // above j of the second.
    let mut way: Vec<Vec<f64>> = (0..=m).map(|_| vec![1.0]).collect();
    for j in 1..=n {
        for i in 1..=m {
            let share = i as f64 / (i + j) as f64;
            let mut next = vec![0.0; i * j + 1];
            for (u, p) in way[i - 1].iter().enumerate() {
                next[u + j] += share * p;
            }
            for (u, p) in way[i].iter().enumerate() {
                next[u] += (1.0 - share) * p;
            }
            way[i] = next;
        }
    }
    way.swap_remove(m)
}

/// Probabilities of each sum of `taken` of the ranks, from 0 on, where all of them are equally likely
/// to be taken.
fn sums_of_some(ranks: &[usize], taken: usize) -> Vec<f64> {
    // ways[k][sum]: of those seen so far. Less than 2⁴⁰ for 20 of 40, and so exact.
    let mut ways = vec![vec![0.0; ranks.iter().sum::<usize>() + 1]; taken + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for k in (1..=taken).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            let moved = more[0][*rank..].iter_mut().zip(&fewer[k - 1]);
            moved.for_each(|(to, from)| *to += from);
        }
    }
    let all: f64 = ways[taken].iter().sum();
    ways.swap_remove(taken).into_iter().map(|ways| ways / all).collect()
}

/// How many of the smallest sums of a distribution, symmetric about its middle, are
/// left out on each side of a two-sided interval: as many as keep `confidence`. None
/// where not even one may be.
pub(crate) fn left_out(distribution: &[f64], confidence: f64) -> Option<(usize, f64)> {
    let mut below = 0.0;
    let mut best = None;
    for (count, p) in distribution.iter().enumerate().take(distribution.len() / 2) {
        below += p;
        if 1.0 - 2.0 * below < confidence {
            break;
        }
        best = Some((count + 1, 1.0 - 2.0 * below));
    }
    best
}

/// Ranks from 1 of values in any order, doubled so that those of ties are whole.
fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    for tie in order.chunk_by(|a, b| values[*a] == values[*b]) {
        // The mean of start + 1 to start + length, twice.
        for index in tie {
            ranks[*index] = 2 * start + tie.len() + 1;
        }
        start += tie.len();
    }
    ranks
}

/// Probability that paired differences are as one-sided as these or more where plus
/// and minus are equally likely: Wilcoxon's signed-rank test, two-sided, exact up to
/// 60 pairs, ties included. Differences of 0 are left out, as Wilcoxon did; 1 where
/// nothing is left or a difference is no number. It cannot be below 2^(1−n).
pub fn signed_rank_p(differences: &[f64]) -> f64 {
    if differences.iter().any(|d| d.is_nan()) {
        return 1.0;
    }
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = nonzero.iter().map(|d| d.abs()).collect();
    let ranks = doubled_ranks(&sizes);
    let total: usize = ranks.iter().sum();
    let plus: usize = ranks.iter().zip(&nonzero).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum();
    let smaller = plus.min(total - plus);
    if nonzero.len() <= EXACT {
        let below: f64 = subset_sums(&ranks)[..=smaller].iter().sum();
        return (2.0 * below).min(1.0);
    }
    signed_rank_normal_p(&ranks, smaller)
}

/// The same by the normal distribution, from doubled ranks.
fn signed_rank_normal_p(ranks: &[usize], smaller: usize) -> f64 {
    let middle = ranks.iter().sum::<usize>() as f64 / 2.0;
    let variance: f64 = ranks.iter().map(|r| (*r as f64).powi(2)).sum::<f64>() / 4.0;
    // One rank is 2 here, and so the continuity correction 1.
    let z = (smaller as f64 + 1.0 - middle) / variance.sqrt();
    (2.0 * normal::cumulative(z)).min(1.0)
}

/// Mann and Whitney's U, the number of pairs in which the first is larger (ties
/// count half), and its two-sided p: exact up to 60 on each side without ties, and up to 20 with
/// them. None where a side is empty or has a value that is no number.
pub(crate) fn rank_sum(x: &[f64], y: &[f64]) -> Option<(f64, f64)> {
    if x.is_empty() || y.is_empty() || x.iter().chain(y).any(|v| v.is_nan()) {
        return None;
    }
    let all: Vec<f64> = x.iter().chain(y).copied().collect();
    let ranks = doubled_ranks(&all);
    let (m, n) = (x.len(), y.len());
    let sum: usize = ranks[..m].iter().sum();
    let doubled_u = sum - m * (m + 1);
    let u = doubled_u as f64 / 2.0;
    let pairs = m * n;
    let doubled_smaller = doubled_u.min(2 * pairs - doubled_u);
    let mut sorted = all;
    sorted.sort_by(f64::total_cmp);
    let ties: Vec<f64> = sorted
        .chunk_by(|a, b| a == b)
        .map(<[f64]>::len)
        .filter(|tied| *tied > 1)
        .map(|tied| tied as f64)
        .collect();
    if ties.is_empty() && m.max(n) <= EXACT {
        let below: f64 = rank_sum_distribution(m, n)[..=doubled_smaller / 2].iter().sum();
        return Some((u, (2.0 * below).min(1.0)));
    }
    if m.max(n) <= EXACT_WITH_TIES {
        let middle = m * (m + n + 1);
        let away = middle.abs_diff(sum);
        let sums = sums_of_some(&ranks, m).into_iter().enumerate();
        // Ties may leave nothing symmetric: each side is counted.
        let as_far = sums.filter(|(sum, _)| middle.abs_diff(*sum) >= away);
        return Some((u, as_far.map(|(_, p)| p).sum::<f64>().min(1.0)));
    }
    let total = (m + n) as f64;
    let tied: f64 = ties.iter().map(|t| t.powi(3) - t).sum();
    let variance = pairs as f64 / 12.0 * (total + 1.0 - tied / (total * (total - 1.0)));
    if variance <= 0.0 {
        return Some((u, 1.0));
    }
    let z = (doubled_smaller as f64 / 2.0 + 0.5 - pairs as f64 / 2.0) / variance.sqrt();
    Some((u, (2.0 * normal::cumulative(z)).min(1.0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distributions_are_those_of_the_tables() {
        // Of eight subsets of {1, 2, 3}, two have the sum 3.
        assert_eq!(
            signed_rank_distribution(3),
            [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0].map(|n| n / 8.0)
        );
        // Of six orders of two and two, two have U = 2.
        let u = rank_sum_distribution(2, 2);
        for (got, expected) in u.iter().zip([1.0, 1.0, 2.0, 1.0, 1.0]) {
            assert!((got - expected / 6.0).abs() < 1e-12, "{u:?}");
        }
        // R: psignrank(8, 10) is 0.02441406, pwilcox(8, 5, 10) is 0.01998002.
        let below = |d: Vec<f64>, q: usize| d[..=q].iter().sum::<f64>();
        assert!((below(signed_rank_distribution(10), 8) - 25.0 / 1024.0).abs() < 1e-12);
        assert!((below(rank_sum_distribution(3, 3), 0) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn the_least_p_is_that_of_signs() {
        for n in 1..20 {
            let all: Vec<f64> = (1..=n).map(f64::from).collect();
            assert!((signed_rank_p(&all) - 2.0_f64.powi(1 - n)).abs() < 1e-12);
            // Ties change nothing of that.
            assert!((signed_rank_p(&vec![3.0; n as usize]) - 2.0_f64.powi(1 - n)).abs() < 1e-12);
        }
    }

    #[test]
    fn exact_and_normal_meet() {
        let ranks: Vec<usize> = (1..=60).map(|rank| 2 * rank).collect();
        let distribution = subset_sums(&ranks);
        for smaller in [1000, 1200, 1400, 1700] {
            let exact = 2.0 * distribution[..=smaller].iter().sum::<f64>();
            let normal = signed_rank_normal_p(&ranks, smaller);
            assert!((exact - normal).abs() < 0.02 * exact + 5e-4, "{smaller} {exact} {normal}");
        }
    }

    #[test]
    fn ties_are_counted_out_or_taken_from_the_variance() {
        // Of the 924 ways to divide these twelve values, and 12,870 to divide these sixteen, so many
        // are as far from even (counted by a program of their own).
        let x = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
        let (u, p) = rank_sum(&x, &[2.0, 3.0, 3.0, 4.0, 4.0, 5.0]).expect("numbers");
        assert_eq!(u, 5.0);
        assert!((p - 48.0 / 924.0).abs() < 1e-12, "{p}");
        let x = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0];
        let (u, p) = rank_sum(&x, &[1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]).expect("numbers");
        assert_eq!(u, 20.0);
        assert!((p - 3630.0 / 12_870.0).abs() < 1e-12, "{p}");
        // Of more, the normal distribution with the variance that ties leave (Hollander and Wolfe).
        let x: Vec<f64> = (0..24).map(|i| f64::from(i / 6)).collect();
        let y: Vec<f64> = x.iter().map(|x| x + 1.0).collect();
        let (u, p) = rank_sum(&x, &y).expect("numbers");
        assert_eq!(u, 162.0);
        assert!((p - 0.007_918_901_145).abs() < 1e-10, "{p}");
    }

    #[test]
    fn the_ends_are_defined() {
        assert_eq!(signed_rank_p(&[]), 1.0);
        assert_eq!(signed_rank_p(&[0.0; 5]), 1.0);
        assert_eq!(signed_rank_p(&[f64::NAN, 1.0]), 1.0);
        assert_eq!(rank_sum(&[], &[1.0]), None);
        assert_eq!(rank_sum(&[1.0; 3], &[1.0; 4]).map(|(_, p)| p), Some(1.0));
        assert_eq!(rank_sum(&[f64::NAN], &[1.0]), None);
        assert!(signed_rank_p(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]) <= 1.0);
    }

    proptest! {
        #[test]
        fn probabilities_sum_to_one(m in 1_usize..15, n in 1_usize..15) {
            prop_assert!((rank_sum_distribution(m, n).iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!((signed_rank_distribution(n).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn turning_all_signs_changes_nothing(d in proptest::collection::vec(-9.0_f64..9.0, 0..80)) {
            let turned: Vec<f64> = d.iter().map(|d| -d).collect();
            let p = signed_rank_p(&d);
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert!((p - signed_rank_p(&turned)).abs() < 1e-12);
        }

        #[test]
        fn swapping_the_sides_keeps_p(
            x in proptest::collection::vec(-9_i32..9, 1..70), y in proptest::collection::vec(-9_i32..9, 1..70)
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) =
                (x.into_iter().map(f64::from).collect(), y.into_iter().map(f64::from).collect());
            let ((u, p), (v, q)) = (rank_sum(&x, &y).expect("some"), rank_sum(&y, &x).expect("some"));
            prop_assert!((u + v - (x.len() * y.len()) as f64).abs() < 1e-9);
            prop_assert!((p - q).abs() < 1e-9 && (0.0..=1.0).contains(&p));
        }
    }
}
