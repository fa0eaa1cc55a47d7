//! What a workload is.

use std::fmt::Debug;
use std::path::PathBuf;

use disklab_cell::{Care, WorkloadPlan};
use disklab_sample::StepProfile;
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::{StudyFiles, WorkContext, WorkloadError};

/// What is run on a stack, its fields understood.
pub trait Workload: Debug + Send + Sync {
    /// Programs it drives, each with the Debian package that has it.
    fn programs(&self) -> Vec<(&'static str, &'static str)>;

    /// Programs that it drives only where the drives take ATA commands; elsewhere
    /// it does the like by itself.
    fn ata_programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// What it asks of a program that the one on this machine does not have, and the Debian package
    /// whose has it.
    fn lacks(&self) -> Option<(String, &'static str)> {
        None
    }

    /// Why it cannot run on a bench without a block device of its own, if so.
    fn needs_device(&self) -> bool {
        false
    }

    /// What it will cost, at the scale it was read with.
    fn cost(&self) -> Cost;

    /// The names of all that it makes in the directory itself, at any time. After a
    /// killed run, a file of another name there is taken for the user's.
    fn names(&self) -> Vec<String>;

    /// Its steps, in order, if they are several and known beforehand.
    fn steps(&self) -> Vec<String> {
        Vec::new()
    }

    /// What it does to the stack, and to which of its drives, counted from 1, if that is known.
    fn care(&self) -> Vec<(Care, Option<u32>)> {
        Vec::new()
    }

    /// How large the drives below it may be if the stack passes what is used, and not drives: in the lab,
    /// smaller ones stand for larger ones.
    fn small_drives(&self) -> Option<Bytes> {
        None
    }

    /// What a step does, by the step's name: what audits, purposes and sentences go by.
    /// `None` if nothing can be said of it.
    fn profile(&self, step: &str) -> Option<StepProfile>;

    /// Writes what the workload will read. Not measured.
    ///
    /// # Errors
    /// [`WorkloadError::Io`] if a file cannot be written; the cell then fails.
    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError>;

    /// Runs the steps, each through [`WorkContext::step`].
    ///
    /// # Errors
    /// [`WorkloadError::Program`] if a program fails, [`WorkloadError::Output`] if what it printed
    /// has not the form that is known; the cell then fails.
    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError>;
}

/// What a workload will cost on any stack, for predictions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Largest space taken in the directory at any time.
    pub space: Bytes,
    /// Of that, what is neither zeros nor repeats: what a store that keeps only
    /// content must keep, such as the lab's.
    pub content: Bytes,
    /// What is written besides and is neither zeros nor repeats: over what was there, which a
    /// file system that copies on write leaves where it is.
    pub rewritten: Bytes,
    /// Bytes written before the measurement.
    pub prewrite: Bytes,
    /// Bytes read in large, mostly sequential pieces.
    pub sequential_read: Bytes,
    /// Bytes written in large, mostly sequential pieces.
    pub sequential_write: Bytes,
    /// Bytes written in small or random pieces.
    pub random_write: Bytes,
    /// Operations that each cost a positioning of the arm: random reads and
    /// writes, synchronous writes, creations and removals of files.
    pub seeks: u64,
    /// Of these, those that write: a layout with copies or parity makes several requests of
    /// each.
    pub small_writes: u64,
    /// System calls of programs that make very many, besides those of the above: they
    /// cost nothing worth a prediction, but in the lab.
    pub calls: u64,
    /// Seconds that it takes whatever the drives do (`runtime`, start-up).
    pub fixed_seconds: f64,
    /// Whether it waits for its own clock for most of that time, as a film does: what it
    /// asks of the drives is all in the fields above.
    pub paced: bool,
    /// Whether it writes until its time is over, so that how much depends on the drives: its bytes
    /// are those of one pass, and its seconds are known.
    pub writes_until_its_end: bool,
    /// Upper bound in seconds where the job has one (`runtime` with `size`).
    pub at_most_seconds: Option<f64>,
}

impl Cost {
    /// Bytes written, before the measurement and in it.
    pub fn written(&self) -> Bytes {
        self.prewrite + self.sequential_write + self.random_write
    }
}

/// What reading a workload needs to know.
#[derive(Debug, Clone)]
pub struct Context {
    /// By how much sizes are scaled: 1 is as published.
    pub scale: f64,
    /// The files that workloads name.
    pub files: StudyFiles,
}

impl Context {
    /// That of a study whose files are in `directory`.
    pub fn new(scale: f64, directory: impl Into<PathBuf>) -> Self {
        Self { scale, files: StudyFiles::next_to(directory) }
    }
}

/// A kind of workload: one line of the table.
#[derive(Debug)]
pub struct WorkloadKind {
    /// Its word in a study, such as `fio`.
    pub name: &'static str,
    /// One line for `disklab list workloads`.
    pub summary: &'static str,
    /// Fields and what they mean.
    pub fields: &'static [(&'static str, &'static str)],
    /// Understands the fields.
    pub read: ReadWorkload,
}

/// Understands the fields of a workload, or says which is wrong and where.
pub type ReadWorkload = fn(&WorkloadPlan, &Context) -> Result<Box<dyn Workload>, SourceError>;
