//! Which block of random words each block of a stream shows.

use crate::words::{GOLDEN, Words, mix};
use crate::{Duplicates, Repeats};

/// Where the words of the blocks begin that only repeats are drawn from: beyond
/// those of any stream, whose 2^64 bytes are 2^61 words.
const DRAWN_FROM: u64 = 1 << 61;

/// The stream whose words all streams share; none has this number where
/// duplicates are drawn from blocks that all share.
const SHARED: u64 = u64::MAX;

/// A part of a sequence of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub words: Words,
    /// The first word.
    pub at: u64,
}

/// The blocks of one stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    own: Words,
    shared: Words,
    words_per_block: u64,
    /// A number of this stream's own.
    key: u64,
    duplicates: Option<Duplicates>,
}

impl Blocks {
    /// The blocks of `stream`, each taking `words_per_block` words.
    pub fn new(
        seed: u64,
        stream: u64,
        words_per_block: u64,
        duplicates: Option<Duplicates>,
    ) -> Self {
        let own = Words::new(seed, stream);
        let shared = Words::new(seed, SHARED);
        Self { own, shared, words_per_block, key: own.at(u64::MAX), duplicates }
    }

    /// What `block` shows.
    pub fn place(&self, block: u64) -> Place {
        match self.duplicates {
            Some(duplicates) if self.repeats(duplicates, block) => match duplicates.repeats {
                Repeats::Last => self.fresh(self.original(duplicates, block)),
                Repeats::WorkingSet { blocks, shared } => {
                    let number = mix(self.key.wrapping_add(mix(block))) % blocks.max(1);
                    self.drawn(number, shared)
                }
                Repeats::Pool { blocks } => {
                    self.drawn(self.key.wrapping_add(block) % blocks.max(1), true)
                }
            },
            _ => self.fresh(block),
        }
    }

    /// Whether `block` is equal to another one.
    fn repeats(&self, duplicates: Duplicates, block: u64) -> bool {
        // Multiples of the golden ratio fill the circle evenly, so that any stretch
        // of blocks has its share of repeats, to one or two blocks.
        let share = duplicates.share.threshold();
        share == u64::MAX || block.wrapping_mul(GOLDEN).wrapping_add(self.key) < share
    }

    /// The last block up to `block` that is no repeat, or the first of all.
    fn original(&self, duplicates: Duplicates, block: u64) -> u64 {
        if duplicates.share.threshold() == u64::MAX {
            return 0;
        }
        // Few steps: by the three-gap theorem no gap is longer than 2.7 times its
        // mean, and the mean is at most a million blocks, of a nanosecond each.
        let mut block = block;
        while block > 0 && self.repeats(duplicates, block) {
            block -= 1;
        }
        block
    }

    fn fresh(&self, block: u64) -> Place {
        Place { words: self.own, at: block.wrapping_mul(self.words_per_block) }
    }

    fn drawn(&self, number: u64, shared: bool) -> Place {
        let words = if shared { self.shared } else { self.own };
        let at = DRAWN_FROM.wrapping_add(number.wrapping_mul(self.words_per_block));
        Place { words, at }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::Share;

    fn blocks(share: Share, repeats: Repeats, seed: u64) -> Blocks {
        Blocks::new(seed, 3, 512, Some(Duplicates { share, block: 4096, repeats }))
    }

    #[test]
    fn all_repeat_where_all_shall() {
        let all = blocks(Share::ALL, Repeats::Last, 1);
        assert_eq!(all.place(u64::MAX), all.place(0));
        let pool = blocks(Share::ALL, Repeats::Pool { blocks: 5 }, 1);
        let places: HashSet<u64> = (0..5).map(|b| pool.place(b).at).collect();
        assert_eq!(places.len(), 5);
        assert_eq!(pool.place(7), pool.place(2));
        let other = Blocks { key: 0, ..pool };
        assert!(places.contains(&other.place(0).at));
    }

    proptest! {
        #[test]
        fn any_stretch_has_its_share(
            percent in 0_u32..100, seed in any::<u64>(), from in 0_u64..1 << 50,
        ) {
            let blocks = blocks(Share::percent(percent), Repeats::Last, seed);
            let duplicates = blocks.duplicates.expect("there");
            let repeats = (from..from + 1000).filter(|b| blocks.repeats(duplicates, *b)).count();
            prop_assert!(repeats.abs_diff(10 * percent as usize) <= 4, "{repeats}");
        }

        #[test]
        fn a_repeat_is_equal_to_the_last_that_is_none(percent in 1_u32..100, seed in any::<u64>()) {
            let blocks = blocks(Share::percent(percent), Repeats::Last, seed);
            let duplicates = blocks.duplicates.expect("there");
            for block in 1..500 {
                let same = blocks.place(block) == blocks.place(block - 1);
                prop_assert_eq!(same, blocks.repeats(duplicates, block));
            }
        }

        #[test]
        fn a_working_set_is_used_and_not_exceeded(
            set in 1_u64..50, shared in any::<bool>(), seed in any::<u64>(),
        ) {
            let blocks = blocks(Share::percent(50), Repeats::WorkingSet { blocks: set, shared }, seed);
            let places: HashSet<u64> =
                (0..5000).map(|b| blocks.place(b).at).filter(|at| *at >= DRAWN_FROM).collect();
            prop_assert_eq!(places.len() as u64, set);
        }
    }
}
