//! What a figure can be at all: one table for the figures of every format.
//!
//! Each range is wide enough for any machine of the next decades; what is outside was
//! mistyped, converted wrongly, or made up.

use disklab_sample::Figure;
use disklab_source::SourceError;

use crate::Reading;

/// Ten years, in nanoseconds: no run takes as long.
const TEN_YEARS_NS: f64 = 3.2e17;
/// An exabyte: more than any array holds.
const BYTES: f64 = 1e18;
/// As many operations as a thousand million a second give in ten days.
const OPERATIONS: f64 = 1e15;

/// A figure that outputs have, and what it can be.
struct Range {
    what: &'static str,
    unit: &'static str,
    most: f64,
    /// Unit of the value ÷ the unit that is shown.
    shown: f64,
    of: fn(&Figure) -> Option<f64>,
}

/// Each figure of a step and direction.
const RANGES: [Range; 10] = [
    Range {
        what: "the time",
        unit: "s",
        most: TEN_YEARS_NS,
        shown: 1e9,
        of: |f| Some(f.elapsed_ns as f64),
    },
    Range {
        what: "the data moved",
        unit: "bytes",
        most: BYTES,
        shown: 1.0,
        of: |f| Some(f.bytes as f64),
    },
    Range {
        what: "the number of operations",
        unit: "operations",
        most: OPERATIONS,
        shown: 1.0,
        of: |f| Some(f.operations? as f64),
    },
    // A hundred times what the memory of a large server gives.
    Range {
        what: "the throughput",
        unit: "bytes/s",
        most: 1e14,
        shown: 1.0,
        of: |f| f.bytes_per_second,
    },
    // A hundred operations in a nanosecond of each of ten processors.
    Range {
        what: "the operations per second",
        unit: "operations/s",
        most: 1e12,
        shown: 1.0,
        of: |f| f.operations_per_second,
    },
    Range {
        what: "the smallest latency",
        unit: "s",
        most: TEN_YEARS_NS,
        shown: 1e9,
        of: |f| Some(f.latency.as_ref()?.min_ns as f64),
    },
    Range {
        what: "the largest latency",
        unit: "s",
        most: TEN_YEARS_NS,
        shown: 1e9,
        of: |f| Some(f.latency.as_ref()?.max_ns as f64),
    },
    Range {
        what: "the mean latency",
        unit: "s",
        most: TEN_YEARS_NS,
        shown: 1e9,
        of: |f| Some(f.latency.as_ref()?.mean_ns),
    },
    Range {
        what: "the latencies' deviation",
        unit: "s",
        most: TEN_YEARS_NS,
        shown: 1e9,
        of: |f| Some(f.latency.as_ref()?.deviation_ns),
    },
    Range {
        what: "the number of latencies",
        unit: "latencies",
        most: OPERATIONS,
        shown: 1.0,
        of: |f| Some(f.latency.as_ref()?.histogram.count() as f64),
    },
];

/// A year of each of a hundred processors.
const PROCESSOR_NS: f64 = TEN_YEARS_NS * 10.0;

/// Refuses a reading with a figure that is outside of its range.
///
/// # Errors
/// At the reading's place, with the figure and what it can be.
pub(crate) fn check_ranges(reading: &Reading) -> Result<(), SourceError> {
    let refuse = |what: &str, value: f64, most: f64, unit: &str| {
        Err(reading.place.error(beyond(what, value, most, unit)))
    };
    for repeat in &reading.repeats {
        let (ns, seconds) = (repeat.elapsed_ns as f64, TEN_YEARS_NS / 1e9);
        if ns > TEN_YEARS_NS {
            return Err(repeat.place.error(beyond("the time", ns / 1e9, seconds, "s")));
        }
    }
    for step in &reading.steps {
        for range in &RANGES {
            let values = step.figures.iter().filter_map(range.of);
            for value in values {
                if !(0.0..=range.most).contains(&value) {
                    return refuse(
                        range.what,
                        value / range.shown,
                        range.most / range.shown,
                        range.unit,
                    );
                }
            }
        }
        for (what, ns) in
            [("the CPU time", step.cpu.user_ns), ("the kernel's CPU time", step.cpu.system_ns)]
        {
            if ns as f64 > PROCESSOR_NS {
                return refuse(what, ns as f64 / 1e9, PROCESSOR_NS / 1e9, "s");
            }
        }
        for drive in &step.drives {
            for (what, n, most) in [
                ("what the drive read", drive.read_bytes, BYTES),
                ("what the drive wrote", drive.write_bytes, BYTES),
                ("the drive's reads", drive.reads, OPERATIONS),
                ("the drive's writes", drive.writes, OPERATIONS),
            ] {
                if n as f64 > most {
                    return refuse(what, n as f64, most, "");
                }
            }
        }
    }
    Ok(())
}

fn beyond(what: &str, value: f64, most: f64, unit: &str) -> String {
    format!("{what} is {value:e} {unit}, which no machine gives; expected 0 to {most:e} {unit}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_sample::{Direction, DriveTraffic};
    use disklab_source::{Location, Source};

    use super::*;
    use crate::reading::{ImportedWork, figure, moments, step};

    fn reading(change: impl FnOnce(&mut Figure)) -> Reading {
        let source = Arc::new(Source { name: "x".to_owned(), text: "text".to_owned() });
        let mut one = figure(Direction::Read, 1.0);
        change(&mut one);
        let mut reading = Reading::new(
            ImportedWork::unknown("w", "w", Vec::new()),
            Location { source, span: 0..4 },
        );
        reading.steps = vec![step("s", vec![one])];
        reading
    }

    #[test]
    fn each_figure_has_a_range() {
        let sound = |figure: &mut Figure| {
            figure.bytes = 1 << 40;
            figure.operations = Some(1_000_000_000);
            figure.bytes_per_second = Some(400e9);
            figure.operations_per_second = Some(300e6);
            figure.latency = Some(moments(1.0, 2e3, 60e9, 5.0));
        };
        assert_eq!(check_ranges(&reading(sound)), Ok(()));
        type Change = fn(&mut Figure);
        let changes: [(&str, Change); 10] = [
            ("the time", |f| f.elapsed_ns = u64::MAX),
            ("the data moved", |f| f.bytes = u64::MAX),
            ("the number of operations", |f| f.operations = Some(u64::MAX)),
            ("the throughput", |f| f.bytes_per_second = Some(1e30)),
            ("the operations per second", |f| f.operations_per_second = Some(1e30)),
            ("the smallest latency", |f| f.latency = Some(moments(1e300, 1.0, 1.0, 1.0))),
            ("the largest latency", |f| f.latency = Some(moments(1.0, 1.0, 1e300, 1.0))),
            ("the mean latency", |f| f.latency = Some(moments(1.0, 1e300, 1.0, 1.0))),
            ("the latencies' deviation", |f| f.latency = Some(moments(1.0, 1.0, 1.0, f64::NAN))),
            ("the number of latencies", |f| {
                let mut one = moments(1.0, 1.0, 1.0, 1.0);
                one.histogram.record(1, u64::MAX / 2);
                f.latency = Some(one);
            }),
        ];
        assert_eq!(changes.map(|(what, _)| what), RANGES.map(|range| range.what));
        for (what, change) in changes {
            let error = check_ranges(&reading(change)).expect_err(what).to_string();
            assert!(error.contains(what) && error.contains("expected 0 to"), "{error}");
        }
        let mut drives = reading(sound);
        drives.steps[0].drives =
            vec![DriveTraffic { read_bytes: u64::MAX, ..DriveTraffic::default() }];
        assert!(check_ranges(&drives).is_err());
        let mut busy = reading(sound);
        busy.steps[0].cpu.user_ns = u64::MAX;
        assert!(check_ranges(&busy).is_err());
    }
}
