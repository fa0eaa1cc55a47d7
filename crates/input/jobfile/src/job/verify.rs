//! Checking what was written.

use super::PatternPart;

/// How what was written is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// What is stored with each block.
    pub checksum: Checksum,
    /// `do_verify`: a writing job reads all back at its end.
    pub do_verify: bool,
    /// `verify_fatal`: the first block that is wrong ends the job.
    pub fatal: bool,
    /// `verify_interval`: bytes from one header to the next; the block where
    /// nothing is said.
    pub interval: Option<u64>,
    /// `verify_offset`: bytes of data before the header in its block.
    pub offset: u64,
    /// `verify_backlog`: after so many blocks, what was written is checked.
    pub backlog: Option<u64>,
    /// `verify_backlog_batch`: so many blocks at a time; all of them where
    /// nothing is said.
    pub backlog_batch: Option<u64>,
    /// `verify_pattern`, repeated over the block; empty for random data.
    pub pattern: Vec<PatternPart>,
    /// `verify_dump`: a wrong block is written to files, as it was and as it
    /// should have been.
    pub dump: bool,
}

/// `verify`: what is stored with each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// CRC-32C (Castagnoli); `crc32c-intel` is the same.
    Crc32c,
    /// CRC-32 (IEEE).
    Crc32,
    /// CRC-64 (Jones, as in fio's crc/crc64.c).
    Crc64,
    /// CRC-16 (as in fio's crc/crc16.c).
    Crc16,
    /// CRC-7 (as in fio's crc/crc7.c).
    Crc7,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA-3 with 224 bits.
    Sha3224,
    /// SHA-3 with 256 bits.
    Sha3256,
    /// SHA-3 with 384 bits.
    Sha3384,
    /// SHA-3 with 512 bits.
    Sha3512,
    /// xxHash with 32 bits.
    Xxhash,
    /// Nothing but the header: `meta`.
    Meta,
    /// No header: the block is `verify_pattern` and nothing else.
    Pattern,
    /// Pretends to check: `null`.
    Null,
}

impl Checksum {
    /// Bytes that are stored with each block: fio's header (struct verify_header
    /// in verify.h) and the checksum's own part behind it (struct vhdr_… there).
    pub const fn header(self) -> u64 {
        const COMMON: u64 = 40;
        match self {
            Self::Pattern | Self::Null => 0,
            Self::Meta => COMMON,
            Self::Crc7 => COMMON + 1,
            Self::Crc16 => COMMON + 2,
            Self::Crc32c | Self::Crc32 | Self::Xxhash => COMMON + 4,
            Self::Crc64 => COMMON + 8,
            Self::Md5 => COMMON + 16,
            Self::Sha1 => COMMON + 20,
            Self::Sha3224 => COMMON + 28,
            Self::Sha3256 => COMMON + 32,
            Self::Sha3384 => COMMON + 48,
            Self::Sha256 | Self::Sha3512 => COMMON + 64,
            Self::Sha512 => COMMON + 128,
        }
    }
}
