//! Another drive in the place of a disk.

use std::path::PathBuf;

use disklab_exec::UntrustedDirectory;
use disklab_lab_guest::replaced_file;

/// Seconds and nanoseconds, and a line's end.
const LONGEST_MARK: u64 = 32;

/// Where a guest says that an operator has replaced the drive.
pub(super) struct Replacement {
    directory: PathBuf,
    file: String,
    /// What it said last.
    seen: Vec<u8>,
}

impl Replacement {
    pub fn said_in(directory: PathBuf, disk: &str) -> Self {
        Self { directory, file: replaced_file(disk), seen: Vec::new() }
    }

    /// Whether the guest has said so of this disk since it was last asked.
    pub fn is_new(&mut self) -> bool {
        let mark = UntrustedDirectory::open(&self.directory)
            .and_then(|directory| directory.read(&self.file, LONGEST_MARK));
        let new = mark.ok().filter(|mark| mark.ends_with(b"\n") && *mark != self.seen);
        let is_new = new.is_some();
        self.seen = new.unwrap_or_else(|| std::mem::take(&mut self.seen));
        is_new
    }
}
