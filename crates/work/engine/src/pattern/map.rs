//! Which blocks of a file were visited.

/// One bit for each block.
///
/// Above the bits lie levels of which each bit says that 64 bits below are all
/// set, so that the next free block is found at once, however full the map is
/// (as fio's lib/axmap.c does).
#[derive(Debug, Clone)]
pub(super) struct BlockMap {
    /// The blocks' own bits first; the last level is a single word.
    levels: Vec<Vec<u64>>,
    blocks: u64,
}

impl BlockMap {
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(64).max(1);
            levels.push(vec![0; usize::try_from(words).unwrap_or(usize::MAX)]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        // Bits behind the end of each level count as set.
        let mut bits = blocks;
        for level in &mut levels {
            let words = level.len() as u64;
            if let Some(last) = level.last_mut()
                && bits < words * 64
            {
                *last |= u64::MAX << (bits % 64);
            }
            bits = words;
        }
        Self { levels, blocks }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        // New memory: what is not touched costs nothing.
        *self = Self::new(self.blocks);
    }

    /// Whether a block was visited; those behind the end count as visited.
    pub(super) fn visited(&self, block: u64) -> bool {
        block >= self.blocks || self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// The first block from `from` on that was not visited.
    pub(super) fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let free = level.get((at / 64) as usize).map_or(0, |w| !w & u64::MAX << (at % 64));
            if free != 0 {
                let mut found = at / 64 * 64 + u64::from(free.trailing_zeros());
                for below in self.levels[..height].iter().rev() {
                    let word = !below[found as usize];
                    found = found * 64 + u64::from(word.trailing_zeros());
                }
                return Some(found);
            }
            at = at / 64 + 1;
        }
        None
    }

    fn set(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / 64) as usize];
            *word |= 1 << (at % 64);
            if *word != u64::MAX {
                return;
            }
            at /= 64;
        }
    }

    /// Marks up to `most` blocks from `first` on, and says how many of them, from
    /// the first on, had not been visited.
    pub(super) fn visit(&mut self, first: u64, most: u64) -> u64 {
        let mut new = 0;
        while new < most && !self.visited(first + new) {
            self.set(first + new);
            new += 1;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_visit_ends_at_what_was_visited() {
        let mut map = BlockMap::new(100);
        assert_eq!(map.visit(70, 3), 3);
        assert_eq!(map.visit(60, 20), 10);
        assert_eq!(map.visit(60, 20), 0);
        assert_eq!(map.visit(73, 100), 27);
        assert!(map.visited(100) && map.visited(72) && !map.visited(59));
        map.clear();
        assert_eq!(map.visit(98, 10), 2);
        assert!(!map.visited(72) && map.visited(99));
    }

    proptest! {
        #[test]
        fn the_next_free_block_is_the_first_that_is_not_visited(
            blocks in 0_u64..20_000,
            marks in prop::collection::vec((0_u64..20_000, 0_u64..5_000), 0..20),
            from in prop::collection::vec(0_u64..20_100, 1..20),
        ) {
            let mut map = BlockMap::new(blocks);
            for (first, count) in marks {
                map.visit(first, count);
            }
            for from in from {
                let plain = (from..blocks).find(|block| !map.visited(*block));
                prop_assert_eq!(map.free_from(from), plain);
            }
        }
    }
}
