//! Why a run cannot be planned, begun or carried out.

use std::path::PathBuf;

use disklab_bench::{BenchError, DrivesError, ModelError};
use disklab_exec::NamedPathError;
use disklab_lab::LabError;
use disklab_lab_kernel::KernelError;
use disklab_source::SourceError;
use disklab_stack::StackError;
use disklab_store::{Difference, RunAspect, StoreError};
use disklab_units::{Bytes, show_duration};

use crate::leftovers_error::LeftoversError;
use crate::options::OptionsError;
use crate::parts::{PartProblem, then_and_now};
use crate::pilot_error::PilotError;
use crate::plan::PlanError;
use crate::plan_problem::PlanProblem;
use crate::selection::SelectionError;
use crate::sensitivity::SensitivityError;
use crate::studies::StudyError;

/// Why there is no run, or no end of one.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The user asked to stop.
    #[error("interrupted; everything that was created has been torn down")]
    Interrupted,
    /// Options contradict each other, the bench or the run.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// There is no such study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The study, a drive file or a setting is wrong.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The patterns select no cell.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The plan cannot be a run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A cell's plan cannot be carried out as it is.
    #[error(transparent)]
    CellPlan(#[from] PlanProblem),
    /// A run cannot be divided, or a part not be carried out.
    #[error(transparent)]
    Part(#[from] PartProblem),
    /// The other run says nothing about this one.
    #[error(transparent)]
    Pilot(#[from] PilotError),
    /// What a killed run left is in the way.
    #[error(transparent)]
    Leftovers(#[from] LeftoversError),
    /// An analysis cannot be made of this.
    #[error(transparent)]
    Sensitivity(#[from] SensitivityError),
    /// The kernel that the user named cannot be used.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The lab cannot have the study's drives.
    #[error(transparent)]
    Drives(#[from] DrivesError),
    /// A drive that the user named is not known.
    #[error("--drives {request}: {source}")]
    NamedDrives {
        /// As it was named.
        request: String,
        /// Why.
        source: Box<ModelError>,
    },
    /// There is no such processor.
    #[error(transparent)]
    Processor(#[from] ModelError),
    /// The ledger of what is made cannot be kept.
    #[error(transparent)]
    Ledger(#[from] StackError),
    /// A directory cannot be used.
    #[error("{flag}{}: {why}; name a directory that can be written to", path.display())]
    Directory {
        /// The option that names it, with what stands between both.
        flag: &'static str,
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        why: DirectoryProblem,
    },
    /// A path cannot be resolved.
    #[error("cannot find {}: {source}", path.display())]
    Path {
        /// As the user gave it, or as it was derived from that.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The bench lacks programs or rights.
    #[error(
        "the bench '{bench}' needs {}; `disklab doctor` says more, and --on dir:PATH works without",
        missing.join(", ")
    )]
    BenchLacks {
        /// Its name, as --on takes it.
        bench: String,
        /// What it lacks.
        missing: Vec<String>,
    },
    /// The directory for large files cannot be created.
    #[error("cannot make {}: {source}; name another with --scratch", path.display())]
    CreateScratch {
        /// The directory.
        path: PathBuf,
        /// The system's reason, or others may lead root elsewhere.
        source: NamedPathError,
    },
    /// A directory is too small.
    #[error(
        "the largest cell needs {} in {}, and may use {} of what is free there; make the files \
         smaller with --scale, or {remedy}",
        needed.iec(),
        directory.display(),
        usable.iec()
    )]
    NoRoom {
        /// What it takes.
        needed: Bytes,
        /// In whose file system the room was looked for.
        directory: PathBuf,
        /// How much of what its file system has left a run may take.
        usable: Bytes,
        /// What to do.
        remedy: &'static str,
    },
    /// Not even one block would end in the budget.
    #[error(
        "--budget {}: one block of {cells} cells would take about {}; give it more, fewer cells \
         with --only, or smaller files with --scale",
        show_duration(*budget),
        show_duration(*block)
    )]
    BudgetTooShort {
        /// What --budget allows.
        budget: std::time::Duration,
        /// Cells of a block.
        cells: usize,
        /// What they take.
        block: std::time::Duration,
    },
    /// The bench is not ready: its devices are refused, the user did not consent, or what
    /// every run needs, such as the lab's kernel, is not available.
    #[error(transparent)]
    Prepare(BenchError),
    /// The run cannot be created, opened or resumed.
    #[error(transparent)]
    Open(StoreError),
    /// A directory holds a run.
    #[error(
        "{} already contains a run; use another --out, or continue it with --resume",
        .0.display()
    )]
    Occupied(PathBuf),
    /// The study's name leads to another study than the run's.
    #[error(
        "the run in {} was started with another '{name}' than there is now; leave the study's name \
         out to resume with the one it was started with",
        directory.display()
    )]
    OtherStudy {
        /// The run.
        directory: PathBuf,
        /// The study as it was named.
        name: String,
    },
    /// The run began on another machine, kernel or version.
    #[error(
        "this run cannot be resumed here, because it would mix two machines: {}; {}start a new run",
        then_and_now(.0),
        if .0.iter().any(|difference| difference.what == RunAspect::LabKernel) {
            "name the run's own kernel with --kernel, or "
        } else {
            ""
        }
    )]
    OtherMachine(Vec<Difference>),
    /// The run cannot be read or written.
    #[error(transparent)]
    Record(StoreError),
    /// What came of a campaign cannot be written.
    #[error("cannot write what came of the campaign: {0}")]
    Outcome(serde_json::Error),
    /// The bench cannot continue.
    #[error(transparent)]
    Bench(BenchError),
    /// disklab's own program cannot be found, which guests run.
    #[error("cannot find disklab's own program: {0}")]
    OwnProgram(std::io::Error),
    /// The processors that this process may use are not known.
    #[error(transparent)]
    Processors(LabError),
    /// No seed can be drawn.
    #[error("cannot draw a seed from /dev/urandom: {0}; give one with --seed")]
    Seed(std::io::Error),
}

/// What is wrong with a directory.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryProblem {
    /// It is something else.
    #[error("it is not a directory")]
    NotADirectory,
    /// It, or what it would be created in, cannot be written to.
    #[error("cannot write into {}: {source}", parent.display())]
    NotWritable {
        /// The nearest directory that exists.
        parent: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It cannot be looked at.
    #[error("{0}")]
    Unreadable(std::io::Error),
    /// Others lead there, or may lead root elsewhere.
    #[error("{0}")]
    Others(NamedPathError),
}

impl RunnerError {
    /// Why a bench stopped.
    pub(crate) fn bench(error: BenchError) -> Self {
        if error.is_interrupt() { Self::Interrupted } else { Self::Bench(error) }
    }

    /// Why a bench did not become ready.
    pub(crate) fn prepare(error: BenchError) -> Self {
        if error.is_interrupt() { Self::Interrupted } else { Self::Prepare(error) }
    }
}
