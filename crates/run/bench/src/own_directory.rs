//! A directory of a run's own, in a place that the user and other runs use too.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use disklab_exec::{Executor, owner};
use disklab_stack::Ledger;
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::BenchError;

/// A directory that only its user may look into, under a name that nobody chose: it
/// contains a random number. Nothing else in its parent is touched. A lock on it is held
/// while this value exists; the ledger removes the directory.
#[derive(Debug)]
pub(crate) struct OwnDirectory {
    path: PathBuf,
    lock: File,
}

/// The directory of a bench's own in which its cells have theirs: made for the first of them,
/// removed after the last.
#[derive(Debug, Default)]
pub(crate) struct CellsDirectory(Option<(OwnDirectory, usize)>);

impl CellsDirectory {
    /// Where it is. It is made in `parent` if it is not there yet.
    ///
    /// # Errors
    /// As [`OwnDirectory::create`].
    pub(crate) fn path(
        &mut self,
        parent: &Path,
        ledger: &mut Ledger,
    ) -> Result<PathBuf, BenchError> {
        if let Some((own, _)) = &self.0 {
            return Ok(own.path().to_owned());
        }
        let mark = ledger.mark();
        let own = OwnDirectory::create(parent, ledger)?;
        let path = own.path().to_owned();
        self.0 = Some((own, mark));
        Ok(path)
    }

    /// Removes it, if it is there.
    pub(crate) fn remove(&mut self, ledger: &mut Ledger, executor: &Executor) {
        let Some((own, mark)) = self.0.take() else { return };
        drop(own);
        for complaint in ledger.tear_down_to(mark, executor) {
            tracing::warn!("{complaint}");
        }
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // A child that another thread has forked, and that has not become its program yet, has the
        // file open, too: closing it here would leave the lock, and the directory would not be removed.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

impl OwnDirectory {
    /// Creates one in `parent`, which must exist, and enters it in the ledger.
    ///
    /// # Errors
    /// [`BenchError::Stack`] if it cannot be created, also if something has its name already,
    /// or entered in the ledger; [`BenchError::Io`] if it cannot be opened.
    pub(crate) fn create(parent: &Path, ledger: &mut Ledger) -> Result<Self, BenchError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self::create_named(&parent.join(format!("disklab{}x{count}", owner())), ledger)
    }

    fn create_named(path: &Path, ledger: &mut Ledger) -> Result<Self, BenchError> {
        // Exclusive: whatever has this name, a link included, is another's.
        ledger.create_tree(path)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let lock = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(path)
            .map_err(BenchError::io("cannot open", path))?;
        // Some network file systems have no locks on directories: the name suffices there.
        let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { path: path.to_owned(), lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use disklab_exec::{Executor, Interrupt};

    use super::*;

    #[test]
    fn own_directory_is_private_held_and_removed_by_the_ledger() {
        let temp = tempfile::tempdir().expect("temp");
        let parent = temp.path().join("scratch");
        std::fs::create_dir(&parent).expect("make");
        std::fs::write(parent.join("drive-1.img"), "photos").expect("write");
        let executor = Executor::new(Interrupt::new());
        let mut ledger = Ledger::open(&temp.path().join("state")).expect("ledger");
        let own = OwnDirectory::create(&parent, &mut ledger).expect("create");
        let other = OwnDirectory::create(&parent, &mut ledger).expect("create");
        assert_ne!(own.path(), other.path());
        let mode = own.path().metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        let again = File::open(own.path()).expect("open");
        assert!(flock(&again, FlockOperation::NonBlockingLockExclusive).is_err(), "it is held");
        std::fs::write(own.path().join("drive-1.img"), "disk").expect("write");
        drop((own, other));
        assert!(ledger.tear_down_to(0, &executor).is_empty());
        let left: Vec<_> = std::fs::read_dir(&parent).expect("read").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn own_directory_is_removed_while_a_forked_child_has_its_lock_open() {
        let temp = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut ledger = Ledger::open(&temp.path().join("state")).expect("ledger");
        let own = OwnDirectory::create(temp.path(), &mut ledger).expect("create");
        let path = own.path().to_owned();
        // As after fork(2): the same open file.
        let inherited = own.lock.try_clone().expect("duplicated");
        drop(own);
        let complaints = ledger.tear_down_to(0, &executor);
        assert!(complaints.is_empty() && !path.exists(), "{complaints:?}");
        drop(inherited);
    }

    #[test]
    fn existing_paths_are_neither_used_nor_removed() {
        let temp = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut ledger = Ledger::open(&temp.path().join("state")).expect("ledger");
        let photos = temp.path().join("photos");
        std::fs::create_dir(&photos).expect("make");
        std::fs::write(photos.join("a.jpg"), "a").expect("write");
        let there = temp.path().join("disklab1x0");
        std::fs::create_dir(&there).expect("make");
        std::fs::write(there.join("a.jpg"), "a").expect("write");
        let link = temp.path().join("disklab1x1");
        symlink(&photos, &link).expect("link");
        for path in [&there, &link] {
            OwnDirectory::create_named(path, &mut ledger).expect_err("it is another's");
        }
        assert!(ledger.tear_down_to(0, &executor).is_empty());
        assert!(there.join("a.jpg").exists() && photos.join("a.jpg").exists() && link.exists());
    }
}
