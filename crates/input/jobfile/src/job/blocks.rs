//! How large I/Os are.

use super::{IoDirection, PerDirection};

/// How large I/Os are, and how their offsets are aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// By direction; with `by_order`, `read` holds for sequential and `write`
    /// for random I/Os, whichever direction they have.
    pub sizes: PerDirection<BlockSizes>,
    /// `bs_is_seq_rand`.
    pub by_order: bool,
    /// `blockalign`: random offsets are multiples of this many bytes; the
    /// smallest block where nothing is said.
    pub align: PerDirection<u64>,
    /// `bs_unaligned`: lengths drawn from a range need not be multiples of its
    /// lower end.
    pub unaligned: bool,
}

/// How large the I/Os of one direction are, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockSizes {
    /// All the same: `bs`.
    Fixed(u64),
    /// Drawn evenly between the two, both included: `bsrange`. Rounded down to a
    /// multiple of `min`, unless [`Blocks::unaligned`].
    Range {
        /// From, at least 1.
        min: u64,
        /// To, at least `min`.
        max: u64,
    },
    /// `bssplit`: each with its probability; these sum to 100. Never empty.
    Split(Vec<BlockShare>),
}

/// One size of a `bssplit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShare {
    /// Length in bytes, at least 1.
    pub bytes: u64,
    /// Percent of the I/Os, 0 to 100.
    pub percent: u8,
}

impl BlockSizes {
    /// The smallest, at least 1.
    pub fn min(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { min, .. } => *min,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).min().unwrap_or(1),
        }
    }

    /// The largest, at least 1.
    pub fn max(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { max, .. } => *max,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).max().unwrap_or(1),
        }
    }
}

impl Blocks {
    /// The sizes of one I/O: `random` tells whether its offset was drawn.
    #[inline]
    pub fn of(&self, direction: IoDirection, random: bool) -> &BlockSizes {
        match (self.by_order, random) {
            (false, _) => self.sizes.get(direction),
            (true, false) => &self.sizes.read,
            (true, true) => &self.sizes.write,
        }
    }

    /// The smallest of all, at least 1.
    pub fn min(&self) -> u64 {
        self.sizes.read.min().min(self.sizes.write.min())
    }

    /// The largest of all, at least 1: what a buffer must hold.
    pub fn max(&self) -> u64 {
        self.sizes.read.max().max(self.sizes.write.max())
    }
}
