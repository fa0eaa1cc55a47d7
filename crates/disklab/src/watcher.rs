//! Shows on standard error how far a run is.

use disklab_bench::{CellProgress, Phase};
use disklab_runner::{CellForecast, Observer, UpcomingCells};
use disklab_study::Cell;
use disklab_verdict::Ahead;

use crate::progress::Progress;

/// Watches runs for the user.
#[derive(Default)]
pub struct Watcher {
    /// While cells run.
    progress: Option<Progress>,
}

impl Observer for Watcher {
    fn note(&mut self, line: &str) {
        eprintln!("{line}");
    }

    fn cells_begin(&mut self, cells: &UpcomingCells<'_>) {
        let pairs = |cells: &[CellForecast]| -> Vec<(String, f64)> {
            cells.iter().map(|cell| (cell.workload.clone(), cell.seconds)).collect()
        };
        let next = pairs(cells.next);
        self.progress = Some(match &cells.campaign {
            None => Progress::new(&next, cells.at_once),
            Some(campaign) => Progress::of_block(
                &next,
                &pairs(campaign.later),
                campaign.recorded,
                cells.at_once,
                campaign.limit,
            ),
        });
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

    fn cells_end(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
    }
}
