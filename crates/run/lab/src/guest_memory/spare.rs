//! The file of a guest's memory, and its use by one guest after another.
//!
//! The first use of a page is the most expensive thing that a guest does on a virtual
//! machine: the host finds a page and clears it, and the guest clears it again. So a guest
//! whose kernel takes it (`kernel/patches/memory.patch`) has the memory of one that has
//! ended. What lies in it has no meaning, as on any machine that is switched on.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags, fstatvfs, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// Memory that no guest uses, for the next ones of this process.
static SPARE: Mutex<Vec<MemoryFile>> = Mutex::new(Vec::new());
/// As much is kept: for each lab that may run at the same time.
const SPARE_LIMIT: usize = 64;

/// The kernel's process inherits descriptors, and tells on the guest's console of those of
/// its own, by their numbers: they must be the same in every run, so that the inherited
/// ones have numbers that are out of their way. By default a process may have 1024
/// descriptors.
pub(super) const LEAST_NUMBER: i32 = 960;

/// The file of a guest's memory, in a file system for it alone.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: File,
    /// The file system that it lies in, and where its kernel may make files.
    place: OwnedFd,
    /// How many files it had when this one was alone in it.
    files: u64,
    bytes: u64,
    /// Another kernel may not know what to do with it, and needs the space itself.
    kernel: PathBuf,
}

impl MemoryFile {
    /// A new one in the empty file system `place`.
    pub fn new(place: OwnedFd, bytes: u64, kernel: &Path) -> Result<Self, Errno> {
        let path = format!("/proc/self/fd/{}", place.as_raw_fd());
        let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = open(path, flags, Mode::RWXU)?;
        let files = files_in(&place)?;
        Ok(Self { file: File::from(fd), place, files, bytes, kernel: kernel.to_owned() })
    }

    /// One that a guest with so much memory and this kernel has left. Memory of other
    /// sizes is given back: the study has continued with something else.
    pub fn spare(bytes: u64, kernel: &Path) -> Option<Self> {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        spare.retain(|memory| memory.bytes == bytes && memory.kernel == kernel);
        spare.pop()
    }

    /// The file system that it lies in.
    pub fn place(&self) -> &OwnedFd {
        &self.place
    }

    /// A way to it for the guest's kernel, apart from this process's, so that [`MemoryFile::release`]
    /// can say whether any of them is still in use.
    pub fn open_for_guest(&self) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let fd = open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        fcntl_dupfd_cloexec(fd, LEAST_NUMBER)
    }

    /// The guest has ended. Keeps the memory for another, unless the guest did not use it,
    /// something of it still runs, or it left files of its own where the next one would find
    /// them, or their space missing.
    pub fn release(self) {
        let used = self.file.metadata().is_ok_and(|metadata| metadata.blocks() > 0);
        let alone = files_in(&self.place).is_ok_and(|files| files == self.files);
        // What lies behind its end would be missing, too.
        if !used || !alone || !self.is_own_alone() || self.file.set_len(self.bytes).is_err() {
            return;
        }
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_LIMIT {
            spare.push(self);
        }
    }

    /// Whether nobody else has it open or mapped: only then is there a lease to write
    /// (fcntl(2), `F_SETLEASE`).
    #[allow(unsafe_code)]
    fn is_own_alone(&self) -> bool {
        let fd = self.file.as_fd().as_raw_fd();
        // SAFETY: both calls take a number, and change no memory of this process.
        unsafe {
            libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK) == 0
                && libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) == 0
        }
    }
}

/// How many files a file system has, those without a name included.
fn files_in(place: &OwnedFd) -> Result<u64, Errno> {
    let counts = fstatvfs(place)?;
    Ok(counts.f_files.saturating_sub(counts.f_ffree))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::super::huge;
    use super::*;

    const BYTES: u64 = 64 << 20;

    /// Memory for a kernel of this test's own: others take and leave memory, too.
    fn memory(kernel: &str) -> Option<MemoryFile> {
        let place = huge::file_system(BYTES);
        if place.is_none() {
            eprintln!("skipped: needs to mount, as root or in a user namespace");
        }
        place.map(|place| MemoryFile::new(place, BYTES, Path::new(kernel)).unwrap())
    }

    fn use_it(memory: &MemoryFile) -> File {
        let guest = File::from(memory.open_for_guest().unwrap());
        guest.write_all_at(&[7; 4096], 4096).unwrap();
        guest
    }

    #[test]
    fn hidden_data_behind_the_end_is_gone() {
        let Some(memory) = memory("/hidden") else { return };
        memory.file.set_len(BYTES).unwrap();
        let guest = use_it(&memory);
        rustix::fs::fallocate(&guest, rustix::fs::FallocateFlags::KEEP_SIZE, BYTES, 1 << 20)
            .unwrap();
        drop(guest);
        let before = memory.file.metadata().unwrap().blocks();
        memory.release();
        let again = MemoryFile::spare(BYTES, Path::new("/hidden"));
        // Another test's guest may have taken over since.
        if let Some(again) = again {
            assert!(again.file.metadata().unwrap().blocks() < before);
        }
    }

    #[test]
    fn memory_serves_the_next_guest_when_the_last_one_has_ended() {
        // One test for all: they would take each other's.
        let Some(memory) = memory("/k") else { return };
        drop(use_it(&memory));
        memory.release();
        let again = MemoryFile::spare(BYTES, Path::new("/k")).expect("it was released");
        let mut data = [0; 4096];
        again.file.read_exact_at(&mut data, 4096).unwrap();
        assert_eq!(data, [7; 4096], "its pages are there");

        // Something of the guest still has it open.
        let left = use_it(&again);
        again.release();
        assert!(MemoryFile::spare(BYTES, Path::new("/k")).is_none());
        drop(left);

        // No guest used it.
        let Some(unused) = self::memory("/k") else { return };
        unused.release();
        assert!(MemoryFile::spare(BYTES, Path::new("/k")).is_none());

        // The guest left a file, or one without a name that somebody holds.
        for named in [true, false] {
            let Some(memory) = self::memory("/k") else { return };
            drop(use_it(&memory));
            let path = format!("/proc/self/fd/{}/left", memory.place.as_raw_fd());
            let left = File::create(&path).unwrap();
            if !named {
                std::fs::remove_file(&path).unwrap();
            }
            memory.release();
            assert!(MemoryFile::spare(BYTES, Path::new("/k")).is_none());
            drop(left);
        }

        // Another kernel, or another size.
        for (bytes, kernel) in [(BYTES, "/other"), (2 * BYTES, "/k")] {
            let Some(memory) = self::memory("/k") else { return };
            drop(use_it(&memory));
            memory.release();
            assert!(MemoryFile::spare(bytes, Path::new(kernel)).is_none());
        }
    }
}
