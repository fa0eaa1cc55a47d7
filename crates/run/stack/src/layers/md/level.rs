//! RAID levels: what they need, hold, survive and write.

use disklab_units::Bytes;

use crate::redundancy::{Stripe, combine};
use crate::{ShapeError, Volume};

/// A RAID level of md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// One member after the other (JBOD).
    Linear,
    /// Striped.
    Raid0,
    /// Every member a copy.
    Raid1,
    /// Striped, parity on the last member.
    Raid4,
    /// Striped, parity distributed over all members.
    Raid5,
    /// Striped, two parities distributed over all members.
    Raid6,
    /// Striped, with this many copies of each chunk.
    Raid10(u32),
}

/// mdadm 4.2, as in Debian 12, has a bitmap where a member has more than this (`Create` in
/// Create.c). That of Debian 13, 4.4, asks whatever the size is, and recommends one.
const BITMAP_ABOVE: Bytes = Bytes::gib(100);

/// mdadm's chunk where none is asked for (mdadm(8), `--chunk`).
pub(crate) const DEFAULT_CHUNK: Bytes = Bytes::kib(512);

impl Level {
    /// As mdadm, `/proc/mdstat` and the kernel call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid4 => "raid4",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
            Self::Raid10(_) => "raid10",
        }
    }

    /// The fewest members that make sense. md itself would also take a RAID 5
    /// of two, which is a mirror, and a stripe of one.
    pub fn least_members(self) -> usize {
        match self {
            Self::Linear | Self::Raid0 | Self::Raid1 => 2,
            Self::Raid4 | Self::Raid5 => 3,
            Self::Raid6 => 4,
            Self::Raid10(copies) => copies.max(2) as usize,
        }
    }

    /// Whether data is cut into chunks.
    pub fn has_chunks(self) -> bool {
        !matches!(self, Self::Linear | Self::Raid1)
    }

    /// Whether members repeat each other, so that a new array may need a resync
    /// and a bitmap may be of use.
    pub fn is_redundant(self) -> bool {
        !matches!(self, Self::Linear | Self::Raid0)
    }

    /// Whether it is RAID 10.
    pub fn is_striped_copies(self) -> bool {
        matches!(self, Self::Raid10(_))
    }

    /// Whether it calculates parity.
    pub fn has_parity(self) -> bool {
        matches!(self, Self::Raid4 | Self::Raid5 | Self::Raid6)
    }

    /// How it keeps data on so many members.
    pub fn stripe(self, members: usize) -> Stripe {
        match self {
            Self::Linear | Self::Raid0 => Stripe::Plain,
            Self::Raid1 => Stripe::mirror(members),
            Self::Raid4 | Self::Raid5 => Stripe::parity(members, 1),
            Self::Raid6 => Stripe::parity(members, 2),
            Self::Raid10(copies) => Stripe::Copies(copies),
        }
    }

    /// What a first resync of so many members does, as shares of what each holds: reads of all
    /// together, and writes to each. Zeros are the parity of zeros, which RAID 6 checks first.
    ///
    /// mdadm has RAID 4 and 5 rebuild their last member instead (`Create` in Create.c); RAID 1
    /// and 10 are copied from the first copy (`raid1_sync_request` in drivers/md/raid1.c).
    pub fn resync(self, members: usize, zeros: bool) -> (f64, Vec<f64>) {
        let n = members as f64;
        let last = members.saturating_sub(1);
        match self {
            Self::Linear | Self::Raid0 => (0.0, vec![0.0; members]),
            Self::Raid1 => (1.0, (0..members).map(|i| f64::from(u8::from(i > 0))).collect()),
            Self::Raid4 | Self::Raid5 => {
                (n - 1.0, (0..members).map(|i| f64::from(u8::from(i == last))).collect())
            }
            Self::Raid6 => (n, vec![if zeros { 0.0 } else { 2.0 / n }; members]),
            Self::Raid10(copies) => {
                let copies = f64::from(copies.max(1));
                (n / copies, vec![(copies - 1.0) / copies; members])
            }
        }
    }

    /// The chunk, with mdadm's default; of a mirror, what its size is a multiple of.
    fn chunk(self, chunk: Option<Bytes>) -> Bytes {
        if self.has_chunks() { chunk.unwrap_or(DEFAULT_CHUNK) } else { Bytes::kib(4) }
    }

    /// What is left for data of a member of this size.
    fn room_on(self, member: Bytes, chunk: Option<Bytes>) -> Bytes {
        let chunk = self.chunk(chunk);
        let offset = data_offset(member, self.has_chunks().then_some(chunk));
        (member - offset).round_down(chunk)
    }

    /// What the array uses of each of `members` where it uses the same of all.
    pub fn room(self, members: &[Volume], chunk: Option<Bytes>) -> Bytes {
        members.iter().map(|m| self.room_on(m.size, chunk)).min().unwrap_or(Bytes::ZERO)
    }

    /// Whether mdadm gives such an array a bitmap by itself: where a member has this much room.
    pub fn has_bitmap(self, members: &[Bytes], chunk: Option<Bytes>) -> bool {
        let room = members.iter().map(|size| self.room_on(*size, chunk)).min();
        self.is_redundant() && room.is_some_and(|room| room > BITMAP_ABOVE)
    }

    /// The array over `members` with this chunk.
    ///
    /// # Errors
    /// Where there are too few members or too little room on them.
    pub fn array(
        self,
        layer: &'static str,
        members: &[Volume],
        chunk: Option<Bytes>,
    ) -> Result<Volume, ShapeError> {
        let least = self.least_members();
        if members.len() < least {
            let got = members.len();
            return Err(ShapeError::TooFew { layer: layer.to_owned(), least, got });
        }
        let room: Vec<Bytes> = members.iter().map(|m| self.room_on(m.size, chunk)).collect();
        let least_room = room.iter().copied().min().unwrap_or(Bytes::ZERO);
        let chunk = self.chunk(chunk);
        if least_room == Bytes::ZERO {
            let smallest = members.iter().map(|m| m.size).min().unwrap_or(Bytes::ZERO);
            return Err(ShapeError::NothingLeft { layer, got: smallest });
        }
        let count = members.len() as u64;
        let n = members.len() as f64;
        let (size, shares) = match self {
            // md's raid0 continues with fewer members where small ones are full,
            // so it holds as much as linear (md(4), 'RAID0').
            Self::Linear | Self::Raid0 => {
                let total: Bytes = room.iter().copied().sum();
                (total, room.iter().map(|r| r.0 as f64 / total.0 as f64).collect())
            }
            Self::Raid1 => (least_room, vec![1.0; members.len()]),
            Self::Raid4 | Self::Raid5 => {
                (least_room.saturating_mul(count - 1), vec![1.0 / (n - 1.0); members.len()])
            }
            Self::Raid6 => {
                (least_room.saturating_mul(count - 2), vec![1.0 / (n - 2.0); members.len()])
            }
            Self::Raid10(copies) => {
                let size = Bytes(least_room.saturating_mul(count).0 / u64::from(copies.max(1)));
                (size.round_down(chunk), vec![f64::from(copies) / n; members.len()])
            }
        };
        Ok(combine(members, &shares, size, self.stripe(members.len())))
    }
}

/// Where data begins on a member with metadata 1.2: 1 MiB for the superblock,
/// the bad block log and a bitmap, and headroom for a later reshape of up to
/// 128 MiB or 1/1024 of the member (`super1.c` in mdadm, `validate_geometry1`).
///
/// Seen with mdadm 4.2: 2 MiB of 1 GiB, 9 MiB of 10 GiB, 65 MiB of 100 GiB,
/// 129 MiB of 500 GiB and above.
pub(crate) fn data_offset(member: Bytes, chunk: Option<Bytes>) -> Bytes {
    const MOST: u64 = 128 << 20;
    let least = chunk.map_or(0, |chunk| chunk.0.saturating_mul(2));
    let mut headroom = MOST;
    while headroom > member.0 / 1024 && headroom > least {
        headroom /= 2;
    }
    // A little for the superblock and the bitmap, then to the next MiB.
    Bytes(headroom + (12 << 10)).round_up(Bytes::mib(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Shape;

    fn drives(sizes: &[Bytes]) -> Vec<Volume> {
        match Shape::drives(sizes) {
            Shape::Devices(volumes) => volumes,
            other => panic!("{other:?}"),
        }
    }

    const LEVELS: [Level; 7] = [
        Level::Linear,
        Level::Raid0,
        Level::Raid1,
        Level::Raid4,
        Level::Raid5,
        Level::Raid6,
        Level::Raid10(2),
    ];

    #[test]
    fn offsets_are_those_that_mdadm_chose() {
        let chunk = Some(DEFAULT_CHUNK);
        for (member, offset) in [
            (Bytes::mib(128), 2),
            (Bytes::gib(1), 2),
            (Bytes::gib(10), 9),
            (Bytes::gib(100), 65),
            (Bytes::gib(500), 129),
            (Bytes::gib(10 << 10), 129),
        ] {
            assert_eq!(data_offset(member, chunk), Bytes::mib(offset), "{member}");
        }
        assert_eq!(data_offset(Bytes::mib(128), None), Bytes::mib(1));
        assert_eq!(data_offset(Bytes::mib(128), Some(Bytes::kib(64))), Bytes::mib(1));
    }

    // Sizes in 512-byte sectors as seen in /sys/block/md*/size with mdadm 4.2 on
    // Linux 6.12: three members of 128 MiB and one of 200 MiB, default chunk.
    #[test]
    fn sizes_are_those_that_mdadm_made() {
        let mib = [128, 128, 128, 200].map(Bytes::mib);
        for (level, sectors) in [
            (Level::Linear, 1_187_840),
            (Level::Raid0, 1_179_648),
            (Level::Raid1, 260_096),
            (Level::Raid4, 774_144),
            (Level::Raid6, 516_096),
            (Level::Raid10(2), 516_096),
        ] {
            let volume = level.array("x", &drives(&mib), None).expect("array");
            assert_eq!(volume.size, Bytes(sectors * 512), "{level:?}");
        }
        for (gib, sectors) in [(1, 6_279_168), (10, 62_859_264), (4096, 25_769_011_200)] {
            let volume = Level::Raid5.array("x", &drives(&[Bytes::gib(gib); 4]), None);
            assert_eq!(volume.expect("array").size, Bytes(sectors * 512), "{gib} GiB");
        }
    }

    #[test]
    fn large_members_have_a_bitmap() {
        for (level, gib, expected) in [
            (Level::Raid1, 100, false),
            (Level::Raid1, 101, true),
            (Level::Raid5, 4096, true),
            (Level::Raid10(2), 101, true),
            (Level::Raid6, 99, false),
            (Level::Raid0, 4096, false),
        ] {
            let members = [Bytes::gib(gib); 4];
            assert_eq!(level.has_bitmap(&members, None), expected, "{level:?} {gib}");
        }
        let unequal = [Bytes::gib(4096), Bytes::gib(50)];
        assert!(!Level::Raid1.has_bitmap(&unequal, None), "the smallest counts");
    }

    #[test]
    fn redundancy_and_writes_of_four_drives() {
        let four = drives(&[Bytes::gib(10); 4]);
        for (level, tolerates, each) in [
            (Level::Linear, 0, 0.25),
            (Level::Raid0, 0, 0.25),
            (Level::Raid1, 3, 1.0),
            (Level::Raid4, 1, 1.0 / 3.0),
            (Level::Raid5, 1, 1.0 / 3.0),
            (Level::Raid6, 2, 0.5),
            (Level::Raid10(2), 1, 0.5),
            (Level::Raid10(3), 2, 0.75),
        ] {
            let volume = level.array("x", &four, None).expect("array");
            assert_eq!(volume.tolerates(), tolerates, "{level:?}");
            for write in volume.drive_writes {
                assert!((write - each).abs() < 1e-9, "{level:?}: {write}");
            }
        }
    }

    #[test]
    fn too_few_or_too_small() {
        let two = drives(&[Bytes::gib(1); 2]);
        let error = Level::Raid5.array("md-raid5", &two, None).expect_err("two");
        assert_eq!(error.to_string(), "md-raid5 needs at least 3 devices, got 2");
        let small = drives(&[Bytes::kib(64); 2]);
        let error = Level::Raid1.array("md-raid1", &small, None).expect_err("small");
        assert_eq!(error, ShapeError::NothingLeft { layer: "md-raid1", got: Bytes::kib(64) });
    }

    proptest! {
        #[test]
        fn capacity_and_drive_writes_agree(
            sizes in prop::collection::vec(1_u64..1 << 45, 1..12),
            chunk in 12_u32..25,
        ) {
            let sizes: Vec<_> = sizes.into_iter().map(Bytes).collect();
            let members = drives(&sizes);
            for level in LEVELS {
                let Ok(volume) = level.array("x", &members, Some(Bytes(1 << chunk))) else {
                    continue;
                };
                let raw: Bytes = sizes.iter().copied().sum();
                prop_assert!(volume.size.0 > 0 && volume.size <= raw);
                for (size, write) in sizes.iter().zip(&volume.drive_writes) {
                    // Filling the volume never writes more than a drive holds.
                    prop_assert!(write * volume.size.0 as f64 <= size.0 as f64 * (1.0 + 1e-9));
                }
                let copies: f64 = volume.drive_writes.iter().sum();
                prop_assert!(copies >= 1.0 + f64::from(volume.tolerates().min(1)) / 12.0 - 1e-9);
            }
        }
    }
}
