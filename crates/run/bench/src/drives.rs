//! Drives that a device bench makes ready for a cell.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_exec::Executor;
use disklab_measure::DriveTraits;
use disklab_sample::Note;
use disklab_stack::{Ledger, Need};
use disklab_study::Study;
use disklab_units::Bytes;

use crate::safety::Pin;
use crate::{BenchError, Medium};

/// A drive that is ready to carry a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyDrive {
    /// Its name in the study.
    pub name: String,
    /// Its device node.
    pub device: PathBuf,
}

/// The drives of a bench.
pub trait Drives {
    /// As on the command line.
    fn name(&self) -> String;

    /// One sentence on what they are.
    fn about(&self) -> String;

    /// What they are like.
    fn medium(&self) -> Medium;

    /// The size of each of the study's drives here, by the study's index; none
    /// for those that this bench does not have.
    fn sizes(&self, study: &Study) -> Vec<Option<Bytes>>;

    /// Looks at the study's drives with these indices, which a run would use, without
    /// writing to them.
    ///
    /// # Errors
    /// [`BenchError::Refused`] with all that speaks against using them.
    fn check(
        &mut self,
        study: &Study,
        indices: &BTreeSet<usize>,
        executor: &Executor,
    ) -> Result<(), BenchError> {
        let _ = (study, indices, executor);
        Ok(())
    }

    /// As [`crate::ReadyBench::consents_left`].
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

    /// What is known of the drives with these indices that they do not tell
    /// themselves, with their names in the study: evidence for audits.
    fn traits(&self, indices: &[usize]) -> Vec<(String, DriveTraits)> {
        let _ = indices;
        Vec::new()
    }

    /// Makes the drives with these indices ready: empty, and free for use. Their files, if
    /// they have any, go to `directory`, which is the cell's own. What has to be undone is
    /// entered in the ledger. Returns them, whether they
    /// read as zeros all over, and notes.
    ///
    /// # Errors
    /// [`BenchError`] of the first that is not available, or not free any more.
    fn make_ready(
        &mut self,
        study: &Study,
        indices: &[usize],
        write_cache: Option<bool>,
        directory: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
    ) -> Result<Ready, BenchError>;

    /// Whether the drives with these indices are still there, and no array on them
    /// has lost one: asked when a workload has ended, while its stack stands. A
    /// redundant stack continues without a drive, and would be measured degraded.
    ///
    /// # Errors
    /// [`BenchError::DrivesLost`] with each that failed or is gone.
    fn still_whole(&self, indices: &[usize]) -> Result<(), BenchError> {
        let _ = indices;
        Ok(())
    }
}

/// What [`Drives::make_ready`] gives.
#[derive(Debug, Default)]
pub struct Ready {
    /// The drives, in the order asked for.
    pub drives: Vec<ReadyDrive>,
    /// Whether they read as zeros all over.
    pub are_zero: bool,
    /// Notes for the sample.
    pub notes: Vec<Note>,
    /// Keep the numbers and names of real drives theirs until the first layers are made.
    pub pins: Vec<Pin>,
}
