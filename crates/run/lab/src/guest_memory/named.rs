//! A directory of a lab's own, where so much fits into it.

use std::path::Path;

use disklab_exec::HeldDirectory;

/// Directories that all labs of this machine find: a file system in memory, and where what is
/// not the guest's memory may be, too. Both are at the same depth.
pub(crate) const PARENTS: [&str; 2] = ["/dev/shm", "/var/tmp"];
/// What the directories' names begin with.
const NAME: &str = "disklab-";

/// A directory for the guest's memory or its kernel's work, which goes when this does.
#[derive(Debug)]
pub(crate) struct NamedDirectory(HeldDirectory);

impl NamedDirectory {
    /// Makes it, where so much memory fits: the kernel is killed when it cannot grow.
    pub fn new(bytes: u64) -> Option<Self> {
        Self::within(Path::new(PARENTS[0]), bytes)
    }

    /// The same in another directory.
    pub fn within(parent: &Path, bytes: u64) -> Option<Self> {
        let space = rustix::fs::statvfs(parent).ok()?;
        if space.f_bavail.saturating_mul(space.f_frsize) < bytes {
            return None;
        }
        HeldDirectory::within(parent, NAME).ok().map(Self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Removes the directories of labs that were killed.
pub(crate) fn sweep() {
    for directory in PARENTS {
        HeldDirectory::sweep(Path::new(directory), NAME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_directory_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        assert!(NamedDirectory::within(parent.path(), u64::MAX).is_none());
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
