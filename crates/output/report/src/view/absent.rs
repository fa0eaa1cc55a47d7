//! What a question lacks: what was left out, what failed, what is still to run.

use disklab_store::{CellRecord, CellState, LeftOut};
use disklab_study::{Question, matches};
use disklab_units::count;
use indexmap::IndexMap;

use crate::Report;

/// What is missing, by reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Absences {
    /// (why, what): what this bench cannot do.
    pub(crate) left_out: Vec<(String, Vec<String>)>,
    /// (error, what): cells that failed.
    pub(crate) failed: Vec<(String, Vec<String>)>,
    /// Cells not run yet.
    pub(crate) waiting: usize,
}

impl Absences {
    /// How many cells have not run, in a phrase; none if all have.
    pub(crate) fn not_run_yet(&self) -> Option<String> {
        (self.waiting > 0).then(|| format!("{} not run yet", count(self.waiting, "cell")))
    }
}

/// What the whole report lacks.
pub(crate) fn all_absences(report: &Report) -> Absences {
    collect(report, |_| true, |_| true)
}

/// What one question lacks.
pub(crate) fn absences(report: &Report, question: &Question) -> Absences {
    let asks_stack =
        |id: &str| question.stacks.is_empty() || question.stacks.iter().any(|p| matches(p, id));
    // A pattern may name a step after a colon: `fio:seq-read`.
    let asks_workload = |id: &str| {
        question.workloads.is_empty()
            || question
                .workloads
                .iter()
                .any(|p| matches(p.split(':').next().unwrap_or_default(), id))
    };
    collect(report, asks_stack, asks_workload)
}

fn collect(
    report: &Report,
    stack: impl Fn(&str) -> bool,
    workload: impl Fn(&str) -> bool,
) -> Absences {
    let mut left_out: IndexMap<&str, Vec<String>> = IndexMap::new();
    for out in &report.info.left_out {
        if out.stack.as_deref().is_none_or(&stack) && out.workload.as_deref().is_none_or(&workload)
        {
            let what = left_out.entry(&out.why).or_default();
            let name = name(out);
            if !what.contains(&name) {
                what.push(name);
            }
        }
    }
    let cells = || {
        report
            .cells
            .iter()
            .filter(|r| stack(&r.cell.levels.stack) && workload(&r.cell.levels.workload))
    };
    let mut failed: IndexMap<&str, Vec<String>> = IndexMap::new();
    for record in cells().filter(|r| r.state == CellState::Failed) {
        let error = record.error.as_deref().unwrap_or("no error was recorded");
        failed.entry(error).or_default().push(cell_name(record, report.info.repeats));
    }
    Absences {
        left_out: left_out.into_iter().map(|(why, what)| (why.to_owned(), what)).collect(),
        failed: failed.into_iter().map(|(error, what)| (error.to_owned(), what)).collect(),
        waiting: cells().filter(|r| r.state == CellState::Waiting).count(),
    }
}

fn name(out: &LeftOut) -> String {
    match (&out.stack, &out.workload) {
        (Some(stack), Some(workload)) => format!("{stack} with {workload}"),
        (Some(stack), None) => stack.clone(),
        (None, Some(workload)) => format!("{workload} on every stack"),
        (None, None) => "everything".to_owned(),
    }
}

fn cell_name(record: &CellRecord, repeats: u32) -> String {
    let cell = &record.cell;
    let repeat = if repeats > 1 { format!(", repeat {}", cell.block + 1) } else { String::new() };
    format!("{} with {}{repeat}", cell.levels.stack, cell.levels.workload)
}

impl Absences {
    /// Whether nothing is missing.
    pub(crate) fn is_empty(&self) -> bool {
        self.left_out.is_empty() && self.failed.is_empty() && self.waiting == 0
    }
}
