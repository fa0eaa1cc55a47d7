//! What data shall be like.

use crate::Share;

/// Bytes of a page: the unit in which file systems and stores look at data.
pub(crate) const PAGE: usize = 4096;

/// Blocks in the pool of [`Spec::pool`]: 4 MiB of pages. A compressor finds none of them
/// twice: Btrfs compresses 128 KiB by itself (`BTRFS_MAX_UNCOMPRESSED`), ZFS a record of
/// 128 KiB to 1 MiB as it is usually set. And what writes and keeps them goes through the
/// processor's cache with them, not through its memory.
pub const POOL_BLOCKS: u64 = 1024;

/// What data shall be like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spec {
    /// What they are made from.
    pub base: Base,
    /// What share of them compresses. Only with [`Base::Random`].
    pub compress: Option<Compression>,
    /// What share of them repeats. Only with [`Base::Random`].
    pub duplicates: Option<Duplicates>,
}

/// What data are made from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Base {
    /// Bytes that look random: they neither compress nor repeat.
    #[default]
    Random,
    /// Blocks of zeros, which many layers do not store.
    Zeros,
    /// These bytes, again and again, counted from the start of the stream.
    Pattern(Vec<u8>),
}

/// Data that compress to a share of their size, as fio's
/// `buffer_compress_percentage` and `buffer_compress_chunk` make them: each chunk
/// begins with random bytes and ends with a filler of which compressors keep next to
/// nothing (`fill_random_buf_percentage` in fio's lib/rand.c).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compression {
    /// The share that is filler: what compression saves.
    pub share: Share,
    /// Bytes of a chunk, 1 to 1 GiB; fio's default is 512. No larger than the block
    /// where there are [`Duplicates`]; a larger one is taken for the block.
    pub chunk: usize,
    /// What the filler repeats; zeros where empty, and at most 1 MiB.
    pub filler: Vec<u8>,
}

/// Data of which blocks repeat, as fio's `dedupe_percentage` makes them.
///
/// fio tosses a coin for each block. Here, repeats are spread evenly, so that each
/// stretch of the data has its share, and a small file as well as a large one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicates {
    /// The share of the blocks that repeat another one.
    pub share: Share,
    /// Bytes of a block, 16 to 1 GiB.
    pub block: usize,
    /// Which one they repeat.
    pub repeats: Repeats,
}

/// Which block a repeated one is equal to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// The last one of the stream that is no repeat: fio's `dedupe_mode=repeat`.
    Last,
    /// One of the first of the stream that are no repeats, at random: fio's
    /// `dedupe_mode=working_set`. Where all blocks repeat, one of the first.
    WorkingSet {
        /// How many blocks of each stream there are to draw from, to one or two; at
        /// least 1.
        blocks: u64,
        /// The streams 0, 1, … up to this number draw from each other's (fio's
        /// `dedupe_global`); with 0 or 1, each from its own.
        streams: u64,
    },
    /// One of so many, in turn; all streams draw from the same. At least 1.
    Pool {
        /// How many blocks there are to draw from.
        blocks: u64,
    },
}

/// Why data cannot be made so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A pattern without bytes.
    #[error("a pattern needs at least one byte")]
    NoPattern,
    /// A pattern that is too long.
    #[error("a pattern has at most 1 MiB, not {0} bytes")]
    LongPattern(usize),
    /// A chunk of compression outside of its range.
    #[error("a chunk of compressible data has 1 byte to 1 GiB, not {0} bytes")]
    Chunk(usize),
    /// A block of duplicates outside of its range.
    #[error("a block that repeats has 16 bytes to 1 GiB, not {0} bytes")]
    Block(usize),
    /// Nothing to draw repeats from.
    #[error("repeats need at least one block that they are drawn from")]
    NothingToRepeat,
    /// Compressibility or duplicates of data that are not random.
    #[error(
        "a share that compresses or repeats can be asked of random data only: zeros and patterns \
         do both anyway"
    )]
    NotRandom,
}

impl Spec {
    /// Data that neither compress nor repeat.
    pub fn random() -> Self {
        Self::default()
    }

    /// Nothing but zeros: layers may store none of it.
    pub fn zeros() -> Self {
        Self { base: Base::Zeros, ..Self::default() }
    }

    /// These bytes, again and again.
    pub fn pattern(bytes: impl Into<Vec<u8>>) -> Self {
        Self { base: Base::Pattern(bytes.into()), ..Self::default() }
    }

    /// Pages that do not compress, drawn in turn from a pool of
    /// [`POOL_BLOCKS`] that all streams share: a store that keeps equal blocks once,
    /// such as the lab's, needs 4 MiB for any amount of them.
    pub fn pool() -> Self {
        let repeats = Repeats::Pool { blocks: POOL_BLOCKS };
        Self::random().with_duplicates(Share::ALL, PAGE, repeats)
    }

    /// The same, of which compression saves `share` in each chunk of `chunk` bytes.
    #[must_use]
    pub fn with_compress(mut self, share: Share, chunk: usize) -> Self {
        self.compress = Some(Compression { share, chunk, filler: Vec::new() });
        self
    }

    /// The same, of which `share` of the blocks of `block` bytes repeats.
    #[must_use]
    pub fn with_duplicates(mut self, share: Share, block: usize, repeats: Repeats) -> Self {
        self.duplicates = Some(Duplicates { share, block, repeats });
        self
    }

    /// # Errors
    /// Where a number is outside of its range, or the parts do not go together.
    pub fn check(&self) -> Result<(), SpecError> {
        const MOST: usize = 1 << 30;
        const LONGEST: usize = 1 << 20;
        match &self.base {
            Base::Pattern(bytes) if bytes.is_empty() => return Err(SpecError::NoPattern),
            Base::Pattern(bytes) if bytes.len() > LONGEST => {
                return Err(SpecError::LongPattern(bytes.len()));
            }
            Base::Random => {}
            _ if self.compress.is_some() || self.duplicates.is_some() => {
                return Err(SpecError::NotRandom);
            }
            _ => {}
        }
        if let Some(compress) = &self.compress {
            if !(1..=MOST).contains(&compress.chunk) {
                return Err(SpecError::Chunk(compress.chunk));
            }
            if compress.filler.len() > LONGEST {
                return Err(SpecError::LongPattern(compress.filler.len()));
            }
        }
        if let Some(duplicates) = &self.duplicates {
            if !(16..=MOST).contains(&duplicates.block) {
                return Err(SpecError::Block(duplicates.block));
            }
            let (Repeats::WorkingSet { blocks, .. } | Repeats::Pool { blocks }) =
                duplicates.repeats
            else {
                return Ok(());
            };
            if blocks == 0 {
                return Err(SpecError::NothingToRepeat);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_specs_are_reported() {
        let half = Share::percent(50);
        let set = Repeats::WorkingSet { blocks: 0, streams: 0 };
        for (spec, error) in [
            (Spec::pattern([]), SpecError::NoPattern),
            (Spec::pattern(vec![1; (1 << 20) + 1]), SpecError::LongPattern((1 << 20) + 1)),
            (Spec::random().with_compress(half, 0), SpecError::Chunk(0)),
            (Spec::random().with_duplicates(half, 8, Repeats::Last), SpecError::Block(8)),
            (Spec::random().with_duplicates(half, 4096, set), SpecError::NothingToRepeat),
            (Spec::zeros().with_compress(half, 512), SpecError::NotRandom),
        ] {
            assert_eq!(spec.check(), Err(error), "{spec:?}");
        }
        assert_eq!(Spec::pool().check(), Ok(()));
    }
}
