//! What is measured: a drive that answers requests, each with its times.

use disklab_drive::Operation;

use crate::error::ProbeError;

/// A request to a drive under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveAccess {
    /// What is asked for.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl DriveAccess {
    /// Not of consecutive addresses, unless the caller makes it so.
    pub fn read(offset: u64, bytes: u64) -> Self {
        Self { operation: Operation::Read, offset, bytes }
    }

    /// Overwrites what is there.
    pub fn write(offset: u64, bytes: u64) -> Self {
        Self { operation: Operation::Write, offset, bytes }
    }

    /// A flush of the drive's write cache.
    pub fn flush() -> Self {
        Self { operation: Operation::Flush, offset: 0, bytes: 0 }
    }
}

/// A request that was answered, with its times in ns since some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedAccess {
    /// What was asked for.
    pub access: DriveAccess,
    /// When it was submitted.
    pub submitted: u64,
    /// When it completed.
    pub completed: u64,
}

impl TimedAccess {
    /// How long it took, ns.
    pub fn took(&self) -> u64 {
        self.completed.saturating_sub(self.submitted)
    }
}

/// A drive that answers requests: a real one behind a kernel, or a model.
pub trait TimedDrive {
    /// Capacity in bytes.
    fn bytes(&self) -> u64;

    /// The time now, ns since some moment.
    fn now(&self) -> u64;

    /// Submits a request now.
    ///
    /// # Errors
    /// [`ProbeError::Failed`] if the drive does not take it.
    fn submit(&mut self, access: DriveAccess) -> Result<(), ProbeError>;

    /// Waits for the next completion of what was submitted.
    ///
    /// # Errors
    /// [`ProbeError::Failed`] if the request failed, [`crate::Unsuitable::Idle`] if none is in flight.
    fn complete(&mut self) -> Result<TimedAccess, ProbeError>;

    /// Lets time pass in which nothing is asked, ns.
    ///
    /// # Errors
    /// [`ProbeError::Interrupted`] if the user asks to stop meanwhile.
    fn idle(&mut self, time: u64) -> Result<(), ProbeError>;

    /// How many requests the drive takes at a time, as far as its host knows.
    fn queue_depth(&self) -> Option<u64> {
        None
    }

    /// Whether there is anything but zeros at a place: a solid-state drive answers for what
    /// was never written, or was discarded, without its flash. Nothing may be in flight.
    ///
    /// # Errors
    /// [`ProbeError::Failed`] if it cannot be read.
    fn has_data(&mut self, offset: u64, bytes: u64) -> Result<bool, ProbeError>;
}
