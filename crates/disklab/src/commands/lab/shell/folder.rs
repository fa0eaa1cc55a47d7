//! The folder of a session: what the drives hold, the kernel's messages.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use disklab_lab::kernel::cache_folder;
use rustix::fs::{FlockOperation, flock};

/// What the names of sessions' folders begin with.
const NAME: &str = "shell-";
/// Held by whoever uses the folder.
const LOCK: &str = "lock";

/// A folder of a session's own. It vanishes with the value.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes one, in the user's cache, and removes those that killed sessions left.
    pub fn new() -> Result<Self, String> {
        let cache = cache_folder();
        Self::within(cache.parent().unwrap_or(&cache))
    }

    fn within(parent: &Path) -> Result<Self, String> {
        let failed = |what: &str, path: &Path, e: std::io::Error| {
            format!("cannot {what} '{}': {e} (XDG_CACHE_HOME says where)", path.display())
        };
        fs::create_dir_all(parent).map_err(|e| failed("make", parent, e))?;
        sweep(parent);
        for number in 0_u32.. {
            let path = parent.join(format!("{NAME}{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(failed("make", &path, e)),
                Ok(()) => {}
            }
            let lock = path.join(LOCK);
            let file = File::create(&lock).map_err(|e| failed("make", &lock, e))?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Ok(Self { path, _lock: file });
            }
        }
        Err("cannot make a folder: all names are taken".to_owned())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders that nobody uses any more.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(NAME) {
            continue;
        }
        // One without a lock is just being made.
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_session_left_goes_and_others_stay() {
        let parent = tempfile::tempdir().expect("temp");
        let used = Folder::within(parent.path()).expect("folder");
        let left = parent.path().join("shell-1-0");
        fs::create_dir(&left).expect("made");
        fs::write(left.join(LOCK), "").expect("made");
        fs::create_dir(parent.path().join("kernel")).expect("made");
        let again = Folder::within(parent.path()).expect("folder");
        assert!(!left.exists() && used.path().exists() && again.path().exists());
        assert!(parent.path().join("kernel").exists());
        let path = again.path().to_owned();
        drop(again);
        assert!(!path.exists());
    }
}
