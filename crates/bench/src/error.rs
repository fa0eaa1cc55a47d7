//! What can go wrong on a bench.

use std::path::{Path, PathBuf};

use disklab_exec::ExecError;
use disklab_lab::LabError;
use disklab_stack::StackError;
use disklab_workload::WorkloadError;

/// Why a bench cannot go on at all.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file or device could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ExecError),
    /// The ledger could not be written.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// What was made could not be taken down; going on would measure on ruins.
    #[error("could not take down what cell {cell} made: {why}")]
    TakeDown {
        /// The cell's number.
        cell: u32,
        /// All complaints.
        why: String,
    },
    /// The lab's kernel cannot be one.
    #[error(
        "'{}' is not a kernel of the lab: it prints no configuration of User-Mode Linux \
         (--showconfig); name one that `disklab lab build` made, with --kernel", .0.display()
    )]
    NotALabKernel(PathBuf),
    /// The receiver of the samples could not take one.
    #[error("{0}")]
    Sink(String),
    /// Anything else, in words for the user.
    #[error("{0}")]
    Other(String),
}

impl BenchError {
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let (what, path) = (what.to_owned(), path.to_owned());
        move |source| Self::Io { what, path, source }
    }
}

/// Why one cell has no sample.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// Its drives could not be made ready.
    #[error("drives: {0}")]
    Drives(#[source] BenchError),
    /// Its stack could not be made.
    #[error("{0}")]
    Stack(#[from] StackError),
    /// Its workload failed.
    #[error("{0}")]
    Workload(#[from] WorkloadError),
    /// It failed inside the lab's guest, for a reason of the above kinds.
    #[error("{0}")]
    Guest(String),
    /// Its guest did not come to its end.
    #[error("{0}")]
    Lab(#[from] LabError),
}

impl CellError {
    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Drives(BenchError::Program(ExecError::Interrupted)) => true,
            Self::Drives(BenchError::Stack(e)) | Self::Stack(e) => e.is_interrupt(),
            Self::Drives(_) | Self::Guest(_) => false,
            Self::Lab(e) => matches!(e, LabError::Interrupted),
            Self::Workload(e) => e.is_interrupt(),
        }
    }
}
