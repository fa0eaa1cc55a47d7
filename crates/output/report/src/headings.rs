//! What is above a column, on an axis and below a question.

use disklab_audits::measure_heading;
use disklab_comparisons::Answer;
use disklab_sample::OperationKind;
use disklab_study::{Measure, Part};

/// Above the severe findings.
pub(crate) const BEFORE: &str = "Before you rely on these figures";
/// Above what a run lacks.
pub(crate) const ABSENT: &str = "Left out and failed";
/// Above the published rows.
pub(crate) const PUBLISHED: &str = "Published and measured results";
/// Above what two runs have differently.
pub(crate) const DIFFERENCES: &str = "What differs besides the figures";
/// In its place if there is nothing.
pub(crate) const NO_DIFFERENCE: &str =
    "Nothing that was recorded differs between the two but the figures.";

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
