//! Blocks that are written again and again, in memory.
//!
//! Load that fits into a lab is made of few distinct blocks (`Repeats::Pool` of
//! `disklab-content`; fio's one buffer). A cell that moves terabytes then moves the
//! same 16 MiB: found here by four of their words and one comparison, and given to the
//! guest from here, in one copy, they need neither the hash of all their bytes nor the
//! file.

use super::block::BLOCK_BYTES;

/// Sets of places, a power of two; a block can lie in one of them.
const SETS: usize = 1 << 12;
/// Places in a set. With 4096 blocks to be kept, one in a thousand sets is too small.
const WAYS: usize = 4;
/// No slot, no place.
const NONE: u32 = u32::MAX;

/// Some slots of the pool, with what they hold.
#[derive(Debug)]
pub(super) struct SlotCache {
    places: Vec<CacheEntry>,
    /// The content of each place. Zeros from the system cost no memory before they are
    /// written.
    data: Vec<u8>,
    /// Where each slot lies, as far as any does.
    of_slot: Vec<u32>,
    /// How many were kept, to take turns where a set is full.
    count: usize,
    /// The number by which a block is found.
    mark: fn(&[u8]) -> u64,
}

#[derive(Debug, Clone, Copy)]
struct CacheEntry {
    mark: u64,
    slot: u32,
}

impl SlotCache {
    /// Bytes that it takes at most, without the index.
    pub const BYTES: usize = SETS * WAYS * BLOCK_BYTES;

    /// Nothing yet. Blocks are found by what `mark` makes of them.
    pub fn new(mark: fn(&[u8]) -> u64) -> Self {
        Self {
            places: vec![CacheEntry { mark: 0, slot: NONE }; SETS * WAYS],
            data: vec![0; Self::BYTES],
            of_slot: Vec::new(),
            count: 0,
            mark,
        }
    }

    /// The slot that holds `block`, if it is kept.
    pub fn find(&self, block: &[u8]) -> Option<u32> {
        self.marked((self.mark)(block)).find(|(_, data)| *data == block).map(|(slot, _)| slot)
    }

    /// The first slot that is kept under `mark`, and what it holds.
    pub fn alike(&self, mark: u64) -> Option<(u32, &[u8])> {
        self.marked(mark).next()
    }

    /// What `slot` holds, if it is kept.
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        self.place(slot).map(|place| self.data(place))
    }

    /// Keeps `block`, which `slot` holds, in the place of another where all are taken.
    pub fn keep(&mut self, slot: u32, block: &[u8]) {
        if self.place(slot).is_some() {
            return;
        }
        let mark = (self.mark)(block);
        let ways = first_place(mark)..first_place(mark) + WAYS;
        let free = ways.clone().find(|place| self.places[*place].slot == NONE);
        let place = free.unwrap_or(ways.start + self.count % WAYS);
        self.count = self.count.wrapping_add(1);
        self.forget(self.places[place].slot);
        self.places[place] = CacheEntry { mark, slot };
        self.data[place * BLOCK_BYTES..][..BLOCK_BYTES].copy_from_slice(block);
        let index = slot as usize;
        if self.of_slot.len() <= index {
            self.of_slot.resize(index + 1, NONE);
        }
        // Below SETS × WAYS.
        self.of_slot[index] = place as u32;
    }

    /// `slot` will hold something else.
    pub fn forget(&mut self, slot: u32) {
        if let Some(place) = self.place(slot) {
            self.places[place].slot = NONE;
            self.of_slot[slot as usize] = NONE;
        }
    }

    /// Bytes of memory that the index takes.
    pub fn memory_bytes(&self) -> u64 {
        let places = self.places.len() * size_of::<CacheEntry>();
        (places + self.of_slot.len() * size_of::<u32>()) as u64
    }

    fn marked(&self, mark: u64) -> impl Iterator<Item = (u32, &[u8])> {
        let first = first_place(mark);
        (first..first + WAYS).filter_map(move |place| {
            let CacheEntry { mark: other, slot } = self.places[place];
            (other == mark && slot != NONE).then(|| (slot, self.data(place)))
        })
    }

    fn place(&self, slot: u32) -> Option<usize> {
        let place = *self.of_slot.get(slot as usize)?;
        (place != NONE).then_some(place as usize)
    }

    fn data(&self, place: usize) -> &[u8] {
        &self.data[place * BLOCK_BYTES..][..BLOCK_BYTES]
    }
}

/// A number from four words of a block: enough for random load, and a lookup
/// compares the rest.
pub(super) fn first_words(block: &[u8]) -> u64 {
    let words = block.chunks(BLOCK_BYTES / 4).filter_map(<[u8]>::first_chunk::<8>);
    words.fold(0, |mark: u64, word| {
        let mixed = (mark ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}

fn first_place(mark: u64) -> usize {
    (mark as usize & (SETS - 1)) * WAYS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(number: u64) -> Vec<u8> {
        // All in one set: they differ in a word that does not count.
        let mut block = vec![7; BLOCK_BYTES];
        block[100..108].copy_from_slice(&number.to_le_bytes());
        block
    }

    proptest! {
        #[test]
        fn lookups_return_the_latest_block(
            steps in proptest::collection::vec((0..12_u32, 0..9_u64, any::<bool>()), 1..60)
        ) {
            let mut slot_cache = SlotCache::new(first_words);
            let mut model = std::collections::HashMap::new();
            for (slot, number, keep) in steps {
                slot_cache.forget(slot);
                model.remove(&slot);
                if keep {
                    slot_cache.keep(slot, &block(number));
                    model.insert(slot, number);
                    prop_assert!(slot_cache.get(slot).is_some_and(|data| data == block(number)));
                }
                for slot in 0..12 {
                    if let Some(data) = slot_cache.get(slot) {
                        prop_assert!(data == block(model[&slot]));
                    }
                }
                for number in 0..9 {
                    if let Some(slot) = slot_cache.find(&block(number)) {
                        prop_assert_eq!(model[&slot], number);
                    }
                }
                let count = (0..12).filter(|slot| slot_cache.get(*slot).is_some()).count();
                prop_assert!(count <= WAYS);
            }
        }
    }

    #[test]
    fn a_pool_of_the_usual_size_is_kept_but_for_a_few() {
        let mut state = 1_u64;
        let blocks: Vec<Vec<u8>> = (0..4096)
            .map(|_| {
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 33) as u8
                };
                (0..BLOCK_BYTES).map(|_| next()).collect()
            })
            .collect();
        let mut slot_cache = SlotCache::new(first_words);
        for (slot, block) in blocks.iter().enumerate() {
            slot_cache.keep(slot as u32, block);
        }
        let found =
            blocks.iter().enumerate().filter(|(n, b)| slot_cache.find(b) == Some(*n as u32));
        assert!(found.count() > 4060);
    }
}
