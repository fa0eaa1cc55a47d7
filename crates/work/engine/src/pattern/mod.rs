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

pub(crate) use sequence::{Next, Sequence};

use disklab_jobfile::Direction;

/// What is asked of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Read.
    Read,
    /// Write.
    Write,
    /// `fsync`.
    Sync,
    /// `fdatasync`.
    DataSync,
}

impl Kind {
    /// Whether data move.
    pub fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

impl From<Direction> for Kind {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Read => Self::Read,
            Direction::Write => Self::Write,
        }
    }
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What it does.
    pub kind: Kind,
    /// The number of the file within its clone, from 0.
    pub file: u32,
    /// The first byte in the file.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u32,
}

/// 0 for reads, 1 for writes.
pub(crate) fn side(direction: Direction) -> usize {
    usize::from(direction == Direction::Write)
}

#[cfg(test)]
mod tests;
