//! Why a personality cannot be read.

use std::fmt;

use disklab_source::SourceError;

/// What is wrong with a script, or with what was given in place of its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WmlError {
    /// In the text: with line and column.
    Text(SourceError),
    /// In [`Overrides::variables`](crate::Overrides::variables).
    Override {
        /// The variable's name as given, without the `$`.
        name: String,
        /// What is wrong with it, as the rest of a sentence.
        message: String,
    },
}

impl fmt::Display for WmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::Override { name, message } => write!(f, "'{name}' {message}"),
        }
    }
}

impl std::error::Error for WmlError {}

impl From<SourceError> for WmlError {
    fn from(error: SourceError) -> Self {
        Self::Text(error)
    }
}
