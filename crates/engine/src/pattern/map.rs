//! Which blocks of a file were visited, where a permutation alone cannot tell.

/// One bit for each block. Needed only where I/Os have different lengths or
/// some are sequential; elsewhere the permutation needs no memory.
#[derive(Debug, Clone)]
pub(super) struct Map {
    words: Vec<u64>,
    blocks: u64,
}

impl Map {
    pub(super) fn new(blocks: u64) -> Self {
        let words = usize::try_from(blocks.div_ceil(64)).unwrap_or(usize::MAX);
        Self { words: vec![0; words], blocks }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Whether a block was visited; those behind the end count as visited.
    pub(super) fn visited(&self, block: u64) -> bool {
        block >= self.blocks || self.words[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Marks up to `most` blocks from `first` on, and says how many of them, from
    /// the first on, had not been visited.
    pub(super) fn visit(&mut self, first: u64, most: u64) -> u64 {
        let mut new = 0;
        while new < most && !self.visited(first + new) {
            let block = first + new;
            self.words[(block / 64) as usize] |= 1 << (block % 64);
            new += 1;
        }
        new
    }

    /// Marks all blocks of a range, whether they were visited or not.
    pub(super) fn mark(&mut self, first: u64, count: u64) {
        for block in first..first.saturating_add(count).min(self.blocks) {
            self.words[(block / 64) as usize] |= 1 << (block % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_ends_at_what_was_visited() {
        let mut map = Map::new(100);
        map.mark(70, 3);
        assert_eq!(map.visit(60, 20), 10);
        assert_eq!(map.visit(60, 20), 0);
        assert_eq!(map.visit(73, 100), 27);
        assert!(map.visited(100) && map.visited(72) && !map.visited(59));
        map.clear();
        map.mark(98, 10);
        assert!(!map.visited(72) && map.visited(99));
    }
}
