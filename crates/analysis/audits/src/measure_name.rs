//! What a measure is called.

use disklab_sample::OperationKind;
use disklab_study::{Measure, Percentile};

/// In a sentence, such as '99th-percentile latency'.
pub fn measure_in_sentence(measure: Measure, operation: OperationKind, committed: bool) -> String {
    let latency = latency(committed);
    match measure {
        Measure::Missed => format!("number of {}", plain(measure, operation)),
        Measure::Latency(Percentile::P50) => format!("median {latency}"),
        Measure::Latency(Percentile::P99) => format!("99th-percentile {latency}"),
        Measure::Latency(Percentile::P999) => format!("99.9th-percentile {latency}"),
        _ => plain(measure, operation).to_owned(),
    }
}

/// In a heading and on an axis, such as '99th percentile of latency'.
pub fn measure_heading(measure: Measure, operation: OperationKind, committed: bool) -> String {
    let latency = latency(committed);
    match measure {
        Measure::Latency(Percentile::P50) => format!("median {latency}"),
        Measure::Latency(Percentile::P99) => format!("99th percentile of {latency}"),
        Measure::Latency(Percentile::P999) => format!("99.9th percentile of {latency}"),
        _ => plain(measure, operation).to_owned(),
    }
}

/// Of a measure that is no percentile.
fn plain(measure: Measure, operation: OperationKind) -> &'static str {
    match measure {
        Measure::Throughput => "throughput",
        Measure::Iops => operation.rate_name(),
        Measure::Elapsed => "elapsed time",
        Measure::Missed => "missed deadlines",
        Measure::Latency(_) => "latency",
    }
}

fn latency(committed: bool) -> &'static str {
    if committed { "commit latency" } else { "latency" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_adjectives_in_sentences_and_nouns_in_headings() {
        let io = OperationKind::Io;
        for (measure, committed, sentence, heading) in [
            (
                Measure::Latency(Percentile::P999),
                false,
                "99.9th-percentile latency",
                "99.9th percentile of latency",
            ),
            (
                Measure::Latency(Percentile::P99),
                true,
                "99th-percentile commit latency",
                "99th percentile of commit latency",
            ),
            (Measure::Latency(Percentile::P50), false, "median latency", "median latency"),
            (Measure::Missed, false, "number of missed deadlines", "missed deadlines"),
            (Measure::Throughput, false, "throughput", "throughput"),
        ] {
            assert_eq!(measure_in_sentence(measure, io, committed), sentence);
            assert_eq!(measure_heading(measure, io, committed), heading);
        }
    }
}
