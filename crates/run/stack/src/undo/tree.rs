//! Removing a directory with all that is in it: only one that disklab itself has
//! made inside somebody else's directory.

use std::fmt;
use std::fs::remove_dir_all;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::users::kill_users;
use super::{FileIdentity, Marks, Obstacle, Teardown, TeardownContext, inspect};
use crate::mounts::{as_kernel_shows, mounts};
use crate::{LeftAlone, StackError};

/// Every directory that may be removed so is named with this first.
pub(crate) const PREFIX: &str = "disklab";

/// Remove a directory that disklab has made in somebody else's directory, with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoveTree(pub PathBuf);

impl Teardown for RemoveTree {
    /// Removes a tree that bears our prefix, is no link, and has nothing mounted in
    /// it. Programs that still write in it are killed first: fio's workers survive a
    /// `kill -9` of disklab.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let path = &self.0;
        let refuse = |why| Err(StackError::LeftAlone { path: path.to_owned(), why });
        let own = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX));
        if !own {
            return refuse(LeftAlone::OtherName);
        }
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return refuse(LeftAlone::NotTheDirectory),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(StackError::io("cannot look at", path, e)),
        }
        let shown = as_kernel_shows(path);
        if mounts()?.iter().any(|mount| mount.mount_point.starts_with(&shown)) {
            return refuse(LeftAlone::MountedIn);
        }
        if is_held(path) {
            return refuse(LeftAlone::InUse);
        }
        if context.by_force {
            kill_users(&shown);
        }
        match remove_dir_all(path) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(StackError::io("cannot remove", path, e)),
        }
    }

    /// Why the tree is to stay: it is another one, is used, or holds what the run did
    /// not make.
    fn obstacles(
        &self,
        marks: &Marks,
        _: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let path = &self.0;
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(StackError::io("cannot look at", path, e)),
        };
        let own = |identity| identity == FileIdentity::new(&metadata);
        if !metadata.is_dir() || !marks.identity(path).is_none_or(own) {
            return Ok(vec![Obstacle::Replaced(path.to_owned())]);
        }
        let shown = as_kernel_shows(path);
        let mut found = inspect::submounts(&shown)?;
        found.extend(inspect::entries(path, marks)?);
        found.extend(inspect::processes(&shown));
        Ok(found)
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0]
    }

    fn contains(&self, others: &[&Path]) -> bool {
        others.iter().any(|path| path.starts_with(&self.0))
    }
}

impl fmt::Display for RemoveTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the directory {} and what is in it", self.0.display())
    }
}

/// Whether another process holds this directory by a lock on it, as a run does with the
/// directories that it creates. Some network file systems have no such locks.
fn is_held(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(path, flags, Mode::empty())
        .and_then(|directory| flock(&directory, FlockOperation::NonBlockingLockExclusive))
        .is_err_and(|e| e == Errno::WOULDBLOCK)
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;

    use super::*;

    fn tree(path: &Path) -> Result<bool, StackError> {
        RemoveTree(path.to_owned()).tear_down(&mut TeardownContext::by_force(&Executor::default()))
    }

    #[test]
    fn only_our_own_trees_are_removed() {
        let temp = tempfile::tempdir().expect("temp");
        let own = temp.path().join("disklab1x0");
        std::fs::create_dir_all(own.join("a/b")).expect("make");
        std::fs::write(own.join("a/b/c"), "x").expect("write");
        assert!(tree(&own).expect("ours"));
        assert!(!own.exists());
        assert!(!tree(&own).expect("twice"));

        let other = temp.path().join("holiday-photos");
        std::fs::create_dir(&other).expect("make");
        tree(&other).expect_err("another's");
        assert!(other.exists());

        let link = temp.path().join("disklab-link");
        std::os::unix::fs::symlink(&other, &link).expect("link");
        tree(&link).expect_err("a link");
        assert!(other.exists());
    }

    #[test]
    fn held_tree_is_left_alone() {
        let temp = tempfile::tempdir().expect("temp");
        let path = temp.path().join("disklab1x0");
        std::fs::create_dir(&path).expect("make");
        let held = std::fs::File::open(&path).expect("open");
        flock(&held, FlockOperation::NonBlockingLockExclusive).expect("lock");
        let error = tree(&path).expect_err("held").to_string();
        assert!(error.contains("another disklab works in it"), "{error}");
        assert!(path.exists());
        drop(held);
        assert!(tree(&path).expect("free"));
    }
}
