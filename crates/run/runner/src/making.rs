//! What making a file system writes, before a workload writes anything.
//!
//! Small compared with a large workload, and most of what small ones write: XFS zeroes a log of
//! 2 GiB on a large drive.

/// ext4's block groups with blocks of 4 KiB (mke2fs(8), `-g`).
const EXT4_GROUP: f64 = 134_217_728.0;
/// ext4's groups in a flex group (mke2fs.conf(5), `flex_bg_size`).
const EXT4_FLEX_GROUP: f64 = 16.0;
/// Bytes of an ext4 group's descriptor with `64bit`, which mke2fs.conf sets.
const EXT4_DESCRIPTOR: f64 = 64.0;
/// What ext4 writes besides descriptors, as a share of these, and at least: measured with
/// e2fsprogs 1.47 without lazy initialisation left over, 132.8 MB on 10 TB, 0.8 MB on 1 GiB.
const EXT4_MORE: (f64, f64) = (1.2, 0.8e6);
/// XFS's log: a 2048th of the file system, 64 MiB at least, and at most 2 GiB less 10 MiB
/// (xfsprogs, `XFS_MAX_LOG_BYTES`, and mkfs/xfs_mkfs.c, `calc_concurrency_logblocks` and
/// what stands before it).
const XFS_LOG: (f64, f64, f64) = (1.0 / 2048.0, 67_108_864.0, 2_136_997_888.0);
/// What mkfs.xfs writes besides: measured with xfsprogs 6.1 on 1 GiB and on 10 TB.
const XFS_MORE: f64 = 5e6;
/// What mkfs.btrfs writes, with two copies of its trees on one drive, and to each of several
/// drives: measured with btrfs-progs 6.2, whatever the size.
const BTRFS: (f64, f64) = (5.5e6, 4.5e6);

/// Bytes that making a stack of these layers writes to each drive, where `drive_writes`
/// are written to it for one byte written to the stack. Zeros where what they write is not
/// known.
pub fn making(layers: &str, capacity: u64, drive_writes: &[f64]) -> Vec<f64> {
    let last = without_options(layers);
    let capacity = capacity as f64;
    let used = drive_writes.iter().filter(|share| **share > 0.0).count();
    let by_share = |bytes: f64| drive_writes.iter().map(|share| share * bytes).collect();
    match last {
        "ext4" => by_share(ext4(capacity)),
        "xfs" => {
            let (share, least, most) = XFS_LOG;
            by_share((capacity * share).clamp(least, most) + XFS_MORE)
        }
        name if name.starts_with("btrfs") => {
            let each = if used > 1 { BTRFS.1 } else { BTRFS.0 };
            drive_writes.iter().map(|share| if *share > 0.0 { each } else { 0.0 }).collect()
        }
        _ => vec![0.0; drive_writes.len()],
    }
}

/// Small writes by which making a stack of these layers writes that. ext4 initialises each flex
/// group by itself: 4,657 on 10 TB, where 4,800 writes were counted; on RAID 5 over four such
/// drives each was read, modified and written (13,970 of them, 60,800 requests in all).
pub fn making_writes(layers: &str, capacity: u64) -> f64 {
    if without_options(layers) != "ext4" {
        return 0.0;
    }
    (capacity as f64 / EXT4_GROUP / EXT4_FLEX_GROUP).ceil()
}

/// The name of the last layer.
fn without_options(layers: &str) -> &str {
    let bare = match layers.strip_suffix(']').and_then(|text| text.rfind('[')) {
        Some(at) => &layers[..at],
        None => layers,
    };
    bare.rsplit('/').next().unwrap_or_default()
}

/// Descriptors of all groups are in the groups 0, 1, and those whose numbers are powers of
/// 3, 5 and 7 (`sparse_super`).
fn ext4(capacity: f64) -> f64 {
    let groups = (capacity / EXT4_GROUP).ceil().max(1.0);
    let powers = |base: f64| groups.log(base).floor().max(0.0);
    let copies = 2.0 + powers(3.0) + powers(5.0) + powers(7.0);
    groups * EXT4_DESCRIPTOR * copies * EXT4_MORE.0 + EXT4_MORE.1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_near_what_was_measured() {
        let large = 10_000_000_000_000;
        for (layers, capacity, measured) in [
            ("partition/ext4", large, 132.8e6),
            ("ext4", 1 << 30, 0.8e6),
            ("xfs", large, 2142.2e6),
            ("partition/xfs[reflink]", 1 << 30, 71.7e6),
            ("btrfs", large, 5.5e6),
        ] {
            let got = making(layers, capacity, &[0.0, 1.0]);
            assert!(got[0] == 0.0 && (got[1] / measured - 1.0).abs() < 0.05, "{layers}: {got:?}");
        }
        let mirror = making("btrfs-raid1", large, &[0.5; 4]);
        assert_eq!(mirror, [4.5e6; 4]);
        let raid5 = making("partition/md-raid5/ext4", 3 * large, &[1.0 / 3.0; 4]);
        assert!(raid5.iter().all(|bytes| (100e6..200e6).contains(bytes)), "{raid5:?}");
        assert_eq!(making("partition", large, &[1.0]), [0.0]);
        assert_eq!(making("", large, &[1.0]), [0.0]);
    }

    #[test]
    fn each_flex_group_of_ext4_is_a_write() {
        assert_eq!(making_writes("partition/ext4", 10_000_000_000_000), 4657.0);
        assert_eq!(making_writes("partition/md-raid5/ext4[x]", 30_000_000_000_000), 13_970.0);
        assert_eq!(making_writes("partition/xfs", 10_000_000_000_000), 0.0);
    }

    proptest! {
        #[test]
        fn any_layers_are_answered(
            layers in "\\PC{0,24}", capacity: u64, shares in proptest::collection::vec(0.0..2.0, 0..5)
        ) {
            let got = making(&layers, capacity, &shares);
            prop_assert!(got.len() == shares.len() && got.iter().all(|b| b.is_finite() && *b >= 0.0));
        }
    }
}
