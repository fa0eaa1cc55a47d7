//! A directory of a process's own, and those that killed processes left behind.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::getuid;

use crate::open_regular;

/// Held by the process that uses a directory, for as long as it does; the system lets go of it
/// with the process.
const LOCK: &str = "lock";
/// Making a directory and its lock takes far less.
const MAKING: Duration = Duration::from_secs(3600);

/// A directory that only its user may look into. It goes when this does, or, where the
/// process was killed, with the next [`HeldDirectory::sweep`].
#[derive(Debug)]
pub struct HeldDirectory {
    path: PathBuf,
    _lock: File,
}

impl HeldDirectory {
    /// Makes one whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// The path that could not be made or opened, and the reason.
    pub fn within(parent: &Path, prefix: &str) -> Result<Self, (PathBuf, io::Error)> {
        for number in 0_u32.. {
            // Unlike our process id, this word never comes again.
            let path = parent.join(format!("{prefix}{}-{number:03}", crate::owner()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err((path, e)),
                Ok(()) => {}
            }
            let lock = path.join(LOCK);
            match File::create(&lock) {
                Err(e) => return Err((lock, e)),
                Ok(lock) if holds(&lock) => return Ok(Self { path, _lock: lock }),
                // Another swept it away before it was held. The next will do.
                Ok(_) => {}
            }
        }
        Err((parent.to_owned(), io::ErrorKind::AlreadyExists.into()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the user's directories whose name begins with `prefix` and that nobody holds
    /// any more.
    pub fn sweep(parent: &Path, prefix: &str) {
        let own = getuid().as_raw();
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let path = entry.path();
            // Directories of one's own only: others may be anything.
            let own = fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir() && m.uid() == own);
            if !own || !entry.file_name().to_string_lossy().starts_with(prefix) {
                continue;
            }
            let Ok(lock) = open_regular(&path.join(LOCK)) else {
                // It is just being made, its maker was killed in that moment, or it had
                // no lock yet. Such a one is empty.
                if is_old(&path) {
                    let _ = fs::remove_dir(&path);
                }
                continue;
            };
            // It may have gone since, and the name be another's.
            if holds(&lock) {
                let _ = fs::remove_file(path.join(LOCK));
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
}

impl Drop for HeldDirectory {
    fn drop(&mut self) {
        // Links in it are not followed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether the directory of this lock is now one's own.
fn holds(lock: &File) -> bool {
    flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok()
        && lock.metadata().is_ok_and(|lock| lock.nlink() > 0)
}

fn is_old(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|m| m.modified()).map(|t| t.elapsed());
    age.is_ok_and(|age| age.is_ok_and(|age| age > MAKING))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "disklab-";

    #[test]
    fn only_directories_of_killed_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let used = HeldDirectory::within(parent.path(), PREFIX).unwrap();
        let other = HeldDirectory::within(parent.path(), PREFIX).unwrap();
        assert_ne!(used.path(), other.path());
        let left = parent.path().join("disklab-0123456789abcdef-0");
        let making = parent.path().join("disklab-0123456789abcdef-1");
        let background = parent.path().join("disk");
        let old = parent.path().join("disklab-0123456789abcdef-2");
        let full = parent.path().join("disklab-0123456789abcdef-3");
        for directory in [&left, &making, &background, &old, &full] {
            fs::create_dir(directory).unwrap();
        }
        fs::write(full.join("vm_file-1"), "memory").unwrap();
        let yesterday = std::time::SystemTime::now() - Duration::from_secs(86_400);
        for directory in [&old, &full] {
            File::open(directory).unwrap().set_modified(yesterday).unwrap();
        }
        for directory in [&left, &background] {
            fs::write(directory.join(LOCK), "").unwrap();
            fs::write(directory.join("vm_file-1"), "memory").unwrap();
        }
        std::os::unix::fs::symlink(&background, parent.path().join("disklab-link")).unwrap();
        HeldDirectory::sweep(parent.path(), PREFIX);
        assert!(!left.exists(), "nobody holds it");
        assert!(used.path().exists() && other.path().exists(), "they are held");
        assert!(making.exists(), "it has no lock yet");
        assert!(!old.exists(), "it never had one");
        assert!(full.exists(), "nobody knows whose it is");
        assert!(background.join("vm_file-1").exists(), "it is no directory of ours");
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn held_directories_are_not_swept() {
        let parent = tempfile::tempdir().unwrap();
        let (directory, rounds) = (parent.path(), 2000);
        let stays = || {
            (0..rounds).all(|_| {
                let held = HeldDirectory::within(directory, PREFIX).unwrap();
                std::thread::yield_now();
                held.path().join(LOCK).exists()
            })
        };
        let stayed = std::thread::scope(|scope| {
            let makers = [(); 4].map(|()| scope.spawn(stays));
            while makers.iter().any(|maker| !maker.is_finished()) {
                HeldDirectory::sweep(directory, PREFIX);
            }
            makers.map(|maker| maker.join().unwrap())
        });
        assert_eq!(stayed, [true; 4]);
        assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
    }

    #[test]
    fn an_error_names_the_path() {
        let parent = tempfile::tempdir().unwrap();
        let (path, error) = HeldDirectory::within(&parent.path().join("none"), PREFIX).unwrap_err();
        assert!(path.starts_with(parent.path().join("none")), "{path:?}");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
