//! What is above a column, on an axis and below a question.

use disklab_sample::OperationKind;
use disklab_study::{Measure, Part};
use disklab_verdict::{Answer, measure_heading};

/// What an answer's figures are called in headings and on axes.
pub(crate) fn measure_name(answer: &Answer) -> String {
    measure_heading(answer.measure, answer.operation, answer.committed)
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
        Measure::Missed => measure_name(answer),
        Measure::Iops if answer.operation != OperationKind::Io => measure_name(answer),
        _ => format!("{} in {unit}", measure_name(answer)),
    }
}

/// Which way is better, in words.
pub(crate) fn better(measure: Measure) -> &'static str {
    if measure.higher_is_better() { "more is better" } else { "less is better" }
}
