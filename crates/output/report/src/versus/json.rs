//! Everything, for programs.

use disklab_comparisons::Change;
use disklab_decision::{Pair, RunVerdict};
use disklab_stats::{Estimate, Interval};
use serde_json::{Value, json};

use super::two_runs::TwoRuns;
use crate::json::{interval, measure, unit};

/// The schema's name.
const SCHEMA: &str = "disklab-compare";
/// Its version: raised when a field changes its meaning or goes; new fields do not raise it.
const VERSION: u32 = 1;

/// The whole comparison. Numbers that are not finite are null.
pub(super) fn text(runs: &TwoRuns) -> String {
    let versus = &runs.versus;
    let [slower, faster, same, identical, unknown] = versus.counts();
    let verdict = match versus.verdict() {
        RunVerdict::Fine => "fine",
        RunVerdict::Regression => "regression",
        RunVerdict::TooNoisy => "too-noisy",
        RunVerdict::TooFew => "too-few",
    };
    let value = json!({
        "schema": SCHEMA,
        "version": VERSION,
        "a": run(&runs.name_a, &runs.a),
        "b": run(&runs.name_b, &runs.b),
        "level": versus.margin,
        "simulated": versus.lab,
        "verdict": verdict,
        "headline": versus.headline(),
        "counts": { "slower": slower, "faster": faster, "same": same,
                    "identical": identical, "unknown": unknown },
        "differences": runs.differences,
        "notes": runs.notes(),
        "severe": runs.severe().into_iter().map(|found| json!({
            "run": found.run, "audit": found.audit, "text": found.first, "findings": found.number,
        })).collect::<Value>(),
        "figures": versus.worst_first().into_iter().map(|p| figure(p, versus.margin)).collect::<Value>(),
        "missing": versus.missing.iter().map(|m| json!({
            "run": m.run, "stack": m.stack, "workload": m.workload, "error": m.error,
        })).collect::<Value>(),
        "unmatched": {
            "stacks_only_in_a": versus.unmatched.stacks_only_in_a,
            "stacks_only_in_b": versus.unmatched.stacks_only_in_b,
            "workloads_only_in_a": versus.unmatched.workloads_only_in_a,
            "workloads_only_in_b": versus.unmatched.workloads_only_in_b,
            "figures_only_in_b": versus.unmatched.figures_only_in_b,
            "not_asked": versus.unmatched.not_asked,
        },
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

fn run(name: &str, report: &crate::Report) -> Value {
    json!({
        "name": name,
        "study": report.info.study,
        "bench": report.info.bench.to_string(),
        "repeats": report.info.repeats,
        "seed": report.info.seed,
        "created": report.info.created,
        "disklab": report.info.disklab,
    })
}

pub(crate) fn figure(pair: &Pair, margin: f64) -> Value {
    let why = match &pair.change {
        Change::Unknown(why) => Some(why.word()),
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
        "a": estimate(&pair.a),
        "b": estimate(&pair.b),
        "ratio": pair.ratio,
        "interval": pair.interval.map(interval),
        "p_holm": pair.p,
        "change": pair.change.word(),
        "why": why,
        "verdict": pair.verdict(margin),
    })
}

fn estimate(estimate: &Estimate) -> Value {
    let ends: Option<Interval> = estimate.interval;
    json!({ "n": estimate.n, "centre": estimate.centre, "interval": ends.map(interval) })
}
