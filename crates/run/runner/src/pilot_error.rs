//! Why a run says nothing about another.

use std::path::PathBuf;

use disklab_source::SourceError;
use disklab_store::StoreError;

/// A run says nothing about another.
#[derive(Debug, thiserror::Error)]
pub enum PilotError {
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its study is not understood.
    #[error(transparent)]
    Study(#[from] SourceError),
    /// It is another one's.
    #[error(
        "--from {}: {what} there is {then}, and here {now}; what its cells took says nothing \
         about these",
        folder.display()
    )]
    Differs {
        /// The run.
        folder: PathBuf,
        /// In what.
        what: &'static str,
        /// There.
        then: String,
        /// Here.
        now: String,
    },
    /// It is of other drives.
    #[error(
        "--from {}: the bench there is {then}, and here {now}: other drives of other sizes, so \
         neither time nor bytes carry over; run one block here with --repeats 1, and take that run",
        folder.display()
    )]
    OtherBench {
        /// The run.
        folder: PathBuf,
        /// There.
        then: String,
        /// Here.
        now: String,
    },
    /// None of its cells has ended.
    #[error("--from {}: no cell of that run is done yet", folder.display())]
    NoCells {
        /// The run.
        folder: PathBuf,
    },
}
