//! Where the guest's memory lies: a file in memory that the kernel makes, in the
//! folder that it is told by `TMPDIR`.

mod huge;
mod named;

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

pub(crate) use named::{NamedFolder, PARENTS};

/// The place for a guest's memory. It goes when this does; the memory, by then a file
/// without a name, stays for as long as the kernel has it.
#[derive(Debug)]
pub(crate) enum GuestMemory {
    /// A file system of its own, without a name, whose pages are huge.
    Huge { place: OwnedFd, path: PathBuf },
    /// A folder in `/dev/shm`.
    Named(NamedFolder),
}

impl GuestMemory {
    /// Makes a place for so many bytes, the best that this system allows; `None` where
    /// there is none but the lab's own folder.
    pub fn new(bytes: u64) -> Option<Self> {
        if let Some(place) = huge::file_system(bytes) {
            let path = format!("/proc/self/fd/{}", place.as_raw_fd()).into();
            return Some(Self::Huge { place, path });
        }
        NamedFolder::new(bytes).map(Self::Named)
    }

    /// Its path, for this process and for those that inherit [`GuestMemory::inherited`].
    pub fn path(&self) -> &Path {
        match self {
            Self::Huge { path, .. } => path,
            Self::Named(folder) => folder.path(),
        }
    }

    /// What the kernel's process must inherit to find it.
    pub fn inherited(&self) -> Option<&OwnedFd> {
        match self {
            Self::Huge { place, .. } => Some(place),
            Self::Named(_) => None,
        }
    }
}

pub(crate) use named::sweep;
