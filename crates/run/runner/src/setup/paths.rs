//! Paths that a user gave.

use std::path::{Path, PathBuf};

use crate::RunnerError;

/// The path from the root on.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, RunnerError> {
    let failed = |source| RunnerError::Path { path: path.to_owned(), source };
    std::path::absolute(path).map_err(failed)
}

/// The nearest directory that exists already, for free space and devices.
pub(crate) fn existing_ancestor(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute
        .ancestors()
        .find(|ancestor| ancestor.is_dir())
        .map_or_else(|| PathBuf::from("/"), Path::to_owned)
}
