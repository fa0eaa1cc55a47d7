//! Units for columns and axes: one unit for figures that stand together.

use disklab_sample::OperationKind;
use disklab_stats::{Estimate, Interval, Method};
use disklab_study::{Measure, Part, Percentile};
use disklab_units::significant;
use disklab_verdict::Answer;

/// What a column or an axis counts, and in what its raw values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Bytes per second.
    Throughput,
    /// Operations of a kind per second.
    Operations(OperationKind),
    /// Nanoseconds.
    Latency,
    /// Seconds.
    Elapsed,
    /// Bytes.
    Size,
    /// Deadlines missed.
    Missed,
}

/// A unit and how many of the raw unit it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// As printed.
    pub(crate) name: &'static str,
    /// In raw units.
    pub(crate) size: f64,
}

const fn unit(name: &'static str, size: f64) -> Unit {
    Unit { name, size }
}

const THROUGHPUT: [Unit; 4] =
    [unit("B/s", 1.0), unit("kB/s", 1e3), unit("MB/s", 1e6), unit("GB/s", 1e9)];
const IOPS: [Unit; 1] = [unit("IOPS", 1.0)];
const COMMITS: [Unit; 1] = [unit("commits/s", 1.0)];
const TRANSACTIONS: [Unit; 1] = [unit("transactions/s", 1.0)];
const LOOKUPS: [Unit; 1] = [unit("look-ups/s", 1.0)];
const FILES: [Unit; 1] = [unit("files/s", 1.0)];
const ENTRIES: [Unit; 1] = [unit("entries/s", 1.0)];
const OPERATIONS: [Unit; 1] = [unit("operations/s", 1.0)];
const LATENCY: [Unit; 4] = [unit("ns", 1.0), unit("µs", 1e3), unit("ms", 1e6), unit("s", 1e9)];
const ELAPSED: [Unit; 4] = [unit("ns", 1e-9), unit("µs", 1e-6), unit("ms", 1e-3), unit("s", 1.0)];
const MISSED: [Unit; 1] = [unit("deadlines", 1.0)];
const SIZE: [Unit; 5] =
    [unit("B", 1.0), unit("kB", 1e3), unit("MB", 1e6), unit("GB", 1e9), unit("TB", 1e12)];

impl From<&Answer> for Quantity {
    fn from(answer: &Answer) -> Self {
        match answer.measure {
            Measure::Throughput => Self::Throughput,
            Measure::Iops => Self::Operations(answer.operation),
            Measure::Latency(_) => Self::Latency,
            Measure::Elapsed => Self::Elapsed,
            Measure::Missed => Self::Missed,
        }
    }
}

/// What an answer's figures are called in headings and on axes.
pub(crate) fn measure_name(answer: &Answer) -> &'static str {
    match answer.measure {
        Measure::Latency(Percentile::P50) if answer.committed => "median commit latency",
        Measure::Latency(Percentile::P99) if answer.committed => {
            "99th percentile of commit latency"
        }
        Measure::Latency(Percentile::P999) if answer.committed => {
            "99.9th percentile of commit latency"
        }
        Measure::Throughput => "throughput",
        Measure::Iops => answer.operation.rate_name(),
        Measure::Latency(Percentile::P50) => "median latency",
        Measure::Latency(Percentile::P99) => "99th percentile of latency",
        Measure::Latency(Percentile::P999) => "99.9th percentile of latency",
        Measure::Elapsed => "elapsed time",
        Measure::Missed => "missed deadlines",
    }
}

/// What a question's figures are of, where it is not all that was measured.
pub(crate) fn part_note(part: Part) -> Option<&'static str> {
    match part {
        Part::Whole => None,
        Part::Steady => Some(
            "Figures of the steady part: from where a run's rate stayed the same until its end.",
        ),
    }
}

/// The measure with its unit, as in a heading: `throughput in MB/s`. A count says
/// itself what it counts.
pub(crate) fn in_unit(answer: &Answer, unit: &str) -> String {
    match answer.measure {
        Measure::Missed => measure_name(answer).to_owned(),
        Measure::Iops if answer.operation != OperationKind::Io => measure_name(answer).to_owned(),
        _ => format!("{} in {unit}", measure_name(answer)),
    }
}

/// Which way is better, in words.
pub(crate) fn better(measure: Measure) -> &'static str {
    if measure.higher_is_better() { "more is better" } else { "less is better" }
}

impl Quantity {
    fn units(self) -> &'static [Unit] {
        match self {
            Self::Throughput => &THROUGHPUT,
            Self::Operations(kind) => match kind {
                OperationKind::Io => &IOPS,
                OperationKind::Commit => &COMMITS,
                OperationKind::Transaction => &TRANSACTIONS,
                OperationKind::LookUp => &LOOKUPS,
                OperationKind::File => &FILES,
                OperationKind::Entry => &ENTRIES,
                OperationKind::Operation => &OPERATIONS,
            },
            Self::Latency => &LATENCY,
            Self::Elapsed => &ELAPSED,
            Self::Size => &SIZE,
            Self::Missed => &MISSED,
        }
    }

    /// The unit for figures of which `largest` is the largest: the greatest in
    /// which it is not below 1.
    pub(crate) fn unit_for(self, largest: f64) -> Unit {
        let units = self.units();
        *units.iter().rev().find(|u| largest.abs() >= u.size).unwrap_or(&units[0])
    }

    /// A figure with the unit that suits it alone, such as `113 MB/s`.
    pub(crate) fn show(self, value: f64) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        let unit = self.unit_for(value);
        format!("{} {}", unit.show(value), unit.name)
    }

    /// A tick's label: no digits beyond those that it needs.
    pub(crate) fn tick(self, value: f64, unit: Unit) -> String {
        trim_zeros(&significant(value / unit.size, 3))
    }
}

/// The figure without zeros behind the point that say nothing on an axis.
fn trim_zeros(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

impl Unit {
    /// The figure in this unit with three significant digits.
    pub(crate) fn show(self, value: f64) -> String {
        significant(value / self.size, 3)
    }

    /// `108–118`, with as many digits as it takes to tell the ends apart (at
    /// most six).
    pub(crate) fn show_range(self, low: f64, high: f64) -> String {
        range(low / self.size, high / self.size)
    }

    /// The interval of an estimate, `once`, or `all equal`.
    pub(crate) fn show_interval(self, estimate: &Estimate) -> String {
        match (estimate.method, estimate.interval) {
            (Method::Deterministic, _) => "all equal".to_owned(),
            (_, Some(i)) if estimate.n > 1 => {
                format!("{}{}", self.show_range(i.low, i.high), level(i))
            }
            (_, None) if estimate.n > 1 => "no interval".to_owned(),
            _ => "once".to_owned(),
        }
    }
}

/// `low–high` with enough digits to tell them apart.
pub(crate) fn range(low: f64, high: f64) -> String {
    for digits in 3..6 {
        let (l, h) = (significant(low, digits), significant(high, digits));
        if l != h || low == high {
            return format!("{l}–{h}");
        }
    }
    format!("{}–{}", significant(low, 6), significant(high, 6))
}

/// The confidence level where it is not the usual 95 %: ` (94 %)`.
pub(crate) fn level(interval: Interval) -> String {
    let percent = interval.confidence * 100.0;
    if !percent.is_finite() || (percent - 95.0).abs() < 0.5 {
        return String::new();
    }
    format!(" ({percent:.0} %)")
}

/// A ratio as reports show it: `0.52×`.
pub(crate) fn ratio(value: f64) -> String {
    format!("{}×", significant(value, 3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_unit_suits_the_largest() {
        assert_eq!(Quantity::Throughput.unit_for(113e6).name, "MB/s");
        assert_eq!(Quantity::Throughput.unit_for(20e3).name, "kB/s");
        assert_eq!(Quantity::Latency.unit_for(8.3e6).name, "ms");
        assert_eq!(Quantity::Elapsed.unit_for(36_000.0).name, "s");
        for kind in [OperationKind::Io, OperationKind::Commit, OperationKind::File] {
            assert_eq!(Quantity::Operations(kind).unit_for(0.0).name, kind.rate_unit());
        }
        assert_eq!(Quantity::Throughput.show(0.0), "0");
    }

    #[test]
    fn an_estimate_has_an_interval_or_the_word_once() {
        let unit = Quantity::Throughput.unit_for(113e6);
        let interval = Some(Interval { low: 108e6, high: 118e6, confidence: 0.95 });
        let mut estimate = Estimate { n: 3, centre: 113e6, interval, method: Method::LogT };
        assert_eq!(unit.show_interval(&estimate), "108–118");
        estimate.interval = Some(Interval { low: 112.96e6, high: 113.04e6, confidence: 0.9375 });
        assert_eq!(unit.show_interval(&estimate), "112.96–113.04 (94 %)");
        estimate.interval = None;
        assert_eq!(unit.show_interval(&estimate), "no interval");
        estimate = Estimate { n: 1, centre: 113e6, interval: None, method: Method::Once };
        assert_eq!(unit.show_interval(&estimate), "once");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_what_is_stored(value in 1e-3_f64..1e15) {
            for quantity in [Quantity::Throughput, Quantity::Operations(OperationKind::Io), Quantity::Latency, Quantity::Elapsed] {
                let unit = quantity.unit_for(value);
                let shown: f64 = unit.show(value).parse().expect("a number");
                prop_assert!((shown * unit.size / value - 1.0).abs() <= 0.0051, "{shown} {value}");
            }
        }

        #[test]
        fn any_number_is_shown(value: f64, low: f64, high: f64) {
            let unit = Quantity::Throughput.unit_for(value);
            for text in [unit.show(value), unit.show_range(low, high), Quantity::Size.show(value)] {
                prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }
}
