//! What can go wrong with a run's folder.

use std::path::{Path, PathBuf};

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

impl StoreError {
    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Sqlite { path: path.clone(), source }
    }

    pub(crate) fn io(what: &str, path: &Path) -> impl Fn(std::io::Error) -> Self + use<> {
        let (what, path) = (what.to_owned(), path.to_owned());
        move |source| Self::Io { what: what.clone(), path: path.clone(), source }
    }
}
