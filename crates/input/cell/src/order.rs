//! The order of cells: randomised complete blocks, each drawn apart.

use indexmap::IndexMap;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::{Cell, Levels};

/// What the seeds of the cells of one block have in common. The seed of the making decides which
/// units of its models the lab's drives are and where their platters stand; a cell's own, which
/// data and offsets its workload draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SeedSharing {
    /// All stacks have the same: their ratio is theirs alone.
    #[default]
    Shared,
    /// Each stack has its own, so that two equal stacks differ as two machines of the same
    /// make do.
    Apart,
}

/// Lays cells out in `repeats` blocks. Each block holds everything once, so
/// that a drift of the machine hits all stacks alike. In each block the stacks (each at each level
/// of the further axes) are shuffled, and within a stack its workloads, whatever the order of other blocks was: which of two
/// stacks is disturbed more is then a coin tossed anew in each block, which is what tests
/// over blocks assume. (A block that reversed the one before would cancel even growth, but
/// halve the number of tosses: where the ends of a block are slower, it gave four to five
/// times as many false differences as promised.) ChaCha8 keeps the order the same for a seed
/// on every machine, and the blocks of a shorter order are the first ones of a longer.
pub fn order(levels: &[Levels], repeats: u32, seed: u64, draws: SeedSharing) -> Vec<Cell> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // A stack on another machine, say, is made anew.
    let mut by_stack: IndexMap<_, Vec<&Levels>> = IndexMap::new();
    for levels in levels {
        by_stack.entry((&levels.stack, &levels.further)).or_default().push(levels);
    }
    let mut stacks: Vec<_> = by_stack.keys().copied().collect();
    let mut cells: Vec<Cell> = Vec::with_capacity(levels.len() * repeats as usize);
    for block in 0..repeats {
        stacks.shuffle(&mut random);
        for stack in &stacks {
            let mut of_stack = by_stack.get(stack).cloned().unwrap_or_default();
            of_stack.shuffle(&mut random);
            for levels in of_stack {
                let shared = cell_seed(seed, block, &levels.workload);
                cells.push(Cell {
                    number: cells.len() as u32,
                    block,
                    levels: levels.clone(),
                    seed: match draws {
                        SeedSharing::Shared => shared,
                        SeedSharing::Apart => stack_seed(shared, &levels.stack),
                    },
                });
            }
        }
    }
    cells
}

/// The seed of a cell. It does not depend on the stack or a further axis: within a block every
/// stack is given the same work, so that differences are the stacks' own.
pub fn cell_seed(seed: u64, block: u32, workload: &str) -> u64 {
    first_64_bits(
        Sha256::new()
            .chain_update(seed.to_le_bytes())
            .chain_update(block.to_le_bytes())
            .chain_update(workload.as_bytes()),
    )
}

/// The seed of what a cell's stack is made with, and of the drives below it: the same for all work
/// of a block, so that what is made once serves all of it, and drawn anew in each block.
pub fn making_seed(seed: u64, cell: &Cell, draws: SeedSharing) -> u64 {
    let shared = cell_seed(seed, cell.block, "");
    match draws {
        SeedSharing::Shared => shared,
        SeedSharing::Apart => stack_seed(shared, &cell.levels.stack),
    }
}

/// The seed of a cell whose stack draws its own drives and work, from [`cell_seed`].
fn stack_seed(cell_seed: u64, stack: &str) -> u64 {
    first_64_bits(
        Sha256::new().chain_update(cell_seed.to_le_bytes()).chain_update(stack.as_bytes()),
    )
}

fn first_64_bits(hash: Sha256) -> u64 {
    let digest = hash.finalize();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    fn crossed(stacks: usize, workloads: usize) -> Vec<Levels> {
        (0..stacks)
            .flat_map(|s| {
                (0..workloads).map(move |w| Levels::new(format!("s{s}"), format!("w{w}")))
            })
            .collect()
    }

    fn shared(levels: &[Levels], repeats: u32, seed: u64) -> Vec<Cell> {
        order(levels, repeats, seed, SeedSharing::Shared)
    }

    proptest! {
        #[test]
        fn every_block_is_complete(
            stacks in 1_usize..6, workloads in 1_usize..6, repeats in 1_u32..5, seed: u64
        ) {
            let levels = crossed(stacks, workloads);
            let cells = shared(&levels, repeats, seed);
            prop_assert_eq!(cells.len(), levels.len() * repeats as usize);
            for (block, cells) in cells.chunks(levels.len()).enumerate() {
                let seen: BTreeSet<_> =
                    cells.iter().map(|c| &c.levels).collect();
                prop_assert_eq!(seen.len(), levels.len());
                prop_assert!(cells.iter().all(|c| c.block as usize == block));
            }
        }

        #[test]
        fn a_shorter_order_begins_a_longer(
            stacks in 1_usize..6, workloads in 1_usize..4, few in 1_u32..5, seed: u64
        ) {
            let levels = crossed(stacks, workloads);
            let (short, long) = (shared(&levels, few, seed), shared(&levels, few + 2, seed));
            prop_assert_eq!(&long[..short.len()], &short[..]);
        }
    }

    /// Of three stacks there are six orders: whatever the first block's is, the second block
    /// has each of them equally often.
    #[test]
    fn blocks_are_drawn_independently() {
        let levels = crossed(3, 1);
        let mut counts: std::collections::BTreeMap<Vec<usize>, u32> = Default::default();
        for seed in 0..3000 {
            let cells = shared(&levels, 2, seed);
            let place = |stack: &str| cells[..3].iter().position(|c| c.levels.stack == stack);
            let second: Vec<usize> =
                cells[3..].iter().filter_map(|c| place(&c.levels.stack)).collect();
            *counts.entry(second).or_default() += 1;
        }
        assert_eq!(counts.len(), 6, "{counts:?}");
        // Four standard deviations of a binomial count.
        assert!(counts.values().all(|n| n.abs_diff(500) <= 82), "{counts:?}");
    }

    #[test]
    fn a_seed_fixes_the_order_and_another_changes_it() {
        let levels = crossed(5, 5);
        assert_eq!(shared(&levels, 3, 7), shared(&levels, 3, 7));
        assert_ne!(shared(&levels, 3, 7), shared(&levels, 3, 8));
    }

    #[test]
    fn stacks_of_a_block_share_their_work() {
        let cells = shared(&crossed(3, 1), 1, 1);
        assert!(cells.iter().all(|c| c.seed == cells[0].seed));
    }

    #[test]
    fn stacks_that_draw_apart_share_nothing_but_the_order() {
        let levels = crossed(4, 2);
        let shared = shared(&levels, 3, 1);
        let apart = order(&levels, 3, 1, SeedSharing::Apart);
        let seeds: BTreeSet<u64> = apart.iter().map(|cell| cell.seed).collect();
        assert_eq!(seeds.len(), apart.len());
        let reseeded: Vec<Cell> =
            apart.iter().zip(&shared).map(|(a, s)| Cell { seed: s.seed, ..a.clone() }).collect();
        assert_eq!(reseeded, shared);
    }
}
