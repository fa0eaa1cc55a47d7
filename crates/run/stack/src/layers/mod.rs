//! The layers: one file each, and one line in the table.

use crate::LayerKind;

mod btrfs;
mod crypt;
mod ext4;
mod f2fs;
mod file_system;
mod integrity;
mod loop_file;
mod lvm;
mod md;
mod mount_options;
mod nilfs2;
mod partition;
mod queue;
mod shr;
mod xfs;
mod zfs;
mod zvol;

/// All kinds of layers, in the order of `disklab list stacks`.
pub static LAYERS: &[LayerKind] = &[
    partition::KIND,
    queue::KIND,
    md::LINEAR,
    md::RAID0,
    md::RAID1,
    md::RAID4,
    md::RAID5,
    md::RAID6,
    md::RAID10,
    lvm::KIND,
    lvm::RAID1,
    lvm::RAID5,
    lvm::RAID6,
    lvm::RAID10,
    lvm::THIN,
    shr::SHR,
    shr::SHR2,
    crypt::KIND,
    integrity::KIND,
    zfs::STRIPE,
    zfs::MIRROR,
    zfs::RAIDZ1,
    zfs::RAIDZ2,
    zfs::RAIDZ3,
    zfs::DRAID1,
    zfs::DRAID2,
    zfs::DRAID3,
    zvol::KIND,
    loop_file::KIND,
    ext4::KIND,
    xfs::KIND,
    btrfs::BTRFS,
    btrfs::SINGLE,
    btrfs::DUP,
    btrfs::RAID0,
    btrfs::RAID1,
    btrfs::RAID1C3,
    btrfs::RAID1C4,
    btrfs::RAID10,
    btrfs::RAID5,
    btrfs::RAID6,
    nilfs2::KIND,
    f2fs::KIND,
];

/// `None` if no layer is called so; see `disklab list layers`.
pub fn find_layer(name: &str) -> Option<&'static LayerKind> {
    LAYERS.iter().find(|kind| kind.name == name)
}
