//! Where a run puts large files and mount points.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::existing_ancestor;
use crate::exit::Failure;

/// A directory below which a run makes one of its own: the user's (`--scratch`), which is
/// never removed, or else the run's.
pub struct Scratch {
    path: PathBuf,
    /// Whether the user named it.
    given: bool,
}

impl Scratch {
    /// The directory that the user named, or `out`. It is not touched yet.
    pub fn new(given: Option<&Path>, out: &Path) -> Result<Self, Failure> {
        // The ledger and losetup need absolute paths.
        let path = std::path::absolute(given.unwrap_or(out)).map_err(Failure::usage_error)?;
        Ok(Self { path, given: given.is_some() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a place that cannot be written to, before anything costly is done for the run.
    pub fn check(&self) -> Result<(), Failure> {
        if !self.given {
            // That of `--out`, which is checked there.
            return Ok(());
        }
        check_writable("--scratch ", &self.path)
    }

    /// Makes it, if it is not there.
    pub fn make(&self) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.path)
            .map_err(|e| Failure::usage_error(format!("cannot make {}: {e}", self.path.display())))
    }
}

/// Refuses a place in which nothing can be created, named by a flag.
pub fn check_writable(flag: &str, path: &Path) -> Result<(), Failure> {
    let refused = |why: String| {
        let path = path.display();
        Failure::usage_error(format!(
            "{flag}{path}: {why}; name a directory that can be written to"
        ))
    };
    if path.metadata().is_ok_and(|metadata| !metadata.is_dir()) {
        return Err(refused("it is not a directory".to_owned()));
    }
    let there = existing_ancestor(path);
    access(&there, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|e| refused(format!("cannot write into {}: {e}", there.display())))
}
