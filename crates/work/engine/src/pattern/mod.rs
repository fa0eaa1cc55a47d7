//! Which I/O comes next: pure, and for sequential patterns byte for byte what
//! fio 3.33 issues (checked against its `write_iolog` in tests/integration/like_fio.rs).

mod blocks;
mod distribution;
mod file;
mod map;
mod mix;
mod order;
mod permutation;
mod sequence;

pub(crate) use sequence::{IoSequence, NextIo};

use disklab_jobfile::IoDirection;

/// What is asked of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// From the drive; changes nothing.
    Read,
    /// To the drive; what was there is lost.
    Write,
    /// `fsync`.
    Sync,
    /// `fdatasync`.
    DataSync,
}

impl RequestKind {
    /// Whether data move.
    pub fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

impl From<IoDirection> for RequestKind {
    fn from(direction: IoDirection) -> Self {
        match direction {
            IoDirection::Read => Self::Read,
            IoDirection::Write => Self::Write,
        }
    }
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// What it does.
    pub kind: RequestKind,
    /// The number of the file within its clone, from 0.
    pub file: u32,
    /// The first byte in the file.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u32,
}

/// 0 for reads, 1 for writes.
pub(crate) fn side(direction: IoDirection) -> usize {
    usize::from(direction == IoDirection::Write)
}

#[cfg(test)]
mod tests;
