//! What host and guest call the same things.

use std::path::PathBuf;

/// The first argument of a guest's first program, by which it knows that it is one.
pub const GUEST: &str = "guest";

/// Where things of the guest's own lie; a file system in its memory.
pub const PLACE: &str = "/run/disklab";
/// The lab's directory on the host, as [`crate::begin`] mounts it: the guest may write there.
pub const LAB_DIRECTORY: &str = "/run/disklab/lab";
/// The operator's line in the guest: the second console, a terminal that must be made raw.
pub const OPERATOR_LINE: &str = "/dev/tty1";
/// The directory in which the host starts the kernel, and so whatever the kernel looks up on the
/// host for its guest.
pub const KERNEL_DIRECTORY: &str = "/proc/self/cwd";
/// The link in [`KERNEL_DIRECTORY`] to the lab's directory.
pub const LAB_ON_HOST: &str = "lab";

/// The path by which the host finds the directory that a link in [`KERNEL_DIRECTORY`] names, for
/// the guest's mounts.
pub fn on_host(name: &str) -> PathBuf {
    // Of the directory, not of the link.
    format!("{KERNEL_DIRECTORY}/{name}/.").into()
}

/// What a guest sees the lab's disks as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiskTransport {
    /// virtio block devices: the kernel waits for them for ever.
    #[default]
    Block,
    /// SCSI disks: the kernel has a timer for each command, and aborts, resets and gives up.
    Scsi,
}

impl DiskTransport {
    /// The kernel's name for the lab's disk with this index (`virtblk_name_format` in
    /// drivers/block/virtio_blk.c, `sd_format_disk_name` in drivers/scsi/sd.c): `vda`, …, `vdz`,
    /// `vdaa`, …, or `sda`.
    pub fn disk_name(self, mut index: usize) -> String {
        let prefix = match self {
            Self::Block => "vd",
            Self::Scsi => "sd",
        };
        let mut letters = Vec::new();
        loop {
            // Less than 26.
            letters.push(b'a' + (index % 26) as u8);
            match (index / 26).checked_sub(1) {
                Some(next) => index = next,
                None => break,
            }
        }
        std::iter::once(prefix.to_owned())
            .chain(letters.iter().rev().map(|letter| char::from(*letter).to_string()))
            .collect()
    }
}

/// The file in [`LAB_DIRECTORY`] that tells what the disk of this name has written to its
/// medium so far, if the host has it do so: a decimal number of bytes.
pub fn medium_file(disk: &str) -> String {
    format!("medium-{disk}")
}

/// The file in [`LAB_DIRECTORY`] in which a guest says that the disk of this name was replaced, each
/// time something else.
pub fn replaced_file(disk: &str) -> String {
    format!("replaced-{disk}")
}

/// The file in [`LAB_DIRECTORY`] in which a guest says when its work began: nanoseconds since its start.
pub const WORK_BEGAN: &str = "work-began";
