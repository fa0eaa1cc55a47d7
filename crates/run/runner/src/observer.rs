//! Who watches a run.

use disklab_bench::{CellProgress, Phase};
use disklab_cell::Cell;
use disklab_comparisons::Ahead;
use disklab_decision::Recommendation;
use disklab_store::CellRecord;
use disklab_study::Study;

/// Is told what happens while a run is carried out, to show it. Nothing is shown by default.
pub trait Observer {
    /// Something that the user should know, in a line.
    fn note(&mut self, line: &str) {
        let _ = line;
    }

    /// These cells begin; [`Observer::cells_end`] follows.
    fn cells_begin(&mut self, cells: &UpcomingCells<'_>) {
        let _ = cells;
    }

    /// Its stack is about to be made.
    fn cell_begins(&mut self, cell: &Cell) {
        let _ = cell;
    }

    /// A cell enters a phase.
    fn phase(&mut self, cell: &Cell, phase: Phase) {
        let _ = (cell, phase);
    }

    /// A cell is so far; a few times a second.
    fn cell_stands(&mut self, cell: &Cell, progress: CellProgress) {
        let _ = (cell, progress);
    }

    /// A cell ended after so many seconds, with an error if it failed.
    fn cell_ends(&mut self, cell: &Cell, seconds: f64, error: Option<&str>) {
        let _ = (cell, seconds, error);
    }

    /// How the stacks stand, after a cell that told more of it.
    fn ahead(&mut self, ahead: &Ahead) {
        let _ = ahead;
    }

    /// What the run would recommend now; after a block, if the stacks can be compared.
    fn recommends(&mut self, study: &Study, recommendations: &[Recommendation]) {
        let _ = (study, recommendations);
    }

    /// No cell runs any more: all ended, or the run stopped.
    fn cells_end(&mut self) {}
}

/// A cell that will run, for predictions of the time left.
#[derive(Debug, Clone, PartialEq)]
pub struct CellForecast {
    /// The workload's id.
    pub workload: String,
    /// Real seconds that it will take.
    pub seconds: f64,
}

/// Cells that are about to run.
#[derive(Debug)]
pub struct UpcomingCells<'a> {
    /// In their order.
    pub next: &'a [CellForecast],
    /// How many run side by side.
    pub at_once: usize,
    /// All cells that the run has so far.
    pub recorded: &'a [CellRecord],
    /// How far the campaign is, if the samples or the clock decide how long it runs.
    pub campaign: Option<CampaignProgress<'a>>,
}

/// How far a campaign is that decides as it goes.
#[derive(Debug)]
pub struct CampaignProgress<'a> {
    /// When its samples are looked at; none if only the clock ends it.
    pub look: Option<NextLook<'a>>,
    /// Seconds that are left at most.
    pub limit: Option<f64>,
}

/// The next time that a campaign looks at its samples.
#[derive(Debug)]
pub struct NextLook<'a> {
    /// Whether it is the first one.
    pub is_first: bool,
    /// Cells that come after the next ones, and before it.
    pub then: &'a [CellForecast],
}
