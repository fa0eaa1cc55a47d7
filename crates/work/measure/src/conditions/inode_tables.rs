//! Whether the kernel has still to write inode tables of an ext4.
//!
//! One kernel thread serves all ext4 of a machine, both for tables and for reading bitmaps
//! ahead (fs/ext4/super.c, `ext4_lazyinit_thread`). For which one it works, only the
//! descriptors of the groups tell: fs/ext4/ext4.h, `struct ext4_group_desc`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Where the superblock is, and its size.
const SUPERBLOCK: (u64, usize) = (1024, 1024);
const MAGIC: u16 = 0xEF53;
/// `bg_flags` within a descriptor, and the flag of a table that has been written.
const FLAGS_AT: usize = 0x12;
const ZEROED: u16 = 4;
/// `s_feature_ro_compat` has one of these where descriptors have flags: `GDT_CSUM` and
/// `METADATA_CSUM`.
const WITH_FLAGS: u32 = 0x10 | 0x400;
/// `s_feature_incompat` of descriptors that are not all in one place.
const META_BG: u32 = 0x10;
/// More groups (8 PiB) are not looked at.
const MOST_GROUPS: u64 = 1 << 26;

/// Whether tables are left to be written; none where that cannot be read.
pub(super) fn unwritten(device: &Path) -> Option<bool> {
    let device = File::open(device).ok()?;
    let mut superblock = [0; SUPERBLOCK.1];
    device.read_exact_at(&mut superblock, SUPERBLOCK.0).ok()?;
    let place = Descriptors::of(&superblock)?;
    let mut left = place.count;
    let (mut at, each) = (place.at, (1 << 20) / place.size * place.size);
    while left > 0 {
        let length = (left * place.size as u64).min(each as u64) as usize;
        let mut bytes = vec![0; length];
        device.read_exact_at(&mut bytes, at).ok()?;
        if bytes.chunks_exact(place.size).any(|group| number(group, FLAGS_AT) & ZEROED == 0) {
            return Some(true);
        }
        (left, at) = (left - (length / place.size) as u64, at + length as u64);
    }
    Some(false)
}

/// Where the descriptors of all groups are.
#[derive(Debug, PartialEq)]
struct Descriptors {
    at: u64,
    size: usize,
    count: u64,
}

fn number(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl Descriptors {
    /// From a superblock; none where it is not one, or its groups have no flags.
    fn of(superblock: &[u8; SUPERBLOCK.1]) -> Option<Self> {
        let (incompat, ro_compat) = (long(superblock, 0x60), long(superblock, 0x64));
        let log_block = long(superblock, 0x18);
        let known = number(superblock, 0x38) == MAGIC
            && log_block <= 6
            && ro_compat & WITH_FLAGS != 0
            && incompat & META_BG == 0;
        let block = 1024_u64 << if known { log_block } else { return None };
        let is_64_bit = incompat & 0x80 != 0;
        let high = if is_64_bit { u64::from(long(superblock, 0x150)) } else { 0 };
        let blocks = high << 32 | u64::from(long(superblock, 0x4));
        let first = u64::from(long(superblock, 0x14));
        let per_group = u64::from(long(superblock, 0x20));
        let size = if is_64_bit { usize::from(number(superblock, 0xFE)) } else { 32 };
        let count = blocks.saturating_sub(first).div_ceil(per_group.max(1));
        let sound = per_group > 0 && (32..=1024).contains(&size) && count <= MOST_GROUPS;
        sound.then_some(Self { at: (first + 1) * block, size, count })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mkfs_leaves_tables_or_writes_them() {
        let directory = tempfile::tempdir().expect("temp");
        let image = directory.path().join("image");
        for (lazy, expected) in [("0", Some(false)), ("1", Some(true))] {
            let file = File::create(&image).expect("image");
            file.set_len(64 << 20).expect("size");
            let made = Command::new("mkfs.ext4")
                .args(["-q", "-F", "-g", "4096", "-O", "uninit_bg", "-E"])
                // What a hole gives is known to be zero, and what was discarded may be.
                .arg(format!("nodiscard,lazy_itable_init={lazy}"))
                .arg(&image)
                .output();
            if !made.is_ok_and(|made| made.status.success()) {
                eprintln!("skipped: needs mkfs.ext4");
                return;
            }
            assert_eq!(unwritten(&image), expected, "lazy_itable_init={lazy}");
        }
    }

    #[test]
    fn data_that_are_not_ext4_give_none() {
        let directory = tempfile::tempdir().expect("temp");
        let file = directory.path().join("file");
        for content in [vec![], vec![0; 4096], vec![0xFF; 1 << 16]] {
            std::fs::write(&file, content).expect("file");
            assert_eq!(unwritten(&file), None);
        }
        assert_eq!(unwritten(Path::new("/no/such/device")), None);
    }

    proptest! {
        #[test]
        fn a_hostile_superblock_does_no_harm(
            bytes in prop::collection::vec(any::<u8>(), 1024), log_block in 0_u8..8
        ) {
            let mut superblock: [u8; 1024] = bytes.try_into().expect("1024");
            superblock[0x38..0x3A].copy_from_slice(&MAGIC.to_le_bytes());
            superblock[0x18..0x1C].copy_from_slice(&[log_block, 0, 0, 0]);
            if let Some(found) = Descriptors::of(&superblock) {
                prop_assert!(found.size >= 32 && found.count <= MOST_GROUPS);
            }
        }
    }
}
