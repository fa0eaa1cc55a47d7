//! Which block of random words each block of a stream shows.

use crate::words::{GOLDEN, Words, mix};
use crate::{Duplicates, Repeats};

/// Where the words of the blocks begin that only repeats are drawn from: beyond
/// those of any stream, whose 2^64 bytes are 2^61 words.
const DRAWN_FROM: u64 = 1 << 61;

/// The stream whose words all streams share; none has this number where
/// duplicates are drawn from blocks that all share.
const SHARED: u64 = u64::MAX;

/// So often a block to repeat is drawn anew where one is drawn that repeats itself.
const MOST_DRAWS: u32 = 1000;

/// A part of a sequence of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BlockLocation {
    pub words: Words,
    /// The first word.
    pub at: u64,
}

/// The blocks of one stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentBlocks {
    seed: u64,
    own: Words,
    shared: Words,
    words_per_block: u64,
    /// A number of this stream's own.
    key: u64,
    duplicates: Option<Duplicates>,
}

impl ContentBlocks {
    /// The blocks of `stream`, each taking `words_per_block` words.
    pub fn new(
        seed: u64,
        stream: u64,
        words_per_block: u64,
        duplicates: Option<Duplicates>,
    ) -> Self {
        let own = Words::new(seed, stream);
        let shared = Words::new(seed, SHARED);
        Self { seed, own, shared, words_per_block, key: own.at(u64::MAX), duplicates }
    }

    /// What `block` shows.
    pub fn place(&self, block: u64) -> BlockLocation {
        match self.duplicates {
            Some(duplicates) if self.repeats(duplicates, block) => match duplicates.repeats {
                Repeats::Last => self.fresh(self.original(duplicates, block)),
                Repeats::WorkingSet { blocks, streams } => {
                    self.of_the_first(duplicates, block, blocks.max(1), streams)
                }
                Repeats::Pool { blocks } => {
                    self.drawn(self.key.wrapping_add(block) % blocks.max(1))
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

    /// One of the first `blocks` that are no repeats, drawn by a repeat's own number.
    fn of_the_first(
        &self,
        duplicates: Duplicates,
        block: u64,
        blocks: u64,
        streams: u64,
    ) -> BlockLocation {
        let fresh = duplicates.share.rest().threshold();
        let all_repeat = duplicates.share.threshold() == u64::MAX;
        // The stretch of the stream that holds so many which are no repeats.
        let stretch = match all_repeat {
            true => blocks,
            false => {
                let stretch = (u128::from(blocks) << 64).div_ceil(u128::from(fresh.max(1)));
                u64::try_from(stretch).unwrap_or(u64::MAX)
            }
        };
        let mut drawn = self.key.wrapping_add(mix(block));
        let mut source = *self;
        let mut number = 0;
        // Repeats in the stretch are passed over: evenly among the others, and after
        // 100 draws on average where 99 percent repeat.
        for _ in 0..MOST_DRAWS {
            drawn = mix(drawn.wrapping_add(GOLDEN));
            number = drawn % stretch;
            if streams > 1 {
                drawn = mix(drawn.wrapping_add(GOLDEN));
                source = self.of_stream(drawn % streams);
            }
            if all_repeat || !source.repeats(duplicates, number) {
                return source.fresh(number);
            }
        }
        // The last one before, or where the stream begins with repeats the first of all.
        let mut found = source.original(duplicates, number);
        while source.repeats(duplicates, found) {
            found = found.wrapping_add(1);
        }
        source.fresh(found)
    }

    /// The blocks of another stream.
    fn of_stream(&self, stream: u64) -> Self {
        Self::new(self.seed, stream, self.words_per_block, self.duplicates)
    }

    fn fresh(&self, block: u64) -> BlockLocation {
        BlockLocation { words: self.own, at: block.wrapping_mul(self.words_per_block) }
    }

    fn drawn(&self, number: u64) -> BlockLocation {
        let at = DRAWN_FROM.wrapping_add(number.wrapping_mul(self.words_per_block));
        BlockLocation { words: self.shared, at }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::Share;

    fn blocks(share: Share, repeats: Repeats, seed: u64) -> ContentBlocks {
        ContentBlocks::new(seed, 3, 512, Some(Duplicates { share, block: 4096, repeats }))
    }

    #[test]
    fn a_full_share_repeats_every_block() {
        let all = blocks(Share::ALL, Repeats::Last, 1);
        assert_eq!(all.place(u64::MAX), all.place(0));
        let pool = blocks(Share::ALL, Repeats::Pool { blocks: 5 }, 1);
        let places: HashSet<u64> = (0..5).map(|b| pool.place(b).at).collect();
        assert_eq!(places.len(), 5);
        assert_eq!(pool.place(7), pool.place(2));
        let other = ContentBlocks { key: 0, ..pool };
        assert!(places.contains(&other.place(0).at));
    }

    /// Of a stream that begins with repeats, and of which one draw in 25,000 finds none
    /// but repeats a thousand times.
    #[test]
    fn a_working_set_holds_no_repeat_though_draws_run_out() {
        let repeats = Repeats::WorkingSet { blocks: 8, streams: 0 };
        let blocks = blocks(Share::percent(99), repeats, 14_036_837_075_111_197_440);
        let duplicates = blocks.duplicates.expect("there");
        assert!(blocks.repeats(duplicates, 0));
        let (fresh, all): (Vec<u64>, Vec<u64>) =
            (0..20_000).partition(|b| !blocks.repeats(duplicates, *b));
        let fresh: HashSet<BlockLocation> = fresh.into_iter().map(|b| blocks.place(b)).collect();
        assert!(all.into_iter().all(|b| fresh.contains(&blocks.place(b))));
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
            set in 4_u64..50, percent in 1_u32..100, streams in 0_u64..4, seed in any::<u64>(),
        ) {
            let repeats = Repeats::WorkingSet { blocks: set, streams };
            let blocks = blocks(Share::percent(percent), repeats, seed);
            let duplicates = blocks.duplicates.expect("there");
            let each: Vec<ContentBlocks> = (0..4).map(|stream| blocks.of_stream(stream)).collect();
            let count = 20_000_u64;
            let fresh: HashSet<BlockLocation> = each.iter().flat_map(|of| {
                (0..count).filter(|b| !of.repeats(duplicates, *b)).map(|b| of.place(b))
            }).collect();
            let drawn: HashSet<BlockLocation> = (0..count)
                .filter(|b| blocks.repeats(duplicates, *b))
                .map(|b| blocks.place(b))
                .collect();
            // What repeats is what is written anyway: the share is kept.
            prop_assert!(drawn.is_subset(&fresh));
            let most = (set + 3) * streams.max(1);
            prop_assert!(drawn.len() as u64 <= most, "{} of {most}", drawn.len());
            if percent >= 50 {
                let least = (set - 3) * streams.max(1);
                prop_assert!(drawn.len() as u64 >= least, "{} of {least}", drawn.len());
            }
        }

        #[test]
        fn working_set_of_repeats_is_the_first_blocks(set in 1_u64..50, seed: u64) {
            let blocks = blocks(Share::ALL, Repeats::WorkingSet { blocks: set, streams: 1 }, seed);
            let places: HashSet<BlockLocation> = (0..5000).map(|b| blocks.place(b)).collect();
            prop_assert_eq!(places.len() as u64, set);
        }
    }
}
