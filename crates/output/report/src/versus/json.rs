//! Everything, for programs.

use disklab_decision::RunVerdict;
use serde_json::{Value, json};

use super::two_runs::TwoRuns;
use crate::json_figures::compared;

/// The schema's name.
const SCHEMA: &str = "disklab-compare";
/// Its version: raised when a field changes its meaning or goes; new fields do not raise it.
const VERSION: u32 = 2;

/// The whole comparison. Numbers that are not finite are null.
pub(super) fn text(runs: &TwoRuns) -> String {
    let versus = &runs.versus;
    let [slower, faster, equivalent, identical, inconclusive] = versus.counts();
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
        "margin": versus.margin,
        "simulated": versus.lab,
        "paired": versus.paired,
        "verdict": verdict,
        "headline": versus.headline(),
        "counts": { "slower": slower, "faster": faster, "equivalent": equivalent,
                    "identical": identical, "inconclusive": inconclusive },
        "differences": runs.differences,
        "notes": runs.notes(),
        "severe": runs.severe().into_iter().map(|found| json!({
            "run": found.run, "audit": found.audit, "text": found.first, "findings": found.number,
        })).collect::<Value>(),
        "figures": versus.worst_first().into_iter().map(|p| compared(p, versus.margin)).collect::<Value>(),
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
