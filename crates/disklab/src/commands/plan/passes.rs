//! Passes over whole drives before a stack's first use.

use std::time::Duration;

use disklab_prediction::Medium;
use disklab_runner::{Plan, RunEstimate};
use disklab_stack::FirstPass;
use disklab_units::{Bytes, show_duration};
use serde_json::{Value, json};

/// What to say of them, a line for each of a stack.
pub fn words(plan: &Plan, estimate: &RunEstimate<'_>) -> Vec<String> {
    let lines = plan.preflight.stacks.iter().flat_map(|stack| {
        let of_stack = estimate.passes(&stack.id).iter();
        of_stack.map(move |pass| format!("{}, in each cell: {}", stack.id, line(pass, plan)))
    });
    lines.collect()
}

fn line(pass: &FirstPass, plan: &Plan) -> String {
    let rate = bytes_per_second(plan);
    let time = show_duration(seconds(pass, rate));
    let clock = if plan.bench.is_simulated { " of the drives' own, virtual time" } else { "" };
    let bytes = |bytes: f64| Bytes(bytes as u64).si().to_string();
    format!(
        "{} of {}, {} read and {} written; about {time}{clock} at {:.0} MB/s",
        pass.kind.words(),
        pass.layer,
        bytes(pass.read),
        bytes(pass.written),
        rate / 1e6
    )
}

/// These of a stack, for programs.
pub fn describe(plan: &Plan, passes: &[FirstPass]) -> Value {
    let rate = bytes_per_second(plan);
    let one = |pass: &FirstPass| {
        json!({
            "layer": pass.layer,
            "what": pass.kind.words(),
            "read_bytes": pass.read as u64,
            "written_bytes": pass.written as u64,
            "drive_seconds": seconds(pass, rate).as_secs_f64(),
        })
    };
    passes.iter().map(one).collect()
}

fn seconds(pass: &FirstPass, rate: f64) -> Duration {
    Duration::try_from_secs_f64(pass.length / rate).unwrap_or(Duration::MAX)
}

/// What a drive reads or writes in a second. A medium of the lab is this machine's.
fn bytes_per_second(plan: &Plan) -> f64 {
    let medium = if plan.bench.is_simulated { Medium::HARD_DISK } else { plan.bench.medium };
    medium.bytes_per_second
}
