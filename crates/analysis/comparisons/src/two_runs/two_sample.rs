//! The ratio of two figures that share no blocks.
//!
//! Two runs were not made interleaved: repeat 3 of one has nothing to do with repeat 3 of
//! the other, so nothing is paired. As within a run, the numbers of repeats and of
//! comparisons choose the test, never the values.

use disklab_stats::{CONFIDENCE, Interval, unpaired_ratio, unpaired_ratio_at, unpaired_shift};

use super::ratio::JudgedRatio;

/// From so many repeats on each side on, the interval is of ranks. Five and five give
/// one too, which covers 96.8 % and is nearly all the way from end to end.
const RANKED_INTERVAL: usize = 6;
/// The smallest p that ranks can give must be so many times below the level, so that a
/// repeat or two may contradict the others (as [`disklab_stats::BlockTest`] has it).
const ROOM: f64 = 5.0;

/// Second ÷ first of independent repeats. `band` is the factor from which on a ratio
/// matters, such as 1.05; `significance` the level that the p will be judged at. None
/// where a side is empty or has a value that is not positive and finite: such values have
/// no ratio, and the others would not stand for all.
pub fn two_sample(
    first: &[f64],
    second: &[f64],
    band: f64,
    significance: f64,
) -> Option<JudgedRatio> {
    let sound = |values: &[f64]| values.iter().all(|v| *v > 0.0 && v.is_finite());
    if !sound(first) || !sound(second) {
        return None;
    }
    let by_t = unpaired_ratio(second, first)?;
    let fewest = first.len().min(second.len());
    let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let (x, y) = (logs(first), logs(second));
    let ranked = (fewest >= RANKED_INTERVAL)
        .then(|| unpaired_shift(&y, &x, CONFIDENCE))
        .flatten()
        .and_then(|shift| Some((shift.centre.exp(), shift.interval?)));
    let (centre, interval) = match ranked {
        Some((centre, i)) => {
            let interval = Interval { low: i.low.exp(), high: i.high.exp(), ..i };
            (centre, Some(interval))
        }
        None => (by_t.centre, by_t.interval),
    };
    let p_beyond = if fewest < 2 {
        None
    } else if (1.0 / band..=band).contains(&centre) {
        Some(1.0)
    } else {
        let edge = if centre > 1.0 { band } else { 1.0 / band };
        if bears_ranks(first.len(), second.len(), significance) {
            let moved: Vec<f64> = x.iter().map(|v| v + edge.ln()).collect();
            unpaired_shift(&y, &moved, CONFIDENCE).map(|shift| shift.p)
        } else {
            let moved: Vec<f64> = first.iter().map(|v| v * edge).collect();
            unpaired_ratio(second, &moved).and_then(|ratio| ratio.p)
        }
    };
    Some(JudgedRatio { centre, interval, p_beyond })
}

/// The interval of the same ratio that holds together with those of all comparisons that
/// are judged at this level; none where a side has one value.
pub fn interval_of_all(first: &[f64], second: &[f64], level: f64) -> Option<Interval> {
    let confidence = 1.0 - level;
    if bears_ranks(first.len(), second.len(), level) {
        let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
        let i = unpaired_shift(&logs(second), &logs(first), confidence)?.interval?;
        return Some(Interval { low: i.low.exp(), high: i.high.exp(), ..i });
    }
    unpaired_ratio_at(second, first, confidence)?.interval
}

/// Whether ranks of so many values on the two sides can be as sure as that: the smallest
/// two-sided p of Wilcoxon's rank sum is 2 ÷ (m + n over m).
fn bears_ranks(m: usize, n: usize, significance: f64) -> bool {
    let ways: f64 = (1..=m).map(|k| (n + k) as f64 / k as f64).product();
    2.0 / ways * ROOM <= significance
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_values_use_welch() {
        // The case of `unpaired_ratio`, whose interval is [0.4347, 3.5999].
        let first = [140_902.0, 78_532.0, 56_740.0];
        let second = [171_092.0, 107_767.0, 66_649.0];
        let got = two_sample(&first, &second, 1.05, 0.05).expect("sound");
        let interval = got.interval.expect("three each");
        assert!((got.centre - 1.2509).abs() < 5e-5 && (interval.low - 0.4347).abs() < 5e-5);
        assert!(got.p_beyond.is_some_and(|p| p > 0.3), "{got:?}");
    }

    #[test]
    fn more_values_are_ranked() {
        // R's wilcox.test on logarithms with ten and five: there five are too few for ranks.
        let x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let y = [1.15, 0.88, 0.90, 0.74, 1.21, 1.00];
        let got = two_sample(&y, &x, 1.05, 0.05).expect("sound");
        let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
        let shift = unpaired_shift(&logs(&x), &logs(&y), 0.95).expect("valid");
        assert_eq!(got.centre, shift.centre.exp());
        let (got, expected) = (got.interval.expect("ranks"), shift.interval.expect("ranks"));
        assert_eq!((got.low, got.high), (expected.low.exp(), expected.high.exp()));
    }

    #[test]
    fn ranks_are_used_once_samples_are_large_enough() {
        assert!(!bears_ranks(4, 4, 0.05) && bears_ranks(5, 5, 0.05));
        assert!(!bears_ranks(5, 5, 0.005) && bears_ranks(8, 8, 0.005));
        assert!(bears_ranks(2000, 2000, 1e-9) && !bears_ranks(1, 9, 0.05));
    }

    #[test]
    fn p_is_that_of_the_bands_edge() {
        let first = [100.0, 101.0, 99.0, 100.5];
        let second = first.map(|v| v * 1.06);
        let against = |band: f64| {
            two_sample(&first, &second, band, 0.05).and_then(|r| r.p_beyond).expect("four each")
        };
        assert!(against(1.0) < 1e-3 && against(1.05) > 0.05);
        assert_eq!(against(1.07), 1.0);
    }

    #[test]
    fn unusable_samples_have_no_ratio() {
        for (first, second) in
            [(&[][..], &[1.0][..]), (&[1.0], &[0.0]), (&[f64::NAN], &[1.0]), (&[1.0], &[-1.0])]
        {
            assert_eq!(two_sample(first, second, 1.05, 0.05), None);
        }
        let once = two_sample(&[2.0], &[3.0, 3.0], 1.05, 0.05).expect("sound");
        assert!((once.centre - 1.5).abs() < 1e-9);
        assert_eq!((once.interval, once.p_beyond), (None, None));
        let equal = two_sample(&[2.0; 3], &[3.0; 3], 1.05, 0.05).expect("sound");
        assert_eq!(equal.p_beyond, Some(0.0));
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts(
            a in proptest::collection::vec(1e-3_f64..1e6, 1..12),
            b in proptest::collection::vec(1e-3_f64..1e6, 1..12)
        ) {
            let (x, y) = (
                two_sample(&a, &b, 1.05, 0.01).expect("sound"),
                two_sample(&b, &a, 1.05, 0.01).expect("sound"),
            );
            prop_assert!((x.centre * y.centre - 1.0).abs() < 1e-9);
            prop_assert_eq!(x.interval.is_some(), y.interval.is_some());
            match (x.p_beyond, y.p_beyond) {
                (Some(p), Some(q)) => prop_assert!((p - q).abs() < 1e-6, "{} {}", p, q),
                (p, q) => prop_assert_eq!(p, q),
            }
            if let Some(interval) = x.interval {
                prop_assert!(interval.contains(x.centre));
            }
        }
    }
}
