//! Figures in JSON.

use disklab_comparisons::Change;
use disklab_decision::Pair;
use disklab_stats::{Estimate, Interval};
use disklab_study::Measure;
use serde_json::{Value, json};

pub(crate) fn measure(measure: Measure) -> String {
    Measure::WORDS
        .iter()
        .find(|(_, m)| *m == measure)
        .map_or_else(|| format!("{measure:?}").to_lowercase(), |(word, _)| (*word).to_owned())
}

/// The unit of an answer's figures.
pub(crate) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Throughput => "bytes/s",
        Measure::Iops => "1/s",
        Measure::Latency(_) => "ns",
        Measure::Elapsed => "s",
        Measure::Missed => "deadlines",
    }
}

pub(crate) fn interval(interval: Interval) -> Value {
    json!({ "low": interval.low, "high": interval.high, "confidence": interval.confidence })
}

/// A figure of both of two runs.
pub(crate) fn compared(pair: &Pair, margin: f64) -> Value {
    let why = match &pair.change {
        Change::Inconclusive(why) => Some(why.word()),
        _ => None,
    };
    json!({
        "question": pair.question,
        "stack": pair.stack,
        "workload": pair.workload,
        "step": pair.step,
        "direction": pair.direction,
        "figure": pair.noun,
        "measure": measure(pair.measure),
        "unit": unit(pair.measure),
        "higher_is_better": pair.measure.higher_is_better(),
        "a": side(&pair.a),
        "b": side(&pair.b),
        "ratio": pair.ratio,
        "interval": pair.interval.map(interval),
        "p_holm": pair.p,
        "change": pair.change.word(),
        "why": why,
        "verdict": pair.verdict(margin),
    })
}

fn side(estimate: &Estimate) -> Value {
    let ends: Option<Interval> = estimate.interval;
    json!({ "n": estimate.n, "centre": estimate.centre, "interval": ends.map(interval) })
}
