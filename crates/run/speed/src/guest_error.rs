//! Why a guest whose speed is measured did not do its work.

use std::path::PathBuf;

use disklab_engine::{EngineError, IoFailure};
use disklab_source::SourceError;
use rustix::io::Errno;

use crate::raw_disk::DRIVE;

/// Why a guest whose speed is measured did not do its work. The host sees it at the end of the
/// guest's console.
#[derive(Debug, thiserror::Error)]
pub enum GuestWorkError {
    /// The kernel's command line names no work: host and guest are of different builds.
    #[error("unknown words {0:?}")]
    UnknownJob(Vec<String>),
    /// The drive did not do what it was asked.
    #[error("cannot {action} {DRIVE}: {source}")]
    Drive {
        /// What was tried, a verb.
        action: &'static str,
        /// The kernel's reason.
        source: Errno,
    },
    /// The array did not take writes.
    #[error("cannot write to '{array}': {source}")]
    Array {
        /// The array's path.
        array: String,
        /// The kernel's reason.
        source: Errno,
    },
    /// A drive of the array is missing.
    #[error("there is no drive {drive}: {source}")]
    NoDrive {
        /// Its name.
        drive: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The kernel's md driver refused an attribute.
    #[error("cannot write '{word}' to {}: {source}", file.display())]
    Attribute {
        /// What was written.
        word: String,
        /// The attribute's file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The engine's job has a mistake.
    #[error(transparent)]
    Job(#[from] SourceError),
    /// The engine could not begin.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine did another number of reads.
    #[error("the engine did not do {asked} reads: {done:?}")]
    Reads {
        /// How many were asked for.
        asked: u64,
        /// How many it did, and its error, if it has one.
        done: Option<(u64, Option<IoFailure>)>,
    },
}
