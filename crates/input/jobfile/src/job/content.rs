//! What is written.

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffers {
    /// What fills them.
    pub filling: Filling,
    /// `refill_buffers`: filled anew for each write. Without it the buffers of
    /// the start are written again and again. `dedupe_percentage` implies it.
    pub refill: bool,
    /// `scramble_buffers`: without `refill`, a few bytes are altered for each
    /// write, so that simple deduplication finds nothing.
    pub scramble: bool,
    /// `buffer_compress_percentage`.
    pub compress: Option<Compress>,
    /// `dedupe_percentage`.
    pub dedupe: Option<Dedupe>,
}

/// What fills a buffer. With [`Compress`] this is the compressible part where it
/// is a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filling {
    /// Random bytes.
    Random,
    /// Zeros: `zero_buffers`.
    Zeros,
    /// `buffer_pattern`, repeated. Never empty.
    Pattern(Vec<PatternPart>),
}

/// A part of a `buffer_pattern` or `verify_pattern`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// `%o`: the offset of the block in its file, 8 bytes, little-endian.
    Offset,
}

/// How well what is written compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compress {
    /// Percent of each chunk that compresses to nearly nothing, 0 to 100.
    pub percent: u8,
    /// `buffer_compress_chunk` in bytes, from 1.
    pub chunk: u64,
}

/// How much of what is written has been written before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dedupe {
    /// Percent of the buffers, 1 to 100.
    pub percent: u8,
    /// Which ones are repeated.
    pub mode: DedupeMode,
    /// `dedupe_global`: clones repeat each other's, too.
    pub global: bool,
}

/// `dedupe_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupeMode {
    /// The one before.
    Repeat,
    /// One drawn from a set of so many percent of `size`, 0 to 100.
    WorkingSet {
        /// `dedupe_working_set_percentage`.
        percent: u8,
    },
}
