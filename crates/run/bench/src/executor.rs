//! What carries cells out, whatever that is: this machine, guests of the lab, or other machines.

use std::path::Path;
use std::time::Duration;

use disklab_cell::{Cell, CellPlan};
use disklab_sample::{Environment, Sample, TraceEntry};
use serde::{Deserialize, Serialize};

use crate::{BenchError, CellError};

/// Carries out cells.
///
/// Cells are submitted one by one, each as soon as there is room for it, and end in any order.
/// Cells of one executor do not disturb each other.
pub trait CellExecutor {
    /// The machine and its programs, as they are now.
    fn environment(&self) -> Environment;

    /// Arguments that resuming an interrupted run needs besides those that it remembers:
    /// consents that are not used up yet.
    fn consents_left(&self) -> Vec<String> {
        Vec::new()
    }

    /// Asks for the user's consent if cells destroy something; `yes` says that it was given.
    ///
    /// # Errors
    /// [`BenchError::ConsentNeeded`] and [`BenchError::ConsentRefused`].
    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        let _ = yes;
        Ok(())
    }

    /// Whether this cell can begin now, next to those that run.
    fn has_room(&self, plan: &CellPlan) -> bool;

    /// Begins a cell. Its raw outputs go to `outputs`, which exists and is empty.
    ///
    /// # Errors
    /// If it cannot begin: then no other can either.
    fn submit(&mut self, plan: CellPlan, outputs: &Path) -> Result<(), BenchError>;

    /// Waits until a cell has ended and everything that it made is gone; `None` if none runs.
    ///
    /// # Errors
    /// If continuing makes no sense, as something could not be torn down. If the user asked to
    /// stop, [`disklab_exec::ExecError::Interrupted`]: a cell that was running then has not ended.
    fn next(&mut self, watcher: &mut dyn CellWatcher) -> Result<Option<EndedCell>, BenchError>;

    /// Stops what still runs, and removes what all cells had in common. Called after the last
    /// cell, and after an error; more cells may be submitted later.
    fn finish(&mut self);
}

/// Which cell ended, and how: nothing that it made is left.
#[derive(Debug)]
pub struct EndedCell {
    /// Which.
    pub cell: Cell,
    /// How.
    pub outcome: CellOutcome,
}

/// How a cell ended.
#[derive(Debug)]
pub struct CellOutcome {
    /// The sample, or why there is none.
    pub result: Result<Sample, CellError>,
    /// Every command that ran (also in the sample, where there is one).
    pub trace: Vec<TraceEntry>,
    /// Real seconds from beginning to end.
    pub seconds: f64,
}

/// Sees how far running cells are.
pub trait CellWatcher {
    /// A cell enters a phase.
    fn phase(&mut self, cell: &Cell, phase: Phase);

    /// A cell is running, and it is known how far it is; a few times a second.
    fn stands(&mut self, cell: &Cell, progress: CellProgress) {
        let _ = (cell, progress);
    }
}

/// What a cell is doing, for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Making the drives and the stack.
    Make,
    /// Writing what the workload will read.
    Prepare,
    /// Running the workload.
    Measure,
    /// Tearing everything down.
    TearDown,
}

impl Phase {
    /// As the line of progress says it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Make => "making the stack",
            Self::Prepare => "writing the data",
            Self::Measure => "measuring",
            Self::TearDown => "tearing down",
        }
    }
}

/// How far a cell is by a clock that is not the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellProgress {
    /// Its own time since it began.
    pub clock: Duration,
    /// Its own time since the workload began, where it has.
    pub measuring: Option<Duration>,
    /// How long the workload runs by its own clock, as far as that is fixed.
    pub planned: Option<Duration>,
}

impl CellProgress {
    /// The part of the planned time that is over, below 1.
    pub fn share(&self) -> Option<f64> {
        let (measuring, planned) = (self.measuring?, self.planned?);
        (!planned.is_zero()).then(|| (measuring.as_secs_f64() / planned.as_secs_f64()).min(0.99))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_what_is_planned() {
        let seconds = |n| Some(Duration::from_secs(n));
        let share = |measuring, planned| {
            CellProgress { clock: Duration::from_secs(1), measuring, planned }.share()
        };
        assert_eq!(share(seconds(9), seconds(36)), Some(0.25));
        // It has more to do than its run time.
        assert_eq!(share(seconds(40), seconds(36)), Some(0.99));
        assert_eq!(share(None, seconds(36)), None);
        assert_eq!(share(seconds(9), None), None);
        assert_eq!(share(seconds(9), seconds(0)), None);
    }
}
