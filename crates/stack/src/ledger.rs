//! What was made, so that it can be taken down.
//!
//! A ledger is a file of JSON lines. An entry is on the disk before the thing
//! it names is made, so a thing without an entry cannot exist; an entry without
//! its thing can, and undoing it does nothing. The file is locked while its
//! owner lives: the kernel frees the lock however the owner ends, which is how
//! [`recover`] knows what was left behind. Its first line holds the mark that the
//! owner's programs bear, as one of them may still be making a thing.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::{Executor, owner};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::undo::Hand;
use crate::{StackError, Undo};

mod recover;

pub use recover::recover;

/// One line of a ledger's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    /// The first line: whose ledger it is.
    Owner {
        /// What all programs of the owner have in their environment.
        mark: String,
    },
    /// A thing that is about to be made.
    Enter {
        /// Counted from 0 within the file.
        number: u64,
        /// How to take it down.
        undo: Undo,
    },
    /// The thing of that number is gone.
    Gone {
        /// As in `enter`.
        number: u64,
    },
}

/// The list of things to take down, kept in a file that survives `kill -9`.
#[derive(Debug)]
pub struct Ledger {
    folder: PathBuf,
    file: Option<LockedFile>,
    entries: Vec<(u64, Undo)>,
    next: u64,
}

/// A ledger's file and the lock on it, which ends with it.
#[derive(Debug)]
struct LockedFile {
    path: PathBuf,
    file: File,
}

impl Ledger {
    /// Opens a new ledger in `folder` (see [`recover`]), locked while it lives.
    /// The folder is made if it is missing.
    ///
    /// # Errors
    /// Where the file cannot be made or locked.
    pub fn open(folder: &Path) -> Result<Self, StackError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|e| StackError::io("cannot make the folder", folder, e))?;
        let file = Some(LockedFile::create(folder)?);
        Ok(Self { folder: folder.to_owned(), file, entries: Vec::new(), next: 0 })
    }

    /// Enters a thing, to be called *before* it is made. When this returns, the
    /// entry is on the disk.
    ///
    /// # Errors
    /// Where the entry cannot be written.
    pub fn enter(&mut self, undo: Undo) -> Result<(), StackError> {
        if self.file.is_none() {
            self.file = Some(LockedFile::create(&self.folder)?);
        }
        let number = self.next;
        if let Some(file) = &mut self.file {
            file.append(&Line::Enter { number, undo: undo.clone() })?;
        }
        self.next += 1;
        self.entries.push((number, undo));
        Ok(())
    }

    /// How many entries there are: a mark for [`Ledger::take_down_to`].
    pub fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Takes down, newest first, until only the first `mark` entries are left.
    /// Goes on after a failure, tries what failed once more at the end, and
    /// returns all that went wrong. Never interrupted.
    ///
    /// What could not be taken down stays entered, above `mark`: a later call
    /// and, after the end of this process, [`recover`] try it again.
    pub fn take_down_to(&mut self, mark: usize, executor: &Executor) -> Vec<StackError> {
        let mut hand = Hand { executor, complaints: Vec::new() };
        let above = self.entries.split_off(mark.min(self.entries.len()));
        // A thing that was busy may be free once what stood on it is gone.
        let (busy, _) = self.undo_all(above, &mut hand);
        let (left, failures) = self.undo_all(busy, &mut hand);
        self.entries.extend(left);
        let mut errors = hand.complaints;
        errors.extend(failures);
        if self.entries.is_empty()
            && let Some(file) = self.file.take()
            && let Err(error) = file.remove()
        {
            errors.push(error);
        }
        errors
    }

    /// Undoes `entries` from the last to the first; returns what is left of
    /// them, and why.
    fn undo_all(
        &mut self,
        mut entries: Vec<(u64, Undo)>,
        hand: &mut Hand<'_>,
    ) -> (Vec<(u64, Undo)>, Vec<StackError>) {
        let (mut left, mut failures) = (Vec::new(), Vec::new());
        while let Some((number, undo)) = entries.pop() {
            match undo.carry_out(hand) {
                Err(error) => {
                    left.push((number, undo));
                    failures.push(error);
                }
                Ok(_) => {
                    // The thing is gone. If its line says otherwise, undoing it
                    // again later does nothing.
                    if let Some(file) = &mut self.file
                        && let Err(error) = file.append(&Line::Gone { number })
                    {
                        hand.complaints.push(error);
                    }
                }
            }
        }
        left.reverse();
        (left, failures)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if self.entries.is_empty()
            && let Some(file) = self.file.take()
        {
            // An empty ledger left behind does no harm: recovery removes it.
            let _ = file.remove();
        }
    }
}

impl LockedFile {
    /// Makes and locks a file of a new name.
    fn create(folder: &Path) -> Result<Self, StackError> {
        let pid = std::process::id();
        for n in 0_u32.. {
            let path = folder.join(format!("ledger-{pid}-{n}.jsonl"));
            let made = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
            let file = match made {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(StackError::io("cannot make", &path, e)),
            };
            let fail = |what: &str, e: io::Error| StackError::io(what, &path, e);
            flock(&file, FlockOperation::LockExclusive)
                .map_err(|e| fail("cannot lock", e.into()))?;
            // A recovery elsewhere may have taken it for an abandoned one in
            // the moment between its making and its lock.
            if file.metadata().map_err(|e| fail("cannot look at", e))?.nlink() == 0 {
                continue;
            }
            // Without this, the file's name might not survive a power failure.
            File::open(folder)
                .and_then(|f| f.sync_all())
                .map_err(|e| StackError::io("cannot write", folder, e))?;
            let mut file = Self { path, file };
            file.append(&Line::Owner { mark: owner().to_owned() })?;
            return Ok(file);
        }
        Err(StackError::Other(format!("no name is left for a ledger in {}", folder.display())))
    }

    /// Adds a line and waits until it is on the disk.
    fn append(&mut self, line: &Line) -> Result<(), StackError> {
        let fail = |e: io::Error| StackError::io("cannot write to the ledger", &self.path, e);
        let mut text = serde_json::to_string(line).map_err(|e| fail(e.into()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).map_err(fail)
    }

    fn remove(self) -> Result<(), StackError> {
        std::fs::remove_file(&self.path)
            .map_err(|e| StackError::io("cannot remove the ledger", &self.path, e))
    }
}

#[cfg(test)]
mod tests;
