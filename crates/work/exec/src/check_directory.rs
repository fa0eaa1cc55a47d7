//! Directories on the way to what root writes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;

use crate::named_path_error::NamedPathError;
use crate::other_writers::OtherWriters;

/// Only owners rename and remove what is in such a directory.
const STICKY: u32 = 0o1000;

/// Refuses, for root, a directory (or what may become one) in which somebody else may rename what is root's.
pub(crate) fn check_directory(path: &Path, directory: &Path) -> Result<(), NamedPathError> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let Some(who) = who_renames(directory)? else { return Ok(()) };
    let (path, directory) = (path.to_owned(), directory.to_owned());
    Err(NamedPathError::OthersDirectory { path, directory, who })
}

/// Who else may rename what this user has in a directory.
pub(crate) fn who_renames(directory: &Path) -> Result<Option<OtherWriters>, NamedPathError> {
    // One look: what is one's own then, in a directory that passed, nobody else replaces.
    let there = directory.symlink_metadata()?;
    if there.is_symlink() {
        return Err(NamedPathError::OthersLink(directory.to_owned()));
    }
    Ok(match OtherWriters::new(&there) {
        Some(OtherWriters::All | OtherWriters::Group(_)) if there.mode() & STICKY != 0 => None,
        who => who,
    })
}
