//! What can go wrong before the first I/O is measured.

use std::io;
use std::path::PathBuf;

use disklab_exec::Interrupted;
use disklab_source::SourceError;

use crate::files::Untouchable;

/// Why jobs could not be run. What goes wrong while they run is in the report,
/// with what was measured until then.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A job asks for what this engine cannot do.
    #[error("{0}")]
    Job(SourceError),
    /// A file could not be made, opened or prepared.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried: `open`, `lay out`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not, and what to do about it.
        source: FileProblem,
    },
    /// A job names what it must not touch. Nothing was.
    #[error("{} is not touched: {why}", path.display())]
    Untouchable {
        /// The file or device that the job names.
        path: PathBuf,
        /// Why not, and what to do.
        why: Untouchable,
    },
    /// The system gave no memory, thread or ring.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The user asked to stop before anything was measured.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Why a file could not be made, opened or prepared.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system's reason.
    #[error("{}", words(.0))]
    Io(#[source] io::Error),
    /// Its file system takes no direct I/O.
    #[error("this file system has no direct I/O; set direct=0")]
    NoDirectIo,
}

impl EngineError {
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self::File { action, path: path.into(), source: FileProblem::Io(error) }
    }
}

/// A system error in words, with advice where there is any.
pub(crate) fn words(error: &io::Error) -> String {
    let advice = match error.raw_os_error() {
        Some(libc::EMFILE) => "; raise the limit of open files (ulimit -n) or set `openfiles`",
        Some(libc::EFBIG) => "; the limit is the file system's, or that of `ulimit -f`",
        Some(libc::EDQUOT) => "; a quota is used up",
        _ => "",
    };
    let text = error.to_string();
    // Without the number: the report has it apart.
    let text = text.split(" (os error").next().unwrap_or_default();
    format!("{text}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_reported_in_words() {
        let error = |n| words(&io::Error::from_raw_os_error(n));
        assert_eq!(error(libc::ENOSPC), "No space left on device");
        assert!(error(libc::EMFILE).contains("openfiles"));
        let error = EngineError::file("open", "/x/y", io::Error::from_raw_os_error(libc::EACCES));
        assert_eq!(error.to_string(), "cannot open /x/y: Permission denied");
    }
}
