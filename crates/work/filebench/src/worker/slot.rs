//! Slots for file descriptors.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use disklab_wml::FilesetId;

/// A slot for a file descriptor.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub open: Option<Open>,
    /// Fileset and entry of the file that it held last.
    pub last: Option<(FilesetId, usize)>,
}

/// An open file.
#[derive(Debug)]
pub(super) struct Open {
    pub fd: Arc<OwnedFd>,
    pub set: FilesetId,
    pub entry: usize,
    /// Where sequential reads and writes continue.
    pub position: u64,
    /// Whether this thread has removed it meanwhile.
    pub removed: bool,
    /// Whether it is read and written past the page cache.
    pub direct: bool,
}
