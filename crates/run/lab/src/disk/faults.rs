//! Faults of a disk, and what they do to its content.

use std::path::{Path, PathBuf};

use disklab_drive::{DrawFrom, DriveFault, DriveFaults, FaultRecord, Nanos, Request, Start};
use disklab_exec::UntrustedDirectory;
use disklab_lab_guest::WORK_BEGAN;

use super::Disk;
use crate::LabError;
use crate::content::DiskContent;

/// A `u64` has as many digits, and a line's end.
const LONGEST_MARK: u64 = 21;

/// What goes wrong with a disk, and from when on.
pub struct DiskFaults {
    faults: DriveFaults,
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
    fn look(&mut self) {
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

impl Disk {
    /// What its faults make of a request that is about to be submitted.
    pub(super) fn meet(
        &mut self,
        now: Nanos,
        request: &Request,
        content: &mut DiskContent,
    ) -> Result<Start, LabError> {
        let Some(DiskFaults { faults, .. }) = &mut self.faults else { return Ok(Start::Sound) };
        if faults.waits() {
            self.faults.iter_mut().for_each(DiskFaults::look);
        }
        let Some(DiskFaults { faults, .. }) = &mut self.faults else { return Ok(Start::Sound) };
        for draw in faults.due(now) {
            let (ranges, count) = (&draw.ranges, draw.draw.count);
            let drawn = match draw.draw.from {
                DrawFrom::BytesHeld => content.rot(self.volume, ranges, count, draw.seed)?,
                DrawFrom::Sectors => {
                    content.draw_sectors(self.volume, ranges, count, draw.physical, draw.seed)?
                }
            };
            faults.drawn(&draw, &drawn);
        }
        Ok(faults.meet(now, request))
    }

    /// What came of its faults.
    pub fn fault_records(&self) -> Vec<FaultRecord> {
        self.faults.as_ref().map(|own| own.faults.records()).unwrap_or_default()
    }

    /// When one of its faults has a request end.
    pub(super) fn next_of_faults(&self) -> Option<Nanos> {
        self.faults.as_ref().and_then(|own| own.faults.next_event())
    }

    /// Has its faults change what the drive completed by `now`.
    pub(super) fn pass_faults(&mut self, now: Nanos) {
        if let Some(own) = &mut self.faults {
            own.faults.pass(now, &mut self.completions);
        }
    }
}
