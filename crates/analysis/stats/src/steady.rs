//! Which part of a sample is steady, by its change points.
//!
//! After Barrett, Bolz-Tereick, Killick, Mount and Tratt, 'Virtual machine warmup
//! blows hot and cold', OOPSLA 2017, whose series are times of iterations; here
//! they are rates, so that more is better.

use std::ops::Range;

use crate::change_points::change_points;

/// What each change must be worth: so many times ln n (the paper, section 4.2).
const PENALTY: f64 = 15.0;
/// Values beyond so many times the distance between the 10th and the 90th percentile
/// of their neighbours are left out (the paper, section 4.1).
const OUTLIER: f64 = 3.0;
const NEIGHBOURS: usize = 200;
/// More values than these are merged: no more are needed, and the time grows with
/// their square.
const MOST_VALUES: usize = 2000;
/// Segments whose means differ by less are the same: so much is not worth a warm-up.
/// This project's choice; the paper takes the variance of the last segment.
const MARGIN: f64 = 0.05;
/// The steady part is at least this share of the whole (the paper: the last 500 of
/// 2,000 iterations).
const LEAST_SHARE: f64 = 0.25;

/// What the trend of a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesTrend {
    /// The same all along.
    Flat,
    /// Slower at first.
    Warmup,
    /// Faster at first, as where a cache fills.
    Slowdown,
    /// It does not become steady.
    NotSteady,
}

/// The trend of a sample, and its steady part.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSteadiness {
    /// How the values go from the first to the last.
    pub trend: SeriesTrend,
    /// The steady part, by index; the whole where there is none.
    pub part: Range<usize>,
}

/// The trend of `rates`, one for each of equally long intervals; none for fewer than
/// ten, for which nothing can be said, and for values that are no rates (below 0,
/// not finite).
pub fn steadiness(rates: &[f64]) -> Option<SeriesSteadiness> {
    if rates.len() < 10 || !rates.iter().all(|r| r.is_finite() && *r >= 0.0) {
        return None;
    }
    let step = rates.len().div_ceil(MOST_VALUES);
    let merged: Vec<f64> =
        rates.chunks(step).map(|c| c.iter().map(|r| r / c.len() as f64).sum()).collect();
    let kept = without_outliers(&merged);
    let values: Vec<f64> = kept.iter().map(|&i| merged[i]).collect();
    let n = values.len();
    let ends = change_points(&values, PENALTY * (n as f64).ln());
    let starts: Vec<usize> =
        std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
    let means: Vec<f64> = starts
        .iter()
        .zip(&ends)
        .map(|(start, end)| {
            let segment = &values[*start..*end];
            segment.iter().map(|v| v / segment.len() as f64).sum()
        })
        .collect();
    let last = *means.last()?;
    let within = |mean: &f64| (mean - last).abs() <= MARGIN * last;
    let first = means.iter().rposition(|mean| !within(mean)).map_or(0, |index| index + 1);
    // In intervals of the sample again; a value left out belongs to what follows.
    let from = if first == 0 { 0 } else { (kept[starts[first] - 1] + 1) * step };
    let whole = 0..rates.len();
    let (trend, part) = if first == 0 {
        (SeriesTrend::Flat, whole)
    } else if ((rates.len() - from) as f64) < LEAST_SHARE * rates.len() as f64 {
        (SeriesTrend::NotSteady, whole)
    } else if means[..first].iter().any(|mean| *mean > last && !within(mean)) {
        (SeriesTrend::Slowdown, from..rates.len())
    } else {
        (SeriesTrend::Warmup, from..rates.len())
    };
    Some(SeriesSteadiness { trend, part })
}

/// Indices of the values that their neighbours do not make outliers.
fn without_outliers(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    let width = NEIGHBOURS.min(n);
    let fits = |index: usize| {
        let start = index.saturating_sub(width / 2).min(n - width);
        let mut near = values[start..start + width].to_vec();
        near.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| near[((width - 1) as f64 * share).round() as usize];
        let reach = OUTLIER * (at(0.9) - at(0.1));
        // Where most are equal, the others are not outliers, but all that happens.
        reach == 0.0 || (values[index] - at(0.5)).abs() <= reach
    };
    (0..n).filter(|index| fits(*index)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn noisy(levels: &[(usize, f64)]) -> Vec<f64> {
        let levels = levels.iter().flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        levels.enumerate().map(|(i, l)| l * (1.0 + 0.02 * (1.7 * i as f64).sin())).collect()
    }

    #[test]
    fn trends_are_distinguished() {
        let trend = |levels: &[(usize, f64)]| steadiness(&noisy(levels)).expect("long enough");
        let is = |trend, part| SeriesSteadiness { trend, part };
        assert_eq!(trend(&[(200, 100.0)]), is(SeriesTrend::Flat, 0..200));
        assert_eq!(trend(&[(60, 150.0), (140, 120.0)]), is(SeriesTrend::Slowdown, 60..200));
        assert_eq!(trend(&[(60, 50.0), (140, 120.0)]), is(SeriesTrend::Warmup, 60..200));
        assert_eq!(trend(&[(160, 50.0), (40, 120.0)]), is(SeriesTrend::NotSteady, 0..200));
        // Three hundredths more are no other level.
        assert_eq!(trend(&[(60, 103.0), (140, 100.0)]).trend, SeriesTrend::Flat);
        // A cache that empties in between.
        let cliff = trend(&[(50, 100.0), (50, 300.0), (300, 100.0)]);
        assert_eq!((cliff.trend, cliff.part), (SeriesTrend::Slowdown, 100..400));
    }

    #[test]
    fn single_outliers_change_nothing() {
        let mut rates = noisy(&[(200, 100.0)]);
        rates[70] = 5.0;
        rates[150] = 900.0;
        assert_eq!(steadiness(&rates).expect("one").trend, SeriesTrend::Flat);
    }

    #[test]
    fn long_series_are_merged() {
        let rates = noisy(&[(9000, 300.0), (27_000, 100.0)]);
        let found = steadiness(&rates).expect("one");
        assert_eq!(found.trend, SeriesTrend::Slowdown);
        assert!((8990..=9020).contains(&found.part.start), "{:?}", found.part);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(steadiness(&[1.0; 9]), None);
        assert_eq!(steadiness(&[f64::NAN; 20]), None);
        assert_eq!(steadiness(&[0.0; 20]).map(|s| s.trend), Some(SeriesTrend::Flat));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_part_lies_within(rates in proptest::collection::vec(0.0_f64..1e9, 0..300)) {
            if let Some(found) = steadiness(&rates) {
                prop_assert!(found.part.start < found.part.end && found.part.end == rates.len());
            }
        }
    }
}
