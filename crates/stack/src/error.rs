//! What can go wrong while a stack is made or taken down.

use std::path::{Path, PathBuf};

use disklab_exec::ExecError;

/// Why a stack could not be made or taken down.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// A program failed.
    #[error("{layer}: {source}")]
    Program {
        /// The layer at work.
        layer: String,
        /// What happened.
        source: ExecError,
    },
    /// A file or device could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried, such as 'cannot open'.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Anything else, in words for the user.
    #[error("{0}")]
    Other(String),
}

impl StackError {
    /// An error of the system: what was tried, on what, and its reason.
    pub(crate) fn io(what: &str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what: what.to_owned(), path: path.to_owned(), source }
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Program { source: ExecError::Interrupted, .. })
    }
}
