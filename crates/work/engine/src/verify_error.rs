//! Why a job's checks cannot be made, and what they found.

use disklab_jobfile::Checksum;

/// Why a job cannot verify.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckerError {
    /// A header is larger than what it is to be stored in.
    #[error(
        "verify: blocks of {block} bytes have no room for a header of {head} bytes \
         (verify_offset={offset}); make the blocks or verify_interval larger"
    )]
    NoRoom {
        /// Bytes of the smallest block, or `verify_interval`.
        block: u64,
        /// Bytes of the header.
        head: usize,
        /// `verify_offset`.
        offset: usize,
    },
}

/// What is wrong with a block that was read back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Its header is wrong.
    #[error("the block at offset {offset} {fault}")]
    Header {
        /// Where it was read.
        offset: u64,
        /// What is wrong with it.
        fault: HeaderFault,
    },
    /// A byte is not that of the pattern.
    #[error("the byte at offset {offset} is {found:#04x}, not {expected:#04x} of the pattern")]
    Pattern {
        /// Where it was read.
        offset: u64,
        /// What was read.
        found: u8,
        /// What was written.
        expected: u8,
    },
}

/// What is wrong with a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It does not begin as headers do.
    #[error("has no header (found {0:#06x} in its place)")]
    Missing(u16),
    /// Its own checksum is wrong.
    #[error("has a damaged header")]
    Damaged,
    /// It belongs to another place.
    #[error("was written for offset {0}")]
    Elsewhere(u64),
    /// It was written with other options.
    #[error(
        "was written with a length of {length} and a checksum of kind {kind}, not {own_length} and \
         {own_kind}"
    )]
    Otherwise {
        /// Bytes of the block, by its own header.
        length: u32,
        /// Its kind, as in fio's verify.h.
        kind: u16,
        /// The job's length.
        own_length: usize,
        /// The job's kind.
        own_kind: u16,
    },
    /// The data's checksum is another.
    #[error("has another {checksum:?} than was stored ({found:x}, not {stored:x})")]
    Checksum {
        /// Its kind.
        checksum: Checksum,
        /// Of what was read: up to eight bytes.
        found: u64,
        /// Of what was written.
        stored: u64,
    },
}
