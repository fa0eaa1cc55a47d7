//! A model in place of a drive.

use crate::error::{ProbeError, Unsuitable};
use crate::timed::{DriveAccess, TimedAccess, TimedDrive};
use disklab_drive::{Completion, Drive, Nanos, Request};
use std::collections::{HashMap, VecDeque};

/// Bytes of a sector of drive models.
const SECTOR: u64 = 512;

/// A modelled drive as a [`TimedDrive`], in virtual time.
pub struct ModelledDrive {
    drive: Box<dyn Drive>,
    now: u64,
    next_id: u64,
    in_flight: HashMap<u64, (DriveAccess, u64)>,
    done: VecDeque<TimedAccess>,
    depth: Option<u64>,
    /// Bytes from the beginning on that were written.
    written: u64,
}

impl std::fmt::Debug for ModelledDrive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelledDrive").field("now", &self.now).finish_non_exhaustive()
    }
}

impl ModelledDrive {
    /// A drive, of whose queue the host knows `depth`.
    pub fn new(drive: Box<dyn Drive>, depth: Option<u64>) -> Self {
        Self {
            drive,
            now: 0,
            next_id: 0,
            in_flight: HashMap::new(),
            done: VecDeque::new(),
            depth,
            written: 0,
        }
    }

    /// Writes the first `bytes` in sequence, and lets `idle` ns pass in which the drive may
    /// put them where it keeps them.
    ///
    /// # Errors
    /// As for [`TimedDrive::complete`].
    pub fn fill(&mut self, bytes: u64, idle: u64) -> Result<(), ProbeError> {
        const PIECE: u64 = 1 << 20;
        let mut at = 0;
        crate::load::keep_busy(self, 8, || {
            let access = DriveAccess::write(at, PIECE);
            at += PIECE;
            (at <= bytes).then_some(access)
        })?;
        crate::load::carry_out(self, DriveAccess::flush())?;
        self.written = bytes;
        self.idle(idle)
    }

    fn take(&mut self, completions: Vec<Completion>) {
        for Completion { id, at, .. } in completions {
            if let Some((access, submitted)) = self.in_flight.remove(&id) {
                self.done.push_back(TimedAccess { access, submitted, completed: at.0 });
            }
        }
    }
}

impl TimedDrive for ModelledDrive {
    fn bytes(&self) -> u64 {
        self.drive.sectors() * SECTOR
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn submit(&mut self, access: DriveAccess) -> Result<(), ProbeError> {
        let id = self.next_id;
        self.next_id += 1;
        self.in_flight.insert(id, (access, self.now));
        let (sector, sectors) = (access.offset / SECTOR, access.bytes / SECTOR);
        let request = Request { id, operation: access.operation, sector, sectors };
        self.drive.submit(Nanos(self.now), request);
        Ok(())
    }

    fn complete(&mut self) -> Result<TimedAccess, ProbeError> {
        let mut completions = Vec::new();
        while self.done.is_empty() {
            let nothing = || Unsuitable::Idle;
            if self.in_flight.is_empty() {
                return Err(nothing().into());
            }
            let at = self.drive.next_event().ok_or_else(nothing)?;
            self.drive.advance(at.max(Nanos(self.now)), &mut completions);
            self.take(std::mem::take(&mut completions));
        }
        let done = self.done.pop_front().ok_or(ProbeError::Interrupted)?;
        self.now = self.now.max(done.completed);
        Ok(done)
    }

    fn idle(&mut self, time: u64) -> Result<(), ProbeError> {
        self.now += time;
        let mut completions = Vec::new();
        self.drive.advance(Nanos(self.now), &mut completions);
        self.take(completions);
        Ok(())
    }

    fn queue_depth(&self) -> Option<u64> {
        self.depth
    }

    fn has_data(&mut self, offset: u64, bytes: u64) -> Result<bool, ProbeError> {
        Ok(offset + bytes <= self.written)
    }
}
