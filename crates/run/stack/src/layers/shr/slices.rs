//! Cutting unequal drives into slices.
//!
//! Synology Hybrid RAID cuts all drives at each distinct size; over each slice
//! lies an ordinary array of the drives that reach it. Synology publishes no
//! algorithm; this one gives the capacities of its RAID calculator for SHR and
//! agrees with what owners found on their drives with `cat /proc/mdstat`.

use disklab_units::Bytes;

use crate::layers::md::Level;

/// How many drives may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SliceKind {
    /// Any one drive.
    Shr,
    /// Any two drives.
    Shr2,
}

/// A piece of the same extent on several drives, and the array over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    /// Where it begins on each drive.
    pub start: Bytes,
    /// How much of each drive it takes.
    pub height: Bytes,
    /// The drives, by index, in ascending order.
    pub drives: Vec<usize>,
    /// The array's level.
    pub level: Level,
}

impl Slice {
    /// How much it holds, without md's own needs.
    #[cfg(test)]
    pub fn capacity(&self) -> Bytes {
        let drives = self.drives.len() as u64;
        let redundant = match self.level {
            Level::Raid6 => 2,
            Level::Raid5 => 1,
            _ => drives - 1,
        };
        self.height.saturating_mul(drives - redundant)
    }
}

impl SliceKind {
    /// The array over a slice of this many drives; nothing where it stays unused.
    ///
    /// Of SHR-2, Synology says that it needs four drives and is RAID 6. Three
    /// drives could be a mirror of three, of which any two may fail, but
    /// nothing that Synology publishes says that it makes one; so such a slice
    /// stays unused rather than promise a capacity that a DiskStation may not
    /// have.
    pub fn level(self, drives: usize) -> Option<Level> {
        match (self, drives) {
            (Self::Shr, 2) => Some(Level::Raid1),
            (Self::Shr, 3..) => Some(Level::Raid5),
            (Self::Shr2, 4..) => Some(Level::Raid6),
            _ => None,
        }
    }

    /// The fewest drives of which some slice can be used.
    pub fn least_drives(self) -> usize {
        match self {
            Self::Shr => 2,
            Self::Shr2 => 4,
        }
    }
}

/// The slices of drives with this much room, bottom-up. A slice lower than
/// `minimum` is not cut: the drives that end in it end below it.
pub(crate) fn slice(room: &[Bytes], kind: SliceKind, minimum: Bytes) -> Vec<Slice> {
    let mut ends: Vec<Bytes> = room.to_vec();
    ends.sort_unstable();
    ends.dedup();
    let mut start = Bytes::ZERO;
    let mut slices = Vec::new();
    for end in ends {
        let height = end - start;
        if height == Bytes::ZERO || height < minimum {
            continue;
        }
        let drives: Vec<usize> = (0..room.len()).filter(|i| room[*i] >= end).collect();
        // Above, there are ever fewer drives.
        let Some(level) = kind.level(drives.len()) else { break };
        slices.push(Slice { start, height, drives, level });
        start = end;
    }
    slices
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tb(sizes: &[u64]) -> Vec<Bytes> {
        sizes.iter().map(|n| Bytes(n * 1_000_000_000_000)).collect()
    }

    fn capacity(slices: &[Slice]) -> Bytes {
        slices.iter().map(Slice::capacity).sum()
    }

    // https://www.synology.com/support/RAID_calculator, SHR.
    #[test]
    fn known_mixes() {
        for (drives, held) in [
            (vec![4, 4], 4),
            (vec![4, 4, 4], 8),
            (vec![2, 3, 4, 4], 9),
            (vec![1, 1, 2, 2], 4),
            (vec![3, 3, 3, 8, 8], 17),
            (vec![1, 8], 1),
        ] {
            let slices = slice(&tb(&drives), SliceKind::Shr, Bytes::ZERO);
            assert_eq!(capacity(&slices), tb(&[held])[0], "{drives:?}");
        }
        for (drives, held) in [
            (vec![4, 4, 4, 4], 8),
            (vec![2, 2, 4, 4, 4, 4], 12),
            (vec![2, 4, 4, 4], 4),
            (vec![4, 4, 4], 0),
        ] {
            let slices = slice(&tb(&drives), SliceKind::Shr2, Bytes::ZERO);
            assert_eq!(capacity(&slices), tb(&[held])[0], "{drives:?}");
        }
    }

    #[test]
    fn slices_bottom_up() {
        let room = [Bytes(300), Bytes(100), Bytes(200), Bytes(300)];
        let part = |start, height, drives: &[usize], level| Slice {
            start: Bytes(start),
            height: Bytes(height),
            drives: drives.to_vec(),
            level,
        };
        assert_eq!(
            slice(&room, SliceKind::Shr, Bytes(1)),
            [
                part(0, 100, &[0, 1, 2, 3], Level::Raid5),
                part(100, 100, &[0, 2, 3], Level::Raid5),
                part(200, 100, &[0, 3], Level::Raid1),
            ]
        );
        assert_eq!(
            slice(&room, SliceKind::Shr, Bytes(150)),
            [part(0, 200, &[0, 2, 3], Level::Raid5)],
            "the smallest drive is below the minimum, and so is the top"
        );
    }

    /// How many drives of a slice may fail.
    fn survives(slice: &Slice) -> usize {
        match slice.level {
            Level::Raid5 => 1,
            Level::Raid6 => 2,
            Level::Raid1 => slice.drives.len() - 1,
            _ => 0,
        }
    }

    fn rooms() -> impl Strategy<Value = Vec<Bytes>> {
        prop::collection::vec(prop_oneof![0_u64..20, 0_u64..u64::MAX / 16].prop_map(Bytes), 0..13)
    }

    proptest! {
        #[test]
        fn capacity_by_another_formula(room in rooms()) {
            // One drive's worth of redundancy in each slice but the top one's
            // unused part: all but the largest drive.
            let total: u64 = room.iter().map(|r| r.0).sum();
            let largest = room.iter().map(|r| r.0).max().unwrap_or(0);
            let shr = slice(&room, SliceKind::Shr, Bytes::ZERO);
            prop_assert_eq!(capacity(&shr).0, total - largest);
            // RAID 6 up to where the fourth largest drive ends.
            let mut sorted: Vec<u64> = room.iter().map(|r| r.0).collect();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let fourth = sorted.get(3).copied().unwrap_or(0);
            let reached: u64 = sorted.iter().map(|r| (*r).min(fourth)).sum();
            let shr2 = slice(&room, SliceKind::Shr2, Bytes::ZERO);
            prop_assert_eq!(capacity(&shr2).0, reached - 2 * fourth);
        }

        #[test]
        fn no_failure_within_the_promise_loses_data(
            room in prop::collection::vec((1_u64..30).prop_map(Bytes), 2..10),
            minimum in 0_u64..5,
        ) {
            for (kind, failures) in [(SliceKind::Shr, 1), (SliceKind::Shr2, 2)] {
                let slices = slice(&room, kind, Bytes(minimum));
                for failed in 0..1_u32 << room.len() {
                    if failed.count_ones() != failures {
                        continue;
                    }
                    for slice in &slices {
                        let lost = slice.drives.iter().filter(|d| failed >> **d & 1 == 1).count();
                        prop_assert!(lost <= survives(slice), "{slice:?} loses {lost}");
                    }
                }
            }
        }

        #[test]
        fn slices_neither_overlap_nor_reach_beyond_a_drive(
            room in rooms(),
            minimum in 0_u64..10,
        ) {
            for kind in [SliceKind::Shr, SliceKind::Shr2] {
                let mut end = Bytes::ZERO;
                for slice in slice(&room, kind, Bytes(minimum)) {
                    prop_assert!(slice.start == end && slice.height.0 >= minimum.max(1));
                    end = slice.start + slice.height;
                    prop_assert!(slice.drives.iter().all(|d| room[*d] >= end));
                    prop_assert!(slice.drives.windows(2).all(|w| w[0] < w[1]));
                }
            }
        }

        #[test]
        fn the_order_of_the_drives_is_of_no_account(room in rooms(), minimum in 0_u64..10) {
            let mut sorted = room.clone();
            sorted.sort_unstable();
            for kind in [SliceKind::Shr, SliceKind::Shr2] {
                let cuts = |room: &[Bytes]| -> Vec<_> {
                    slice(room, kind, Bytes(minimum))
                        .into_iter()
                        .map(|s| (s.start, s.height, s.drives.len(), s.level))
                        .collect()
                };
                prop_assert_eq!(cuts(&room), cuts(&sorted));
            }
        }

        #[test]
        fn a_minimum_never_gains_and_costs_little(room in rooms(), minimum in 0_u64..10) {
            for kind in [SliceKind::Shr, SliceKind::Shr2] {
                let all = capacity(&slice(&room, kind, Bytes::ZERO)).0;
                let cut = capacity(&slice(&room, kind, Bytes(minimum))).0;
                let most = minimum * (room.len() * room.len()) as u64;
                prop_assert!(cut <= all && all - cut <= most, "{all} {cut}");
            }
        }
    }
}
