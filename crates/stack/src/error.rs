//! What can go wrong while a stack is made or taken down.

use std::path::{Path, PathBuf};

use disklab_exec::ExecError;

use crate::Distrust;

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
    /// A state directory or ledger that somebody else controls: nothing that it lists
    /// is touched.
    #[error("{} is not trusted: {why}; {}", path.display(), remedy(*why, path))]
    Untrusted {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        why: Distrust,
    },
    /// A line of a ledger that cannot be understood.
    #[error(
        "line {line} of the ledger {} is invalid ({problem}); see what it names, remove that \
         by hand, and then the file",
        path.display()
    )]
    InvalidLedger {
        /// The ledger.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A decision on what a run left, of which there is nothing.
    #[error("no run left anything under the ID '{id}'; {}", known_ids(known))]
    UnknownLeftover {
        /// What was named.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A decision on what cannot be decided here.
    #[error("cannot decide about '{id}' here: {why}")]
    Undecidable {
        /// What was named.
        id: String,
        /// Why, and what to do.
        why: String,
    },
    /// Anything else, in words for the user.
    #[error("{0}")]
    Other(String),
}

fn remedy(why: Distrust, path: &Path) -> String {
    match why {
        Distrust::Owner { .. } => "set XDG_STATE_HOME to a directory of your own (with sudo, \
                                   use `sudo -H`), or run disklab as that user"
            .to_owned(),
        Distrust::Mode(_) => {
            format!("see what is in it, then `chmod go-w '{}'`", path.display())
        }
        Distrust::Kind | Distrust::Links(_) => {
            "see who made it, and remove it, or set XDG_STATE_HOME to another directory".to_owned()
        }
    }
}

fn known_ids(known: &[String]) -> String {
    if known.is_empty() {
        "nothing is left".to_owned()
    } else {
        format!("known: {}", known.join(", "))
    }
}

impl StackError {
    /// An error of the system: what was tried, on what, and its reason.
    pub(crate) fn io(what: &str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what: what.to_owned(), path: path.to_owned(), source }
    }

    /// Whether nothing was touched, as what disklab was given is to be refused.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Untrusted { .. } | Self::UnknownLeftover { .. } | Self::Undecidable { .. }
        )
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Program { source: ExecError::Interrupted, .. })
    }
}
