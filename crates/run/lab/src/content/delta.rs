//! Blocks that differ from another one in a few words.
//!
//! fio and the engine fill a buffer once and alter some words of each 512 bytes before
//! every write (`scramble_buffers`). Parity of such blocks differs in few words, too. Kept
//! by what differs, a block takes a sixth of the space, and none of the file.

use super::block::BLOCK_BYTES;

/// Words of 8 bytes in a block.
const WORDS: usize = BLOCK_BYTES / 8;
/// Words of the map of those that differ, one bit each.
const MAP_WORDS: usize = WORDS / 64;
/// More differing words than this are not worth it. Scrambling alters the first word of one of the
/// eight cache lines of each 512 bytes and two others; what earlier writes altered stays, so
/// that 72 words of 4 KiB differ in the end.
const MAX_WORDS: usize = 80;

/// What a block has in the place of another one's words: a bit for each word, and those
/// whose bit is set.
#[derive(Debug, Clone, Default)]
pub(super) struct Delta(Box<[u64]>);

impl Delta {
    /// How `block` differs from `base`; `None` where that is too much. Both are a block
    /// long.
    pub fn between(base: &[u8], block: &[u8]) -> Option<Self> {
        let mut map = [0_u64; MAP_WORDS];
        let mut words = [0_u64; MAX_WORDS];
        let mut count = 0;
        let (old, _) = base.as_chunks::<8>();
        let (new, _) = block.as_chunks::<8>();
        let rows = old.chunks_exact(64).zip(new.chunks_exact(64));
        for (bits, (old, new)) in map.iter_mut().zip(rows) {
            for (bit, (old, new)) in old.iter().zip(new).enumerate() {
                *bits |= u64::from(old != new) << bit;
            }
            let mut left = *bits;
            if count + left.count_ones() as usize > MAX_WORDS {
                return None;
            }
            while left != 0 {
                words[count] = u64::from_ne_bytes(new[left.trailing_zeros() as usize]);
                count += 1;
                left &= left - 1;
            }
        }
        Some(Self(map.iter().chain(&words[..count]).copied().collect()))
    }

    /// Whether both blocks are the same.
    pub fn is_empty(&self) -> bool {
        self.0.len() == MAP_WORDS
    }

    /// Has `block`, which holds the base, hold what differs.
    pub fn apply(&self, block: &mut [u8]) {
        let (map, words) = self.0.split_at(MAP_WORDS);
        let mut words = words.iter();
        let (places, _) = block.as_chunks_mut::<8>();
        for (bits, places) in map.iter().zip(places.chunks_exact_mut(64)) {
            let mut left = *bits;
            while left != 0 {
                let place = left.trailing_zeros() as usize;
                if let Some(word) = words.next() {
                    places[place] = word.to_ne_bytes();
                }
                left &= left - 1;
            }
        }
    }

    /// Bytes of memory besides its own size, the allocator's share included.
    pub fn memory_bytes(&self) -> u64 {
        size_of_val(&*self.0) as u64 + 16
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_delta_gives_the_block_back(
            base in proptest::collection::vec(any::<u8>(), BLOCK_BYTES),
            changes in proptest::collection::vec((0..BLOCK_BYTES, any::<u8>()), 0..100),
        ) {
            let mut block = base.clone();
            for (at, byte) in changes {
                block[at] = byte;
            }
            let words = |data: &[u8]| data.chunks(8).map(<[u8]>::to_vec).collect::<Vec<_>>();
            let differing = words(&base).iter().zip(&words(&block)).filter(|(a, b)| a != b).count();
            match Delta::between(&base, &block) {
                Some(delta) => {
                    prop_assert!(differing <= MAX_WORDS);
                    prop_assert_eq!(delta.is_empty(), differing == 0);
                    let mut again = base;
                    delta.apply(&mut again);
                    prop_assert!(again == block);
                }
                None => prop_assert!(differing > MAX_WORDS),
            }
        }
    }
}
