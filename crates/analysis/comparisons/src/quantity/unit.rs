//! Units and digits.

use disklab_sample::OperationKind;
use disklab_stats::{Estimate, Interval, Method};
use disklab_study::Measure;
use disklab_units::significant;

use super::ratio::{confidence_level, ends, range};
use crate::Answer;

/// What a figure, a column or an axis counts, and in what its raw values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
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
    /// Deadlines missed, or the mean of such counts.
    Missed,
}

/// A unit and how many of the raw unit it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// As printed.
    pub name: &'static str,
    /// In raw units.
    pub size: f64,
    kind: UnitKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum UnitKind {
    Decimal,
    /// For figures that stand alone, not for axes: 90 min are not read next to 9 h.
    Minutes,
    Hours,
    /// A count, which has no digits behind the point unless it is a mean.
    Count,
}

const fn unit(name: &'static str, size: f64) -> Unit {
    Unit { name, size, kind: UnitKind::Decimal }
}

/// SI, as [`disklab_units::BytesPerSecond::si`]; here because an interval must be in the unit of
/// its figure.
const RATES: [Unit; 5] =
    [unit("B/s", 1.0), unit("kB/s", 1e3), unit("MB/s", 1e6), unit("GB/s", 1e9), unit("TB/s", 1e12)];
const SIZES: [Unit; 5] =
    [unit("B", 1.0), unit("kB", 1e3), unit("MB", 1e6), unit("GB", 1e9), unit("TB", 1e12)];
const TIMES: [Unit; 6] = [
    unit("ns", 1.0),
    unit("µs", 1e3),
    unit("ms", 1e6),
    unit("s", 1e9),
    Unit { name: "min", size: 60e9, kind: UnitKind::Minutes },
    Unit { name: "h", size: 3600e9, kind: UnitKind::Hours },
];
const DEADLINES: Unit = Unit { name: "deadlines", size: 1.0, kind: UnitKind::Count };

/// A unit is used from here on, as a share of it: less would be shown as 999 of the smaller.
const DECIMAL_FROM: f64 = 0.9995;
/// Of minutes and hours: below two of them the smaller unit is easier to read.
const SEXAGESIMAL_FROM: f64 = 2.0;

impl From<&Answer> for Quantity {
    fn from(answer: &Answer) -> Self {
        Self::new(answer.measure, answer.operation)
    }
}

impl Quantity {
    /// Of a measure, whose operations are of that kind.
    pub fn new(measure: Measure, operation: OperationKind) -> Self {
        match measure {
            Measure::Throughput => Self::Throughput,
            Measure::Iops => Self::Operations(operation),
            Measure::Latency(_) => Self::Latency,
            Measure::Elapsed => Self::Elapsed,
            Measure::Missed => Self::Missed,
        }
    }

    /// All units, ascending.
    fn units(self) -> Vec<Unit> {
        match self {
            Self::Throughput => RATES.to_vec(),
            Self::Operations(kind) => vec![unit(kind.rate_unit(), 1.0)],
            Self::Latency => TIMES.to_vec(),
            // Raw values are seconds.
            Self::Elapsed => TIMES.map(|unit| Unit { size: unit.size / 1e9, ..unit }).to_vec(),
            Self::Size => SIZES.to_vec(),
            Self::Missed => vec![DEADLINES],
        }
    }

    /// The unit for figures in one column or on one axis, of which `largest` is the largest.
    pub fn unit_for(self, largest: f64) -> Unit {
        let mut units = self.units();
        units.retain(|unit| unit.kind != UnitKind::Minutes);
        largest_unit(&units, largest)
    }

    /// The unit for a figure that stands alone.
    pub fn unit_alone(self, value: f64) -> Unit {
        largest_unit(&self.units(), value)
    }

    /// A figure with the unit that suits it alone, such as `113 MB/s`; nothing is `0`.
    pub fn show(self, value: f64) -> String {
        if value == 0.0 { "0".to_owned() } else { self.show_with_unit(value) }
    }

    /// The same, and nothing has a unit, too: `0 B/s`.
    fn show_with_unit(self, value: f64) -> String {
        let unit = self.unit_alone(value);
        let name = if self == Self::Missed && value == 1.0 { "deadline" } else { unit.name };
        format!("{} {name}", unit.show(value))
    }

    /// A tick's label: no digits beyond those that it needs.
    pub fn tick(self, value: f64, unit: Unit) -> String {
        trim_zeros(&significant(value / unit.size, 3))
    }
}

/// The greatest in which the value is not below 1, as it will be rounded.
fn largest_unit(units: &[Unit], value: f64) -> Unit {
    let fits = |unit: &&Unit| {
        let from = match unit.kind {
            UnitKind::Decimal | UnitKind::Count => DECIMAL_FROM,
            UnitKind::Minutes | UnitKind::Hours => SEXAGESIMAL_FROM,
        };
        value.abs() >= unit.size * from
    };
    *units.iter().rev().find(fits).unwrap_or(&units[0])
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
    /// For a column next to that in SI units.
    pub const MEBIBYTES_PER_SECOND: Self = unit("MiB/s", 1_048_576.0);

    /// The figure in this unit with three significant digits; a count as it is.
    pub fn show(self, value: f64) -> String {
        let value = value / self.size;
        if self.is_whole(value) { format!("{value:.0}") } else { significant(value, 3) }
    }

    fn is_whole(self, value: f64) -> bool {
        self.kind == UnitKind::Count && value.fract() == 0.0
    }

    /// `108–118`, with as many digits as it takes to tell the ends apart (at most six).
    pub fn show_range(self, low: f64, high: f64) -> String {
        let ends = [low / self.size, high / self.size];
        if ends.iter().all(|end| self.is_whole(*end)) {
            return format!("{:.0}–{:.0}", ends[0], ends[1]);
        }
        range(ends[0], ends[1])
    }

    /// The interval of an estimate in a table, `once`, or `all equal`.
    pub fn show_interval(self, estimate: &Estimate) -> String {
        match (estimate.method, estimate.interval) {
            (Method::Deterministic, _) => "all equal".to_owned(),
            (_, Some(i)) if estimate.n > 1 => {
                format!("{}{}", self.show_range(i.low, i.high), confidence_level(i))
            }
            (_, None) if estimate.n > 1 => "no interval".to_owned(),
            _ => "once".to_owned(),
        }
    }
}

/// A figure in its unit in a sentence, with its interval in the same, or 'once':
/// `180 kB/s [171, 190]`, `8.33 ms (once)`.
pub fn value(measure: Measure, operation: OperationKind, estimate: &Estimate) -> String {
    let quantity = Quantity::new(measure, operation);
    let unit = quantity.unit_alone(estimate.centre);
    let figure = quantity.show_with_unit(estimate.centre);
    match estimate.interval {
        Some(interval)
            if measure == Measure::Missed || interval.says_something(estimate.centre) =>
        {
            format!("{figure} {}", ends(estimate.centre, interval, |x| unit.show(x)))
        }
        _ if estimate.n > 1 => format!("{figure} ({} repeats, no interval)", estimate.n),
        Some(_) => format!("{figure} (no interval)"),
        None => format!("{figure} (once)"),
    }
}

/// A figure in its unit, without its interval: `180 kB/s`.
pub fn plain_value(measure: Measure, operation: OperationKind, centre: f64) -> String {
    Quantity::new(measure, operation).show_with_unit(centre)
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

#[cfg(test)]
mod tests {
    use disklab_study::Percentile;
    use proptest::prelude::*;

    use super::*;

    fn estimate(centre: f64, low: f64, high: f64) -> Estimate {
        let interval = Some(Interval { low, high, confidence: 0.95 });
        Estimate { n: 3, centre, interval, method: Method::LogT }
    }

    #[test]
    fn intervals_use_the_unit_of_their_figure() {
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
        let commits = value(Measure::Iops, OperationKind::Commit, &estimate(60.0, 50.0, 70.0));
        assert_eq!(commits, "60.0 commits/s [50.0, 70.0]");
        let once = Estimate { n: 1, centre: 5.0, interval: None, method: Method::Once };
        assert_eq!(value(Measure::Elapsed, io, &once), "5.00 s (once)");
    }

    #[test]
    fn one_unit_suits_the_largest() {
        assert_eq!(Quantity::Throughput.unit_for(113e6).name, "MB/s");
        assert_eq!(Quantity::Throughput.unit_for(20e3).name, "kB/s");
        assert_eq!(Quantity::Throughput.show(999.7e3), "1.00 MB/s");
        assert_eq!(Quantity::Latency.unit_for(8.3e6).name, "ms");
        assert_eq!(Quantity::Elapsed.unit_for(5400.0).name, "s");
        assert_eq!(Quantity::Elapsed.unit_for(36_000.0).name, "h");
        assert_eq!(Quantity::Elapsed.unit_alone(36_000.0).name, "h");
        for kind in [OperationKind::Io, OperationKind::Commit, OperationKind::File] {
            assert_eq!(Quantity::Operations(kind).unit_for(0.0).name, kind.rate_unit());
        }
        assert_eq!(Quantity::Throughput.show(0.0), "0");
    }

    #[test]
    fn counts_have_no_digits_behind_the_point_unless_they_are_means() {
        let unit = Quantity::Missed.unit_for(12.0);
        assert_eq!((unit.show(12.0), unit.show(0.0)), ("12".to_owned(), "0".to_owned()));
        assert_eq!(unit.show(12.25), "12.2");
        assert_eq!(
            (unit.show_range(0.0, 3.0), unit.show_range(0.5, 3.0)),
            ("0–3".to_owned(), "0.500–3.00".to_owned())
        );
        assert_eq!(plain_value(Measure::Missed, OperationKind::Io, 0.0), "0 deadlines");
    }

    #[test]
    fn an_estimate_has_an_interval_or_the_word_once() {
        let unit = Quantity::Throughput.unit_for(113e6);
        let mut of = estimate(113e6, 108e6, 118e6);
        assert_eq!(unit.show_interval(&of), "108–118");
        of.interval = Some(Interval { low: 112.96e6, high: 113.04e6, confidence: 0.9375 });
        assert_eq!(unit.show_interval(&of), "112.96–113.04 (94 %)");
        of.interval = None;
        assert_eq!(unit.show_interval(&of), "no interval");
        of = Estimate { n: 1, centre: 113e6, interval: None, method: Method::Once };
        assert_eq!(unit.show_interval(&of), "once");
    }

    const ALL: [Quantity; 6] = [
        Quantity::Throughput,
        Quantity::Operations(OperationKind::Io),
        Quantity::Latency,
        Quantity::Elapsed,
        Quantity::Size,
        Quantity::Missed,
    ];

    proptest! {
        #[test]
        fn shown_values_match_stored_ones(value in 1e-3_f64..1e15) {
            for quantity in ALL {
                for unit in [quantity.unit_for(value), quantity.unit_alone(value)] {
                    let shown: f64 = unit.show(value).parse().expect("a number");
                    prop_assert!((shown * unit.size / value - 1.0).abs() <= 0.0051, "{shown} {value}");
                }
            }
        }

        #[test]
        fn any_number_is_shown(centre: f64, low: f64, high: f64) {
            let unit = Quantity::Throughput.unit_for(centre);
            let of = estimate(centre, low, high);
            for measure in [Measure::Throughput, Measure::Iops, Measure::Elapsed, Measure::Latency(Percentile::P50)] {
                let shown = value(measure, OperationKind::Io, &of);
                prop_assert!(!shown.is_empty() && !shown.contains("NaN"), "{}", shown);
            }
            for text in [unit.show(centre), unit.show_range(low, high), Quantity::Size.show(centre)] {
                prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }
}
