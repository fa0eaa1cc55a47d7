//! Why a run ends before its time.

use std::io;

use disklab_source::SourceError;
use disklab_wml::Flowop;

/// Why a run ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum EarlyStop {
    /// The system refused what a flowop asked for.
    #[error("{at}")]
    Refused {
        /// The flowop in its script, what it tried, and the system's reason.
        at: SourceError,
        /// The system's reason.
        source: io::Error,
    },
    /// The flowop cannot be done in the state that the run has reached.
    #[error("{at}")]
    Impossible {
        /// The flowop in its script, and why.
        at: SourceError,
        /// Why.
        source: FlowopObstacle,
    },
    /// The fileset has no file of the kind that the flowop uses.
    #[error("flowop '{flowop}' found no {what} in '{set}'")]
    NoFile {
        /// The flowop's name.
        flowop: String,
        /// What it looked for, such as 'existing file'.
        what: String,
        /// The fileset's name.
        set: String,
    },
    /// A write failed after its flowop had ended.
    #[error("an asynchronous write failed: {0}")]
    AsynchronousWrite(#[source] io::Error),
    /// All threads are in `block`, `semblock` or a blocking `sempost`, and nothing ends the run.
    #[error("every thread waits for another to wake it")]
    Deadlock,
}

/// Why a flowop cannot be done in the state that the run has reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowopObstacle {
    /// It names no fileset, and nothing was opened before.
    #[error("needs a file: give it 'filename=', or open one before")]
    NoFileset,
    /// It names a fileset that the run does not have.
    #[error("has no such fileset")]
    UnknownFileset,
    /// It reads or writes, and no file is open.
    #[error("has no open file")]
    NoOpenFile,
    /// It reads or writes more at once than the file has.
    #[error("works at random offsets, but its 'iosize' is above the size of the file")]
    RequestTooLarge,
    /// It opens into a slot that is in use.
    #[error("opens slot {0} (fd={0}), which is open; close it before")]
    SlotOpen(usize),
    /// It closes what is not open.
    #[error("closes slot {0} (fd={0}), which is not open")]
    ClosesUnopened(usize),
    /// It syncs what is not open.
    #[error("syncs slot {0} (fd={0}), which is not open")]
    SyncsUnopened(usize),
    /// An entry of a fileset that may be used as it is turns out to be something else.
    #[error("opens {0}, not a regular file")]
    NotAFile(String),
}

impl EarlyStop {
    pub(crate) fn refused(flowop: &Flowop, what: &str, source: io::Error) -> Self {
        let message = format!("flowop '{}' cannot {what}: {source}", flowop.name);
        Self::Refused { at: flowop.place.error(message), source }
    }

    pub(crate) fn impossible(flowop: &Flowop, source: FlowopObstacle) -> Self {
        let message = format!("flowop '{}' {source}", flowop.name);
        Self::Impossible { at: flowop.place.error(message), source }
    }

    pub(crate) fn no_file(flowop: &Flowop, what: &str, set: &str) -> Self {
        Self::NoFile { flowop: flowop.name.clone(), what: what.to_owned(), set: set.to_owned() }
    }
}
