//! Removing files and folders.

use std::fs::{remove_dir, remove_file};
use std::io::ErrorKind;
use std::path::Path;

use crate::StackError;

/// Removes a regular file; anything else of that name is not ours.
pub(super) fn file(path: &Path) -> Result<bool, StackError> {
    let kind = match path.symlink_metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(e) if is_gone(e.kind()) => return Ok(false),
        Err(e) => return Err(StackError::io("cannot look at", path, e)),
    };
    if !kind.is_file() {
        return Err(StackError::Other(format!(
            "{} is no longer the file that disklab made; it was left alone",
            path.display()
        )));
    }
    match remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if is_gone(e.kind()) => Ok(false),
        Err(e) => Err(StackError::io("cannot remove", path, e)),
    }
}

/// Removes an empty folder. One with something in it is never emptied.
pub(super) fn folder(path: &Path) -> Result<bool, StackError> {
    match remove_dir(path) {
        Ok(()) => Ok(true),
        Err(e) if is_gone(e.kind()) => Ok(false),
        Err(e) => Err(StackError::io("cannot remove the folder", path, e)),
    }
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_is_removed() {
        let folder_ = tempfile::tempdir().expect("temp");
        let path = folder_.path().join("file");
        std::fs::write(&path, "x").expect("write");
        assert!(file(&path).expect("removes"));
        assert!(!file(&path).expect("twice is once"));
        std::fs::create_dir(&path).expect("folder");
        assert!(file(&path).expect_err("a folder").to_string().contains("left alone"));
        std::fs::write(path.join("inside"), "x").expect("write");
        assert!(folder(&path).is_err(), "a full folder stays");
        assert!(file(&path.join("inside")).expect("removes"));
        assert!(folder(&path).expect("removes"));
        assert!(!folder(&path).expect("twice is once"));
    }
}
