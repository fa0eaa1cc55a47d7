//! Everything that a report says.

use std::collections::BTreeMap;

use disklab_audits::{Audited, Auditor, Finding, Group};
use disklab_comparisons::{Ahead, Answer, ahead, answers};
use disklab_sample::Sample;
use disklab_store::{CellRecord, RunInfo};
use disklab_study::Study;

use crate::directory;
use crate::purposes::{Recommendation, recommend};
use crate::sentences::{nothing_measured, sentences_of_answers};
use crate::summary::summary;

/// Everything that a report says, worked out of a run in one pass over its samples.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// One per stack, workload, step and direction, in the study's order; behind them,
    /// where a question asks for steady parts, the same again of these.
    pub groups: Vec<Group>,
    /// One per question, in the study's order; made up, one per figure, where
    /// the study asks none.
    pub answers: Vec<Answer>,
    /// What makes samples or comparisons suspect, most severe first.
    pub findings: Vec<Finding>,
    /// Plain sentences, strongest first, each with its interval or 'once'.
    pub summary: Vec<String>,
    /// What each answer says, in plain sentences.
    pub sentences: Vec<Vec<String>>,
    /// Which stack to take for each purpose.
    pub recommendations: Vec<Recommendation>,
}

impl Analysis {
    /// What an answer says, by its number.
    pub fn sentences_of(&self, answer: usize) -> &[String] {
        self.sentences.get(answer).map_or(&[], Vec::as_slice)
    }

    /// From what the samples are to what may be said of them.
    fn of(study: &Study, info: &RunInfo, audited: Audited) -> Self {
        let Audited { groups, findings, unfinished, unsteady } = audited;
        let answers = answers(study, info, &groups);
        let sentences = sentences_of_answers(study, &groups, &findings, &unsteady, &answers);
        let of_directory = directory::sentences(study, info, &groups, &answers);
        let summary = if groups.is_empty() {
            nothing_measured(&unfinished)
        } else if of_directory.is_empty() {
            summary(study, &groups, &answers, &findings)
        } else {
            of_directory
        };
        let recommendations = recommend(study, info, &groups, &findings);
        Self { groups, answers, findings, summary, sentences, recommendations }
    }
}

/// Takes samples one by one, and gives the analysis.
#[derive(Debug, Clone)]
pub struct Analyser(Auditor);

impl Analyser {
    /// Knows no samples yet.
    pub fn new(study: Study, info: RunInfo) -> Self {
        Self(Auditor::new(study, info))
    }

    /// The same of cells at these levels of the study's axes, in place of the first ones.
    #[must_use]
    pub fn at(self, levels: BTreeMap<String, String>) -> Self {
        Self(self.0.at(levels))
    }

    /// Adds a finished cell. Cells may come in any order.
    pub fn add(&mut self, record: &CellRecord, sample: Sample) {
        self.0.add(record, sample);
    }

    /// Adds a cell that failed or has not run. Finished ones are ignored here.
    pub fn add_unfinished(&mut self, record: &CellRecord) {
        self.0.add_unfinished(record);
    }

    /// How the stacks rank in the first question about this workload.
    pub fn ahead(&self, workload: &str) -> Option<Ahead> {
        ahead(self.0.study(), self.0.groups(), workload)
    }

    /// What [`Self::finish`] would give now, while cells still come. `records` are all cells of
    /// the run: those that are not done yet, and when the others ended.
    pub fn so_far(&self, records: &[CellRecord]) -> Analysis {
        Analysis::of(self.0.study(), self.0.info(), self.0.so_far(records))
    }

    /// Works everything out.
    pub fn finish(self) -> Analysis {
        let (study, info) = (self.0.study().clone(), self.0.info().clone());
        Analysis::of(&study, &info, self.0.finish())
    }
}
