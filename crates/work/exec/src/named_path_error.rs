//! Why a path that the user named is not used.

use std::io;
use std::path::PathBuf;

use crate::other_writers::OtherWriters;

/// Why a path does not say where something is to be written.
#[derive(Debug, thiserror::Error)]
pub enum NamedPathError {
    /// Neither this user nor root made a link on the way.
    #[error(
        "{} is a link that another user made, and is not followed; name the place itself",
        .0.display()
    )]
    OthersLink(PathBuf),
    /// Somebody else may put a link there while root writes.
    #[error(
        "{} is not used by root: {} {who}, and could lead root to another place meanwhile; choose \
         a place that root alone may change, or run disklab as the user whose place it is",
        path.display(),
        directory.display()
    )]
    OthersDirectory {
        /// What was named.
        path: PathBuf,
        /// On the way there.
        directory: PathBuf,
        /// Who may change what is in the directory.
        who: OtherWriters,
    },
    /// Somebody else may change what is there, or put something else there.
    #[error(
        "{} is not used: {} {who}, so that what is there may be another user's; choose a place \
         that you alone may change",
        path.display(),
        directory.display()
    )]
    OthersContent {
        /// What was named.
        path: PathBuf,
        /// It, or what is on the way there.
        directory: PathBuf,
        /// Who may change what is in the directory.
        who: OtherWriters,
    },
    /// It cannot be looked at.
    #[error(transparent)]
    Io(#[from] io::Error),
}
