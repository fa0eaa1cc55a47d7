//! What a report is made of.

use std::collections::BTreeMap;

use disklab_campaign::CampaignOutcome;
use disklab_decision::{Analysis, AxisEffect, Failures};
use disklab_published::RowComparison;
use disklab_source::SourceError;
use disklab_store::{CellRecord, RunInfo, Session, StoreError};
use disklab_study::Study;

use crate::Facts;

/// Everything that a report says, in memory. Rendering it is pure.
#[derive(Debug, Clone)]
pub struct Report {
    /// Bench, options and machine, as the run keeps them.
    pub info: RunInfo,
    /// All its cells.
    pub cells: Vec<CellRecord>,
    /// Directories of raw outputs by the cells' numbers, relative to the run's own; a run may
    /// have none.
    pub outputs: BTreeMap<u32, String>,
    /// All starts of the program on it.
    pub sessions: Vec<Session>,
    /// The levels of the study's axes that it is about, by their axes; empty without axes.
    pub at: BTreeMap<String, String>,
    /// What other levels change, if it is about the first ones.
    pub effects: Vec<AxisEffect>,
    /// Its study, read from the text that the run keeps.
    pub study: Study,
    /// Figures, answers, findings, and what to take for which purpose.
    pub analysis: Analysis,
    /// Surroundings, overhead, notes, commands.
    pub facts: Facts,
    /// Published and measured results; `None` if nothing was published about the study.
    pub published: Option<RowComparison>,
    /// What came of a campaign that decided as it went how long to run; none of others.
    pub campaign: Option<CampaignOutcome>,
    /// What it says of the day on which a drive fails.
    pub failures: Failures,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The study that the run keeps cannot be read.
    #[error("the run's own copy of its study cannot be read: {0}")]
    Study(SourceError),
    /// The run has no cells at a level that was asked for.
    #[error("the run has no cells at {axis}={level}; {known}")]
    Level {
        /// As it was asked for.
        axis: String,
        /// As it was asked for.
        level: String,
        /// What it has instead, in words.
        known: String,
    },
    /// What was published cannot be read: disklab was built wrong.
    #[error("what was published cannot be read: {0}")]
    Published(SourceError),
}
