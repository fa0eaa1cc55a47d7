//! What a bench is.

use std::path::PathBuf;
use std::time::Duration;

use disklab_sample::{Environment, Sample, TraceEntry};
use disklab_study::Cell;
use serde::{Deserialize, Serialize};

use crate::{BenchError, Campaign, CellError, Medium, Survey};

/// A place where studies run.
pub trait Bench {
    /// As on the command line: `loop`, `dir:/srv/x`.
    fn name(&self) -> String;

    /// One sentence on what it stands on.
    fn about(&self) -> String;

    /// What its drives are like, for predictions.
    fn medium(&self) -> Medium;

    /// What of a campaign can run here, and what cannot and why. Touches nothing.
    fn survey(&self, campaign: &Campaign) -> Survey;

    /// The machine and its programs, as they are at the beginning of a run.
    fn environment(&self) -> Environment;

    /// Looks at what these cells would write to, without writing to it. Called
    /// before [`Bench::warnings`], which tells what was seen.
    ///
    /// # Errors
    /// Where the cells must not run on it; in words.
    fn look(&mut self, campaign: &Campaign, cells: &[Cell]) -> Result<(), String> {
        let _ = (campaign, cells);
        Ok(())
    }

    /// Arguments that going on with an interrupted run needs besides those that it
    /// remembers: consents that are not used up yet.
    fn consents_left(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the user must know before a run begins, such as which drives would
    /// be erased; one line each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many cells it carries out side by side.
    fn at_once(&self) -> usize {
        1
    }

    /// Makes what these cells need and every run may use again, such as the lab's
    /// kernel. Called once, before [`Bench::environment`] and [`Bench::carry_out`].
    ///
    /// # Errors
    /// Where it cannot be had.
    fn get_ready(&mut self, campaign: &Campaign, cells: &[Cell]) -> Result<(), BenchError> {
        let _ = (campaign, cells);
        Ok(())
    }

    /// Asks for the user's consent where the run destroys something; `yes` says
    /// that it was given on the command line.
    ///
    /// # Errors
    /// Where consent was not given; in words.
    fn confirm(&self, yes: bool) -> Result<(), String> {
        let _ = yes;
        Ok(())
    }

    /// Carries out cells in their order, handing each sample to `sink` as soon as
    /// it is there. A failed cell is handed over too, and the next one begins. A
    /// bench whose cells cannot disturb each other may do several at once.
    ///
    /// # Errors
    /// Where going on makes no sense: the sink failed, or something could not
    /// be taken down. [`CellError::is_interrupt`] cells are not handed over;
    /// the bench returns [`disklab_exec::ExecError::Interrupted`] instead.
    fn carry_out(
        &mut self,
        campaign: &Campaign,
        cells: &[&Cell],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError>;
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
    /// Taking everything down.
    TakeDown,
}

impl Phase {
    /// Its words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Make => "making the stack",
            Self::Prepare => "writing the data",
            Self::Measure => "measuring",
            Self::TakeDown => "taking down",
        }
    }
}

/// How far a cell is by a clock that is not the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its own time since it began.
    pub clock: Duration,
    /// Its own time since the workload began, where it has.
    pub measuring: Option<Duration>,
    /// How long the workload runs by its own clock, as far as that is fixed.
    pub planned: Option<Duration>,
}

impl Standing {
    /// The part of the planned time that is over, below 1.
    pub fn share(&self) -> Option<f64> {
        let (measuring, planned) = (self.measuring?, self.planned?);
        (!planned.is_zero()).then(|| (measuring.as_secs_f64() / planned.as_secs_f64()).min(0.99))
    }
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

/// Receives what cells give.
pub trait Sink {
    /// A cell begins; returns the folder for its raw outputs.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    fn begin(&mut self, cell: &Cell) -> Result<PathBuf, String>;

    /// A cell enters a phase.
    fn phase(&mut self, cell: &Cell, phase: Phase);

    /// A cell goes on, and its bench can tell how far it is; a few times a second.
    fn stands(&mut self, cell: &Cell, standing: Standing) {
        let _ = (cell, standing);
    }

    /// A cell has ended and everything it made is gone.
    ///
    /// # Errors
    /// Where it cannot be recorded.
    fn end(&mut self, cell: &Cell, outcome: CellOutcome) -> Result<(), String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_what_is_planned() {
        let seconds = |n| Some(Duration::from_secs(n));
        let share = |measuring, planned| {
            Standing { clock: Duration::from_secs(1), measuring, planned }.share()
        };
        assert_eq!(share(seconds(9), seconds(36)), Some(0.25));
        // It has more to do than its run time.
        assert_eq!(share(seconds(40), seconds(36)), Some(0.99));
        assert_eq!(share(None, seconds(36)), None);
        assert_eq!(share(seconds(9), None), None);
        assert_eq!(share(seconds(9), seconds(0)), None);
    }
}
