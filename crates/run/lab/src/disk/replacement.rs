//! Another drive in the place of a disk.

use std::path::PathBuf;

use disklab_exec::UntrustedDirectory;
use disklab_lab_guest::{disk_name, replaced_file};

/// Seconds and nanoseconds, and a line's end.
const LONGEST_MARK: u64 = 32;

/// Where a guest says that an operator has replaced the drive.
pub(super) struct Replacement {
    directory: PathBuf,
    /// What it said last.
    seen: Vec<u8>,
}

impl Replacement {
    pub fn said_in(directory: PathBuf) -> Self {
        Self { directory, seen: Vec::new() }
    }

    /// Whether the guest has said so of this disk since it was last asked.
    pub fn is_new(&mut self, disk: usize) -> bool {
        let name = replaced_file(&disk_name(disk));
        let mark =
            UntrustedDirectory::open(&self.directory).and_then(|f| f.read(&name, LONGEST_MARK));
        let new = mark.ok().filter(|mark| mark.ends_with(b"\n") && *mark != self.seen);
        let is_new = new.is_some();
        self.seen = new.unwrap_or_else(|| std::mem::take(&mut self.seen));
        is_new
    }
}
