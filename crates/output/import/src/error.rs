//! Why something could not be imported.

use std::path::{Path, PathBuf};

use disklab_source::SourceError;
use disklab_store::StoreError;

/// Why something could not be imported; in words for the user.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A text is not what it ought to be; shows the line and the column.
    #[error(transparent)]
    Text(#[from] SourceError),
    /// A file could not be read.
    #[error("cannot read {}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason, or disklab's.
        why: String,
    },
    /// What was read does not fit together, or is wanted differently.
    #[error("{0}")]
    Other(String),
    /// The run could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ImportError {
    pub(crate) fn file(path: &Path, why: impl ToString) -> Self {
        Self::File { path: path.to_owned(), why: why.to_string() }
    }
}
