//! What a run remembers, besides its samples.

use std::collections::BTreeMap;

use disklab_sample::Environment;
use disklab_study::{Cell, LeftOut, PlannedStack};
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
    /// The bench as on the command line: `loop`, `dir:/srv/x`, `disks:…`, `lab`.
    pub bench: String,
    /// The bench in a sentence.
    pub bench_about: String,
    /// The bench's settings, by the names of their flags, such as `drive-size`.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// By how much sizes were scaled: 1 is as the study says.
    pub scale: f64,
    /// Blocks.
    pub repeats: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// When it began.
    pub created: Timestamp,
    /// The stacks as planned on this bench, in the study's order.
    pub stacks: Vec<PlannedStack>,
    /// What this bench or machine cannot do.
    pub left_out: Vec<LeftOut>,
    /// Machine and programs at the beginning.
    pub environment: Environment,
}

impl RunInfo {
    /// Name of the option that says how often a campaign looks at its samples.
    pub const LOOKS: &'static str = "looks";
    /// Name of the option that says what a campaign is for: the best stack, or a ranking.
    pub const GOAL: &'static str = "goal";
    /// Name of the option that says how exactly a campaign is to know what it measures.
    pub const PRECISION: &'static str = "precision";

    /// Name of the option that says how long a campaign may take.
    pub const BUDGET: &'static str = "budget";
    /// Name of the option that says when a cell of the lab is stopped.
    pub const CELL_LIMIT: &'static str = "cell-limit";
    /// Name of the option that says whose processor's work is charged for.
    pub const PROCESSOR: &'static str = "processor";

    /// Name of the option that says which kernel the lab's guests run, if the user named one.
    pub const KERNEL: &'static str = "kernel";

    /// Names of the options that say which cells run or where files lie, not how. A kernel is
    /// known by its digest, wherever it lies.
    pub(crate) const ABOUT_CELLS: [&'static str; 5] =
        ["only", "without", "scratch", Self::KERNEL, Self::CELL_LIMIT];

    /// Whether drives and time are modelled.
    pub fn is_lab(&self) -> bool {
        self.bench.split(':').next() == Some("lab")
    }

    /// Whether another program measured the figures.
    pub fn is_import(&self) -> bool {
        self.bench == "import"
    }

    /// Whether the lab charged for the processor's work: it does where the command line
    /// or else the study, which then has it `of_study`, names a processor.
    pub fn charges_processor(&self, of_study: bool) -> bool {
        match self.options.get(Self::PROCESSOR).map(String::as_str) {
            Some(word) => word != "none",
            None => self.is_lab() && of_study,
        }
    }

    /// How often the campaign looks at its samples to decide whether to go on; 1 where it
    /// does not. Each look is a chance to be deceived, so claims must stand as many.
    pub fn looks(&self) -> usize {
        let told = self.options.get(Self::LOOKS).and_then(|text| text.parse().ok());
        told.unwrap_or(1).clamp(1, 1000)
    }

    /// Whether it ends when its intervals are narrow enough. Those of single figures must
    /// then be surer than usual, for repeats that happen to agree end it early.
    pub fn is_for_precision(&self) -> bool {
        self.options.contains_key(Self::PRECISION) && !self.options.contains_key(Self::GOAL)
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
    /// The cell.
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
