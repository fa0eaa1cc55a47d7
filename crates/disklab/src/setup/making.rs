//! What making a file system writes, before a workload writes anything.
//!
//! Small beside a large workload, and most of what small ones write: XFS zeroes a log of
//! 2 GiB on a large drive.

/// ext4's block groups with blocks of 4 KiB (mke2fs(8), `-g`).
const EXT4_GROUP: f64 = 134_217_728.0;
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

/// Bytes written to each drive for one byte written to a stack, as far as so many bytes go.
///
/// Btrfs's RAID1 keeps a chunk, of 1 GiB or a tenth of a smaller file system, on the two
/// drives that have the most room (fs/btrfs/volumes.c, `btrfs_cmp_device_info`): on a fresh
/// one of more than two drives these are the last, since its trees lie on the first two.
/// Data that fit into a chunk are all there, and not spread out as on average.
pub fn shares_of(layers: &str, capacity: u64, space: u64, average: &[f64]) -> Vec<f64> {
    let used: Vec<usize> =
        average.iter().enumerate().filter(|(_, s)| **s > 0.0).map(|(at, _)| at).collect();
    let is_mirror = without_options(layers) == "btrfs-raid1";
    // Half of the drives' sum is usable.
    let chunk = (2 * (capacity / 10)).min(1 << 30);
    let ([.., _, _, last, end], true) = (used.as_slice(), is_mirror && space <= chunk) else {
        return average.to_vec();
    };
    (0..average.len()).map(|at| f64::from(u8::from(at == *last || at == *end))).collect()
}

/// The name of the last layer.
fn without_options(layers: &str) -> &str {
    let bare = match layers.strip_suffix(']').and_then(|text| text.rfind('[')) {
        Some(at) => &layers[..at],
        None => layers,
    };
    bare.rsplit('/').next().unwrap_or_default()
}

/// Descriptors of all groups stand in the groups 0, 1, and those whose numbers are powers of
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
    fn small_data_on_a_btrfs_mirror_lie_on_its_last_two_drives() {
        let average = [0.5, 0.5, 0.0, 0.5, 0.5];
        let large = 20_000_000_000_000;
        let shares = |layers, capacity, space| shares_of(layers, capacity, space, &average);
        assert_eq!(shares("partition/btrfs-raid1[csum]", large, 64 << 20), [0., 0., 0., 1., 1.]);
        assert_eq!(shares("btrfs-raid1", large, 2 << 30), average);
        assert_eq!(shares("btrfs-raid1", 1 << 30, 500 << 20), average);
        assert_eq!(shares("btrfs-raid10", large, 64 << 20), average);
        assert_eq!(shares_of("btrfs-raid1", large, 1, &[1.0, 1.0]), [1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn any_layers_are_answered(
            layers in "\\PC{0,24}", capacity: u64, shares in proptest::collection::vec(0.0..2.0, 0..5)
        ) {
            let got = making(&layers, capacity, &shares);
            prop_assert_eq!(shares_of(&layers, capacity, 1, &shares).len(), shares.len());
            prop_assert!(got.len() == shares.len() && got.iter().all(|b| b.is_finite() && *b >= 0.0));
        }
    }
}
