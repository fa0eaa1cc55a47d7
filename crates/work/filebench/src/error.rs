//! Why a personality did not run to its end.

use std::io;
use std::path::{Path, PathBuf};

use disklab_exec::Interrupted;
use disklab_source::SourceError;

use crate::{EarlyStop, FilebenchReport};

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
        #[source]
        reason: Box<EarlyStop>,
        /// What was measured.
        report: Box<FilebenchReport>,
    },
    /// The user asked to stop while threads ran. What was measured until then is kept.
    #[error("interrupted, after {:.1} s", .0.seconds())]
    CutShort(Box<FilebenchReport>),
    /// The user asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The number of threads is drawn, and too many were.
    #[error("{personality} has more than {most} threads")]
    TooManyThreads {
        /// The personality's name.
        personality: String,
        /// As many may be.
        most: u64,
    },
    /// Threads were to run before their filesets were made.
    #[error("the filesets have not been made")]
    NoFilesets,
    /// The system gave no more threads.
    #[error("cannot start thread {number} of {threads}: {source}")]
    Thread {
        /// Counted from 1.
        number: usize,
        /// As many were to start.
        threads: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// A defect of disklab.
    #[error("a thread panicked")]
    Panicked,
    /// A fileset's directory is there, and nothing says that it may be used.
    #[error("{} exists already; remove it, or add 'reuse' to the fileset to keep it", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The files need more room than there is.
    #[error(
        "the files to make beforehand need {}, but there are {} {} {}; make fewer or smaller \
         ones, as by --set nfiles=…",
        mebibytes(*needed),
        mebibytes(*free),
        if *in_memory { "of memory for" } else { "free in" },
        directory.display()
    )]
    NoRoom {
        /// Bytes that they need.
        needed: u64,
        /// Bytes that there are.
        free: u64,
        /// Whether the directory's file system keeps them in memory.
        in_memory: bool,
        /// Where they were to be made.
        directory: PathBuf,
    },
    /// A fileset of which more was drawn than fits; shows where the script has it.
    #[error(transparent)]
    Fileset(#[from] SourceError),
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
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
