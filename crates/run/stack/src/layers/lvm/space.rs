//! How LVM allocates a logical volume.

use disklab_units::Bytes;

use crate::redundancy::{Stripe, combine};
use crate::{ShapeError, Volume};

/// LVM's unit of allocation where none is asked for (vgcreate(8)).
pub(super) const EXTENT: Bytes = Bytes::mib(4);

/// Where the first extent of a physical volume begins: `default_data_alignment`
/// in lvm.conf(5), as the metadata before it fits.
const FIRST_EXTENT: Bytes = Bytes::mib(1);

/// What LVM can use of a device, in bytes.
pub(crate) fn extents(device: Bytes) -> Bytes {
    (device - FIRST_EXTENT).round_down(EXTENT)
}

/// The logical volume of `size`, or of all there is, over `members`.
///
/// # Errors
/// Where there are too few members or too little room.
pub(super) fn volume(
    members: &[Volume],
    stripes: usize,
    size: Option<Bytes>,
) -> Result<Volume, ShapeError> {
    if members.is_empty() || stripes > members.len() {
        let least = stripes.max(1);
        return Err(ShapeError::TooFew { layer: "lvm".to_owned(), least, got: members.len() });
    }
    let free: Vec<u64> = members.iter().map(|m| extents(m.size).0 / EXTENT.0).collect();
    let wanted = size.map(|size| size.0.div_ceil(EXTENT.0).next_multiple_of(stripes as u64));
    let taken = allocate(&free, stripes, wanted.unwrap_or(u64::MAX));
    let total: u64 = taken.iter().sum();
    let room = Bytes(total.saturating_mul(EXTENT.0));
    match size {
        Some(size) if Some(total) != wanted => {
            return Err(ShapeError::NoRoom { layer: "lvm", wanted: size, room });
        }
        _ if total == 0 => {
            let smallest = members.iter().map(|m| m.size).min().unwrap_or(Bytes::ZERO);
            return Err(ShapeError::NothingLeft { layer: "lvm", got: smallest });
        }
        _ => {}
    }
    // Data lives only where extents are.
    let (used, shares): (Vec<Volume>, Vec<f64>) = members
        .iter()
        .zip(&taken)
        .filter(|(_, taken)| **taken > 0)
        .map(|(member, taken)| (member.clone(), *taken as f64 / total as f64))
        .unzip();
    Ok(combine(&used, &shares, room, Stripe::Plain))
}

/// How many of the `free` extents of each device a volume of `wanted` takes, by
/// the policy 'normal' (`lib/metadata/lv_manip.c` in LVM2): the largest free
/// areas first, as many at a time as there are stripes; but what fits into one
/// area goes into the smallest that will do.
fn allocate(free: &[u64], stripes: usize, wanted: u64) -> Vec<u64> {
    let mut left = free.to_vec();
    let mut wanted = wanted / stripes as u64;
    let mut taken = vec![0; free.len()];
    while wanted > 0 {
        let mut order: Vec<usize> = (0..left.len()).filter(|i| left[*i] > 0).collect();
        order.sort_by_key(|i| std::cmp::Reverse(left[*i]));
        let fitting = order.iter().filter(|i| left[**i] >= wanted).count();
        if fitting > stripes {
            order.drain(..fitting - stripes);
        }
        let Some(areas) = order.get(..stripes) else { break };
        let step = areas.iter().map(|i| left[*i]).min().unwrap_or(0).min(wanted);
        for area in areas {
            left[*area] -= step;
            taken[*area] += step;
        }
        wanted -= step;
    }
    taken
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

    // Seen in `dmsetup table` with LVM 2.03.16 on devices of 64, 128, 192 and
    // 256 MiB, which have 15, 31, 47 and 63 extents.
    #[test]
    fn allocates_as_lvm_did() {
        let free = [15, 31, 47, 63];
        assert_eq!(allocate(&free, 1, u64::MAX), free);
        assert_eq!(allocate(&free, 2, u64::MAX), free);
        assert_eq!(allocate(&free, 3, u64::MAX), [15, 31, 46, 46]);
        assert_eq!(allocate(&free, 1, 25), [0, 31, 0, 0].map(|n: u64| n.min(25)));
        let mib = [64, 128, 192, 256].map(Bytes::mib);
        let striped = volume(&drives(&mib), 3, None).expect("lvm");
        assert_eq!(striped.size, Bytes::mib(552));
    }

    #[test]
    fn too_little_room_and_too_few_devices_are_refused() {
        let two = drives(&[Bytes::gib(1), Bytes::gib(1)]);
        let error = volume(&two, 3, None).expect_err("stripes");
        assert_eq!(error.to_string(), "lvm needs at least 3 devices, got 2");
        let error = volume(&two, 1, Some(Bytes::gib(3))).expect_err("room");
        let room = Bytes::gib(2) - Bytes::mib(8);
        assert_eq!(error, ShapeError::NoRoom { layer: "lvm", wanted: Bytes::gib(3), room });
        assert!(volume(&drives(&[Bytes::mib(2)]), 1, None).is_err());
        let small = volume(&two, 1, Some(Bytes::mib(10))).expect("one of them");
        assert_eq!(small.size, Bytes::mib(12));
        assert_eq!(small.drive_writes.iter().filter(|w| **w > 0.0).count(), 1);
    }

    proptest! {
        #[test]
        fn never_takes_what_is_not_there(
            free in prop::collection::vec(0_u64..5000, 1..9),
            stripes in 1_usize..5,
            wanted in 0_u64..30_000,
        ) {
            let taken = allocate(&free, stripes, wanted);
            prop_assert!(taken.iter().zip(&free).all(|(t, f)| t <= f));
            let total: u64 = taken.iter().sum();
            prop_assert!(total <= wanted && total.is_multiple_of(stripes as u64));
            if stripes == 1 {
                prop_assert_eq!(total, wanted.min(free.iter().sum()));
            }
        }
    }
}
