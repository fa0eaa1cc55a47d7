//! A folder of a lab's own, and those that killed labs left behind.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::getuid;

/// A file system in memory.
const SHARED: &str = "/dev/shm";
/// Where those that are for the kernel's work may be, too.
const TEMPORARY: &str = "/var/tmp";
/// What the folders' names begin with.
const NAME: &str = "disklab-";
/// Held by whoever uses a folder, for as long as it does; the system lets go of it
/// with the process.
const LOCK: &str = "lock";

/// Making a folder and its lock takes far less.
const MAKING: Duration = Duration::from_secs(3600);

/// A folder for the guest's memory or its kernel's work, which goes when this does.
#[derive(Debug)]
pub(crate) struct NamedFolder {
    path: PathBuf,
    _lock: File,
}

impl NamedFolder {
    /// Makes it, where so much memory fits: the kernel is killed when it cannot grow.
    pub fn new(bytes: u64) -> Option<Self> {
        Self::within(Path::new(SHARED), bytes)
    }

    /// The same in another folder.
    pub fn within(parent: &Path, bytes: u64) -> Option<Self> {
        let space = rustix::fs::statvfs(parent).ok()?;
        if space.f_bavail.saturating_mul(space.f_frsize) < bytes {
            return None;
        }
        // Unlike our process id, this word never comes again.
        (0..1000).find_map(|number| {
            let path = parent.join(format!("{NAME}{}-{number}", disklab_exec::owner()));
            DirBuilder::new().mode(0o700).create(&path).ok()?;
            let lock = File::create(path.join(LOCK)).ok()?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
            Some(Self { path, _lock: lock })
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for NamedFolder {
    fn drop(&mut self) {
        // The guest's memory is a file without a name; a kernel's folder has links,
        // which are not followed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of labs that were killed.
pub(crate) fn sweep() {
    for folder in [SHARED, TEMPORARY] {
        sweep_within(Path::new(folder));
    }
}

fn sweep_within(parent: &Path) {
    let own = getuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        // Folders of one's own only: others may be anything.
        let ours = fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir() && m.uid() == own);
        if !ours || !entry.file_name().to_string_lossy().starts_with(NAME) {
            continue;
        }
        let Ok(lock) = File::open(path.join(LOCK)) else {
            // It is just being made, its maker was killed in that moment, or it had no
            // lock yet. Such a one is empty.
            if is_old(&path) {
                let _ = fs::remove_dir(&path);
            }
            continue;
        };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_file(path.join(LOCK));
            // Fails where the kernel of a system without nameless files was killed
            // between making its file and taking the name away.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_old(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|m| m.modified()).map(|t| t.elapsed());
    age.is_ok_and(|age| age.is_ok_and(|age| age > MAKING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_labs_left_goes_and_all_else_stays() {
        let parent = tempfile::tempdir().unwrap();
        let used = NamedFolder::within(parent.path(), 4096).unwrap();
        let other = NamedFolder::within(parent.path(), 4096).unwrap();
        assert_ne!(used.path(), other.path());
        let left = parent.path().join("disklab-0123456789abcdef-0");
        let making = parent.path().join("disklab-0123456789abcdef-1");
        let foreign = parent.path().join("disk");
        let old = parent.path().join("disklab-0123456789abcdef-2");
        let full = parent.path().join("disklab-0123456789abcdef-3");
        for folder in [&left, &making, &foreign, &old, &full] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(full.join("vm_file-1"), "memory").unwrap();
        let yesterday = std::time::SystemTime::now() - Duration::from_secs(86_400);
        for folder in [&old, &full] {
            File::open(folder).unwrap().set_modified(yesterday).unwrap();
        }
        for folder in [&left, &foreign] {
            fs::write(folder.join(LOCK), "").unwrap();
            fs::write(folder.join("vm_file-1"), "memory").unwrap();
        }
        std::os::unix::fs::symlink(&foreign, parent.path().join("disklab-link")).unwrap();
        sweep_within(parent.path());
        assert!(!left.exists(), "nobody holds it");
        assert!(used.path().exists() && other.path().exists(), "they are held");
        assert!(making.exists(), "it has no lock yet");
        assert!(!old.exists(), "it never had one");
        assert!(full.exists(), "nobody knows whose it is");
        assert!(foreign.join("vm_file-1").exists(), "it is no folder of ours");
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_without_room_is_none() {
        let parent = tempfile::tempdir().unwrap();
        assert!(NamedFolder::within(parent.path(), u64::MAX).is_none());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
