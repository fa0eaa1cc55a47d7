//! The folder of a session: what the drives hold, the kernel's messages.

use std::fs;
use std::path::Path;

use disklab_exec::HeldFolder;
use disklab_lab::kernel::cache_folder;

/// What the names of sessions' folders begin with.
const NAME: &str = "shell-";

/// Makes a session's folder, in the user's cache, and removes those that killed
/// sessions left. It vanishes with the value.
pub fn session_folder() -> Result<HeldFolder, String> {
    let cache = cache_folder();
    let parent = cache.parent().unwrap_or(&cache);
    let failed = |path: &Path, e: std::io::Error| {
        format!("cannot make '{}': {e} (XDG_CACHE_HOME says where)", path.display())
    };
    fs::create_dir_all(parent).map_err(|e| failed(parent, e))?;
    HeldFolder::sweep(parent, NAME);
    HeldFolder::within(parent, NAME).map_err(|(path, e)| failed(&path, e))
}
