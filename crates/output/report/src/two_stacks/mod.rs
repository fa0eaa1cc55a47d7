//! Two stacks of a run next to each other: 'what does RAID 5 cost against RAID 10?'

mod names;
mod page;
mod show;

use disklab_comparisons::{
    Answer, Comparison, ComparisonOutcome, Point, show_figure, times, times_range,
};
use disklab_decision::{Analyser, Analysis};
use disklab_store::{Run, RunInfo};
use disklab_study::Study;

pub use names::StackNameError;

use crate::ReportError;
use crate::first_screen::labels;
use names::stack_named;

/// Why two stacks are not compared.
#[derive(Debug, thiserror::Error)]
pub enum TwoStacksError {
    /// A name is not that of one stack.
    #[error("--versus: {0}")]
    Name(#[from] StackNameError),
    /// Both names mean one stack.
    #[error("--versus: both names mean {0}; name another")]
    Same(String),
    /// The run cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// Two stacks, the second of which is what the first is compared with.
#[derive(Debug, Clone)]
pub struct TwoStacks {
    /// The run's title.
    pub title: String,
    /// The stack that is asked about, and the other.
    pub stacks: [ComparedStack; 2],
    /// The figures of both.
    pub rows: Vec<ComparedFigure>,
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedStack {
    /// As the study names it.
    pub id: String,
    /// As people call it.
    pub label: String,
    /// Bytes that it stores, if that is known.
    pub usable: Option<u64>,
    /// Its drives, and how many of any of them may fail, if that is known.
    pub survives: Option<(usize, u32)>,
}

/// A figure of both.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedFigure {
    /// The question.
    pub ask: String,
    /// Which of its figures; empty if it has one alone.
    pub figure: String,
    /// Both with their intervals.
    pub values: [String; 2],
    /// First ÷ second with its interval, paired over blocks.
    pub ratio: String,
    /// The same as numbers: ratio, and the ends of the interval.
    pub numbers: (f64, Option<(f64, f64)>),
    /// How the first stands to the second.
    pub outcome: ComparisonOutcome,
}

impl TwoStacks {
    /// Reads the run and compares the two stacks of these names by the run's own comparison, as
    /// if the second were the baseline of every question.
    ///
    /// # Errors
    /// [`TwoStacksError`] if a name is not that of one stack, or the run cannot be read.
    pub fn gather(run: &Run, names: [&str; 2]) -> Result<Self, TwoStacksError> {
        let info = run.info().map_err(ReportError::from)?;
        let study = info.load_study().map_err(ReportError::Study)?;
        let ids = study.stacks.iter().map(|stack| stack.id.clone());
        let cells = run.cells().map_err(ReportError::from)?;
        let of_run = |id: &str| cells.iter().any(|record| record.cell.levels.stack == id);
        let stacks: Vec<(String, String)> =
            ids.zip(labels(&study)).filter(|(id, _)| of_run(id)).collect();
        let [first, second] = names.map(|name| stack_named(name, &stacks));
        let (first, second) = (first?, second?);
        if first == second {
            return Err(TwoStacksError::Same(stacks[first].0.clone()));
        }
        let compared = [first, second].map(|at| compared(&info, &stacks[at]));
        let [first, second] = [&stacks[first].0, &stacks[second].0];
        let study = with_baseline(study, second);
        let mut analyser = Analyser::new(study, info.clone());
        run.for_each_sample(|record, sample| {
            if [first, second].contains(&&record.cell.levels.stack) {
                analyser.add(record, sample);
            }
        })
        .map_err(ReportError::from)?;
        let rows = rows(&analyser.finish(), first);
        Ok(Self { title: info.title, stacks: compared, rows })
    }
}

fn compared(info: &RunInfo, (id, label): &(String, String)) -> ComparedStack {
    let planned = info.stacks.iter().find(|planned| planned.id == *id);
    ComparedStack {
        id: id.clone(),
        label: label.clone(),
        usable: planned.map(|p| p.capacity).filter(|bytes| *bytes > 0),
        survives: planned.map(|p| (p.drives.len(), p.tolerates)),
    }
}

/// The study that asks each question of all stacks, with this one as what they are compared with.
fn with_baseline(mut study: Study, baseline: &str) -> Study {
    study.baseline = Some(baseline.to_owned());
    for question in &mut study.questions {
        question.baseline = None;
        question.stacks.clear();
    }
    study
}

fn rows(analysis: &Analysis, first: &str) -> Vec<ComparedFigure> {
    let of_answer = |answer: &'_ Answer| -> Vec<ComparedFigure> {
        let mine = answer.comparisons.iter().filter(|c| c.stack == first);
        mine.filter_map(|comparison| row(analysis, answer, comparison)).collect()
    };
    analysis.answers.iter().flat_map(of_answer).collect()
}

fn row(analysis: &Analysis, answer: &Answer, comparison: &Comparison) -> Option<ComparedFigure> {
    let point = |group: usize| -> Option<&Point> {
        let mut points = answer.points.iter();
        points.find(|p| (p.group, &p.figure, &p.x) == (group, &comparison.figure, &comparison.x))
    };
    let value = |group: usize| {
        let estimate = &point(group)?.estimate;
        // A question about commits and transactions has figures of each.
        let operation = analysis.groups.get(group)?.operation;
        Some(show_figure(answer.measure, operation, estimate.centre, estimate.interval))
    };
    let (interval, x) = (comparison.interval, comparison.x.as_deref().unwrap_or_default());
    let ratio = times(comparison.ratio);
    Some(ComparedFigure {
        ask: answer.question.ask.clone(),
        figure: [comparison.figure.as_str(), x].join(" ").trim().to_owned(),
        values: [value(comparison.group)?, value(comparison.baseline_group)?],
        ratio: interval
            .map_or(ratio.clone(), |i| format!("{ratio} ({})", times_range(i.low, i.high))),
        numbers: (comparison.ratio, interval.map(|i| (i.low, i.high))),
        outcome: comparison.outcome,
    })
}

impl ComparedStack {
    /// 'any 1 of 4 drives may fail'.
    fn losses(&self) -> String {
        match self.survives {
            None => "not known".to_owned(),
            Some((drives, 0)) => format!("none of {drives}"),
            Some((drives, most)) => format!("any {most} of {drives}"),
        }
    }
}
