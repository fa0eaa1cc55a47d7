//! What can go wrong while a workload runs.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_content::SpecError;
use disklab_engine::{EngineError, IoFailure};
use disklab_exec::{ExecError, Interrupted};
use disklab_filebench::{EarlyStop, FilebenchError};

use disklab_units::Bytes;

use crate::OutputProblem;

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
    #[error(
        "cannot understand the output of {program}: {source}; this may be a version that disklab \
         does not know: report it, with its version"
    )]
    Output {
        /// Its name, for the error.
        program: &'static str,
        /// What is wrong with it.
        source: OutputProblem,
    },
    /// disklab's own engine could not run the jobs.
    #[error(transparent)]
    Engine(Box<EngineError>),
    /// A job of fio ended with an error.
    #[error("fio job '{job}' failed: {source}")]
    FioJob {
        /// Its name in the job file.
        job: String,
        /// What ended it.
        source: FioJobFailure,
    },
    /// The installed fio was built without the I/O engine of a job.
    #[error("the installed fio has no I/O engine '{0}'; `fio --enghelp` lists those it has")]
    NoIoEngine(String),
    /// The kernel refuses what an I/O engine of fio needs.
    #[error(
        "the kernel refuses fio's I/O engine '{engine}' here (for io_uring, see \
         /proc/sys/kernel/io_uring_disabled): {line}"
    )]
    IoEngineRefused {
        /// fio's name of it.
        engine: String,
        /// What fio says.
        line: String,
    },
    /// A file of a job is something else.
    #[error(
        "{} is not touched: it is a link or a device, and a study's jobs write to files alone; \
         remove it", .0.display()
    )]
    NotAFile(PathBuf),
    /// A directory of a job is something else.
    #[error("{} is not used: it is not a directory of its own; remove it", .0.display())]
    NotADirectory(PathBuf),
    /// SQLite's complaint.
    #[error("SQLite cannot {what} the database: {source}")]
    Sqlite {
        /// What was tried.
        what: &'static str,
        /// The complaint.
        source: rusqlite::Error,
    },
    /// SQLite takes another journal than asked for.
    #[error("SQLite cannot have a journal '{wanted}' on this file system; it would take '{got}'")]
    Journal {
        /// The one asked for.
        wanted: &'static str,
        /// The one that it takes.
        got: String,
    },
    /// What was read is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The contents of files could not be drawn.
    #[error(transparent)]
    Content(#[from] SpecError),
    /// A rebuild or a scrub did not move.
    #[error("nothing was rebuilt or scrubbed from byte {} of the drive on: the kernel's messages say why (raw/…/console in the lab)", .0.0)]
    PassStalled(Bytes),
    /// It was to run, and nothing was prepared.
    #[error("the workload's files have not been made")]
    NotPrepared,
    /// A personality could not be carried out.
    #[error(transparent)]
    Filebench(Box<FilebenchError>),
    /// A personality ended before its time.
    #[error("{name} stopped early, after {seconds:.1} s: {reason}")]
    StoppedEarly {
        /// The personality.
        name: String,
        /// How far it came.
        seconds: f64,
        /// Why.
        #[source]
        reason: Box<EarlyStop>,
    },
    /// A personality came to its end without work.
    #[error("{name} did nothing on files in {seconds:.1} s")]
    NothingDone {
        /// The personality.
        name: String,
        /// How long it ran.
        seconds: f64,
    },
    /// The system gave no thread.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// A thread did not come to its end.
    #[error("a thread panicked")]
    Panicked,
    /// PostgreSQL refuses to be run by root.
    #[error(
        "PostgreSQL refuses to be run by root, and this machine has neither a user 'postgres' nor \
         'nobody'"
    )]
    NoUser,
    /// PostgreSQL's server takes too long to start; how long was waited for it.
    #[error("PostgreSQL's server is not ready after {} s", .0.as_secs())]
    ServerNotReady(Duration),
    /// PostgreSQL's server takes too long to stop; how long was waited for it.
    #[error("PostgreSQL's server has not stopped after {} s", .0.as_secs())]
    ServerRuns(Duration),
    /// PostgreSQL's server is gone.
    #[error("PostgreSQL's server ended by itself")]
    ServerEnded,
    /// A file is empty.
    #[error("there is nothing to read in {}", .0.display())]
    NothingToRead(PathBuf),
    /// A file system that has no direct I/O.
    #[error("{}: this file system takes no direct I/O", .0.display())]
    NoDirectIo(PathBuf),
    /// The cell's file system could not be mounted again.
    #[error(transparent)]
    Remount(Box<dyn Error + Send + Sync>),
    /// What was to be done to the stack could not be done.
    #[error(transparent)]
    Care(Box<dyn Error + Send + Sync>),
    /// The bench has no stack.
    #[error("there is no stack here to {0}")]
    NoCaretaker(&'static str),
    /// An event of the study unmounts what is not the bench's to unmount.
    #[error("remount: the file system was there before, and is not disklab's to unmount")]
    NoRemount,
    /// An event is for a step that the workload does not have.
    #[error("{event} did not happen: the workload has no step '{step}', but {known}")]
    NoStep {
        /// Its word in the study.
        event: &'static str,
        /// The step that the study names.
        step: String,
        /// Those that there were.
        known: String,
    },
    /// The file system could not be unmounted.
    #[error("remount: the file system could not be unmounted ({0})")]
    StaysMounted(String),
}

/// What ended a job of fio.
#[derive(Debug, thiserror::Error)]
pub enum FioJobFailure {
    /// fio's error number.
    #[error(transparent)]
    Fio(io::Error),
    /// What disklab's own engine says.
    #[error(transparent)]
    Engine(IoFailure),
}

/// What was read is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// SQLite's check found something.
    #[error("the database is damaged: {0}")]
    Database(String),
    /// A row is not as long as it was.
    #[error("row {id} of the database has {found} bytes, {written} were written")]
    Row {
        /// The row.
        id: i64,
        /// Its bytes now.
        found: u64,
        /// Its bytes then.
        written: u64,
    },
    /// Rows are missing.
    #[error("the database holds {found} rows, {committed} were committed")]
    Rows {
        /// How many there are.
        found: u64,
        /// How many were committed.
        committed: u64,
    },
    /// Entries of a directory are missing.
    #[error("{} lists {found} entries where {created} were created", directory.display())]
    Entries {
        /// In which they were created.
        directory: PathBuf,
        /// How many there are.
        found: u64,
        /// How many were created.
        created: u64,
    },
}

impl From<Interrupted> for WorkloadError {
    fn from(stop: Interrupted) -> Self {
        Self::Program(stop.into())
    }
}

impl WorkloadError {
    /// What to call on the error of a system call: `.map_err(WorkloadError::io("cannot read", path))`.
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what: what.to_owned(), path: path.to_owned(), source }
    }

    /// An output of `program` that is not what it should be.
    pub(crate) fn output(program: &'static str, source: impl Into<OutputProblem>) -> Self {
        Self::Output { program, source: source.into() }
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Program(ExecError::Interrupted(_)))
    }
}
