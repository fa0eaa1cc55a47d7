//! Values, ratios and lists in words.

use disklab_sample::OperationKind;
use disklab_stats::{Estimate, Interval, Method};
use disklab_study::{Measure, Percentile};
use disklab_units::significant;

pub(crate) use disklab_units::count;

/// From this ratio on a difference is reported as a factor, below it in per cent.
const FACTOR_FROM: f64 = 1.5;

/// A width in per cent below which tenths mean something.
const SHARP_PER_CENT: f64 = 3.0;
/// By this factor an interval's end may differ from the figure to be told.
const BEYOND: f64 = 1000.0;
/// Half a width, as a share of the figure, below which a third digit means
/// something.
const SHARP: f64 = 0.02;

/// (smallest value it is used for, what it is divided by, name), ascending.
type Units = &'static [(f64, f64, &'static str)];

/// SI, as [`disklab_units::BytesPerSecond::si`]; here because an interval must
/// are in the unit of its figure.
const RATES: Units = &[
    (0.0, 1.0, "B/s"),
    (999.5, 1e3, "kB/s"),
    (999.5e3, 1e6, "MB/s"),
    (999.5e6, 1e9, "GB/s"),
    (999.5e9, 1e12, "TB/s"),
];
/// Of nanoseconds.
const TIMES: Units = &[
    (0.0, 1.0, "ns"),
    (999.5, 1e3, "µs"),
    (999.5e3, 1e6, "ms"),
    (999.5e6, 1e9, "s"),
    (120e9, 60e9, "min"),
    (7200e9, 3600e9, "h"),
];

/// A count needs no digits behind the point, unless it is a mean.
const MISSED: Units = &[(0.0, 1.0, "deadlines")];

/// A figure in its unit, with its interval in the same, or 'once':
/// `180 kB/s [171, 190]`, `8.33 ms (once)`.
pub(crate) fn value(measure: Measure, operation: OperationKind, estimate: &Estimate) -> String {
    let (factor, unit) = unit(measure, operation, estimate.centre);
    let shown = |x: f64| number(measure, x * factor);
    let figure = format!("{} {unit}", shown(estimate.centre));
    match estimate.interval {
        Some(interval)
            if measure == Measure::Missed || interval.says_something(estimate.centre) =>
        {
            format!("{figure} {}", ends(estimate.centre, interval, shown))
        }
        _ if estimate.n > 1 => format!("{figure} ({} repeats, no interval)", estimate.n),
        Some(_) => format!("{figure} (no interval)"),
        None => format!("{figure} (once)"),
    }
}

/// A figure in its unit, without its interval: `180 kB/s`.
pub(crate) fn plain_value(measure: Measure, operation: OperationKind, centre: f64) -> String {
    let (factor, unit) = unit(measure, operation, centre);
    format!("{} {unit}", number(measure, centre * factor))
}

/// The unit that suits a figure, and what brings the figure into it.
fn unit(measure: Measure, operation: OperationKind, centre: f64) -> (f64, &'static str) {
    let operations = [(0.0, 1.0, operation.rate_unit())];
    let (units, to_base): (&[_], f64) = match measure {
        Measure::Throughput => (RATES, 1.0),
        Measure::Iops => (&operations, 1.0),
        Measure::Latency(_) => (TIMES, 1.0),
        Measure::Elapsed => (TIMES, 1e9),
        Measure::Missed => (MISSED, 1.0),
    };
    let size = (centre * to_base).abs();
    let (_, divisor, unit) =
        units.iter().rev().find(|(from, ..)| size >= *from).unwrap_or(&units[0]);
    (to_base / divisor, unit)
}

fn number(measure: Measure, x: f64) -> String {
    match measure {
        Measure::Missed => count_text(x),
        _ => significant(x, 3),
    }
}

/// A figure in its unit, with its interval in the same, or 'once': `180 kB/s [171, 190]`.
pub fn show_figure(
    measure: Measure,
    operation: OperationKind,
    centre: f64,
    interval: Option<Interval>,
) -> String {
    value(measure, operation, &Estimate { n: 0, centre, interval, method: Method::Median })
}

/// A count, or the mean of counts: `12`, `12.3`, `0.333`.
fn count_text(x: f64) -> String {
    if x.fract() == 0.0 { format!("{x:.0}") } else { significant(x, 3) }
}

/// `[171, 190]`. Intervals of two very different observations have ends beyond
/// all sense: those are reported as bounds, `[<0.18, >180000]`.
fn ends(centre: f64, interval: Interval, shown: impl Fn(f64) -> String) -> String {
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

/// A ratio with its interval: `1.10 [0.96, 1.26]`.
pub(crate) fn ratio(centre: f64, interval: Option<Interval>) -> String {
    let shown = |x: f64| {
        if (0.1..10.0).contains(&x) { format!("{x:.2}") } else { significant(x, 2) }
    };
    match interval {
        Some(interval) if interval.says_something(centre) => {
            format!("{} {}", shown(centre), ends(centre, interval, shown))
        }
        Some(_) => format!("{} (no interval)", shown(centre)),
        None => format!("{} (once)", shown(centre)),
    }
}

/// How one figure stands to another: as a factor above 1 where they are far
/// apart, in per cent where they are near.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Distance {
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

/// The interval of the inverse.
fn inverse(interval: Interval) -> Interval {
    Interval { low: 1.0 / interval.high, high: 1.0 / interval.low, ..interval }
}

/// `a`, `a and b`, `a, b and c`; beyond `most` the rest is counted.
pub(crate) fn list<'a>(items: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let items: Vec<&str> = items.into_iter().collect();
    // Naming one more is no longer than '1 more'.
    if items.len() > most + 1 {
        let (shown, rest) = items.split_at(most);
        return format!("{} and {} more", shown.join(", "), rest.len());
    }
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A share as per cent, `3 %` or `0.3 %`; what is beyond all sense as a bound.
pub(crate) fn per_cent(share: f64) -> String {
    let value = share * 100.0;
    if value.is_nan() || value > 100.0 * BEYOND {
        return format!(">{:.0} %", 100.0 * BEYOND);
    }
    if value >= 9.95 || value == 0.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// A range of shares: `3 %`, or `0.3 % to 12 %`.
pub(crate) fn per_cents((low, high): (f64, f64)) -> String {
    let (a, b) = (per_cent(low), per_cent(high));
    if a == b { a } else { format!("{a} to {b}") }
}

/// The measure's name in a sentence, such as '99th-percentile latency'.
pub(crate) fn measure(measure: Measure, operation: OperationKind, committed: bool) -> String {
    let latency = if committed { "commit latency" } else { "latency" };
    match measure {
        Measure::Throughput => "throughput".to_owned(),
        Measure::Iops => operation.rate_name().to_owned(),
        Measure::Elapsed => "elapsed time".to_owned(),
        Measure::Missed => "number of missed deadlines".to_owned(),
        Measure::Latency(Percentile::P50) => format!("median {latency}"),
        Measure::Latency(Percentile::P99) => format!("99th-percentile {latency}"),
        Measure::Latency(Percentile::P999) => format!("99.9th-percentile {latency}"),
    }
}

#[cfg(test)]
mod tests {
    use disklab_stats::Method;
    use proptest::prelude::*;

    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high, confidence: 0.95 }
    }

    fn estimate(centre: f64, low: f64, high: f64) -> Estimate {
        Estimate { n: 3, centre, interval: Some(interval(low, high)), method: Method::LogT }
    }

    #[test]
    fn intervals_stand_in_the_unit_of_the_figure() {
        for (m, e, expected) in [
            (Measure::Throughput, estimate(180e3, 171e3, 190e3), "180 kB/s [171, 190]"),
            (Measure::Throughput, estimate(1e6, 9e5, 1.1e6), "1.00 MB/s [0.900, 1.10]"),
            (Measure::Iops, estimate(188.4, 180.0, 196.0), "188 IOPS [180, 196]"),
            (Measure::Elapsed, estimate(12.3, 11.0, 14.0), "12.3 s [11.0, 14.0]"),
            (Measure::Elapsed, estimate(5400.0, 5000.0, 6000.0), "90.0 min [83.3, 100]"),
            (Measure::Latency(Percentile::P99), estimate(8.33e6, 8e6, 9e6), "8.33 ms [8.00, 9.00]"),
        ] {
            assert_eq!(value(m, OperationKind::Io, &e), expected);
        }
        // An interval that says nothing is not shown.
        let io = OperationKind::Io;
        let two = Estimate { n: 2, ..estimate(1e6, 1e-9, 1e300) };
        assert_eq!(value(Measure::Throughput, io, &two), "1.00 MB/s (2 repeats, no interval)");
        let ratio_of_two = ratio(748.0, Some(interval(0.167, 3_357_265.0)));
        assert_eq!(ratio_of_two, "748 (no interval)");
        let commits = value(Measure::Iops, OperationKind::Commit, &estimate(60.0, 50.0, 70.0));
        assert_eq!(commits, "60.0 commits/s [50.0, 70.0]");
        let once = Estimate { n: 1, centre: 5.0, interval: None, method: Method::Once };
        assert_eq!(value(Measure::Elapsed, io, &once), "5.00 s (once)");
    }

    #[test]
    fn near_is_per_cent_and_far_a_factor() {
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
    }

    #[test]
    fn lists_are_cut() {
        assert_eq!(list([], 3), "");
        assert_eq!(list(["a"], 3), "a");
        assert_eq!(list(["a", "b", "c", "d"], 3), "a, b, c and d");
        assert_eq!(list(["a", "b", "c", "d", "e"], 3), "a, b, c and 2 more");
        assert_eq!(per_cents((0.001, 0.5)), "0.1 % to 50 %");
        assert_eq!(per_cent(f64::INFINITY), ">100000 %");
        let io = OperationKind::Io;
        assert_eq!(
            measure(Measure::Latency(Percentile::P999), io, false),
            "99.9th-percentile latency"
        );
        assert_eq!(
            measure(Measure::Latency(Percentile::P99), io, true),
            "99th-percentile commit latency"
        );
    }

    proptest! {
        #[test]
        fn any_number_has_words(centre: f64, low: f64, high: f64) {
            for m in [Measure::Throughput, Measure::Iops, Measure::Elapsed, Measure::Latency(Percentile::P50)] {
                let shown = value(m, OperationKind::Io, &estimate(centre, low, high));
                prop_assert!(!shown.is_empty() && !shown.contains("NaN"), "{}", shown);
            }
            let _ = ratio(centre, Some(interval(low, high)));
            // Far from 1 an interval may have lost its other end.
            let _ = Distance::of(centre, interval(low, high));
        }
    }
}
