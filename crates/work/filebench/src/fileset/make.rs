//! Making the files that exist before a run.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use disklab_exec::Interrupt;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{EntryKind, Set};
use crate::FilebenchError;
use crate::filler::{FillPart, Filler, ScratchBuffer, retry};

/// Files are made by so many threads; by as many as upstream has with `paralloc`
/// (MAX_PARALLOC of fileset.c).
const THREADS: usize = 4;
const PARALLEL_THREADS: usize = 32;
/// Files are written in pieces of this size (`fileset_alloc_file`).
const PIECE: u64 = 1 << 20;

/// What the making of filesets needs.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    pub filler: &'a Filler,
    pub interrupt: &'a Interrupt,
    /// Whether each fileset is made by one thread, as in Filebench.
    pub one_by_one: bool,
    /// Between how many filesets descriptors are divided.
    pub sets: usize,
}

/// What was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MadeFileset {
    pub files: u64,
    pub bytes: u64,
}

impl Set {
    /// Bytes that [`make`](Self::make) will write. Of a tree that is there already and is
    /// to be reused, 0: nobody has looked yet what it lacks.
    pub fn bytes_to_make(&self) -> u64 {
        if self.trusted || (self.reuse && self.paths.root().exists()) {
            return 0;
        }
        let sizes = self.order.0.iter().map(|file| self.size(*file as usize));
        sizes.fold(0, u64::saturating_add)
    }

    /// Makes the directories, and the files that exist before a run.
    ///
    /// # Errors
    /// Where the fileset's directory exists and is not to be reused; where something
    /// cannot be made; where the user asked to stop.
    pub fn make(&mut self, maker: &Maker<'_>) -> Result<MadeFileset, FilebenchError> {
        let root = self.paths.root().to_owned();
        match retry(|| rustix::fs::mkdirat(CWD, &root, Mode::from_raw_mode(0o755))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !self.reuse {
                    return Err(FilebenchError::Exists { path: root });
                }
            }
            made => made.map_err(FilebenchError::io("cannot make", &root))?,
        }
        self.paths.open(maker.sets).map_err(FilebenchError::io("cannot open", &root))?;
        if self.trusted {
            return Ok(MadeFileset::default());
        }
        self.make_directories(maker)?;
        let made = self.make_files(maker)?;
        self.paths.forget();
        Ok(made)
    }

    /// Removes everything that was made, and the fileset's directory itself. What
    /// somebody else put there stays, and is an error.
    ///
    /// # Errors
    /// [`FilebenchError::Io`] with what cannot be removed.
    pub fn remove(&mut self) -> Result<(), FilebenchError> {
        self.paths.forget();
        let mut buffer = String::new();
        let files = (0..self.count(EntryKind::File)).map(|file| (EntryKind::File, file));
        let leaves = (0..self.count(EntryKind::Leaf)).map(|leaf| (EntryKind::Leaf, leaf));
        let inner = (1..self.count(EntryKind::Inner)).rev().map(|inner| (EntryKind::Inner, inner));
        for (kind, entry) in files.chain(leaves).chain(inner) {
            let flags = if kind == EntryKind::File { AtFlags::empty() } else { AtFlags::REMOVEDIR };
            let removed =
                self.at(kind, entry, &mut buffer, |above, name| {
                    match rustix::fs::unlinkat(above, name, flags) {
                        Err(Errno::NOENT) => Ok(()),
                        removed => removed.map_err(io::Error::from),
                    }
                });
            removed.map_err(|e| FilebenchError::io("cannot remove", &self.path(kind, entry))(e))?;
        }
        self.paths.forget();
        let root = self.paths.root();
        let removed = retry(|| rustix::fs::unlinkat(CWD, root, AtFlags::REMOVEDIR));
        removed.map_err(FilebenchError::io("cannot remove", root))
    }

    fn make_directories(&self, maker: &Maker<'_>) -> Result<(), FilebenchError> {
        let inner =
            (1..self.count(EntryKind::Inner)).map(|directory| (EntryKind::Inner, directory));
        let leaves = self.order.1.iter().map(|leaf| (EntryKind::Leaf, *leaf as usize));
        let mut buffer = String::new();
        for (kind, directory) in inner.chain(leaves) {
            maker.interrupt.check()?;
            let made =
                self.at(kind, directory, &mut buffer, |above, name| {
                    match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(0o755)) {
                        Err(Errno::EXIST) if self.reuse => Ok(()),
                        made => made.map_err(io::Error::from),
                    }
                });
            made.map_err(|e| FilebenchError::io("cannot make", &self.path(kind, directory))(e))?;
        }
        if self.reuse {
            self.remove_others(maker)?;
        }
        Ok(())
    }

    /// Of a tree that was there before, removes what is not to exist.
    fn remove_others(&self, maker: &Maker<'_>) -> Result<(), FilebenchError> {
        let mut buffer = String::new();
        let files =
            (0..self.count(EntryKind::File)).filter(|file| self.files.missing.contains(*file));
        let leaves =
            (0..self.count(EntryKind::Leaf)).filter(|leaf| self.leaves.missing.contains(*leaf));
        let files = files.map(|file| (EntryKind::File, file, AtFlags::empty()));
        let leaves = leaves.map(|leaf| (EntryKind::Leaf, leaf, AtFlags::REMOVEDIR));
        for (kind, entry, flags) in files.chain(leaves) {
            maker.interrupt.check()?;
            let removed =
                self.at(kind, entry, &mut buffer, |above, name| {
                    match rustix::fs::unlinkat(above, name, flags) {
                        Err(Errno::NOENT) => Ok(()),
                        removed => removed.map_err(io::Error::from),
                    }
                });
            removed.map_err(|e| FilebenchError::io("cannot remove", &self.path(kind, entry))(e))?;
        }
        Ok(())
    }

    fn make_files(&self, maker: &Maker<'_>) -> Result<MadeFileset, FilebenchError> {
        let order = &self.order.0;
        let threads = match (self.parallel, maker.one_by_one) {
            (true, _) => PARALLEL_THREADS,
            (false, true) => 1,
            (false, false) => THREADS,
        };
        let next = AtomicUsize::new(0);
        let bytes = AtomicU64::new(0);
        let failed = Mutex::new(None);
        let work = |number: usize| {
            let mut scratch = maker.filler.scratch((u64::MAX >> 1) - number as u64);
            let mut buffer = String::new();
            while let Some(file) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let file = *file as usize;
                let made = self.make_file(file, maker, &mut scratch, &mut buffer);
                if let Err(error) = made {
                    // The others find nothing more to do.
                    next.store(order.len(), Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
                bytes.fetch_add(self.size(file), Ordering::Relaxed);
            }
        };
        thread::scope(|scope| {
            for number in 1..threads.min(order.len()) {
                let worker = thread::Builder::new().name(format!("make-{number}"));
                // With fewer threads it only takes longer.
                let _ = worker.spawn_scoped(scope, move || work(number));
            }
            work(0);
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let made = MadeFileset { files: order.len() as u64, bytes: bytes.into_inner() };
        failed.map_or(Ok(made), Err)
    }

    fn make_file(
        &self,
        file: usize,
        maker: &Maker<'_>,
        scratch: &mut ScratchBuffer,
        buffer: &mut String,
    ) -> Result<(), FilebenchError> {
        maker.interrupt.check()?;
        let path = || self.path(EntryKind::File, file);
        let size = self.size(file);
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = self
            .at(EntryKind::File, file, buffer, |above, name| {
                let mode = Mode::from_raw_mode(0o666);
                retry(|| rustix::fs::openat(above, name, flags, mode))
            })
            .map_err(|e| FilebenchError::io("cannot make", &path())(e))?;
        if self.reuse
            && fits(&fd, size).map_err(|e| FilebenchError::io("cannot cut", &path())(e))?
        {
            return Ok(());
        }
        let mut done = 0;
        while done < size {
            maker.interrupt.check()?;
            let length = PIECE.min(size - done);
            let part = FillPart { stream: file as u64, offset: done, length };
            maker
                .filler
                .write(&fd, part, scratch)
                .map_err(|e| FilebenchError::io("cannot write", &path())(e))?;
            done += length;
        }
        Ok(())
    }
}

/// Whether a file that was there before need not be written: a longer one is cut. What is
/// no file, such as a device, is an error.
fn fits(fd: &impl AsFd, size: u64) -> io::Result<bool> {
    let there = rustix::fs::fstat(fd)?;
    if FileType::from_raw_mode(there.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file; remove it"));
    }
    let length = u64::try_from(there.st_size).unwrap_or_default();
    if length > size {
        rustix::fs::ftruncate(fd, size)?;
    }
    Ok(length >= size && length > 0)
}
