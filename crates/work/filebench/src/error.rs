//! Why a personality did not run to its end.

use std::io;
use std::path::{Path, PathBuf};

use disklab_exec::Interrupted;

use crate::Report;

/// Why a personality did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum FilebenchError {
    /// A file of a fileset could not be made ready.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried, such as 'cannot make'.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The run ended before its time: a flowop failed, or found no file. What was
    /// measured until then is kept.
    #[error("the run stopped early, after {:.1} s: {reason}", report.seconds())]
    Early {
        /// Why.
        reason: String,
        /// What was measured.
        report: Box<Report>,
    },
    /// The user asked to stop while threads ran. What was measured until then is kept.
    #[error("interrupted, after {:.1} s", .0.seconds())]
    CutShort(Box<Report>),
    /// The user asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Anything else, in words for the user.
    #[error("{0}")]
    Other(String),
}

impl FilebenchError {
    /// What to call on the error of a system call.
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what: what.to_owned(), path: path.to_owned(), source }
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::CutShort(_) | Self::Interrupted(_))
    }
}
