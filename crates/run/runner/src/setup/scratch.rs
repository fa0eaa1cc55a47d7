//! Where a run puts large files and mount points.

use std::path::{Path, PathBuf};

use disklab_exec::{NamedPathError, make_directories, refuse_others_directories};
use rustix::fs::{Access, access};

use super::paths::{absolute, existing_ancestor};
use crate::RunnerError;
use crate::error::DirectoryProblem;

/// A directory below which a run makes one of its own: the user's (`--scratch`), which is
/// never removed, or else the run's.
pub(crate) struct Scratch {
    path: PathBuf,
    /// Whether the user named it.
    given: bool,
}

impl Scratch {
    /// The directory that the user named, or `out`. It is not touched yet.
    pub fn new(given: Option<&Path>, out: &Path) -> Result<Self, RunnerError> {
        // The ledger and losetup need absolute paths.
        let path = absolute(given.unwrap_or(out))?;
        Ok(Self { path, given: given.is_some() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a place that cannot be written to, before anything costly is done for the run.
    pub fn check(&self) -> Result<(), RunnerError> {
        if !self.given {
            // That of `--out`, which is checked there.
            return Ok(());
        }
        check_writable("--scratch ", &self.path)
    }

    /// Makes it, if it is not there.
    pub fn make(&self) -> Result<(), RunnerError> {
        make_directories(&self.path)
            .map_err(|source| RunnerError::CreateScratch { path: self.path.clone(), source })
    }
}

/// Refuses a place, named by a flag, in which nothing can be created, and for root one that others
/// may rename.
pub(super) fn check_writable(flag: &'static str, path: &Path) -> Result<(), RunnerError> {
    let refused = |why| RunnerError::Directory { flag, path: path.to_owned(), why };
    if path.metadata().is_ok_and(|metadata| !metadata.is_dir()) {
        return Err(refused(DirectoryProblem::NotADirectory));
    }
    match refuse_others_directories(path) {
        // What the system says of the nearest directory that exists is plainer.
        Ok(()) | Err(NamedPathError::Io(_)) => {}
        Err(others) => return Err(refused(DirectoryProblem::Others(others))),
    }
    let parent = existing_ancestor(path);
    access(&parent, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|e| refused(DirectoryProblem::NotWritable { parent, source: e.into() }))
}
