//! What can go wrong with a run's folder.

use std::path::PathBuf;

/// Why a run could not be made, opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite's complaint.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The complaint.
        source: rusqlite::Error,
    },
    /// A file could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// There is no run, or one of another kind, or in use; in words for the user.
    #[error("{0}")]
    Other(String),
}
