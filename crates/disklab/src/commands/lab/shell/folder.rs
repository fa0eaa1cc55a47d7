//! The folder of a session: what the drives hold, the kernel's messages.

use std::fs;
use std::path::PathBuf;

use disklab_exec::HeldFolder;
use disklab_lab::kernel::cache_folder;

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
    fs::create_dir_all(parent)
        .map_err(|source| SessionFolderError { path: parent.to_owned(), source })?;
    HeldFolder::sweep(parent, NAME);
    HeldFolder::within(parent, NAME).map_err(|(path, source)| SessionFolderError { path, source })
}

/// A session's folder could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make '{}': {source} (XDG_CACHE_HOME says where)", path.display())]
pub struct SessionFolderError {
    path: PathBuf,
    source: std::io::Error,
}
