//! Takes what cells give, writes it into the run, and shows progress.

use std::path::PathBuf;

use disklab_bench::{CellOutcome, Phase, Sink, Standing};
use disklab_store::Run;
use disklab_study::Cell;

use crate::progress::Progress;

/// The sink of a run.
pub struct Recorder<'a> {
    run: &'a mut Run,
    progress: Progress,
    /// Cells that failed in this session.
    pub failed: usize,
}

impl<'a> Recorder<'a> {
    /// Records into `run`.
    pub fn new(run: &'a mut Run, progress: Progress) -> Self {
        Self { run, progress, failed: 0 }
    }

    /// Removes the progress bars.
    pub fn finish(&self) {
        self.progress.finish();
    }
}

impl Sink for Recorder<'_> {
    fn begin(&mut self, cell: &Cell) -> Result<PathBuf, String> {
        self.progress.begin(cell);
        self.run.begin_cell(cell).map_err(|e| e.to_string())
    }

    fn phase(&mut self, cell: &Cell, phase: Phase) {
        self.progress.phase(cell, phase);
    }

    fn stands(&mut self, cell: &Cell, standing: Standing) {
        self.progress.stands(cell, standing);
    }

    fn end(&mut self, cell: &Cell, outcome: CellOutcome) -> Result<(), String> {
        let CellOutcome { result, trace, seconds } = outcome;
        let recorded = match &result {
            Ok(sample) => self.run.record(cell, sample, seconds),
            Err(error) => {
                self.failed += 1;
                self.run.fail(cell, &error.to_string(), &trace, seconds)
            }
        };
        recorded.map_err(|e| e.to_string())?;
        let error = result.err().map(|e| e.to_string());
        self.progress.end(cell, seconds, error.as_deref());
        Ok(())
    }
}
