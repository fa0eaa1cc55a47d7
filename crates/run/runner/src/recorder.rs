//! Takes what cells give, writes it into the run, and tells who watches.

use std::path::PathBuf;

use disklab_bench::{CellOutcome, CellProgress, CellToRun, Phase, ReadyBench, Sink, SinkError};
use disklab_sample::Sample;
use disklab_store::{CellRecord, CellState, Run};
use disklab_study::Cell;
use disklab_verdict::Analyser;

use crate::observer::{Observer, UpcomingCells};
use crate::{Plan, RunEstimate, RunnerError};

/// Runs cells and records them. Returns how many failed. `analyser` knows the run's samples
/// so far, and then also those of these cells.
pub(crate) fn run_recorded(
    plan: &Plan,
    cells: &[Cell],
    bench: &mut ReadyBench,
    run: &mut Run,
    analyser: &mut Analyser,
    upcoming: &UpcomingCells<'_>,
    observer: &mut dyn Observer,
) -> Result<usize, RunnerError> {
    observer.cells_begin(upcoming);
    let mut recorder = Recorder { run, observer, failed: 0, analyser };
    let contents = RunEstimate::new(plan).contents(cells);
    let to_run = |(cell, content)| CellToRun { cell, content };
    let cells: Vec<CellToRun<'_>> = cells.iter().zip(contents).map(to_run).collect();
    let result = bench.run_cells(&plan.campaign, &cells, &mut recorder);
    let failed = recorder.failed;
    recorder.observer.cells_end();
    result.map(|()| failed).map_err(RunnerError::bench)
}

/// Knows what the run has already: reads all its samples.
pub(crate) fn analyser_so_far(plan: &Plan, run: &Run) -> Result<Analyser, RunnerError> {
    let mut analyser =
        Analyser::new(plan.campaign.study.clone(), run.info().map_err(RunnerError::Record)?);
    run.for_each_sample(|record, sample| analyser.add(record, sample))
        .map_err(RunnerError::Record)?;
    Ok(analyser)
}

/// The sink of a run.
struct Recorder<'a> {
    run: &'a mut Run,
    observer: &'a mut dyn Observer,
    /// Cells that failed in this session.
    failed: usize,
    /// To tell how the stacks rank.
    analyser: &'a mut Analyser,
}

impl Recorder<'_> {
    /// Tells how the stacks rank with this sample.
    fn tell_ahead(&mut self, cell: &Cell, sample: Sample, seconds: f64) {
        let record = CellRecord {
            cell: cell.clone(),
            state: CellState::Done,
            error: None,
            ended: None,
            seconds: Some(seconds),
        };
        self.analyser.add(&record, sample);
        if let Some(ahead) = self.analyser.ahead(&cell.workload) {
            self.observer.ahead(&ahead);
        }
    }
}

impl Sink for Recorder<'_> {
    fn begin(&mut self, cell: &Cell) -> Result<PathBuf, SinkError> {
        self.observer.cell_begins(cell);
        Ok(self.run.begin_cell(cell)?)
    }

    fn phase(&mut self, cell: &Cell, phase: Phase) {
        self.observer.phase(cell, phase);
    }

    fn stands(&mut self, cell: &Cell, progress: CellProgress) {
        self.observer.cell_stands(cell, progress);
    }

    fn end(&mut self, cell: &Cell, outcome: CellOutcome) -> Result<(), SinkError> {
        let CellOutcome { result, trace, seconds } = outcome;
        let error = result.as_ref().err().map(ToString::to_string);
        match (&result, &error) {
            (Ok(sample), _) => self.run.record(cell, sample, seconds)?,
            (Err(_), error) => {
                self.failed += 1;
                self.run.fail(cell, error.as_deref().unwrap_or_default(), &trace, seconds)?;
            }
        }
        self.observer.cell_ends(cell, seconds, error.as_deref());
        if let Ok(sample) = result {
            self.tell_ahead(cell, sample, seconds);
        }
        Ok(())
    }
}
