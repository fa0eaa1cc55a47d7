//! Where the guest's memory lies: a file in memory. The kernel is given one, or makes it in
//! the directory that it is told by `TMPDIR`.

mod huge;
mod named;
mod spare;

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::io::fcntl_dupfd_cloexec;

pub(crate) use named::{NamedDirectory, PARENTS};
use spare::LEAST_NUMBER;
pub(crate) use spare::MemoryFile;

/// By which the kernel is told the file's number (`kernel/patches/memory.patch`).
pub(crate) const MEMORY_VARIABLE: &str = "UML_MEMORY_FD";

/// The place for a guest's memory. It goes when this does; the memory, by then a file
/// without a name, stays for as long as the kernel has it.
#[derive(Debug)]
pub(crate) enum GuestMemory {
    /// A file system of its own, without a name, whose pages are huge, and the file in it.
    Huge { place: OwnedFd, path: PathBuf, file: OwnedFd },
    /// A directory in `/dev/shm`.
    Named(NamedDirectory),
}

impl GuestMemory {
    /// Makes a place for so many bytes, the best that this system allows; `None` where
    /// there is none but the lab's own directory. The file comes along where it can be used
    /// again when the guest has ended.
    pub fn new(bytes: u64, kernel: &Path) -> Option<(Self, Option<MemoryFile>)> {
        let spare = MemoryFile::spare(bytes, kernel).or_else(|| {
            let place = huge::file_system(bytes)?;
            MemoryFile::new(place, bytes, kernel).ok()
        });
        let huge = spare.and_then(|memory| {
            let place = fcntl_dupfd_cloexec(memory.place(), LEAST_NUMBER).ok()?;
            let path = format!("/proc/self/fd/{}", place.as_raw_fd()).into();
            let file = memory.open_for_guest().ok()?;
            Some((Self::Huge { place, path, file }, Some(memory)))
        });
        huge.or_else(|| NamedDirectory::new(bytes).map(|directory| (Self::Named(directory), None)))
    }

    /// Its path, for this process and for those that inherit [`GuestMemory::inherited`].
    pub fn path(&self) -> &Path {
        match self {
            Self::Huge { path, .. } => path,
            Self::Named(directory) => directory.path(),
        }
    }

    /// The number of the file that its kernel is to use, if there is one.
    pub fn file(&self) -> Option<RawFd> {
        match self {
            Self::Huge { file, .. } => Some(file.as_raw_fd()),
            Self::Named(_) => None,
        }
    }

    /// What the kernel's process must inherit to find it.
    pub fn inherited(&self) -> Vec<RawFd> {
        match self {
            Self::Huge { place, file, .. } => vec![place.as_raw_fd(), file.as_raw_fd()],
            Self::Named(_) => Vec::new(),
        }
    }
}

pub(crate) use named::sweep;
