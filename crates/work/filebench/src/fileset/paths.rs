//! How the files of a fileset are reached.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use disklab_wml::FilesetTree;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Resource, getrlimit, setrlimit};

use super::entry_kind::EntryKind;
use crate::filler::retry;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Descriptors that others need: at most this share of the limit is kept.
const KEPT_SHARE: u64 = 2;

/// How the files of a fileset are reached: from a kept descriptor of their
/// directory, or on foot from that of the fileset. Descriptors only name a place
/// (O_PATH); each is opened when it is first needed.
#[derive(Debug)]
pub(super) struct Paths {
    path: PathBuf,
    root: OnceLock<OwnedFd>,
    kept: Box<[OnceLock<OwnedFd>]>,
    /// How many more may be kept.
    left: AtomicUsize,
    /// First file of each directory; files of a directory follow in a row.
    first_files: Box<[u32]>,
}

impl Paths {
    pub fn new(tree: &FilesetTree, path: PathBuf, walk: bool) -> Self {
        let kept = if walk { 0 } else { tree.directories() };
        let mut first_files = vec![u32::MAX; tree.directories()];
        for file in (0..tree.files()).rev() {
            first_files[tree.directory_of(file)] = file as u32;
        }
        Self {
            path,
            root: OnceLock::new(),
            kept: (0..kept).map(|_| OnceLock::new()).collect(),
            left: AtomicUsize::new(0),
            first_files: first_files.into(),
        }
    }

    /// The fileset's directory.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Opens the fileset's directory, which must exist. `share` filesets share the
    /// descriptors.
    ///
    /// # Errors
    /// That of openat(2): the fileset cannot be used then.
    pub fn open(&self, share: usize) -> io::Result<()> {
        let root = retry(|| rustix::fs::openat(CWD, &self.path, DIRECTORY, Mode::empty()))?;
        let _ = self.root.set(root);
        let kept = descriptors() / KEPT_SHARE / share.max(1) as u64;
        self.left.store(usize::try_from(kept).unwrap_or(usize::MAX), Ordering::Relaxed);
        Ok(())
    }

    /// Closes all kept directories, so that the file system can be unmounted and mounted
    /// again; the fileset's own is opened again when it is needed.
    pub fn forget(&mut self) {
        self.root.take();
        for kept in &mut self.kept {
            if kept.take().is_some() {
                *self.left.get_mut() += 1;
            }
        }
    }

    fn root_fd(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(root) = self.root.get() {
            return Ok(root.as_fd());
        }
        let root = retry(|| rustix::fs::openat(CWD, &self.path, DIRECTORY, Mode::empty()))?;
        // Another thread may have been first: then this one is closed.
        Ok(self.root.get_or_init(|| root).as_fd())
    }

    fn kept(&self, tree: &FilesetTree, directory: usize) -> io::Result<Option<BorrowedFd<'_>>> {
        let Some(place) = self.kept.get(directory) else { return Ok(None) };
        if let Some(fd) = place.get() {
            return Ok(Some(fd.as_fd()));
        }
        let one_less = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            return Ok(None);
        }
        let mut path = String::new();
        push(tree, EntryKind::Inner, directory, &mut path);
        let root = self.root_fd()?;
        let fd = retry(|| rustix::fs::openat(root, path.as_str(), DIRECTORY, Mode::empty()))?;
        // Another thread may have been first: then this one is closed.
        Ok(Some(place.get_or_init(|| fd).as_fd()))
    }

    pub fn at<T>(
        &self,
        tree: &FilesetTree,
        kind: EntryKind,
        entry: usize,
        buffer: &mut String,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> io::Result<T>,
    ) -> io::Result<T> {
        buffer.clear();
        let mut opened = None;
        if kind == EntryKind::File {
            let directory = tree.directory_of(entry);
            opened = self.kept(tree, directory)?;
            if opened.is_some() {
                let first = self.first_files.get(directory).copied().unwrap_or_default();
                push_serial(buffer, (entry as u32).wrapping_sub(first).wrapping_add(1));
            }
        }
        let opened = match opened {
            Some(opened) => opened,
            None => {
                push(tree, kind, entry, buffer);
                self.root_fd()?
            }
        };
        buffer.push('\0');
        let name = CStr::from_bytes_with_nul(buffer.as_bytes()).map_err(io::Error::other)?;
        call(opened, name)
    }
}

/// Appends the path of an entry below its fileset; `.` for the fileset's own
/// directory.
pub(super) fn push(tree: &FilesetTree, kind: EntryKind, entry: usize, path: &mut String) {
    match kind {
        EntryKind::File => tree.push_file_path(entry, path),
        EntryKind::Leaf => tree.push_leaf_path(entry, path),
        EntryKind::Inner if entry == 0 => path.push('.'),
        EntryKind::Inner => tree.push_directory_path(entry, path),
    }
}

/// Appends a number as a name: eight digits, as many as it takes above.
fn push_serial(name: &mut String, serial: u32) {
    let mut digits = [b'0'; 10];
    let mut left = serial;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let skip = if serial < 100_000_000 { 2 } else { usize::from(digits[0] == b'0') };
    for digit in &digits[skip..] {
        name.push(char::from(*digit));
    }
}

/// How many descriptors this process may have: the soft limit is raised as far as
/// the user may.
fn descriptors() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_eight_digits_or_more() {
        for (serial, name) in [
            (1, "00000001"),
            (99_999_999, "99999999"),
            (100_000_000, "100000000"),
            (u32::MAX, "4294967295"),
        ] {
            let mut text = String::new();
            push_serial(&mut text, serial);
            assert_eq!(text, name);
        }
    }
}
