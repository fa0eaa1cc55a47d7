//! What cells will cost: by what is known of workloads and benches, or by what a run's cells
//! took.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use disklab_bench::{
    BenchError, CellWrites, LayoutCost, PredictedBytes, cell_seconds, predict_bytes,
};
use disklab_cell::{Cell, CellEstimate, CellPlan, Levels};
use disklab_units::{Bytes, duration_of};
use disklab_workload::Cost;

use crate::RunnerError;
use crate::adaptive::block_seconds;
use crate::pilot::Pilot;
use crate::plan::Plan;
use crate::setup::Room;

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
    pub fn check_room(&self, room: Option<&Room>) -> Result<(), RunnerError> {
        let Some(room) = room else { return Ok(()) };
        let needed = self.total().space;
        if needed <= room.usable {
            return Ok(());
        }
        Err(RunnerError::NoRoom {
            needed,
            folder: room.folder.clone(),
            usable: room.usable,
            remedy: room.remedy,
        })
    }

    /// What all cells of the plan will cost.
    pub fn total(&self) -> Prediction {
        self.predict(&self.plan.cells)
    }

    /// What a cell will cost.
    pub fn cost(&self, cell: &Cell) -> Cost {
        self.plan
            .campaign
            .study
            .workload_index(&cell.levels.workload)
            .map_or_else(Cost::default, |index| self.plan.campaign.workloads[index].cost())
    }

    /// What a cell will take, in seconds.
    pub fn seconds(&self, cell: &Cell) -> f64 {
        self.seconds_of(cell, &self.cost(cell))
    }

    /// What a cell of this cost will take, in seconds.
    fn seconds_of(&self, cell: &Cell, cost: &Cost) -> f64 {
        let formula = cell_seconds(cost, &self.layout(cell), self.plan.bench.medium);
        self.pilot.map_or(formula, |pilot| pilot.seconds(cell, formula))
    }

    /// What a cell's stack makes of its workload's I/O.
    fn layout(&self, cell: &Cell) -> LayoutCost {
        let Some(stack) = self.plan.preflight.stacks.iter().position(|s| s.id == cell.levels.stack)
        else {
            return LayoutCost::SINGLE;
        };
        let tolerates = self.plan.preflight.stacks[stack].tolerates;
        LayoutCost::new(&self.plan.preflight.writes[stack], tolerates)
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
        let places = self.planned_stacks();
        let costs: Vec<Cost> = cells.iter().map(|cell| self.cost(cell)).collect();
        let seconds = cells.iter().zip(&costs).map(|(cell, cost)| self.seconds_of(cell, cost));
        let seconds = side_by_side(seconds, self.plan.bench.at_once);
        let PredictedBytes { mut drive_writes, space, content_with_old, is_least, .. } =
            self.bytes(&cells, &costs, &places);
        if let Some(pilot) = self.pilot {
            let one = |cell: &Cell| self.bytes(&[cell], &[self.cost(cell)], &places).drive_writes;
            drive_writes = pilot.written(&cells, &self.plan.drive_names(), one);
        }
        let space_with_old = content_with_old.max(space);
        Prediction { seconds, drive_writes, space, space_with_old, is_least }
    }

    /// What each cell's drives will hold that takes space, where they are simulated.
    pub fn contents(&self, cells: &[Cell]) -> Vec<Bytes> {
        let places = self.planned_stacks();
        let mut known: HashMap<&Levels, Bytes> = HashMap::new();
        let mut content = |cell| {
            let of_levels = || self.bytes(&[cell], &[self.cost(cell)], &places).content_with_old;
            *known.entry(&cell.levels).or_insert_with(of_levels)
        };
        cells.iter().map(&mut content).collect()
    }

    /// The plan of each cell, with what it will cost, one by one: a run may have a million.
    pub fn compiled<'c>(
        &'c self,
        cells: &'c [Cell],
    ) -> impl Iterator<Item = Result<CellPlan, BenchError>> + 'c {
        cells.iter().zip(self.contents(cells)).map(|(cell, content)| {
            let seconds = self.seconds(cell);
            let estimate = CellEstimate { seconds, content, ..CellEstimate::default() };
            self.plan.compile(cell, estimate)
        })
    }

    /// Bytes written to each of the study's drives for one byte of a cell's data, by stack
    /// and workload; none where nothing is known of the drives' sizes.
    fn shares_of_first<'c>(&self, cells: &[&'c Cell]) -> HashMap<&'c Levels, Vec<f64>> {
        let mut all = HashMap::new();
        let sizes_of_study = self.plan.preflight.sizes();
        for cell in cells {
            if all.contains_key(&cell.levels) {
                continue;
            }
            let Some(index) = self.plan.campaign.study.stack_index(&cell.levels.stack) else {
                continue;
            };
            let drives = &self.plan.campaign.study.stacks[index].drives;
            let size = |drive: &usize| sizes_of_study.get(*drive).copied().flatten();
            let Some(sizes) = drives.iter().map(size).collect::<Option<Vec<Bytes>>>() else {
                continue;
            };
            let data = self.cost(cell).space;
            let Ok(volume) = self.plan.campaign.stacks[index].shape_of_first(&sizes, data) else {
                continue;
            };
            let mut shares = vec![0.0; sizes_of_study.len()];
            for (drive, share) in drives.iter().zip(volume.drive_writes) {
                shares[*drive] = share;
            }
            all.insert(&cell.levels, shares);
        }
        all
    }

    /// Where each stack is in the preflight, by its id.
    fn planned_stacks(&self) -> HashMap<&'a str, usize> {
        self.plan
            .preflight
            .stacks
            .iter()
            .enumerate()
            .map(|(at, stack)| (stack.id.as_str(), at))
            .collect()
    }

    /// What these cells, of these costs, will write and take by what is known of the workloads and
    /// the bench.
    fn bytes(
        &self,
        cells: &[&Cell],
        costs: &[Cost],
        places: &HashMap<&str, usize>,
    ) -> PredictedBytes {
        let stack = |cell: &Cell| places.get(cell.levels.stack.as_str()).copied();
        let shares = self.shares_of_first(cells);
        let writes = |cell: &Cell| {
            let own = shares.get(&cell.levels).cloned();
            own.or_else(|| stack(cell).map(|i| self.plan.preflight.writes[i].shares.clone()))
        };
        let costed = |writes: &dyn Fn(&Cell) -> Option<Vec<f64>>| {
            let writes: Vec<Vec<f64>> =
                cells.iter().map(|cell| writes(cell).unwrap_or_default()).collect();
            predict_bytes(cells.iter().zip(costs).zip(&writes).map(|((cell, cost), shares)| {
                let planned = stack(cell).map(|i| &self.plan.preflight.writes[i]);
                let kept = planned.map(|writes| writes.kept).unwrap_or_default();
                let making = planned.map_or(&[][..], |writes| &writes.format.bytes);
                CellWrites { cost: *cost, shares, kept, making }
            }))
        };
        let mut prediction = costed(&writes);
        for stack in cells.iter().filter_map(|cell| stack(cell)) {
            let made = &self.plan.preflight.writes[stack].format.bytes;
            for (sum, bytes) in prediction.drive_writes.iter_mut().zip(made) {
                *sum += Bytes(*bytes as u64);
            }
        }
        if self.plan.bench.is_simulated {
            // The lab keeps equal blocks once, and so all copies of a mirror.
            let kept = |cell: &Cell| {
                let mut writes = writes(cell)?;
                let sum: f64 = writes.iter().sum();
                if stack(cell).is_some_and(|i| self.plan.preflight.writes[i].are_copies) {
                    writes.iter_mut().for_each(|share| *share /= sum.max(1.0));
                }
                Some(writes)
            };
            let kept = costed(&kept);
            let PredictedBytes { drive_writes, .. } = prediction;
            prediction = PredictedBytes { drive_writes, space: kept.content, ..kept };
        }
        prediction
    }
}

/// Seconds until all cells have ended if each begins, in their order, as soon as one of `at_once`
/// places is free. One cell alone takes its whole time, however many places there are.
fn side_by_side(seconds: impl Iterator<Item = f64>, at_once: usize) -> f64 {
    let mut free_at: BinaryHeap<Reverse<Duration>> =
        std::iter::repeat_n(Reverse(Duration::ZERO), at_once.max(1)).collect();
    let mut last = Duration::ZERO;
    for seconds in seconds {
        let Some(Reverse(free)) = free_at.pop() else { continue };
        let end = free.saturating_add(duration_of(seconds));
        last = last.max(end);
        free_at.push(Reverse(end));
    }
    last.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_alone_is_not_divided_among_processors() {
        for (cells, at_once, expected) in [
            (&[5.0][..], 2, 5.0),
            (&[1.0, 1.0, 1.0][..], 2, 2.0),
            (&[1.0, 1.0, 9.0, 1.0][..], 2, 10.0),
            (&[2.0, 3.0][..], 1, 5.0),
            (&[][..], 4, 0.0),
        ] {
            let seconds = side_by_side(cells.iter().copied(), at_once);
            assert!((seconds - expected).abs() < 1e-6, "{cells:?} on {at_once}: {seconds}");
        }
    }

    proptest! {
        #[test]
        fn no_order_takes_less_than_the_work_or_the_longest_cell(
            cells in prop::collection::vec(0.0..1e4_f64, 1..40), at_once in 1..9_usize,
        ) {
            let taken = side_by_side(cells.iter().copied(), at_once);
            let sum: f64 = cells.iter().sum();
            let longest = cells.iter().copied().fold(0.0, f64::max);
            let least = longest.max(sum / at_once as f64);
            // Graham's bound of any order.
            let most = sum / at_once as f64 + longest;
            prop_assert!(taken >= least - 1e-3 && taken <= most + 1e-3, "{least} {taken} {most}");
        }
    }
}
