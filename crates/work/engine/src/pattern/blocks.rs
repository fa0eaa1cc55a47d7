//! How long the next I/O is.

use disklab_jobfile::{BlockSizes, Blocks, IoDirection};

use super::side;
use crate::random::Random;

/// Draws lengths: a stream of its own for each direction, as fio has.
#[derive(Debug, Clone)]
pub(super) struct Lengths {
    blocks: Blocks,
    random: [Random; 2],
}

impl Lengths {
    pub(super) fn new(blocks: &Blocks, seed: u64) -> Self {
        Self { blocks: blocks.clone(), random: [20, 21].map(|n| Random::new(seed, n)) }
    }

    /// A length of at most `room` bytes; none where not even the smallest fits.
    ///
    /// As in fio (get_next_buflen in io_u.c), a length that does not fit is drawn
    /// again, so the last blocks of a file are shorter, not fewer.
    pub(super) fn draw(&mut self, direction: IoDirection, random: bool, room: u64) -> Option<u64> {
        let sizes = self.blocks.of(direction, random);
        if let BlockSizes::Fixed(bytes) = sizes {
            return (*bytes <= room).then_some(*bytes);
        }
        let min = sizes.min();
        if min > room {
            return None;
        }
        let column = match (self.blocks.by_order, random) {
            (false, _) => side(direction),
            (true, random) => usize::from(random),
        };
        let source = &mut self.random[column];
        Some(match sizes {
            BlockSizes::Fixed(bytes) => *bytes,
            BlockSizes::Range { min, max } => {
                let most = (*max).min(room);
                if self.blocks.unaligned {
                    min + source.below(most - min + 1)
                } else {
                    // Every multiple of the smallest is as likely as the others.
                    min + source.below((most - min) / min + 1) * min
                }
            }
            BlockSizes::Split(shares) => {
                let fits = || shares.iter().filter(|s| s.bytes <= room && s.percent > 0);
                let all: u64 = fits().map(|s| u64::from(s.percent)).sum();
                let mut at = source.below(all);
                let drawn = fits().find(|share| {
                    let percent = u64::from(share.percent);
                    let here = at < percent;
                    at = at.saturating_sub(percent);
                    here
                });
                drawn.map_or(min, |share| share.bytes)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use disklab_jobfile::{BlockShare, PerDirection};
    use proptest::prelude::*;

    use super::*;

    fn lengths(sizes: BlockSizes, unaligned: bool) -> Lengths {
        let blocks = Blocks {
            sizes: PerDirection::both(sizes),
            by_order: false,
            align: PerDirection::both(1),
            unaligned,
        };
        Lengths::new(&blocks, 1)
    }

    #[test]
    fn a_split_has_its_shares() {
        let share = |bytes, percent| BlockShare { bytes, percent };
        let split = BlockSizes::Split(vec![share(4096, 60), share(512, 0), share(65536, 40)]);
        let mut lengths = lengths(split, false);
        let drawn = |l: &mut Lengths, room| l.draw(IoDirection::Write, true, room);
        let large = (0..10_000).filter(|_| drawn(&mut lengths, 1 << 20) == Some(65536)).count();
        assert!((3800..4200).contains(&large), "{large}");
        assert!((0..100).all(|_| drawn(&mut lengths, 8192) == Some(4096)));
        assert_eq!(drawn(&mut lengths, 511), None);
    }

    #[test]
    fn order_can_decide_instead_of_direction() {
        let blocks = Blocks {
            sizes: PerDirection { read: BlockSizes::Fixed(4096), write: BlockSizes::Fixed(512) },
            by_order: true,
            align: PerDirection::both(1),
            unaligned: false,
        };
        let mut lengths = Lengths::new(&blocks, 1);
        assert_eq!(lengths.draw(IoDirection::Write, false, 1 << 20), Some(4096));
        assert_eq!(lengths.draw(IoDirection::Read, true, 1 << 20), Some(512));
        assert_eq!(lengths.draw(IoDirection::Read, false, 4095), None);
    }

    proptest! {
        #[test]
        fn ranges_are_kept(min in 1_u64..5000, more in 0_u64..100_000, room in 1_u64..200_000,
                           unaligned: bool) {
            let mut lengths = lengths(BlockSizes::Range { min, max: min + more }, unaligned);
            match lengths.draw(IoDirection::Read, false, room) {
                Some(n) => {
                    prop_assert!(n >= min && n <= room && n <= min + more);
                    prop_assert!(unaligned || n % min == 0);
                }
                None => prop_assert!(room < min),
            }
        }
    }
}
