//! What can go wrong while a workload runs.

use std::io;
use std::path::{Path, PathBuf};

use disklab_exec::ExecError;

/// Why a workload did not finish.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ExecError),
    /// A file could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried, such as 'cannot write'.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A program's output could not be understood.
    #[error("cannot understand the output of {program}: {why}")]
    Output {
        /// The program.
        program: String,
        /// What was expected and what was found.
        why: String,
    },
    /// Anything else, in words for the user.
    #[error("{0}")]
    Other(String),
}

impl WorkloadError {
    /// What to call on the error of a system call: `.map_err(WorkloadError::io("cannot read", path))`.
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what: what.to_owned(), path: path.to_owned(), source }
    }

    /// An output of `program` that is not what it should be.
    pub(crate) fn output(program: &str, why: impl Into<String>) -> Self {
        Self::Output { program: program.to_owned(), why: why.into() }
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Program(ExecError::Interrupted))
    }
}
