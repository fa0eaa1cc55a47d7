//! A fileset on the disk: which of its files exist, how long they are, where they lie.

mod entry_kind;
mod make;
mod paths;
mod room;

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use disklab_wml::random::Rng;
use disklab_wml::{Fileset, FilesetTree, Picks, TreeError, preallocated};
use rustix::fs::OFlags;

pub(crate) use entry_kind::EntryKind;
pub(crate) use make::{MadeFileset, Maker};
use paths::Paths;
pub(crate) use room::check as check_room;

/// Where a pick begins.
pub(crate) enum From<'a> {
    /// Where the last one of all threads ended.
    Rotor,
    /// Where the last one of this thread ended.
    Own(&'a mut usize),
    /// At this number.
    Index(u64),
}

/// A fileset and its state. Threads share it; nothing is locked but in
/// [`claim`](Self::claim).
#[derive(Debug)]
pub(crate) struct Set {
    pub name: String,
    tree: FilesetTree,
    files: Picks,
    leaves: Picks,
    next_inner: AtomicUsize,
    /// Bytes of each file now; [`FilesetTree::file_size`] is what was drawn.
    lengths: Box<[AtomicU64]>,
    opens: Box<[AtomicU32]>,
    /// Files and leaf directories that exist at first, in the order to make them.
    order: (Vec<u32>, Vec<u32>),
    paths: Paths,
    access: OFlags,
    reuse: bool,
    pub trusted: bool,
    parallel: bool,
    strict: bool,
    claims: Claims,
}

/// For threads that want a certain entry, which another one holds.
#[derive(Debug, Default)]
struct Claims {
    waiting: AtomicUsize,
    lock: Mutex<()>,
    released: Condvar,
}

impl Set {
    /// Draws a fileset that will lie below `directory`. Nothing is touched. With
    /// `strict`, every path is walked from the fileset's own directory, as in
    /// Filebench; without, directories are kept open.
    ///
    /// # Errors
    /// [`TreeError`] if the draws ask for more than fits.
    pub fn draw(
        fileset: &Fileset,
        directory: &Path,
        strict: bool,
        rng: &mut Rng,
    ) -> Result<Self, TreeError> {
        let tree = FilesetTree::build(fileset, rng)?;
        let percent = fileset.prealloc.draw(rng);
        let order = preallocated(tree.files(), percent, rng);
        let leaf_order = preallocated(tree.leaf_directories(), percent, rng);
        let exists = |order: &[u32], count: usize| {
            let mut exists = vec![false; count];
            for entry in order {
                exists[*entry as usize] = true;
            }
            exists
        };
        let files = exists(&order, tree.files());
        let leaves = exists(&leaf_order, tree.leaf_directories());
        let length = |file: usize| if files[file] { tree.file_size(file) } else { 0 };
        Ok(Self {
            name: fileset.name.clone(),
            files: Picks::new(files.len(), |file| files[file]),
            leaves: Picks::new(leaves.len(), |leaf| leaves[leaf]),
            next_inner: AtomicUsize::new(0),
            lengths: (0..files.len()).map(|file| AtomicU64::new(length(file))).collect(),
            opens: (0..files.len()).map(|_| AtomicU32::new(0)).collect(),
            order: (order, leaf_order),
            paths: Paths::new(&tree, directory.join(&fileset.name), strict),
            access: match (fileset.read_only, fileset.write_only) {
                (true, _) => OFlags::RDONLY,
                (false, true) => OFlags::WRONLY,
                (false, false) => OFlags::RDWR,
            },
            reuse: fileset.reuse || fileset.trust_tree,
            trusted: fileset.trust_tree,
            parallel: fileset.paralloc,
            strict,
            claims: Claims::default(),
            tree,
        })
    }

    /// How many there are, existing or not.
    pub fn count(&self, kind: EntryKind) -> usize {
        match kind {
            EntryKind::File => self.tree.files(),
            EntryKind::Leaf => self.tree.leaf_directories(),
            EntryKind::Inner => self.tree.directories(),
        }
    }

    /// Bytes of all files as drawn.
    pub fn bytes(&self) -> u64 {
        self.tree.bytes()
    }

    /// Bytes of a file as drawn.
    pub fn size(&self, file: usize) -> u64 {
        self.tree.file_size(file)
    }

    /// Bytes of a file now.
    pub fn length(&self, file: usize) -> &AtomicU64 {
        &self.lengths[file]
    }

    /// How many slots hold a file.
    pub fn opens(&self, file: usize) -> &AtomicU32 {
        &self.opens[file]
    }

    /// How files are opened.
    pub fn access(&self) -> OFlags {
        self.access
    }

    /// The next one that exists, or that does not. It is held until it is released;
    /// inner directories are shared.
    pub fn pick(&self, kind: EntryKind, exists: bool, from: From<'_>) -> Option<usize> {
        let picks = match kind {
            EntryKind::File => &self.files,
            EntryKind::Leaf => &self.leaves,
            EntryKind::Inner => {
                let next = self.next_inner.fetch_add(1, Ordering::Relaxed);
                return next.checked_rem(self.tree.directories());
            }
        };
        let pool = if exists { &picks.existing } else { &picks.missing };
        let mut from = from;
        let mut pick = || match &mut from {
            From::Rotor => pool.pick(),
            From::Own(rotor) => pool.pick_with(rotor),
            From::Index(index) => pool.pick_at(*index),
        };
        pick().or_else(|| self.wait_for(picks, pick))
    }

    /// Where there is none, waits for those that others hold: one of them may be
    /// what is wanted. Filebench waits only where they hold all.
    fn wait_for(&self, picks: &Picks, mut pick: impl FnMut() -> Option<usize>) -> Option<usize> {
        let free = |entry: usize| picks.existing.contains(entry) || picks.missing.contains(entry);
        let mut guard = self.claims.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.claims.waiting.fetch_add(1, Ordering::SeqCst);
        let picked = loop {
            if let Some(entry) = pick() {
                break Some(entry);
            }
            let mut entries = 0..picks.existing.len();
            let held = if self.strict { !entries.any(free) } else { !entries.all(free) };
            if !held || picks.existing.is_empty() {
                // What was given back meanwhile counts.
                break pick();
            }
            // Who gives one back takes the lock first, and so finds this thread waiting.
            guard = self.claims.released.wait(guard).unwrap_or_else(PoisonError::into_inner);
        };
        self.claims.waiting.fetch_sub(1, Ordering::SeqCst);
        picked
    }

    /// Gives back what was picked, which now exists, or does not.
    pub fn release(&self, kind: EntryKind, entry: usize, exists: bool) {
        let picks = match kind {
            EntryKind::File => &self.files,
            EntryKind::Leaf => &self.leaves,
            EntryKind::Inner => return,
        };
        if exists {
            picks.existing.put(entry)
        } else {
            picks.missing.put(entry)
        }
        if self.claims.waiting.load(Ordering::SeqCst) > 0 {
            drop(self.claims.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.claims.released.notify_all();
        }
    }

    /// Waits until this very file is free, and holds it; returns whether it exists.
    pub fn claim(&self, file: usize) -> bool {
        let take = || {
            if self.files.existing.take(file) {
                return Some(true);
            }
            self.files.missing.take(file).then_some(false)
        };
        if let Some(exists) = take() {
            return exists;
        }
        let mut guard = self.claims.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.claims.waiting.fetch_add(1, Ordering::SeqCst);
        let exists = loop {
            if let Some(exists) = take() {
                break exists;
            }
            guard = self.claims.released.wait(guard).unwrap_or_else(PoisonError::into_inner);
        };
        self.claims.waiting.fetch_sub(1, Ordering::SeqCst);
        exists
    }

    /// Calls with a directory and a name in it that lead to an entry. `buffer` holds
    /// the name meanwhile.
    ///
    /// # Errors
    /// That of the call; also where a directory on the way cannot be opened.
    pub fn at<T>(
        &self,
        kind: EntryKind,
        entry: usize,
        buffer: &mut String,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> io::Result<T>,
    ) -> io::Result<T> {
        self.paths.at(&self.tree, kind, entry, buffer, call)
    }

    /// The path of an entry, for people.
    pub fn show(&self, kind: EntryKind, entry: usize) -> String {
        self.path(kind, entry).display().to_string()
    }

    fn path(&self, kind: EntryKind, entry: usize) -> PathBuf {
        let mut path = String::new();
        paths::push(&self.tree, kind, entry, &mut path);
        self.paths.root().join(path)
    }
}
