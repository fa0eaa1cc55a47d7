//! A request inside the drive.

use crate::{Operation, Request};

use super::geometry::SECTOR;

/// A request, and when it came into the drive's queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub(crate) id: u64,
    pub(crate) operation: Operation,
    pub(crate) sector: u64,
    pub(crate) sectors: u64,
    pub(crate) arrived: u64,
    /// Which of all requests it is, from 0 on.
    pub(crate) number: u64,
}

impl Command {
    pub(crate) fn new(request: Request, arrived: u64, number: u64) -> Self {
        let Request { id, operation, sector, sectors } = request;
        Self { id, operation, sector, sectors, arrived, number }
    }

    /// The same, with its sectors counted from `origin` sectors before.
    pub(crate) fn later_by(self, origin: u64) -> Self {
        Self { sector: self.sector.saturating_add(origin), ..self }
    }

    /// The sector behind the last; meaningful where [`Command::fits`].
    pub(crate) fn end(&self) -> u64 {
        self.sector + self.sectors
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.sectors * SECTOR
    }

    /// Whether it lies within the drive, on whole logical sectors of `unit` × 512 B.
    pub(crate) fn fits(&self, sectors: u64, unit: u64) -> bool {
        self.operation == Operation::Flush
            || (self.sector.checked_add(self.sectors).is_some_and(|end| end <= sectors)
                && self.sector.is_multiple_of(unit)
                && self.sectors.is_multiple_of(unit))
    }
}
