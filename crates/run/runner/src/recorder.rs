//! Takes what cells give, writes it into the run, and tells who watches.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use disklab_bench::{
    BenchError, CellExecutor, CellOutcome, CellProgress, CellWatcher, EndedCell, Phase,
};
use disklab_cell::{Cell, CellPlan};
use disklab_decision::Analyser;
use disklab_sample::Sample;
use disklab_store::{CellRecord, CellState, Run};
use disklab_study::Study;

use crate::observer::{Observer, UpcomingCells};
use crate::{Plan, RunnerError};

/// The plans of cells, one by one: a run may have a million.
pub(crate) type CellPlans<'a> = dyn Iterator<Item = Result<CellPlan, BenchError>> + 'a;

/// Submits cells in their order, and records them as they end. Returns how many failed.
pub(crate) fn run_recorded(
    plans: &mut CellPlans<'_>,
    executor: &mut dyn CellExecutor,
    run: &mut Run,
    answers: Option<Answers<'_>>,
    upcoming: &UpcomingCells<'_>,
    observer: &mut dyn Observer,
) -> Result<usize, RunnerError> {
    observer.cells_begin(upcoming);
    let mut recorder = Recorder { run, observer, failed: 0, answers };
    let result = carry_out(plans, executor, &mut recorder);
    executor.finish();
    recorder.observer.cells_end();
    result.map(|()| recorder.failed)
}

fn carry_out(
    plans: &mut CellPlans<'_>,
    executor: &mut dyn CellExecutor,
    recorder: &mut Recorder<'_>,
) -> Result<(), RunnerError> {
    let mut next: Option<CellPlan> = None;
    loop {
        if next.is_none() {
            next = plans.next().transpose().map_err(RunnerError::bench)?;
        }
        if let Some(compiled) = next.take_if(|compiled| executor.has_room(compiled)) {
            let outputs = recorder.begin(&compiled.cell)?;
            executor.submit(compiled, &outputs).map_err(RunnerError::bench)?;
            continue;
        }
        match executor.next(recorder).map_err(RunnerError::bench)? {
            Some(EndedCell { cell, outcome }) => recorder.end(&cell, outcome)?,
            None => return Ok(()),
        }
    }
}

/// Knows what the run has already: reads all its samples.
pub(crate) fn analyser_so_far(plan: &Plan, run: &Run) -> Result<Analyser, RunnerError> {
    let mut analyser =
        Analyser::new(plan.campaign.study.clone(), run.info().map_err(RunnerError::Record)?);
    run.for_each_sample(|record, sample| analyser.add(record, sample))
        .map_err(RunnerError::Record)?;
    Ok(analyser)
}

/// Records what executors give.
struct Recorder<'a> {
    run: &'a mut Run,
    observer: &'a mut dyn Observer,
    /// Cells that failed in this session.
    failed: usize,
    /// To tell how the stacks rank, if it knows all of the run.
    answers: Option<Answers<'a>>,
}

/// The analysis takes at most one part in so many of the time.
const SHARE_OF_TIME: u32 = 20;

/// Tells how the stacks rank, and what the run would recommend.
pub(crate) struct Answers<'a> {
    study: &'a Study,
    /// Knows the run's samples so far, and then also those of these cells.
    analyser: &'a mut Analyser,
    /// Cells of each block that have not ended.
    left: HashMap<u32, usize>,
    /// What it would recommend, not before this.
    next: Instant,
}

impl<'a> Answers<'a> {
    /// While these cells are carried out.
    pub(crate) fn new(study: &'a Study, analyser: &'a mut Analyser, cells: &[Cell]) -> Self {
        let mut left: HashMap<u32, usize> = HashMap::new();
        cells.iter().for_each(|cell| *left.entry(cell.block).or_default() += 1);
        Self { study, analyser, left, next: Instant::now() }
    }

    /// A cell ended.
    fn add(
        &mut self,
        cell: &Cell,
        sample: Option<(Sample, f64)>,
        run: &Run,
        observer: &mut dyn Observer,
    ) -> Result<(), RunnerError> {
        if let Some((sample, seconds)) = sample {
            self.report_leader(cell, sample, seconds, observer);
        }
        if self.is_due(cell) { self.tell(run, observer) } else { Ok(()) }
    }

    /// Tells how the stacks rank with this sample.
    fn report_leader(
        &mut self,
        cell: &Cell,
        sample: Sample,
        seconds: f64,
        observer: &mut dyn Observer,
    ) {
        let record =
            CellRecord { seconds: Some(seconds), ..CellRecord::new(cell.clone(), CellState::Done) };
        self.analyser.add(&record, sample);
        if let Some(ahead) = self.analyser.ahead(&cell.levels.workload) {
            observer.ahead(&ahead);
        }
    }

    /// Whether it is to be told now that this cell has ended: with the last of its block.
    fn is_due(&mut self, cell: &Cell) -> bool {
        let Some(left) = self.left.get_mut(&cell.block) else { return false };
        *left = left.saturating_sub(1);
        *left == 0 && Instant::now() >= self.next
    }

    /// Tells what the run would recommend now.
    fn tell(&mut self, run: &Run, observer: &mut dyn Observer) -> Result<(), RunnerError> {
        let began = Instant::now();
        let records = run.cells().map_err(RunnerError::Record)?;
        let analysis = self.analyser.so_far(&records);
        observer.recommends(self.study, &analysis.recommendations);
        self.next = Instant::now() + began.elapsed() * SHARE_OF_TIME;
        Ok(())
    }
}

impl Recorder<'_> {
    /// A cell begins; returns the directory for its raw outputs.
    fn begin(&mut self, cell: &Cell) -> Result<PathBuf, RunnerError> {
        self.observer.cell_begins(cell);
        self.run.begin_cell(cell).map_err(RunnerError::Record)
    }

    fn end(&mut self, cell: &Cell, outcome: CellOutcome) -> Result<(), RunnerError> {
        let CellOutcome { result, trace, seconds } = outcome;
        let error = result.as_ref().err().map(ToString::to_string);
        let recorded = match &result {
            Ok(sample) => self.run.record(cell, sample, seconds),
            Err(_) => {
                self.failed += 1;
                self.run.fail(cell, error.as_deref().unwrap_or_default(), &trace, seconds)
            }
        };
        recorded.map_err(RunnerError::Record)?;
        self.observer.cell_ends(cell, seconds, error.as_deref());
        match &mut self.answers {
            Some(answers) => {
                let sample = result.ok().map(|sample| (sample, seconds));
                answers.add(cell, sample, self.run, &mut *self.observer)
            }
            None => Ok(()),
        }
    }
}

impl CellWatcher for Recorder<'_> {
    fn phase(&mut self, cell: &Cell, phase: Phase) {
        self.observer.phase(cell, phase);
    }

    fn stands(&mut self, cell: &Cell, progress: CellProgress) {
        self.observer.cell_stands(cell, progress);
    }
}
