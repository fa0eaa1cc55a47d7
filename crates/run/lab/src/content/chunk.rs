//! The index of 2 MiB of a disk.

use super::block::BLOCK_BYTES;

pub(super) const CHUNK_BLOCKS: usize = 512;
pub(super) const CHUNK_BYTES: u64 = (CHUNK_BLOCKS * BLOCK_BYTES) as u64;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// This word, in the machine's byte order, again and again; 0 for zeros.
    Fill(u64),
    /// What the pool's slot holds.
    Slot(u32),
    /// What the pool's delta makes of a slot.
    Delta(u32),
    /// Random words that the pool knows.
    Random(u32),
    /// What the content below this one holds there.
    Below,
}

impl Block {
    /// The word that all of `data` repeats, if it does. `data` is a block long.
    pub fn fill_of(data: &[u8]) -> Option<u64> {
        let (first, _) = data.split_first_chunk::<8>()?;
        // A block repeats its first word where it equals itself, a word on.
        (data.get(8..) == data.get(..data.len() - 8)).then(|| u64::from_ne_bytes(*first))
    }
}

/// What 2 MiB hold.
#[derive(Debug)]
pub(super) enum Chunk {
    /// All blocks repeat this word.
    Fill(u64),
    /// What the content below holds there.
    Below,
    /// Block by block.
    Table(Box<Table>),
}

/// Marks the word of a delta, whose number is below.
const DELTA: u64 = 1 << 32;
/// And of random words.
const RANDOM: u64 = 2 << 32;
/// And of what lies below.
const BELOW: u64 = 3 << 32;

/// A word for each block, and a bit that tells fills from what the pool has.
#[derive(Debug)]
pub(super) struct Table {
    words: [u64; CHUNK_BLOCKS],
    slots: [u64; CHUNK_BLOCKS / 64],
}

impl Chunk {
    /// What block `index` (below [`CHUNK_BLOCKS`]) holds.
    pub fn get(&self, index: usize) -> Block {
        match self {
            Self::Fill(word) => Block::Fill(*word),
            Self::Below => Block::Below,
            Self::Table(table) => table.get(index),
        }
    }

    /// Sets a block. Returns whether a table had to be made.
    pub fn set(&mut self, index: usize, block: Block) -> bool {
        match self {
            Self::Fill(word) if Block::Fill(*word) == block => false,
            Self::Below if block == Block::Below => false,
            Self::Fill(_) | Self::Below => {
                let (word, bits) = match self {
                    Self::Fill(word) => (*word, 0),
                    _ => (BELOW, u64::MAX),
                };
                let words = [word; CHUNK_BLOCKS];
                let mut table = Table { words, slots: [bits; CHUNK_BLOCKS / 64] };
                table.set(index, block);
                *self = Self::Table(Box::new(table));
                true
            }
            Self::Table(table) => {
                table.set(index, block);
                false
            }
        }
    }

    /// Drops the table where all blocks repeat one word. Returns whether it did.
    pub fn simplify(&mut self) -> bool {
        let Self::Table(table) = self else { return false };
        let word = table.words[0];
        let uniform = table.slots.iter().all(|b| *b == 0) && table.words.iter().all(|w| *w == word);
        if uniform {
            *self = Self::Fill(word);
        }
        uniform
    }
}

impl Table {
    fn get(&self, index: usize) -> Block {
        let word = self.words[index];
        if self.slots[index / 64] >> (index % 64) & 1 == 0 {
            Block::Fill(word)
        } else {
            // Only `set` writes it, from 32 bits and the mark.
            let number = word as u32;
            match word - u64::from(number) {
                DELTA => Block::Delta(number),
                RANDOM => Block::Random(number),
                BELOW => Block::Below,
                _ => Block::Slot(number),
            }
        }
    }

    fn set(&mut self, index: usize, block: Block) {
        let bit = 1 << (index % 64);
        let word = match block {
            Block::Fill(word) => {
                self.words[index] = word;
                self.slots[index / 64] &= !bit;
                return;
            }
            Block::Slot(slot) => u64::from(slot),
            Block::Delta(number) => u64::from(number) | DELTA,
            Block::Random(number) => u64::from(number) | RANDOM,
            Block::Below => BELOW,
        };
        self.words[index] = word;
        self.slots[index / 64] |= bit;
    }
}
