//! Why a personality cannot be read.

use disklab_source::SourceError;

use crate::parse::lex::WmlNumberError;

/// What is wrong with a script, or with what was given in place of its variables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WmlError {
    /// In the text: with line and column.
    #[error(transparent)]
    Text(#[from] SourceError),
    /// In [`Overrides::variables`](crate::Overrides::variables).
    #[error("'{name}' {problem}")]
    Override {
        /// The variable's name as given, without the `$`.
        name: String,
        /// What is wrong with it.
        #[source]
        problem: OverrideProblem,
    },
}

/// What is wrong with a variable that was given, as the rest of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideProblem {
    /// No variable is called that.
    #[error("is not a variable name: expected a letter, then letters, digits and _")]
    Name,
    /// Its value begins as a number does and is not one.
    #[error(transparent)]
    Number(#[from] WmlNumberError),
    /// Nobody knows which of the values is meant.
    #[error("is given twice")]
    Twice,
    /// The script neither sets nor uses it.
    #[error("is not a variable of {script}{hint}")]
    Unused {
        /// The name of the script that the override was meant for.
        script: String,
        /// 'did you mean', or the variables that the script sets.
        hint: String,
    },
}

impl OverrideProblem {
    pub(crate) fn of(self, name: impl Into<String>) -> WmlError {
        WmlError::Override { name: name.into(), problem: self }
    }
}
