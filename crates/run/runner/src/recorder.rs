//! Takes what cells give, writes it into the run, and tells who watches.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use disklab_bench::{CellExecutor, CellOutcome, CellProgress, CellWatcher, EndedCell, Phase};
use disklab_cell::{Cell, CellPlan};
use disklab_decision::Analyser;
use disklab_sample::Sample;
use disklab_store::{CellRecord, CellState, Run};

use crate::observer::{Observer, UpcomingCells};
use crate::{Plan, RunEstimate, RunnerError};

/// Submits cells in their order, and records them as they end. Returns how many failed.
/// `analyser` knows the run's samples so far, and then also those of these cells.
pub(crate) fn run_recorded(
    plan: &Plan,
    cells: &[Cell],
    executor: &mut dyn CellExecutor,
    run: &mut Run,
    analyser: &mut Analyser,
    upcoming: &UpcomingCells<'_>,
    observer: &mut dyn Observer,
) -> Result<usize, RunnerError> {
    observer.cells_begin(upcoming);
    let mut left: HashMap<u32, usize> = HashMap::new();
    cells.iter().for_each(|cell| *left.entry(cell.block).or_default() += 1);
    let next_answers = NextAnswers { left, next: Instant::now() };
    let mut recorder = Recorder { plan, run, observer, failed: 0, analyser, next_answers };
    let result = carry_out(plan, cells, executor, &mut recorder);
    executor.finish();
    recorder.observer.cells_end();
    result.map(|()| recorder.failed)
}

fn carry_out(
    plan: &Plan,
    cells: &[Cell],
    executor: &mut dyn CellExecutor,
    recorder: &mut Recorder<'_>,
) -> Result<(), RunnerError> {
    let estimate = RunEstimate::new(plan);
    let mut waiting = estimate.compiled(cells);
    let mut next: Option<CellPlan> = None;
    loop {
        if next.is_none() {
            next = waiting.next().transpose().map_err(RunnerError::bench)?;
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
    plan: &'a Plan,
    run: &'a mut Run,
    observer: &'a mut dyn Observer,
    /// Cells that failed in this session.
    failed: usize,
    /// To tell how the stacks rank.
    analyser: &'a mut Analyser,
    next_answers: NextAnswers,
}

/// The analysis takes at most one part in so many of the time.
const SHARE_OF_TIME: u32 = 20;

/// When to tell what the run would recommend.
struct NextAnswers {
    /// Cells of each block that have not ended.
    left: HashMap<u32, usize>,
    /// Not before this.
    next: Instant,
}

impl NextAnswers {
    /// Whether it is to be told now that this cell has ended: with the last of its block.
    fn is_due(&mut self, cell: &Cell) -> bool {
        let Some(left) = self.left.get_mut(&cell.block) else { return false };
        *left = left.saturating_sub(1);
        *left == 0 && Instant::now() >= self.next
    }

    fn took(&mut self, time: Duration) {
        self.next = Instant::now() + time * SHARE_OF_TIME;
    }
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
        if let Some(ahead) = self.analyser.ahead(&cell.levels.workload) {
            self.observer.ahead(&ahead);
        }
    }
}

impl Recorder<'_> {
    /// Tells what the run would recommend now.
    fn tell_answers(&mut self) -> Result<(), RunnerError> {
        let began = Instant::now();
        let records = self.run.cells().map_err(RunnerError::Record)?;
        let analysis = self.analyser.so_far(&records);
        let study = &self.plan.campaign.study;
        self.observer.recommends(study, &analysis.recommendations);
        self.next_answers.took(began.elapsed());
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
        if let Ok(sample) = result {
            self.tell_ahead(cell, sample, seconds);
        }
        if self.next_answers.is_due(cell) { self.tell_answers() } else { Ok(()) }
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
