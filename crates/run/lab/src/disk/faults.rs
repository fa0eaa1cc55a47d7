//! What faults do to a disk and to its content.

use disklab_drive::{DrawFrom, FaultRecord, Nanos, Request, Start};

use super::Disk;
use super::disk_faults::DiskFaults;
use crate::LabError;
use crate::content::DiskContent;

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
