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
    /// The flowop cannot be done in the state that the run has reached, such as a read from a slot
    /// in which no file is open.
    #[error(transparent)]
    Impossible(SourceError),
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

impl EarlyStop {
    pub(crate) fn refused(flowop: &Flowop, what: &str, source: io::Error) -> Self {
        let message = format!("flowop '{}' cannot {what}: {source}", flowop.name);
        Self::Refused { at: flowop.place.error(message), source }
    }

    pub(crate) fn impossible(flowop: &Flowop, why: &str) -> Self {
        Self::Impossible(flowop.place.error(format!("flowop '{}' {why}", flowop.name)))
    }

    pub(crate) fn no_file(flowop: &Flowop, what: &str, set: &str) -> Self {
        Self::NoFile { flowop: flowop.name.clone(), what: what.to_owned(), set: set.to_owned() }
    }
}
