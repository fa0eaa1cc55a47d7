//! Why a model of a drive or a processor is not found by its name.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use disklab_exec::read_text;
use disklab_source::SourceError;

/// Such a file is some kilobytes; one larger than this is none.
const LARGEST_FILE: u64 = 1 << 20;

/// Why a name leads to no drive model, and to no processor.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Nothing that is shipped has this name, and it is no file's.
    #[error(
        "unknown {what} '{name}'{hint}; `disklab list {file}s` names all; or give a {file} \
         file, such as './{name}.toml'"
    )]
    Unknown {
        /// `drive model`, `processor`.
        what: &'static str,
        /// What its file is called.
        file: &'static str,
        /// What was given in place of a model's id or file.
        name: String,
        /// What may have been meant, or nothing.
        hint: String,
    },
    /// Its file cannot be read.
    #[error("cannot read the {file} file '{}': {source}", path.display())]
    Unreadable {
        /// What the file is called.
        file: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Its file is none.
    #[error("'{}' is too large for a {file} file", path.display())]
    TooLarge {
        /// What the file is called.
        file: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Its file, or what a study says of it, is wrong.
    #[error(transparent)]
    Invalid(#[from] SourceError),
}

impl ModelError {
    /// With a `hint` at what may have been meant.
    pub(super) fn unknown(
        what: &'static str,
        file: &'static str,
        name: &str,
        hint: String,
    ) -> Self {
        Self::Unknown { what, file, name: name.to_owned(), hint }
    }
}

/// The text of a model's file.
pub(super) fn read_model_file(file: &'static str, path: &Path) -> Result<String, ModelError> {
    let unreadable = |source| ModelError::Unreadable { file, path: path.to_owned(), source };
    read_text(path, LARGEST_FILE).map_err(|source| match source.kind() {
        ErrorKind::FileTooLarge => ModelError::TooLarge { file, path: path.to_owned() },
        _ => unreadable(source),
    })
}
