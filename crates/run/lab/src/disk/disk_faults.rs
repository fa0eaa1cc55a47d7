//! What goes wrong with a disk.

use std::path::{Path, PathBuf};

use disklab_drive::{DriveFault, DriveFaults, Nanos};
use disklab_exec::UntrustedDirectory;
use disklab_lab_guest::WORK_BEGAN;

/// A `u64` has as many digits, and a line's end.
const LONGEST_MARK: u64 = 21;

/// What goes wrong with a disk, and from when on.
pub struct DiskFaults {
    pub(super) faults: DriveFaults,
    /// The lab's directory, in which the guest says when its work began.
    work_in: Option<PathBuf>,
}

impl DiskFaults {
    /// Faults whose times count from the guest's start.
    pub fn from_start(faults: Vec<DriveFault>) -> Self {
        let mut faults = DriveFaults::new(faults);
        faults.begin(Nanos(0));
        Self { faults, work_in: None }
    }

    /// Faults whose times count from when the guest says that its work begins, in the lab's directory:
    /// [`WORK_BEGAN`].
    pub fn from_work(faults: Vec<DriveFault>, directory: &Path) -> Self {
        Self { faults: DriveFaults::new(faults), work_in: Some(directory.to_owned()) }
    }

    /// Nothing goes wrong from now on: the drive was replaced.
    pub(super) fn end(&mut self) {
        self.faults.end();
    }

    /// Looks whether the work has begun. The guest says so before its next request, with the time,
    /// so that it does not matter when this is asked.
    pub(super) fn look(&mut self) {
        let Some(directory) = self.work_in.as_ref().filter(|_| self.faults.waits()) else { return };
        let mark =
            UntrustedDirectory::open(directory).and_then(|f| f.read(WORK_BEGAN, LONGEST_MARK));
        let mark = mark.ok().and_then(|text| String::from_utf8(text).ok());
        // Whole with its line's end.
        if let Some(ns) = mark.and_then(|text| text.strip_suffix('\n')?.parse().ok()) {
            self.faults.begin(Nanos(ns));
        }
    }
}
