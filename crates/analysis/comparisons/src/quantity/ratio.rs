//! Ratios, shares, intervals and distances.

use disklab_stats::{CONFIDENCE, Interval};
use disklab_units::significant;

/// From this ratio on a difference is reported as a factor, below it in per cent.
const FACTOR_FROM: f64 = 1.5;
/// A width in per cent below which tenths mean something.
const SHARP_PER_CENT: f64 = 3.0;
/// By this factor an interval's end may differ from the figure to be told.
const BEYOND: f64 = 1000.0;
/// Half a width, as a share of the figure, below which a third digit means
/// something.
const SHARP: f64 = 0.02;

/// `[171, 190]`. Intervals of two very different observations have ends beyond
/// all sense: those are reported as bounds, `[<0.18, >180000]`.
pub(super) fn ends(centre: f64, interval: Interval, shown: impl Fn(f64) -> String) -> String {
    let (least, most) = (centre / BEYOND, centre * BEYOND);
    // An end at 0 is that of a count, which has nothing below it.
    let low = if centre > 0.0 && interval.low < least && interval.low != 0.0 {
        format!("<{}", shown(least))
    } else {
        shown(interval.low)
    };
    let high = if centre > 0.0 && interval.high > most {
        format!(">{}", shown(most))
    } else {
        shown(interval.high)
    };
    format!("[{low}, {high}]")
}

/// A ratio with its interval in a sentence: `1.10 [0.96, 1.26]`.
pub fn ratio(centre: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(interval) if interval.says_something(centre) => {
            format!("{} {}", digits(centre), ends(centre, interval, digits))
        }
        Some(_) => format!("{} (no interval)", digits(centre)),
        None => format!("{} (once)", digits(centre)),
    }
}

/// The digits of a ratio, in sentences and tables alike: two decimals, or two digits where these
/// would be too few or too many.
fn digits(ratio: f64) -> String {
    if (0.1..9.995).contains(&ratio) { format!("{ratio:.2}") } else { significant(ratio, 2) }
}

/// A ratio in a table: `0.52×`.
pub fn times(value: f64) -> String {
    format!("{}×", digits(value))
}

/// A ratio's interval in a table, `0.48–0.56`, with more digits if its ends need them.
pub fn times_range(low: f64, high: f64) -> String {
    match (digits(low), digits(high)) {
        (l, h) if l != h || low == high => format!("{l}–{h}"),
        _ => range(low, high),
    }
}

/// `low–high` with enough digits to tell them apart (at most six).
pub fn range(low: f64, high: f64) -> String {
    for digits in 3..6 {
        let (l, h) = (significant(low, digits), significant(high, digits));
        if l != h || low == high {
            return format!("{l}–{h}");
        }
    }
    format!("{}–{}", significant(low, 6), significant(high, 6))
}

/// The confidence level where it is not the usual 95 %: ` (94 %)`.
pub fn confidence_level(interval: Interval) -> String {
    let percent = interval.confidence * 100.0;
    if !percent.is_finite() || (percent - 100.0 * CONFIDENCE).abs() < 0.5 {
        return String::new();
    }
    // As many digits as it takes not to call it certain.
    let below = |text: &String| text.parse().is_ok_and(|shown: f64| shown < 100.0);
    let shown = (0..5).map(|decimals| format!("{percent:.decimals$}")).find(below);
    shown.map_or_else(|| " (over 99.9999 %)".to_owned(), |text| format!(" ({text} %)"))
}

/// How one figure stands to another: as a factor above 1 where they are far
/// apart, in per cent where they are near.
#[derive(Debug, Clone, PartialEq)]
pub enum Distance {
    /// `8.7` and `[8.1, 9.4]`, the larger over the smaller.
    Factor(String, String),
    /// `12 % [8, 16]`, of the second.
    Percent(String),
}

impl Distance {
    /// The distance between two figures whose ratio and interval these are; both
    /// ends lie on the same side of 1.
    pub fn of(centre: f64, interval: Interval) -> Self {
        let Interval { low, high, .. } = interval;
        if centre >= FACTOR_FROM {
            let digits = if interval.relative_half_width(centre) < SHARP { 3 } else { 2 };
            let shown = |x: f64| significant(x, digits);
            return Self::Factor(shown(centre), ends(centre, interval, shown));
        }
        if centre > 0.0 && centre <= 1.0 / FACTOR_FROM {
            return Self::of(1.0 / centre, inverse(interval));
        }
        let per_cent = |x: f64| (x - 1.0).abs() * 100.0;
        let (a, b) = (per_cent(low), per_cent(high));
        let (centre, low, high) = (per_cent(centre), a.min(b), a.max(b));
        let decimals = usize::from(centre < 9.95 || high - low < SHARP_PER_CENT);
        Self::Percent(format!("{centre:.decimals$} % [{low:.decimals$}, {high:.decimals$}]"))
    }
}

fn inverse(interval: Interval) -> Interval {
    Interval { low: 1.0 / interval.high, high: 1.0 / interval.low, ..interval }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_confidence_is_certain() {
        let of = |confidence| confidence_level(Interval { low: 0.0, high: 1.0, confidence });
        assert_eq!([of(0.95), of(0.9375), of(0.99)], ["", " (94 %)", " (99 %)"]);
        assert_eq!(of(1.0 - 0.05 / 286.0), " (99.98 %)");
        assert_eq!([of(1.0 - 1e-9), of(1.0)], [" (over 99.9999 %)"; 2]);
    }

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high, confidence: 0.95 }
    }

    #[test]
    fn small_ratios_are_per_cent_and_large_ones_factors() {
        for (centre, low, high, expected) in [
            (8.7, 8.1, 9.4, "8.7 [8.1, 9.4]"),
            (1.0 / 8.7, 1.0 / 9.4, 1.0 / 8.1, "8.7 [8.1, 9.4]"),
            (0.88, 0.84, 0.92, "12 % [8, 16]"),
            (1.032, 1.011, 1.053, "3.2 % [1.1, 5.3]"),
        ] {
            let got = match Distance::of(centre, interval(low, high)) {
                Distance::Factor(factor, interval) => format!("{factor} {interval}"),
                Distance::Percent(share) => share,
            };
            assert_eq!(got, expected);
        }
        // An interval that says nothing is not shown.
        assert_eq!(ratio(748.0, Some(interval(0.167, 3_357_265.0))), "748 (no interval)");
    }

    #[test]
    fn ratios_have_the_same_digits_everywhere() {
        for (value, expected) in [
            (0.88, "0.88×"),
            (1.0, "1.00×"),
            (9.994, "9.99×"),
            (9.998, "10×"),
            (12.34, "12×"),
            (0.0123, "0.012×"),
        ] {
            assert_eq!(times(value), expected);
            assert_eq!(ratio(value, None), format!("{} (once)", expected.trim_end_matches('×')));
        }
        assert_eq!(times_range(0.476, 0.563), "0.48–0.56");
        assert_eq!(times_range(1.001, 1.003), "1.001–1.003");
        assert_eq!(times_range(1.0, 1.0), "1.00–1.00");
    }

    #[test]
    fn ends_of_a_range_differ_in_their_digits() {
        assert_eq!(range(108.0, 118.0), "108–118");
        assert_eq!(range(112.96, 113.04), "112.96–113.04");
        assert_eq!(range(1.0, 1.0), "1.00–1.00");
    }

    proptest! {
        #[test]
        fn any_ratio_has_words(centre: f64, low: f64, high: f64) {
            let _ = ratio(centre, Some(interval(low, high)));
            // Far from 1 an interval may have lost its other end.
            let _ = Distance::of(centre, interval(low, high));
        }
    }
}
