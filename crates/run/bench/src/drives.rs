//! Drives that a device bench makes ready for a cell.

use std::collections::BTreeSet;
use std::path::Path;

use disklab_cell::DrivePlan;
use disklab_exec::Executor;
use disklab_measure::DriveTraits;
use disklab_measure::NamedDevice;
use disklab_prediction::Medium;
use disklab_sample::Note;
use disklab_stack::{Ledger, Need};
use disklab_study::Study;

use crate::BenchError;
use crate::safety::Pin;

/// The drives of a bench.
pub trait Drives {
    /// As on the command line.
    fn name(&self) -> String;

    /// One sentence on what they are.
    fn about(&self) -> String;

    /// What they are like.
    fn medium(&self) -> Medium;

    /// What each of the study's drives is here, by the study's index; none for those that
    /// this bench does not have.
    fn plans(&self, study: &Study) -> Vec<Option<DrivePlan>>;

    /// Looks at the drives in these places, which cells would use, without writing to them.
    ///
    /// # Errors
    /// [`BenchError::Refused`] with all that speaks against using them.
    fn check(
        &mut self,
        positions: &BTreeSet<usize>,
        executor: &Executor,
    ) -> Result<(), BenchError> {
        let _ = (positions, executor);
        Ok(())
    }

    /// As [`crate::CellExecutor::consents_left`].
    fn consents_left(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the user must know before a run begins; one line each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Asks for consent where data would be destroyed.
    ///
    /// # Errors
    /// As [`crate::CheckedBench::confirm`].
    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        let _ = yes;
        Ok(())
    }

    /// What they need of the machine.
    fn needs(&self) -> Vec<Need>;

    /// Whether their write cache can be switched.
    fn write_cache_switchable(&self) -> bool;

    /// Whether they take ATA commands.
    fn are_ata(&self) -> bool;

    /// Whether smartctl may learn something from them, which takes it a second.
    fn tell_smart(&self) -> bool {
        self.are_ata()
    }

    /// How many of them a stack can have, if there is a limit.
    fn most_at_once(&self) -> Option<usize> {
        None
    }

    /// Whether they read as zeros all over when they are made ready.
    fn are_zero(&self) -> bool {
        false
    }

    /// Whether they are models, in virtual time: then their own memories can be
    /// emptied.
    fn are_simulated(&self) -> bool {
        false
    }

    /// What is known of these drives that they do not tell themselves, with their names in
    /// the study: evidence for audits.
    fn traits(&self, drives: &[DrivePlan]) -> Vec<(String, DriveTraits)> {
        let _ = drives;
        Vec::new()
    }

    /// Makes these drives ready: empty, and free for use. Their files, if
    /// they have any, go to `directory`, which is the cell's own. What has to be undone is
    /// entered in the ledger. Returns them, whether they
    /// read as zeros all over, and notes.
    ///
    /// # Errors
    /// [`BenchError`] of the first that is not available, or not free any more.
    fn make_ready(
        &mut self,
        drives: &[DrivePlan],
        write_cache: Option<bool>,
        directory: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
    ) -> Result<Ready, BenchError>;

    /// Whether these drives are still there, and no array on them
    /// has lost one: asked when a workload has ended, while its stack stands. A
    /// redundant stack continues without a drive, and would be measured degraded.
    ///
    /// # Errors
    /// [`BenchError::DrivesLost`] with each that failed or is gone.
    fn still_whole(&self, drives: &[DrivePlan]) -> Result<(), BenchError> {
        let _ = drives;
        Ok(())
    }
}

/// What [`Drives::make_ready`] gives.
#[derive(Debug, Default)]
pub struct Ready {
    /// The drives, in the order asked for.
    pub drives: Vec<NamedDevice>,
    /// Whether they read as zeros all over.
    pub are_zero: bool,
    /// Notes for the sample.
    pub notes: Vec<Note>,
    /// Keep the numbers and names of real drives theirs until the first layers are made.
    pub pins: Vec<Pin>,
}
