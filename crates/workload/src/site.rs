//! Where a workload runs, and what is measured around its steps.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_exec::{Executor, Finished};
use disklab_measure::{Figure, Note, Step};
use disklab_study::Caches;

use crate::WorkloadError;

/// What a step gave: its figures, and the processor time of its programs.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The figures.
    pub figures: Vec<Figure>,
    /// Processor time in user space, in nanoseconds.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: u64,
}

impl Outcome {
    /// Figures together with the processor time of the program that gave them.
    pub fn of(finished: &Finished, figures: Vec<Figure>) -> Self {
        Self {
            figures,
            user_ns: finished.user.as_nanos() as u64,
            system_ns: finished.system.as_nanos() as u64,
        }
    }
}

/// Where a workload runs.
#[derive(Debug)]
pub struct WorkSite<'a> {
    /// Runs the programs.
    pub executor: &'a Executor,
    /// The directory that the stack ends in.
    pub directory: &'a Path,
    /// The block device right below the file system, where there is exactly one.
    pub device: Option<PathBuf>,
    /// Whether that device is a drive that takes ATA commands, so that hdparm fits.
    pub device_is_ata: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// When the page cache is emptied.
    pub caches: Caches,
    /// The steps so far.
    pub steps: Vec<Step>,
    /// Remarks for the sample.
    pub notes: Vec<Note>,
    /// Seconds spent on syncing and dropping caches so far.
    pub caches_seconds: f64,
}

impl<'a> WorkSite<'a> {
    /// Runs one step: drops caches as the study says, reads the counters, does
    /// `work`, reads them again, and adds a [`Step`].
    ///
    /// # Errors
    /// Whatever `work` returns; the step is then not added.
    pub fn step(
        &mut self,
        name: &str,
        work: impl FnOnce(&Executor) -> Result<Outcome, WorkloadError>,
    ) -> Result<(), WorkloadError> {
        self.executor.interrupt.check()?;
        let began = Instant::now();
        let outcome = work(self.executor)?;
        let mut step = Step {
            name: name.to_owned(),
            figures: outcome.figures,
            elapsed_ns: began.elapsed().as_nanos() as u64,
            ..Step::default()
        };
        step.cpu.user_ns = outcome.user_ns;
        step.cpu.system_ns = outcome.system_ns;
        self.steps.push(step);
        Ok(())
    }

    /// Adds a remark to the sample.
    pub fn note(&mut self, about: &str, text: impl Into<String>) {
        self.notes.push(Note { about: about.to_owned(), text: text.into() });
    }
}
