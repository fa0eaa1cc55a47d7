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
        directory.display()
    )]
    Differs {
        /// The run.
        directory: PathBuf,
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
        directory.display()
    )]
    OtherBench {
        /// The run.
        directory: PathBuf,
        /// There.
        then: String,
        /// Here.
        now: String,
    },
    /// None of its cells has ended.
    #[error("--from {}: no cell of that run is done yet", directory.display())]
    NoCells {
        /// The run.
        directory: PathBuf,
    },
}
