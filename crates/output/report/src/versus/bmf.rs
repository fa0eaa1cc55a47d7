//! B's figures for services that keep histories of benchmarks: Bencher Metric Format, as
//! <https://bencher.dev/docs/reference/bencher-metric-format> defines it.
//!
//! An object per benchmark with an object per measure of `value`, `lower_value` and
//! `upper_value`. It was chosen over github-action-benchmark's custom formats because it
//! has both ends of an interval and takes figures of which more and figures of which less
//! is better in one file.

use disklab_decision::Pair;
use disklab_sample::OperationKind;
use disklab_stats::Interval;
use disklab_study::{Measure, Percentile};
use serde_json::{Map, Value, json};

use super::two_runs::TwoRuns;

/// The measure of B ÷ A.
const RATIO: &str = "ratio-to-a";

/// The whole text.
pub(super) fn text(runs: &TwoRuns) -> String {
    let mut benchmarks: Map<String, Value> = Map::new();
    for pair in &runs.versus.pairs {
        let mut measures = Map::new();
        let slug = slug(pair);
        measures.extend(metric(pair.b.centre, pair.b.interval).map(|m| (slug.to_owned(), m)));
        let ratio = pair.ratio.and_then(|ratio| metric(ratio, pair.interval));
        measures.extend(ratio.map(|m| (format!("{RATIO}-{slug}"), m)));
        let own = benchmarks.entry(name(pair)).or_insert_with(|| json!({}));
        if let Value::Object(own) = own {
            own.extend(measures);
        }
    }
    let mut text = serde_json::to_string_pretty(&benchmarks).unwrap_or_default();
    text.push('\n');
    text
}

/// A benchmark's name: it must stay the same from run to run, and says nothing that a
/// study's title or words could change. Bencher takes 1,024 characters.
fn name(pair: &Pair) -> String {
    let Pair { stack, workload, step, direction, .. } = pair;
    let work = if step == workload { workload.clone() } else { format!("{workload}:{step}") };
    format!("{stack} {work} {direction}").chars().take(1024).collect()
}

/// A measure's slug, with its unit where the measure has several.
fn slug(pair: &Pair) -> &'static str {
    match pair.measure {
        Measure::Throughput => "bytes-per-second",
        Measure::Iops if pair.operation == OperationKind::Io => "iops",
        Measure::Iops => "operations-per-second",
        Measure::Elapsed => "elapsed-seconds",
        Measure::Missed => "missed-deadlines",
        Measure::Latency(Percentile::P50) => "latency-p50-ns",
        Measure::Latency(Percentile::P99) => "latency-p99-ns",
        Measure::Latency(Percentile::P999) => "latency-p999-ns",
    }
}

/// A metric; none where the value is no number that JSON has.
fn metric(value: f64, interval: Option<Interval>) -> Option<Value> {
    if !value.is_finite() {
        return None;
    }
    let mut metric = Map::new();
    metric.insert("value".to_owned(), json!(value));
    if let Some(interval) = interval.filter(|i| i.low.is_finite() && i.high.is_finite()) {
        metric.insert("lower_value".to_owned(), json!(interval.low));
        metric.insert("upper_value".to_owned(), json!(interval.high));
    }
    Some(Value::Object(metric))
}
