//! What a person sees first: which stack to take for what, how sure that is, and what it
//! costs in space. The page and the terminal show the same.

mod answers;
mod label;
mod next;
mod speed;
mod text;
mod unsettled;

use disklab_units::Bytes;
use disklab_verdict::{Guess, Purpose, Recommendation, Severity, recommend};

use crate::Report;

pub(crate) use label::label;
pub(crate) use next::{NextStep, SETTLE, next_steps};
pub(crate) use speed::speeds;
pub use text::{SCREEN_WIDTH, TextStyle, first_screen, wrapped};

/// All that is on it.
pub(crate) struct FirstScreen {
    pub recommendations: Vec<Recommendation>,
    /// In the study's order.
    pub stacks: Vec<StackLine>,
    /// How many drives may fail, for each class that has an answer, in order.
    pub classes: Vec<Option<u32>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StackLine {
    pub id: String,
    pub label: String,
    /// Bytes that it stores, where that is known.
    pub usable: Option<u64>,
    /// Bytes of the drives below it.
    pub raw: Option<u64>,
    /// How many drives may fail.
    pub survives: Option<u32>,
    /// All purposes alike, next to the best stack: 1 is the best.
    pub speed: Option<f64>,
}

/// An answer: the stack to take for a purpose.
pub(crate) struct Pick<'a> {
    pub purpose: &'static Purpose,
    pub guess: &'a Guess,
    /// How sure, in a sentence.
    pub how_sure: String,
    /// What would be taken if one of the things that count did not, in a sentence.
    pub would_change: Option<String>,
}

impl FirstScreen {
    pub(crate) fn of(report: &Report) -> Self {
        let recommendations = recommend(&report.study, &report.info, &report.analysis);
        let stacks = stack_lines(report, &recommendations);
        let mut classes: Vec<Option<u32>> =
            recommendations.iter().flat_map(|r| &r.guesses).map(|g| g.survives).collect();
        classes.sort_unstable();
        classes.dedup();
        Self { recommendations, stacks, classes }
    }

    /// The class that is shown first: one drive may fail, or else the most that one can have.
    pub(crate) fn first_class(&self) -> Option<Option<u32>> {
        let one = self.classes.iter().find(|class| **class == Some(1));
        one.or(self.classes.last()).copied()
    }

    /// The answers of a class, judged purposes first.
    pub(crate) fn picks(&self, class: Option<u32>) -> Vec<Pick<'_>> {
        let (judged, partial): (Vec<_>, Vec<_>) =
            self.recommendations.iter().partition(|r| r.why_not.is_none());
        judged
            .into_iter()
            .chain(partial)
            .filter_map(|r| {
                let guess = r.guesses.iter().find(|guess| guess.survives == class)?;
                let of_class = r.classes.iter().find(|c| c.survives == class);
                Some(Pick {
                    purpose: r.purpose,
                    guess,
                    how_sure: guess.how_sure(r.purpose, &r.lacking),
                    would_change: of_class
                        .and_then(|c| c.would_change.first())
                        .map(|change| change.sentence_naming(&|id| self.label(id).to_owned())),
                })
            })
            .collect()
    }

    pub(crate) fn stack(&self, id: &str) -> Option<&StackLine> {
        self.stacks.iter().find(|stack| stack.id == id)
    }

    pub(crate) fn label<'a>(&'a self, id: &'a str) -> &'a str {
        self.stack(id).map_or(id, |stack| &stack.label)
    }

    /// Whether no other stack is as good or better in space, in drives that may fail and in
    /// speed, and better in one of them.
    pub(crate) fn is_undominated(&self, stack: &StackLine) -> bool {
        let key = |s: &StackLine| Some((s.usable?, s.survives?, s.speed?));
        let Some((usable, survives, speed)) = key(stack) else { return false };
        !self.stacks.iter().filter_map(key).any(|(u, v, w)| {
            let as_good = u >= usable && v >= survives && w >= speed;
            as_good && (u > usable || v > survives || w > speed)
        })
    }

    /// What its speed is of: of all that is done for purposes, or else of what was asked.
    pub(crate) fn speed_of(&self) -> &'static str {
        if self.classes.is_empty() { "questions" } else { "purposes" }
    }

    /// Whether any answer is one to all that its purpose asks for.
    pub(crate) fn has_whole_answers(&self) -> bool {
        self.recommendations.iter().any(|r| r.why_not.is_none() && !r.guesses.is_empty())
    }

    /// Whether something that decides was not measured.
    pub(crate) fn is_partial(&self) -> bool {
        let mut guesses = self.recommendations.iter().flat_map(|r| &r.guesses);
        guesses.any(|guess| guess.is_partial)
    }

    /// Whether more samples could settle something.
    pub(crate) fn is_unsettled(&self) -> bool {
        let mut guesses = self.recommendations.iter().flat_map(|r| &r.guesses);
        guesses.any(|guess| guess.is_unsettled())
    }
}

fn stack_lines(report: &Report, recommendations: &[Recommendation]) -> Vec<StackLine> {
    let speeds = speeds(report, recommendations);
    let mut labels: Vec<String> =
        report.study.stacks.iter().map(|stack| label(&stack.id)).collect();
    // Two stacks that people would call the same keep their ids.
    for (index, stack) in report.study.stacks.iter().enumerate() {
        if labels.iter().filter(|other| **other == labels[index]).count() > 1 {
            labels[index].clone_from(&stack.id);
        }
    }
    let line = |(stack, label): (&disklab_study::StackSpec, String)| {
        let planned = report.info.stacks.iter().find(|planned| planned.id == stack.id);
        let sizes = planned.map(|planned| planned.drives.iter().map(|d| drive_bytes(report, d)));
        StackLine {
            id: stack.id.clone(),
            label,
            usable: planned.map(|p| p.capacity).filter(|bytes| *bytes > 0),
            raw: sizes.and_then(Iterator::sum::<Option<u64>>).filter(|bytes| *bytes > 0),
            survives: planned.map(|p| p.tolerates),
            speed: speeds.iter().find(|(id, _)| *id == stack.id).map(|(_, speed)| *speed),
        }
    };
    let is_of_run = |line: &StackLine| line.survives.is_some() || line.speed.is_some();
    report.study.stacks.iter().zip(labels).map(line).filter(is_of_run).collect()
}

/// The size of a drive: as the machine said, or else as the study does.
fn drive_bytes(report: &Report, name: &str) -> Option<u64> {
    let found = report.info.environment.drives.iter().find(|drive| drive.drive == name);
    let found = found.map(|drive| drive.size_bytes).filter(|bytes| *bytes > 0);
    let of_study = || report.study.drives.iter().find(|drive| drive.name.as_str() == name);
    found.or_else(|| of_study().map(|drive| drive.size.0))
}

/// `30 TB`, and `0 B` never.
pub(crate) fn space(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), |bytes| Bytes(bytes).si())
}

/// The number of findings that are severe, and of all others.
pub(crate) fn findings(report: &Report) -> (usize, usize) {
    let severe = |f: &&disklab_verdict::Finding| f.severity == Severity::Severe;
    let number = report.analysis.findings.iter().filter(severe).count();
    (number, report.analysis.findings.len() - number)
}
