//! Shows on standard error how far a run is.

use disklab_bench::{CellProgress, Phase};
use disklab_cell::Cell;
use disklab_comparisons::Ahead;
use disklab_decision::Recommendation;
use disklab_report::answers_so_far;
use disklab_runner::{Observer, UpcomingCells};
use disklab_study::Study;

use crate::progress::{LastOutput, Progress};

/// Watches runs for the user.
#[derive(Default)]
pub struct Watcher {
    /// While cells run.
    progress: Option<Progress>,
    /// Between them.
    last: LastOutput,
}

impl Observer for Watcher {
    fn note(&mut self, line: &str) {
        eprintln!("{line}");
    }

    fn cells_begin(&mut self, cells: &UpcomingCells<'_>) {
        let last = std::mem::take(&mut self.last);
        self.progress = Some(Progress::new(cells, last).shown());
    }

    fn cell_begins(&mut self, cell: &Cell) {
        if let Some(progress) = &mut self.progress {
            progress.begin(cell);
        }
    }

    fn phase(&mut self, cell: &Cell, phase: Phase) {
        if let Some(progress) = &mut self.progress {
            progress.phase(cell, phase);
        }
    }

    fn cell_stands(&mut self, cell: &Cell, cell_progress: CellProgress) {
        if let Some(progress) = &mut self.progress {
            progress.stands(cell, cell_progress);
        }
    }

    fn cell_ends(&mut self, cell: &Cell, seconds: f64, error: Option<&str>) {
        if let Some(progress) = &mut self.progress {
            progress.end(cell, seconds, error);
        }
    }

    fn ahead(&mut self, ahead: &Ahead) {
        if let Some(progress) = &self.progress {
            progress.ahead(&ahead.line());
        }
    }

    fn recommends(&mut self, study: &Study, recommendations: &[Recommendation]) {
        if let Some(progress) = &mut self.progress {
            progress.recommends(answers_so_far(study, recommendations));
        }
    }

    fn cells_end(&mut self) {
        if let Some(progress) = self.progress.take() {
            self.last = progress.finish();
        }
    }
}
