//! The answers while a run continues: a line each.

use disklab_decision::{Recommendation, StackChoice};
use disklab_store::CellState;
use disklab_study::Study;
use disklab_units::count;

use super::{classes, first_class, labels};
use crate::Report;

/// What would be recommended now: a heading for each number of drives that may fail, the class
/// that the first screen begins with first, and below it a line for each purpose.
pub fn answers_so_far(study: &Study, recommendations: &[Recommendation]) -> Vec<String> {
    let labels = labels(study);
    let name = |id: &str| {
        let known = study.stack_index(id).and_then(|index| labels.get(index));
        known.cloned().unwrap_or_else(|| id.to_owned())
    };
    let mut classes = classes(recommendations);
    if let Some(at) = first_class(&classes).and_then(|c| classes.iter().position(|o| *o == c)) {
        classes[..=at].rotate_right(1);
    }
    let mut lines = Vec::new();
    for class in classes {
        lines.push(Recommendation::may_fail(class));
        for recommendation in recommendations {
            let of_class = |choice: &&StackChoice| choice.survives == class;
            if let Some(choice) = recommendation.decisions.iter().find(of_class) {
                lines.push(line(recommendation, choice, &name(&choice.take)));
            }
        }
    }
    lines
}

fn line(recommendation: &Recommendation, choice: &StackChoice, stack: &str) -> String {
    let values = choice.values().map_or_else(String::new, |values| format!(", {values}"));
    let caveat = choice.caveat().map_or_else(String::new, |caveat| format!(" ({caveat})"));
    format!("  {}: {stack}{values}{caveat}", recommendation.purpose.short)
}

/// How sure the answers are of a run that has not ended, in a sentence.
pub fn so_far(report: &Report) -> String {
    let done = report.cells.iter().filter(|cell| cell.state == CellState::Done).count();
    let cells = format!("{done} of {} done", count(report.cells.len(), "cell"));
    let choices = || report.analysis.recommendations.iter().flat_map(|r| &r.decisions);
    let (all, sure) = (choices().count(), choices().filter(|c| c.caveat().is_none()).count());
    let answers = count(all, "answer");
    match (sure, all) {
        (_, 0) => format!("No answers yet: {cells}."),
        (0, _) => format!("No answer is sure yet, with {cells}: each may change."),
        (sure, all) if sure == all => format!("All of {answers} sure, with {cells}."),
        _ => format!(
            "{sure} of {answers} sure so far, with {cells}; those marked 'likely' or 'guess' may \
             change."
        ),
    }
}
