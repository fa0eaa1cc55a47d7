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
    /// The database holds something else than a run's tables.
    #[error(
        "{} is not read: it {what}, so it is not a run as disklab writes it, and reading it could \
         do something else; restore it from a copy, or undo with a client of SQLite what you \
         changed yourself",
        path.display()
    )]
    ForeignSchema {
        /// The database.
        path: PathBuf,
        /// What it has, or lacks.
        what: String,
    },
    /// The database's journal would have SQLite read and remove another file.
    #[error(
        "{} is not used: it names another file, which SQLite would remove; disklab writes no such \
         journal. Remove it if you trust the run beside it",
        path.display()
    )]
    ForeignJournal {
        /// The journal.
        path: PathBuf,
    },
    /// There are more rows than a run has.
    #[error(
        "{} is not read: it has more than {most} {rows}, and a run has at most as many",
        path.display()
    )]
    TooManyRows {
        /// The database.
        path: PathBuf,
        /// What there are too many of.
        rows: &'static str,
        /// The most.
        most: u64,
    },
    /// A directory contains what disklab did not put there.
    #[error(
        "{} contains '{found}', which disklab did not put there; choose a new or empty directory",
        path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// One thing in it.
        found: String,
    },
    /// Something in a run's directory is not what disklab would have made.
    #[error(
        "{} is not a {expected}: disklab did not make it and leaves it alone; move it away",
        path.display()
    )]
    Unexpected {
        /// The thing.
        path: PathBuf,
        /// What a run has there.
        expected: &'static str,
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
