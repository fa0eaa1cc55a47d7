//! Why an archive cannot be used.

use std::path::PathBuf;

use disklab_exec::NamedPathError;
use disklab_source::SourceError;
use disklab_store::StoreError;
use refinery::error::Kind;

/// What went wrong with an archive, or with a run for it.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] StoreError),
    /// The study that a run keeps is none for this version.
    #[error("the copy of the study in '{path}' cannot be read: {source}")]
    Study {
        /// The run.
        path: PathBuf,
        /// What is wrong with it.
        source: SourceError,
    },
    /// There is nothing to ask.
    #[error("there is no archive '{0}': `disklab archive add RUN` makes one")]
    None(PathBuf),
    /// A database of something else.
    #[error("'{0}' is not an archive of disklab's; name another file")]
    Other(PathBuf),
    /// Somebody else could decide where it is written.
    #[error("cannot use '{path}': {source}")]
    Path {
        /// The archive.
        path: PathBuf,
        /// Who could.
        source: NamedPathError,
    },
    /// The connection is not secured, and was to be.
    #[error(
        "disklab connects to PostgreSQL without TLS: leave sslmode out of the URL, and reach a \
         server elsewhere through a tunnel, such as ssh -L 5432:localhost:5432 HOST"
    )]
    Tls,
    /// The server cannot be reached, or refuses.
    #[error("cannot connect to the archive: {0}")]
    Connection(String),
    /// The database refuses a statement.
    #[error("the archive cannot be used: {0}")]
    Database(String),
    /// A value that no version of disklab writes.
    #[error("the archive has a row of '{table}' that disklab did not write")]
    Row {
        /// Where it is.
        table: &'static str,
    },
    /// Migrations failed.
    #[error("the archive's tables cannot be brought up to date: {0}")]
    Migration(#[source] Box<refinery::Error>),
}

impl ArchiveError {
    /// Whether nothing was written, and the user must change something.
    pub fn is_usage_error(&self) -> bool {
        match self {
            // Another version, or another program, made the tables.
            Self::Migration(error) => {
                matches!(error.kind(), Kind::DivergentVersion(..) | Kind::MissingVersion(..))
            }
            Self::Database(_) => false,
            _ => true,
        }
    }
}
