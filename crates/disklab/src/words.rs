//! Words that several commands use.

mod skipped;

use disklab_study::LeftOut;

pub use skipped::Skipped;

/// Lines on what does not run here, things with the same reason together.
pub fn left_out_lines(left_out: &[LeftOut]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for one in left_out {
        let what = match (&one.stack, &one.workload) {
            (Some(stack), Some(workload)) => format!("{workload} on {stack}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => "everything".to_owned(),
        };
        match reasons.iter_mut().find(|(why, _)| *why == one.why) {
            Some((_, things)) => things.push(what),
            None => reasons.push((&one.why, vec![what])),
        }
    }
    reasons.into_iter().map(|(why, things)| format!("{}: {why}", things.join(", "))).collect()
}
