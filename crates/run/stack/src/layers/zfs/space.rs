//! How much a pool holds and writes.
//!
//! The numbers follow OpenZFS: `module/zfs/vdev.c`, `vdev_raidz.c` and
//! `spa_misc.c`.

use disklab_units::Bytes;

use super::draid::Draid;
use crate::redundancy::{Stripe, combine};
use crate::{ShapeError, Volume};

/// How the devices of one top-level vdev stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vdev {
    /// Each device by itself.
    Stripe,
    /// Every device a copy.
    Mirror,
    /// This many parities.
    RaidZ(u32),
    /// Parities and spares all over the devices.
    Draid(Draid),
}

/// Two labels before the data, two after it, and the boot block
/// (`VDEV_LABEL_START_SIZE` and `VDEV_LABEL_END_SIZE` in `vdev_impl.h`).
const LABELS: Bytes = Bytes((4 << 20) + (512 << 10));

/// `SPA_MINDEVSIZE` in `spa_impl.h`.
pub(super) const LEAST_DEVICE: Bytes = Bytes::mib(64);

/// Blocks for which the space shown is calculated (`vdev_deflate_ratio`).
const TYPICAL_BLOCK: Bytes = Bytes::kib(128);

/// zpool's sector size on drives with 4096-byte sectors, as all large ones are.
const USUAL_ASHIFT: u32 = 12;

/// What decides the space.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolGeometry {
    pub vdev: Vdev,
    /// Base-2 logarithm of the sector size; as on drives of 4096-byte sectors
    /// where absent.
    pub ashift: Option<u32>,
    /// Of the file system, 128 KiB where absent.
    pub recordsize: Option<Bytes>,
}

impl PoolGeometry {
    /// The pool over `vdevs`, each with its devices.
    ///
    /// # Errors
    /// [`ShapeError::TooSmall`] with the smallest device.
    pub fn pool(&self, layer: &'static str, vdevs: &[&[Volume]]) -> Result<Volume, ShapeError> {
        let parts: Vec<Volume> = vdevs.iter().map(|devices| self.one(devices)).collect();
        if parts.iter().any(|part| part.size == Bytes::ZERO) {
            let sizes = vdevs.iter().copied().flatten().map(|device| device.size);
            let got = sizes.min().unwrap_or(Bytes::ZERO);
            return Err(ShapeError::TooSmall { layer, least: LEAST_DEVICE, got });
        }
        let total: Bytes = parts.iter().map(|part| part.size).sum();
        let shares: Vec<f64> = parts.iter().map(|p| p.size.0 as f64 / total.0 as f64).collect();
        Ok(combine(&parts, &shares, total - slop(total), Stripe::Plain))
    }

    /// One top-level vdev, of which a resilver copies what is used.
    fn one(&self, devices: &[Volume]) -> Volume {
        let mut vdev = self.vdev_over(devices);
        if devices.len() > 1 {
            vdev.loss = vdev.loss.rebuilt_by_use();
        }
        vdev
    }

    fn vdev_over(&self, devices: &[Volume]) -> Volume {
        let smallest = devices.iter().map(|d| d.size).min().unwrap_or(Bytes::ZERO);
        let room = if smallest < LEAST_DEVICE { Bytes::ZERO } else { smallest - LABELS };
        let count = devices.len() as u64;
        match self.vdev {
            Vdev::Stripe | Vdev::Mirror => {
                let mirror = Stripe::mirror(devices.len());
                combine(devices, &vec![1.0; devices.len()], whole_metaslabs(room), mirror)
            }
            Vdev::RaidZ(parity) => {
                let raw = whole_metaslabs(room.saturating_mul(count));
                let growth = |block| self.raidz_growth(block, count, u64::from(parity));
                let size = Bytes((raw.0 as f64 / growth(TYPICAL_BLOCK)) as u64);
                let written = growth(self.recordsize.unwrap_or(TYPICAL_BLOCK));
                let share = written / count as f64;
                let members = u32::try_from(devices.len()).unwrap_or(u32::MAX);
                let stripe = Stripe::Whole { data: members.saturating_sub(parity), parity };
                combine(devices, &vec![share; devices.len()], size, stripe)
            }
            Vdev::Draid(draid) => {
                let sector = 1_u64 << self.ashift.unwrap_or(USUAL_ASHIFT).min(16);
                let growth = |block| draid.growth(block, devices.len(), sector);
                let raw = whole_metaslabs(draid.raw(room, devices.len()));
                let size = Bytes((raw.0 as f64 / growth(TYPICAL_BLOCK)) as u64);
                let share = growth(self.recordsize.unwrap_or(TYPICAL_BLOCK)) / count as f64;
                let data = u32::try_from(draid.data_of(devices.len())).unwrap_or(u32::MAX);
                let stripe = Stripe::Whole { data, parity: draid.parity };
                combine(devices, &vec![share; devices.len()], size, stripe)
            }
        }
    }

    /// Bytes on a RAID-Z of `devices` for one byte of a block: data, parity for
    /// each row, and padding to a multiple of parity + 1 sectors
    /// (`vdev_raidz_psize_to_asize`).
    fn raidz_growth(&self, block: Bytes, devices: u64, parity: u64) -> f64 {
        let sector = 1_u64 << self.ashift.unwrap_or(USUAL_ASHIFT).min(16);
        let data = block.0.div_ceil(sector).max(1);
        let rows = data.div_ceil(devices.saturating_sub(parity).max(1));
        let sectors = (data + parity * rows).next_multiple_of(parity + 1);
        (sectors * sector) as f64 / block.0.max(1) as f64
    }
}

/// What is left when space is handed out in metaslabs
/// (`vdev_metaslab_set_size`): about 200 of them, from 16 MiB to 16 GiB each.
fn whole_metaslabs(room: Bytes) -> Bytes {
    const USUAL_SHIFT: u32 = 29;
    // The number of the highest set bit, counted from 1.
    let highest_bit = |n: u64| 64 - n.leading_zeros();
    let usual = room.0 >> USUAL_SHIFT;
    let shift = if usual < 16 {
        highest_bit(room.0 / 16).max(24)
    } else if usual > 200 {
        highest_bit(room.0 / 200).min(34)
    } else {
        USUAL_SHIFT
    };
    room.round_down(Bytes(1 << shift.min(34)))
}

/// What a pool keeps back (`spa_get_slop_space`): 1/32, at most 128 GiB, and at
/// least 128 MiB of a pool that is not tiny.
fn slop(space: Bytes) -> Bytes {
    let share = (space.0 / 32).min(128 << 30);
    Bytes(share.max((space.0 / 2).min(128 << 20)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Shape;

    fn drives(count: usize, size: Bytes) -> Vec<Volume> {
        match Shape::drives(&vec![size; count]) {
            Shape::Devices(volumes) => volumes,
            other => panic!("{other:?}"),
        }
    }

    fn geometry(vdev: Vdev) -> PoolGeometry {
        PoolGeometry { vdev, ashift: None, recordsize: None }
    }

    // The table that OpenZFS's documentation and every RAID-Z calculator repeat:
    // 128 KiB on sectors of 4 KiB are 32 sectors of data.
    #[test]
    fn raidz_costs_parity_and_padding() {
        for (devices, parity, sectors) in [
            (4, 1, 44), // 32 + 11 rows of parity, padded to a multiple of 2
            (5, 1, 40),
            (6, 2, 48),
            (4, 2, 66), // 32 + 32, padded to a multiple of 3
            (8, 3, 56), // 32 + 21, padded to a multiple of 4
        ] {
            let growth = geometry(Vdev::RaidZ(1)).raidz_growth(TYPICAL_BLOCK, devices, parity);
            assert!((growth - f64::from(sectors) / 32.0).abs() < 1e-9, "{devices} {parity}");
        }
    }

    #[test]
    fn four_large_drives() {
        let tb10 = Bytes(10_000_831_348_736);
        for (vdev, tb, tolerates) in [
            (Vdev::Mirror, 9.86, 3),
            (Vdev::RaidZ(1), 28.9, 1),
            (Vdev::RaidZ(2), 19.2, 2),
            (Vdev::RaidZ(3), 9.86, 3),
        ] {
            let drives = drives(4, tb10);
            let pool = geometry(vdev).pool("zfs", &[&drives]).expect("pool");
            let held = pool.size.0 as f64 / 1e12;
            assert!((held - tb).abs() < 0.1, "{vdev:?}: {held}");
            assert_eq!(pool.tolerates(), tolerates, "{vdev:?}");
        }
    }

    #[test]
    fn two_mirrors_side_by_side() {
        let drives = drives(4, Bytes::gib(100));
        let (one, two) = drives.split_at(2);
        let pool = geometry(Vdev::Mirror).pool("zfs", &[one, two]).expect("pool");
        assert_eq!(pool.tolerates(), 1);
        assert!(pool.drive_writes.iter().all(|w| (w - 0.5).abs() < 1e-9));
    }

    #[test]
    fn small_devices_are_refused() {
        let drives = drives(2, Bytes::mib(63));
        let error = geometry(Vdev::Mirror).pool("zfs-mirror", &[&drives]).expect_err("small");
        let (least, got) = (Bytes::mib(64), Bytes::mib(63));
        assert_eq!(error, ShapeError::TooSmall { layer: "zfs-mirror", least, got });
    }

    /// As zfs(4) has it: some sixteen of a small vdev, then pieces of 512 MiB, two hundred of a large
    /// vdev, and pieces of 16 GiB at most.
    #[test]
    fn a_vdev_is_cut_into_metaslabs() {
        for (room, piece) in [
            (Bytes::mib(64), Bytes::mib(16)),
            (Bytes::gib(1), Bytes::mib(128)),
            (Bytes::gib(7), Bytes::mib(512)),
            (Bytes::gib(8), Bytes::mib(512)),
            (Bytes::gib(100), Bytes::mib(512)),
            (Bytes::gib(101), Bytes::gib(1)),
            (Bytes::gib(1000), Bytes::gib(8)),
            (Bytes::gib(10_000), Bytes::gib(16)),
            (Bytes::gib(1 << 20), Bytes::gib(16)),
        ] {
            let whole = room.round_down(piece);
            for room in [whole, whole + piece - Bytes(1)] {
                assert_eq!(whole_metaslabs(room), whole, "{} of {}", piece.iec(), room.iec());
            }
        }
    }

    /// spa_slop_shift in zfs(4): a thirty-second, 128 MiB at least and 128 GiB at most.
    #[test]
    fn a_pool_keeps_some_room_to_itself() {
        for (space, kept) in [
            (Bytes::mib(100), Bytes::mib(50)),
            (Bytes::gib(1), Bytes::mib(128)),
            (Bytes::gib(8), Bytes::mib(256)),
            (Bytes::gib(4096), Bytes::gib(128)),
            (Bytes::gib(10_000), Bytes::gib(128)),
        ] {
            assert_eq!(slop(space), kept, "{}", space.iec());
        }
    }

    proptest! {
        #[test]
        fn holds_no_more_than_its_devices(
            size in 64_u64 << 20..1 << 46,
            count in 4_usize..13,
            parity in 0_u32..4,
            ashift in 9_u32..17,
            record in 9_u32..25,
        ) {
            let vdev = if parity == 0 { Vdev::Mirror } else { Vdev::RaidZ(parity) };
            let recordsize = Some(Bytes(1 << record));
            let geometry = PoolGeometry { vdev, ashift: Some(ashift), recordsize };
            let drives = drives(count, Bytes(size));
            let pool = geometry.pool("x", &[&drives]).expect("pool");
            let data = if parity == 0 { 1 } else { count as u64 - u64::from(parity) };
            prop_assert!(pool.size.0 <= size * data);
            prop_assert!(pool.size.0 > 0);
        }
    }
}
