//! Removing files and directories.

use std::fmt;
use std::fs::{remove_dir, remove_file};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Marks, Obstacle, Teardown, TeardownContext, inspect};
use crate::loops::loops_on;
use crate::mounts::{as_kernel_shows, mounts};
use crate::undo::FileIdentity;
use crate::{LeftAlone, StackError};

/// An image file; only if it is the one that the run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoveFile(pub PathBuf);

impl Teardown for RemoveFile {
    /// Removes a regular file; anything else of that name is not ours.
    fn tear_down(&self, _: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let path = &self.0;
        let kind = match path.symlink_metadata() {
            Ok(metadata) => metadata.file_type(),
            Err(e) if is_gone(e.kind()) => return Ok(false),
            Err(e) => return Err(StackError::io("cannot look at", path, e)),
        };
        if !kind.is_file() {
            return Err(StackError::LeftAlone {
                path: path.to_owned(),
                why: LeftAlone::NotTheFile,
            });
        }
        match remove_file(path) {
            Ok(()) => Ok(true),
            Err(e) if is_gone(e.kind()) => Ok(false),
            Err(e) => Err(StackError::io("cannot remove", path, e)),
        }
    }

    /// Why the file is to stay: it is another one, is used, or holds what the run did
    /// not make.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let path = &self.0;
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(e) if is_gone(e.kind()) => return Ok(Vec::new()),
            Err(e) => return Err(StackError::io("cannot look at", path, e)),
        };
        let same = match marks.identity(path) {
            Some(identity) => identity == FileIdentity::new(&metadata),
            // The run was killed just when it had created the file.
            None => metadata.blocks() == 0,
        };
        if !metadata.is_file() || !same {
            return Ok(vec![Obstacle::Replaced(path.to_owned())]);
        }
        let mut found = inspect::processes(&as_kernel_shows(path));
        if !loops_on(&as_kernel_shows(path)).is_empty() {
            found.push(Obstacle::Busy(path.to_owned()));
        }
        if found.is_empty() && metadata.blocks() > 0 {
            found = inspect::image(path, marks, context.executor)?;
        }
        Ok(found)
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0]
    }

    fn contains(&self, others: &[&Path]) -> bool {
        others.contains(&self.0.as_path())
    }
}

impl fmt::Display for RemoveFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file {}", self.0.display())
    }
}

/// Remove a directory that must be empty by now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoveDirectory(pub PathBuf);

impl Teardown for RemoveDirectory {
    /// Removes an empty directory. One with something in it is never emptied.
    fn tear_down(&self, _: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let path = &self.0;
        match remove_dir(path) {
            Ok(()) => Ok(true),
            Err(e) if is_gone(e.kind()) => Ok(false),
            Err(e) => Err(StackError::io("cannot remove the directory", path, e)),
        }
    }

    /// Why the directory is to stay: it is not empty.
    fn obstacles(
        &self,
        marks: &Marks,
        _: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let path = &self.0;
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok(vec![Obstacle::Replaced(path.to_owned())]),
            Err(e) if is_gone(e.kind()) => return Ok(Vec::new()),
            Err(e) => return Err(StackError::io("cannot look at", path, e)),
        }
        let shown = as_kernel_shows(path);
        if mounts()?.iter().any(|mount| mount.mount_point == shown) {
            return Ok(vec![Obstacle::Busy(path.to_owned())]);
        }
        let mut found = inspect::entries(path, marks)?;
        let empty = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if found.is_empty() && !empty {
            // What else is left alone is in it.
            found.push(Obstacle::Busy(path.to_owned()));
        }
        Ok(found)
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0]
    }
}

impl fmt::Display for RemoveDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the directory {}", self.0.display())
    }
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;

    use super::*;

    fn carry_out(undo: &dyn Teardown) -> Result<bool, StackError> {
        undo.tear_down(&mut TeardownContext::by_force(&Executor::default()))
    }

    fn file(path: &Path) -> Result<bool, StackError> {
        carry_out(&RemoveFile(path.to_owned()))
    }

    fn directory(path: &Path) -> Result<bool, StackError> {
        carry_out(&RemoveDirectory(path.to_owned()))
    }

    #[test]
    fn only_what_was_made_is_removed() {
        let directory_ = tempfile::tempdir().expect("temp");
        let path = directory_.path().join("file");
        std::fs::write(&path, "x").expect("write");
        assert!(file(&path).expect("removes"));
        assert!(!file(&path).expect("twice is once"));
        std::fs::create_dir(&path).expect("directory");
        assert!(file(&path).expect_err("a directory").to_string().contains("left alone"));
        std::fs::write(path.join("inside"), "x").expect("write");
        assert!(directory(&path).is_err(), "a full directory stays");
        assert!(file(&path.join("inside")).expect("removes"));
        assert!(directory(&path).expect("removes"));
        assert!(!directory(&path).expect("twice is once"));
    }
}
