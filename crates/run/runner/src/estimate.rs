//! What cells will cost: by what is known of workloads and benches, or by what a run's cells
//! took.

use std::borrow::Cow;

use disklab_bench::BenchError;
use disklab_cell::{Cell, CellEstimate, CellPlan};
use disklab_prediction::{CellPrediction, seconds_side_by_side};
use disklab_stack::FirstPass;
use disklab_units::{Bytes, duration_of};

use crate::RunnerError;
use crate::adaptive::block_seconds;
use crate::pilot::Pilot;
use crate::plan::Plan;
use crate::setup::DataDirectory;

/// What cells will cost together.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Bytes written to each of the study's drives.
    pub drive_writes: Vec<Bytes>,
    /// Largest space that a cell takes.
    pub space: Bytes,
    /// The same with what was overwritten, where its place is never used again.
    pub space_with_old: Bytes,
    /// Whether cells write until their time is over, so that they may write more, and take more.
    pub is_least: bool,
}

/// What a plan's cells will cost. Pure: it rests on the plan and, if there is one, on what the
/// cells of another run took.
#[derive(Debug, Clone, Copy)]
pub struct RunEstimate<'a> {
    plan: &'a Plan,
    pilot: Option<&'a Pilot>,
}

impl<'a> RunEstimate<'a> {
    /// By what is known of workloads and benches.
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, pilot: None }
    }

    /// By what the cells of a run took.
    pub fn from_pilot(plan: &'a Plan, pilot: &'a Pilot) -> Self {
        Self { plan, pilot: Some(pilot) }
    }

    /// What a block of all cells will take, in real seconds.
    pub fn block_seconds(&self) -> f64 {
        let block = self.plan.order(1);
        block_seconds(&block, &[], |cell| self.seconds(cell), self.plan.bench.at_once)
    }

    /// Refuses a budget in which not even one block would end.
    ///
    /// # Errors
    /// [`RunnerError::BudgetTooShort`], with how long a block takes.
    pub fn check_budget(&self) -> Result<(), RunnerError> {
        let Some(budget) = self.plan.stop.as_ref().and_then(|rule| rule.budget) else {
            return Ok(());
        };
        let block = self.block_seconds();
        if block <= budget.as_secs_f64() {
            return Ok(());
        }
        let (cells, block) = (self.plan.preflight.levels.len(), duration_of(block));
        Err(RunnerError::BudgetTooShort { budget, cells, block })
    }

    /// Refuses a run that has no room; the drives themselves have it.
    ///
    /// # Errors
    /// [`RunnerError::NoRoom`], with what is needed and what is free.
    pub fn check_room(&self, room: Option<&DataDirectory>) -> Result<(), RunnerError> {
        let Some(room) = room else { return Ok(()) };
        let needed = self.total().space;
        if needed <= room.usable {
            return Ok(());
        }
        Err(RunnerError::NoRoom {
            needed,
            directory: room.directory.clone(),
            usable: room.usable,
            remedy: room.remedy,
        })
    }

    /// What all cells of the plan will cost.
    pub fn total(&self) -> Prediction {
        self.predict(&self.plan.cells)
    }

    /// What a cell will cost by what is known of workloads and benches.
    fn known(&self, cell: &Cell) -> Cow<'a, CellPrediction> {
        let known = self.plan.predictions().get(&cell.levels);
        known.map_or_else(|| Cow::Owned(CellPrediction::default()), Cow::Borrowed)
    }

    /// What a cell will take, in seconds.
    pub fn seconds(&self, cell: &Cell) -> f64 {
        let known = self.known(cell).seconds;
        self.pilot.map_or(known, |pilot| pilot.seconds(cell, known))
    }

    /// Whether it rests on what the cells of a run took.
    pub fn is_learnt(&self) -> bool {
        self.pilot.is_some()
    }

    /// Virtual seconds of these cells, where a run in the lab has told them.
    pub fn virtual_seconds(&self, cells: &[Cell]) -> Option<f64> {
        self.pilot.filter(|_| self.plan.bench.is_simulated)?.clock_seconds(cells)
    }

    /// What these cells will cost together.
    pub fn predict<'c>(&self, cells: impl IntoIterator<Item = &'c Cell>) -> Prediction {
        let cells: Vec<&Cell> = cells.into_iter().collect();
        let drives = self.plan.drive_names();
        let mut total = Prediction {
            seconds: seconds_side_by_side(
                cells.iter().map(|cell| self.seconds(cell)),
                self.plan.bench.at_once,
            ),
            drive_writes: vec![Bytes::ZERO; drives.len()],
            space: Bytes::ZERO,
            space_with_old: Bytes::ZERO,
            is_least: false,
        };
        for cell in &cells {
            let known = self.known(cell);
            for (sum, written) in total.drive_writes.iter_mut().zip(&known.drive_writes) {
                *sum += *written;
            }
            total.space = total.space.max(known.space);
            total.space_with_old = total.space_with_old.max(known.content).max(known.space);
            total.is_least |= known.is_least;
        }
        if let Some(pilot) = self.pilot {
            let known = |cell: &Cell| self.known(cell).drive_writes.clone();
            total.drive_writes = pilot.written(&cells, &drives, known);
        }
        total
    }

    /// The plan of each cell, with what it will cost, one by one: a run may have a million.
    pub fn compiled<'c>(
        &'c self,
        cells: &'c [Cell],
    ) -> impl Iterator<Item = Result<CellPlan, BenchError>> + 'c {
        cells.iter().map(|cell| {
            let known = self.known(cell).estimate();
            let plan = self.plan.compile(cell)?;
            Ok(CellPlan { estimate: CellEstimate { seconds: self.seconds(cell), ..known }, ..plan })
        })
    }

    /// What goes over whole devices before the first use of a stack.
    pub fn passes(&self, stack: &str) -> &'a [FirstPass] {
        let mut of_cells = self.plan.predictions().iter();
        let of_stack = of_cells.find(|(levels, _)| levels.stack == stack);
        of_stack.map_or(&[], |(_, prediction)| &prediction.passes)
    }
}
