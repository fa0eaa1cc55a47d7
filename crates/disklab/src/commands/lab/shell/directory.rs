//! The directory of a session: what the drives hold, the kernel's messages.

use std::path::{Path, PathBuf};

use crate::exit::exit_codes;
use disklab_exec::{HeldDirectory, NamedPathError, make_directories};
use disklab_lab_kernel::cache_directory;

/// What the names of sessions' directories begin with.
const NAME: &str = "shell-";

/// Makes a session's directory, in the user's cache, and removes those that killed
/// sessions left. It vanishes with the value.
///
/// # Errors
/// [`SessionDirectoryError`] if the cache cannot be written.
pub fn session_directory() -> Result<HeldDirectory, SessionDirectoryError> {
    let cache = cache_directory();
    let parent = cache.parent().unwrap_or(&cache);
    let failed = |path: &Path, source: NamedPathError| SessionDirectoryError {
        path: path.to_owned(),
        source,
    };
    make_directories(parent).map_err(|e| failed(parent, e))?;
    HeldDirectory::sweep(parent, NAME);
    HeldDirectory::within(parent, NAME).map_err(|(path, e)| failed(&path, e.into()))
}

/// A session's directory could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make '{}': {source} (XDG_CACHE_HOME says where)", path.display())]
pub struct SessionDirectoryError {
    path: PathBuf,
    source: NamedPathError,
}

exit_codes! { SessionDirectoryError => FAILED, }
