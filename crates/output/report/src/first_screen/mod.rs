//! What a person sees first: which stack to take for what, how sure that is, and what it
//! costs in space. The page and the terminal show the same.

mod answers;
mod label;
mod lines;
mod next;
mod so_far;
mod speed;
mod text;
mod unsettled;

use disklab_audits::Severity;
use disklab_decision::{Recommendation, StackChoice};
use disklab_study::Study;
use disklab_units::Bytes;

use crate::Report;

pub(crate) use label::label;
pub use lines::{SCREEN_WIDTH, TextStyle, wrapped};
pub(crate) use next::{NextStep, SETTLE, next_steps};
pub use so_far::{answers_so_far, so_far};
pub(crate) use speed::{SpeedBasis, per_cent_of_best, speeds};
pub use text::first_screen;

/// All that is on it.
pub(crate) struct FirstScreen<'a> {
    pub recommendations: &'a [Recommendation],
    /// In the study's order.
    pub stacks: Vec<StackLine>,
    /// How many drives may fail, for each class that has an answer, in order.
    pub classes: Vec<Option<u32>>,
    /// What the stacks' speed is of.
    pub speed_of: SpeedBasis,
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
    /// All purposes that count alike, next to the best stack: 1 is the best.
    pub speed: Option<f64>,
    /// How long it takes to be redundant again once a failed drive is replaced.
    pub rebuilt_in: Option<String>,
    /// How long a scrub of all of its drives takes, if that was measured.
    pub scrubbed_in: Option<String>,
}

/// An answer: the stack to take for a purpose.
pub(crate) struct Pick<'a> {
    pub recommendation: &'a Recommendation,
    pub decision: &'a StackChoice,
    /// How sure, in a sentence.
    pub how_sure: String,
    /// The stack on the other side of the trade, in a sentence.
    pub trade: Option<String>,
    /// What would be taken if one of the things that count did not, in a sentence.
    pub would_change: Option<String>,
}

impl<'a> FirstScreen<'a> {
    pub(crate) fn of(report: &'a Report) -> Self {
        let recommendations = &report.analysis.recommendations;
        let (stacks, speed_of) = stack_lines(report);
        Self { recommendations, stacks, classes: classes(recommendations), speed_of }
    }

    /// The class that is shown first.
    pub(crate) fn first_class(&self) -> Option<Option<u32>> {
        first_class(&self.classes)
    }

    /// The answers of a class, judged purposes first.
    pub(crate) fn picks(&self, class: Option<u32>) -> Vec<Pick<'a>> {
        let (judged, partial): (Vec<_>, Vec<_>) =
            self.recommendations.iter().partition(|r| r.why_not.is_none());
        judged
            .into_iter()
            .chain(partial)
            .filter_map(|r| {
                let decision = r.decisions.iter().find(|d| d.survives == class)?;
                let name = |id: &str| self.label(id).to_owned();
                Some(Pick {
                    recommendation: r,
                    decision,
                    how_sure: decision.how_sure(r, &name),
                    trade: decision.trade.as_ref().map(|trade| trade.sentence(&name)),
                    would_change: decision.would_change.first().map(|c| c.sentence(&name)),
                })
            })
            .collect()
    }

    /// What more space would cost in a class, a stack a sentence: 'RAID 5 · XFS stores 10 TB more:
    /// films and photos 11 % less, backup 3 % more'.
    pub(crate) fn trades(&self, class: Option<u32>) -> Vec<String> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for pick in self.picks(class) {
            let Some(trade) = &pick.decision.trade else { continue };
            let head = format!(
                "{} stores {} more",
                self.label(&trade.stack),
                Bytes(trade.more_bytes).si()
            );
            let purpose = pick.recommendation.purpose.short.to_lowercase();
            let cost = format!("{purpose} {}", trade.cost());
            match all.iter_mut().find(|(known, _)| *known == head) {
                Some((_, costs)) => costs.push(cost),
                None => all.push((head, vec![cost])),
            }
        }
        all.into_iter().map(|(head, costs)| format!("{head}: {}", costs.join(", "))).collect()
    }

    /// How long the stacks that are taken in a class take to be redundant again, and to be scrubbed, a time a
    /// sentence: 'rebuilt in 18.3 h: RAID 5 · XFS, RAID 1 · ext4'.
    pub(crate) fn passes(&self, class: Option<u32>) -> Vec<String> {
        let rebuilds = self.times("A drive that fails is rebuilt in", class, |s| &s.rebuilt_in);
        let scrubs = self.times("A scrub takes", class, |s| &s.scrubbed_in);
        [rebuilds, scrubs].concat()
    }

    fn times(
        &self,
        what: &str,
        class: Option<u32>,
        of: fn(&StackLine) -> &Option<String>,
    ) -> Vec<String> {
        let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
        for pick in self.picks(class) {
            let Some(stack) = self.stack(&pick.decision.take) else { continue };
            let Some(time) = of(stack).as_deref() else { continue };
            match all.iter_mut().find(|(known, _)| *known == time) {
                Some((_, stacks)) if stacks.contains(&stack.label.as_str()) => {}
                Some((_, stacks)) => stacks.push(&stack.label),
                None => all.push((time, vec![&stack.label])),
            }
        }
        let sentence =
            |(time, stacks): (&str, Vec<&str>)| format!("{what} {time}: {}", stacks.join(", "));
        all.into_iter().map(sentence).collect()
    }

    pub(crate) fn stack(&self, id: &str) -> Option<&StackLine> {
        self.stacks.iter().find(|stack| stack.id == id)
    }

    pub(crate) fn label<'b>(&'b self, id: &'b str) -> &'b str {
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

    /// Whether any answer is one to all that its purpose asks for.
    pub(crate) fn has_whole_answers(&self) -> bool {
        self.recommendations.iter().any(|r| r.why_not.is_none() && !r.decisions.is_empty())
    }

    /// Whether something that decides was not measured.
    pub(crate) fn is_partial(&self) -> bool {
        self.decisions().any(|decision| decision.is_partial)
    }

    /// Whether more samples could settle something.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.decisions().any(|decision| decision.confidence.is_unsettled())
    }

    fn decisions(&self) -> impl Iterator<Item = &StackChoice> {
        self.recommendations.iter().flat_map(|r| &r.decisions)
    }
}

/// The stacks of a run, and what their speed is of.
pub(crate) fn stack_lines(report: &Report) -> (Vec<StackLine>, SpeedBasis) {
    let (speeds, speed_of) = speeds(report);
    let labels = labels(&report.study);
    let line = |(stack, label): (&disklab_study::StackSpec, String)| {
        let planned = report.info.stacks.iter().find(|planned| planned.id == stack.id);
        let sizes = planned.map(|planned| planned.data_drives().map(|d| drive_bytes(report, d)));
        StackLine {
            id: stack.id.clone(),
            label,
            usable: planned.map(|p| p.capacity).filter(|bytes| *bytes > 0),
            raw: sizes.and_then(Iterator::sum::<Option<u64>>).filter(|bytes| *bytes > 0),
            survives: planned.map(|p| p.tolerates),
            speed: speeds.iter().find(|(id, _)| *id == stack.id).map(|(_, speed)| *speed),
            rebuilt_in: report.failures.rebuilt_in(&stack.id),
            scrubbed_in: report.failures.scrubbed_in(&stack.id),
        }
    };
    let is_of_run = |line: &StackLine| line.survives.is_some() || line.speed.is_some();
    let lines = report.study.stacks.iter().zip(labels).map(line).filter(is_of_run).collect();
    (lines, speed_of)
}

/// The study's stacks as people call them. Two that they would call the same keep their ids.
pub(crate) fn labels(study: &Study) -> Vec<String> {
    let mut labels: Vec<String> = study.stacks.iter().map(|stack| label(&stack.id)).collect();
    for (index, stack) in study.stacks.iter().enumerate() {
        if labels.iter().filter(|other| **other == labels[index]).count() > 1 {
            labels[index].clone_from(&stack.id);
        }
    }
    labels
}

/// The class that is shown first: one drive may fail, or else the most that one can have.
fn first_class(classes: &[Option<u32>]) -> Option<Option<u32>> {
    let one = classes.iter().find(|class| **class == Some(1));
    one.or(classes.last()).copied()
}

/// How many drives may fail, for each class that has an answer, in order.
fn classes(recommendations: &[Recommendation]) -> Vec<Option<u32>> {
    let decisions = recommendations.iter().flat_map(|r| &r.decisions);
    let mut classes: Vec<Option<u32>> = decisions.map(|d| d.survives).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
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
    let severe = |f: &&disklab_audits::Finding| f.severity == Severity::Severe;
    let number = report.analysis.findings.iter().filter(severe).count();
    (number, report.analysis.findings.len() - number)
}
