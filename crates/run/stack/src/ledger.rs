//! What was made, so that it can be torn down.
//!
//! A ledger is a file of JSON lines. An entry is on the disk before the thing
//! it names is made, so a thing without an entry cannot exist; an entry without
//! its thing can, and undoing it does nothing. The file is locked while its
//! owner lives: the kernel frees the lock however the owner ends, which is how
//! [`recover()`] knows what was left behind. Its first line holds the mark that the
//! owner's programs bear, as one of them may still be making a thing, and on which
//! boot of which machine the owner ran.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::Executor;

use crate::undo::{FileIdentity, TeardownContext};
use crate::{StackError, Undo, undo};

mod distrust;
mod file;
mod host;
mod id;
mod leftover;
mod line;
mod recover;
mod trust;
mod withdraw;

use file::LockedFile;
use line::LedgerLine;

pub use distrust::Distrust;
pub use id::{InvalidLedgerId, LedgerId};
pub use leftover::{Leftover, LeftoverDecision, Recovery};
pub use recover::{decide, recover};

/// The list of things to tear down, kept in a file that survives `kill -9`.
#[derive(Debug)]
pub struct Ledger {
    directory: PathBuf,
    file: Option<LockedFile>,
    entries: Vec<(u64, Undo)>,
    next: u64,
    /// What this owner's things are recognised by, also of those that are gone: what
    /// is left of a file system shows up again in the next one.
    marks: BTreeSet<String>,
}

impl Ledger {
    /// Opens a new ledger in `directory` (see [`recover()`]), locked while it lives.
    /// The directory is made if it is missing.
    ///
    /// # Errors
    /// [`StackError::Untrusted`] if others control `directory`, [`StackError::Io`] if the file cannot
    /// be made or locked: nothing may be made then.
    pub fn open(directory: &Path) -> Result<Self, StackError> {
        let mut ledger = Self::planned(directory);
        ledger.make()?;
        Ok(ledger)
    }

    /// A ledger that may never be needed: nothing is there before [`Ledger::make`], or before
    /// something is entered.
    pub fn planned(directory: &Path) -> Self {
        let (entries, marks) = (Vec::new(), BTreeSet::new());
        Self { directory: directory.to_owned(), file: None, entries, next: 0, marks }
    }

    /// Makes its directory and its file, unless they are there.
    ///
    /// # Errors
    /// As for [`Ledger::open`].
    pub fn make(&mut self) -> Result<(), StackError> {
        if self.file.is_none() {
            trust::create_directory(&self.directory)?;
            self.file = Some(LockedFile::create(&self.directory, &self.marks)?);
        }
        Ok(())
    }

    /// Enters a thing, to be called *before* it is made. When this returns, the
    /// entry is on the disk.
    ///
    /// # Errors
    /// [`StackError::Io`] if the entry cannot be written: then the thing must not be made.
    pub fn enter(&mut self, undo: impl Into<Undo>) -> Result<(), StackError> {
        self.enter_with(undo, Vec::new())
    }

    /// The same, with what is recognised as made with it: the UUID of a file system,
    /// for one. What else is on it after a `kill -9` is not ours.
    ///
    /// # Errors
    /// [`StackError::Io`] if the entry cannot be written: then the thing must not be made.
    pub fn enter_with(
        &mut self,
        undo: impl Into<Undo>,
        marks: Vec<String>,
    ) -> Result<(), StackError> {
        let undo = undo.into();
        self.make()?;
        let number = self.next;
        self.marks.extend(undo.marks().into_iter().chain(marks.iter().cloned()));
        if let Some(file) = &mut self.file {
            file.append(&LedgerLine::Enter { number, undo: undo.clone(), marks })?;
        }
        self.next += 1;
        self.entries.push((number, undo));
        Ok(())
    }

    /// Enters and creates a file, which must not exist yet.
    ///
    /// # Errors
    /// [`StackError::Io`] if it exists, or cannot be created or entered; the entry is withdrawn.
    pub fn create_file(&mut self, path: &Path) -> Result<File, StackError> {
        self.enter(undo::RemoveFile(path.to_owned()))?;
        let created =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
        match created {
            Ok(file) => self.created(path).map(|()| file),
            Err(e) => {
                self.withdraw()?;
                Err(StackError::io("cannot make the file", path, e))
            }
        }
    }

    /// Enters and creates a directory, which must not exist yet and only its user may look
    /// into, to be removed with all that a run makes in it.
    ///
    /// # Errors
    /// [`StackError::Io`] if it exists, or cannot be created or entered; the entry is withdrawn.
    pub fn create_tree(&mut self, path: &Path) -> Result<(), StackError> {
        self.enter(undo::RemoveTree(path.to_owned()))?;
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => self.created(path),
            Err(e) => {
                self.withdraw()?;
                Err(StackError::io("cannot create the directory", path, e))
            }
        }
    }

    /// Records which file or directory the last entry for `path` has created, so that
    /// another of that name is left alone.
    ///
    /// # Errors
    /// If it does not exist, or this cannot be written.
    pub fn created(&mut self, path: &Path) -> Result<(), StackError> {
        let metadata =
            path.symlink_metadata().map_err(|e| StackError::io("cannot look at", path, e))?;
        let identity = FileIdentity::new(&metadata);
        let entry = self.entries.iter().rev().find(|(_, undo)| undo.paths().contains(&path));
        if let (Some((number, _)), Some(file)) = (entry, &mut self.file) {
            file.append(&LedgerLine::Created { number: *number, identity })?;
        }
        Ok(())
    }

    /// Records what a workload is about to make in `directory`. What else is there
    /// after a `kill -9` is not ours.
    ///
    /// # Errors
    /// [`StackError::Io`] if this cannot be written: then the workload must not begin.
    pub fn expect(&mut self, directory: &Path, names: Vec<String>) -> Result<(), StackError> {
        match &mut self.file {
            Some(file) => {
                file.append(&LedgerLine::Names { directory: directory.to_owned(), names })
            }
            None => Ok(()),
        }
    }

    /// How many entries there are: a mark for [`Ledger::tear_down_to`].
    pub fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Tears down, newest first, until only the first `mark` entries are left.
    /// Continues after a failure, tries what failed once more at the end, and
    /// returns all that went wrong. Never interrupted.
    ///
    /// What could not be torn down stays entered, above `mark`: a later call
    /// and, after the end of this process, [`recover()`] try it again.
    pub fn tear_down_to(&mut self, mark: usize, executor: &Executor) -> Vec<StackError> {
        let mut context = TeardownContext::by_force(executor);
        let above = self.entries.split_off(mark.min(self.entries.len()));
        // A thing that was busy may be free once what was built on it is gone.
        let (busy, _) = self.undo_all(above, &mut context);
        let (left, failures) = self.undo_all(busy, &mut context);
        self.entries.extend(left);
        let mut errors = context.complaints;
        errors.extend(failures);
        if self.entries.is_empty()
            && let Some(file) = self.file.take()
            && let Err(error) = file.remove()
        {
            errors.push(error);
        }
        errors
    }

    /// Stops all that was entered since `mark`, newest first, and leaves what it holds on its
    /// devices, as a machine does that is shut down: another can assemble it.
    ///
    /// # Errors
    /// Of the first that could not be stopped.
    pub fn close_to(&self, mark: usize, executor: &Executor) -> Result<(), StackError> {
        let mut context = TeardownContext::by_force(executor);
        let above = self.entries.iter().skip(mark).rev();
        above.into_iter().try_for_each(|(_, undo)| undo.close(&mut context))
    }

    /// Undoes `entries` from the last to the first; returns what is left of
    /// them, and why.
    fn undo_all(
        &mut self,
        mut entries: Vec<(u64, Undo)>,
        context: &mut TeardownContext<'_>,
    ) -> (Vec<(u64, Undo)>, Vec<StackError>) {
        let (mut left, mut failures) = (Vec::new(), Vec::new());
        while let Some((number, undo)) = entries.pop() {
            match undo.carry_out(context) {
                Err(error) => {
                    left.push((number, undo));
                    failures.push(error);
                }
                Ok(_) => {
                    // The thing is gone. If its line says otherwise, undoing it
                    // again later does nothing.
                    if let Some(file) = &mut self.file
                        && let Err(error) = file.append(&LedgerLine::Gone { number })
                    {
                        context.complaints.push(error);
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

#[cfg(test)]
mod tests;
