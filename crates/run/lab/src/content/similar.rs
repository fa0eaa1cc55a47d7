//! Finds a block that another one probably differs from in few words.

use super::block::BLOCK_BYTES;
use super::recent::Recent;
use super::slot_cache::SlotCache;

/// Of each KiB, the word that counts. What scrambles buffers alters the first word of
/// cache lines, and the last two of a line (`fio_words` in `disklab-engine`).
const PLACE: usize = 13 * 8;

/// Slots of the pool by some words of their content, as [`Recent`] has them by all.
#[derive(Debug)]
pub(super) struct Similar {
    written: Recent,
    /// Those that others differ from.
    bases: SlotCache,
}

impl Similar {
    /// Nothing yet.
    pub fn new() -> Self {
        let bases = SlotCache::new(|block| BlockMark::new(block).map_or(0, |mark| mark.0));
        Self { written: Recent::new(), bases }
    }

    /// A slot that is kept in memory and may be similar to a block, with its content.
    pub fn base(&self, mark: BlockMark) -> Option<(u32, &[u8])> {
        self.bases.alike(mark.0)
    }

    /// A slot that was written lately and may be similar to a block.
    pub fn candidate(&mut self, mark: BlockMark) -> Option<u32> {
        self.written.find(mark.0)
    }

    /// `slot` holds a block of this mark.
    pub fn remember(&mut self, slot: u32, mark: BlockMark) {
        self.written.remember(mark.0, slot);
    }

    /// Keeps `block`, which `slot` holds, for others to differ from.
    pub fn keep(&mut self, slot: u32, block: &[u8]) {
        self.bases.keep(slot, block);
    }

    /// What `slot` holds, if it is kept in memory.
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        self.bases.get(slot)
    }

    /// `slot` will hold something else.
    pub fn forget(&mut self, slot: u32) {
        self.bases.forget(slot);
    }

    /// Bytes of memory that the index takes.
    pub fn memory_bytes(&self) -> u64 {
        self.written.memory_bytes() + self.bases.memory_bytes()
    }
}

/// A number from four words of a block, which similar blocks share.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockMark(u64);

impl BlockMark {
    /// `None` if one of the words is zero: metadata of file systems has many such blocks, which
    /// have nothing else in common.
    pub fn new(block: &[u8]) -> Option<Self> {
        let mark = block.chunks(BLOCK_BYTES / 4).try_fold(0, |mark: u64, row| {
            let word = u64::from_le_bytes(*row.get(PLACE..)?.first_chunk()?);
            let mixed = (mark ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (word != 0).then_some(mixed ^ mixed >> 32)
        });
        mark.map(Self)
    }
}
