//! What was made, so that it can be taken down.

use std::path::{Path, PathBuf};

use disklab_exec::Executor;
use serde::{Deserialize, Serialize};

use crate::StackError;

/// One thing to take down. Each is safe to do twice, and does nothing to a
/// thing of the same name that is not ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// Unmount a directory, killing whatever still uses it.
    Unmount(PathBuf),
    /// Remove a folder that must be empty by now.
    RemoveFolder(PathBuf),
    /// Remove a file.
    RemoveFile(PathBuf),
    /// Detach the loop device whose backing file is this.
    DetachLoop(PathBuf),
}

/// The list of things to take down, kept in a file that survives `kill -9`.
#[derive(Debug)]
pub struct Ledger {}

impl Ledger {
    /// Opens a new ledger in `folder` (see [`recover`]), locked while it lives.
    ///
    /// # Errors
    /// Where the file cannot be made or locked.
    pub fn open(folder: &Path) -> Result<Self, StackError> {
        let _ = folder;
        Ok(Self {})
    }

    /// Enters a thing, to be called *before* it is made.
    ///
    /// # Errors
    /// Where the entry cannot be written.
    pub fn enter(&mut self, undo: Undo) -> Result<(), StackError> {
        let _ = undo;
        Ok(())
    }

    /// How many entries there are: a mark for [`Ledger::take_down_to`].
    pub fn mark(&self) -> usize {
        0
    }

    /// Takes down, newest first, until only the first `mark` entries are left.
    /// Goes on after a failure and returns all of them. Never interrupted.
    pub fn take_down_to(&mut self, mark: usize, executor: &Executor) -> Vec<StackError> {
        let _ = (mark, executor);
        Vec::new()
    }
}

/// Takes down what ledgers in `folder` list whose owners are gone. Returns what
/// was done, in sentences, and what failed.
pub fn recover(folder: &Path, executor: &Executor) -> (Vec<String>, Vec<StackError>) {
    let _ = (folder, executor);
    (Vec::new(), Vec::new())
}
