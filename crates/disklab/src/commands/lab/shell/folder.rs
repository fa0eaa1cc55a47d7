//! The folder of a session: what the drives hold, the kernel's messages.

use std::path::{Path, PathBuf};

use crate::exit::exit_codes;
use disklab_exec::{HeldFolder, NamedPathError, make_directories};
use disklab_lab_kernel::cache_folder;

/// What the names of sessions' folders begin with.
const NAME: &str = "shell-";

/// Makes a session's folder, in the user's cache, and removes those that killed
/// sessions left. It vanishes with the value.
///
/// # Errors
/// [`SessionFolderError`] if the cache cannot be written.
pub fn session_folder() -> Result<HeldFolder, SessionFolderError> {
    let cache = cache_folder();
    let parent = cache.parent().unwrap_or(&cache);
    let failed =
        |path: &Path, source: NamedPathError| SessionFolderError { path: path.to_owned(), source };
    make_directories(parent).map_err(|e| failed(parent, e))?;
    HeldFolder::sweep(parent, NAME);
    HeldFolder::within(parent, NAME).map_err(|(path, e)| failed(&path, e.into()))
}

/// A session's folder could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make '{}': {source} (XDG_CACHE_HOME says where)", path.display())]
pub struct SessionFolderError {
    path: PathBuf,
    source: NamedPathError,
}

exit_codes! { SessionFolderError => FAILED, }
