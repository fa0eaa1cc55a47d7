//! What making a stack writes to its drives before a workload writes anything.
//!
//! Small compared with a large workload, and most of what small ones write: XFS zeroes a log of
//! 2 GiB on a large drive.

use crate::Volume;

/// What making a layer writes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FormatWrites {
    /// Bytes to each drive, in the order of [`Volume::drive_writes`].
    pub bytes: Vec<f64>,
    /// Small writes to the layer, by which it writes that, if they are known to matter.
    pub requests: f64,
}

impl FormatWrites {
    /// Of a layer that writes little, or of which nothing is known.
    pub(crate) fn none(volume: &Volume) -> Self {
        Self { bytes: vec![0.0; volume.drive_writes.len()], requests: 0.0 }
    }

    /// Of a layer that writes `bytes` as a workload would.
    pub(crate) fn spread(bytes: f64, volume: &Volume) -> Self {
        let bytes = volume.drive_writes.iter().map(|share| share * bytes).collect();
        Self { bytes, requests: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use disklab_source::SourceError;
    use disklab_units::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::spec;
    use crate::{LAYERS, Stack};

    fn parse(layers: &str, drives: usize) -> Result<Stack, SourceError> {
        Stack::parse(&spec(layers, drives)?)
    }

    fn writes(layers: &str, capacity: u64, drive_writes: &[f64]) -> FormatWrites {
        let stack = parse(layers, drive_writes.len()).unwrap_or_else(|e| panic!("{layers}: {e}"));
        let drive_writes = drive_writes.to_vec();
        stack.format_writes(&Volume { size: Bytes(capacity), tolerates: 0, drive_writes })
    }

    const LARGE: u64 = 10_000_000_000_000;

    #[test]
    fn format_writes_are_near_what_was_measured() {
        for (layers, capacity, measured) in [
            ("partition/ext4", LARGE, 132.8e6),
            ("ext4", 1 << 30, 0.8e6),
            ("xfs", LARGE, 2142.2e6),
            ("partition/xfs[noatime]", 1 << 30, 71.7e6),
            ("btrfs", LARGE, 5.5e6),
        ] {
            let got = writes(layers, capacity, &[1.0]).bytes;
            assert!((got[0] / measured - 1.0).abs() < 0.05, "{layers}: {got:?}");
        }
        assert_eq!(writes("btrfs-raid1", LARGE, &[0.5; 4]).bytes, [4.5e6; 4]);
        assert_eq!(writes("btrfs-raid1", LARGE, &[0.0, 1.0]).bytes, [0.0, 5.5e6]);
        let raid5 = writes("partition/md-raid5/ext4", 3 * LARGE, &[1.0 / 3.0; 4]).bytes;
        assert!(raid5.iter().all(|bytes| (100e6..200e6).contains(bytes)), "{raid5:?}");
        assert_eq!(writes("zfs", LARGE, &[1.0]).bytes, [0.0]);
    }

    #[test]
    fn each_flex_group_of_ext4_is_a_write() {
        assert_eq!(writes("partition/ext4", LARGE, &[1.0]).requests, 4657.0);
        let raid5 = writes("partition/md-raid5/ext4[noatime]", 3 * LARGE, &[1.0 / 3.0; 4]);
        assert_eq!(raid5.requests, 13_970.0);
        assert_eq!(writes("partition/xfs", LARGE, &[1.0]).requests, 0.0);
    }

    #[test]
    fn copies_are_distinguished_from_parity() {
        let keeps_copies = |layers: &str| parse(layers, 4).expect(layers).keeps_copies();
        for layers in ["md-raid1/ext4", "partition/md-raid10/xfs", "btrfs-raid1c3", "zfs-mirror"] {
            assert!(keeps_copies(layers), "{layers}");
        }
        for layers in ["md-raid5/ext4", "shr/ext4", "shr/btrfs", "zfs-raidz1", "md-raid0/xfs"] {
            assert!(!keeps_copies(layers), "{layers}");
        }
    }

    proptest! {
        #[test]
        fn format_writes_of_any_layer_are_finite(
            name in prop::sample::select(LAYERS.iter().map(|kind| kind.name).collect::<Vec<_>>()),
            size: u64,
            drive_writes in prop::collection::vec(0.0..2.0, 0..5),
        ) {
            let drives = drive_writes.len();
            if let Ok(stack) = parse(name, drives) {
                let volume = Volume { size: Bytes(size), tolerates: 0, drive_writes };
                let got = stack.format_writes(&volume).bytes;
                prop_assert!(got.len() == drives && got.iter().all(|b| b.is_finite() && *b >= 0.0));
            }
        }
    }
}
