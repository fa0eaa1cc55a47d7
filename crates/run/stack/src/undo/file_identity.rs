//! Which file a name meant: another of the same name is not ours.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// What tells a file or directory from a later one of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIdentity {
    inode: u64,
    /// When it was created, in nanoseconds of Unix time; `None` if the file
    /// system does not say. An inode's number is used again.
    born: Option<u64>,
}

impl FileIdentity {
    /// Of what these metadata describe.
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let since = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
        Self { inode: metadata.ino(), born }
    }

    pub(crate) fn inode(self) -> u64 {
        self.inode
    }
}
