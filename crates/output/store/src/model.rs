//! What a run remembers, besides its samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use disklab_cell::Cell;
use disklab_options::{RunOrigin, RunSettings};
use disklab_sample::{Environment, Reference};
use disklab_source::{Location, SourceError};
use disklab_study::{DriveRequests, LeftOut, PlannedStack, Study, load};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a run is: fixed when it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// disklab's version that began it.
    pub disklab: String,
    /// The study's id.
    pub study: String,
    /// The study's title.
    pub title: String,
    /// The study's file name as the user gave it.
    pub study_file: String,
    /// The study's whole text.
    pub study_text: String,
    /// Where its figures come from.
    pub bench: RunOrigin,
    /// The bench in a sentence.
    pub bench_about: String,
    /// What it was asked for.
    #[serde(default)]
    pub options: RunSettings,
    /// By how much sizes were scaled: 1 is as the study says.
    pub scale: f64,
    /// Blocks.
    pub repeats: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// When it began.
    pub created: Timestamp,
    /// The stacks as planned on this bench, in the study's order.
    #[serde(with = "crate::stacks")]
    pub stacks: Vec<PlannedStack>,
    /// What this bench or machine cannot do.
    pub left_out: Vec<LeftOut>,
    /// What its figures are compared with, if it is about a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Of a run of several real machines, what each of their runs was, by its level of the axis `machine`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<String, Self>,
    /// Machine and programs at the beginning.
    pub environment: Environment,
}

impl RunInfo {
    /// Whether the study was run in its quick form.
    pub fn is_quick(&self) -> bool {
        self.options.quick
    }

    /// The study as it was run, from the text that the run keeps.
    ///
    /// # Errors
    /// [`SourceError`] if this version does not understand it.
    pub fn load_study(&self) -> Result<Study, SourceError> {
        let mut study = load(&self.study_file, &self.study_text)?;
        if let Some(drives) = self.drives_of_run() {
            study = study.on_drives(&drives)?;
        }
        if self.is_quick() {
            study = study.into_quick_form()?;
        }
        study = study.about_pass(self.options.rebuild.as_ref(), self.options.scrub.as_ref())?;
        if self.is_import() {
            // What others measured has no levels of them.
            return Ok(study.without_axes());
        }
        let whole = Location { source: Arc::clone(&study.source), span: 0..0 };
        study.crossed_with(&self.options.axis).map_err(|why| whole.error(why.to_string()))
    }

    /// The drives in place of the study's, if it ran on others.
    pub fn drives_of_run(&self) -> Option<DriveRequests> {
        let drives = self.options.drives.as_ref().filter(|_| !self.is_import())?;
        drives.parse().ok()
    }

    /// Whether drives and time are modelled.
    pub fn is_lab(&self) -> bool {
        self.bench.is_lab()
    }

    /// Whether another program measured the figures.
    pub fn is_import(&self) -> bool {
        self.bench == RunOrigin::Import
    }

    /// Whether the lab charged for CPU time: it does where the command line
    /// or else the study, which then has it `of_study`, names a processor.
    pub fn charges_processor(&self, of_study: bool) -> bool {
        match self.options.processor.as_deref() {
            Some(word) => word != "none",
            None => self.is_lab() && of_study,
        }
    }

    /// How often the campaign looks at its samples to decide whether to continue; 1 where it
    /// does not. Each look is a chance to be deceived, so claims must stand as many.
    pub fn looks(&self) -> usize {
        self.options.looks.unwrap_or(1).clamp(1, 1000) as usize
    }

    /// Whether it ends when its intervals are narrow enough. Those of single figures must
    /// then be surer than usual, for repeats that happen to agree end it early.
    pub fn is_for_precision(&self) -> bool {
        self.options.precision.is_some() && self.options.goal.is_none()
    }
}

/// How far a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellState {
    /// Not run yet.
    Waiting,
    /// Run; there is a sample.
    Done,
    /// Tried and failed; there is an error instead of a sample.
    Failed,
}

/// A cell and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct CellRecord {
    /// Number, block, stack, workload and seed.
    pub cell: Cell,
    /// How far it is.
    pub state: CellState,
    /// Why it failed.
    pub error: Option<String>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Real seconds that it took, everything included.
    pub seconds: Option<f64>,
}

impl CellRecord {
    /// Of a cell that this much is known of.
    pub fn new(cell: Cell, state: CellState) -> Self {
        Self { cell, state, error: None, ended: None, seconds: None }
    }
}

/// One start of the program on this run: the first, or a resumption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// When it began.
    pub began: Timestamp,
    /// The command line.
    pub command: Vec<String>,
    /// disklab's version.
    pub disklab: String,
    /// The kernel, as `uname -srvm` says.
    pub kernel: String,
}
