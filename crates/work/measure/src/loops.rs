//! What a loop device keeps its data in, by device and inode: a file may have other names than
//! the one by which it was attached, or none, and that name may lead to another by now.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use rustix::fs::{OFlags, makedev};

use crate::mounts::Mount;
use crate::{BlockDevice, SystemRoot, devices_under};

/// The file or device behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopBacking {
    /// Device number of its file system.
    file_system: (u32, u32),
    inode: u64,
    /// Its own number, if it is a block device.
    device: Option<(u32, u32)>,
}

impl LoopBacking {
    /// Asks the kernel. `None` if the device is not attached, or only root may ask.
    pub fn of(device: &BlockDevice) -> Option<Self> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let flags = i32::try_from(flags).unwrap_or_default();
        let node = OpenOptions::new().read(true).custom_flags(flags).open(device.node()).ok()?;
        let number = node.metadata().ok()?.rdev();
        let number = (rustix::fs::major(number), rustix::fs::minor(number));
        if device.number() != Some(number) {
            return None;
        }
        Self::parse(&status(&node)?)
    }

    fn parse(status: &Status) -> Option<Self> {
        let [file_system, inode, device, ..] = *status;
        let device = Some(decode(device)).filter(|number| *number != (0, 0));
        (inode != 0).then(|| Self { file_system: decode(file_system), inode, device })
    }

    /// Device and inode, as stat(2) gives them.
    pub fn identity(&self) -> (u64, u64) {
        let (major, minor) = self.file_system;
        (makedev(major, minor), self.inode)
    }
}

impl BlockDevice {
    /// The block devices right below a loop device: the one that it is attached to, or those of
    /// its file's file system, as far as they are known. None if this is not an attached loop
    /// device.
    pub fn below_loop(&self, root: &SystemRoot, mounts: &[Mount]) -> Vec<Self> {
        let Some(file) = self.backing_file() else { return Vec::new() };
        let backing = if root.is_here() { LoopBacking::of(self) } else { None };
        let known = backing.and_then(|backing| {
            let has_number = backing.file_system.0 != 0;
            backing.device.or_else(|| has_number.then_some(backing.file_system))
        });
        if let Some(below) = known.and_then(|number| Self::numbered(root, number)) {
            return vec![below];
        }
        match Self::at(root, &file) {
            Some(below) => vec![below],
            None => devices_under(root, mounts, &file).unwrap_or_default(),
        }
    }
}

/// `struct loop_info64` of linux/loop.h: lo_device, lo_inode, lo_rdevice, and what is not read here.
type Status = [u64; 29];

fn status(device: &File) -> Option<Status> {
    const LOOP_GET_STATUS64: rustix::ioctl::Opcode = 0x4c05;
    // SAFETY: the kernel fills a `struct loop_info64`, which is as large and as aligned.
    unsafe {
        let get = rustix::ioctl::Getter::<LOOP_GET_STATUS64, Status>::new();
        rustix::ioctl::ioctl(device, get).ok()
    }
}

/// A device number as the kernel writes it (`new_encode_dev`, linux/kdev_t.h).
fn decode(number: u64) -> (u32, u32) {
    let number = u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    ((number & 0xf_ff00) >> 8, (number & 0xff) | ((number >> 12) & 0xf_ff00))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_those_of_stat() {
        for (major, minor) in [(8, 1), (0, 5), (259, 4), (7, 0x12_3456 >> 4), (4095, 0xf_ffff)] {
            let encoded = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
            assert_eq!(decode(u64::from(encoded)), (major, minor));
            assert_eq!(makedev(major, minor), u64::from(encoded));
        }
        let mut status = [0; 29];
        assert_eq!(LoopBacking::parse(&status), None);
        status[..3].copy_from_slice(&[0x801, 12, 0]);
        let backing = LoopBacking::parse(&status).expect("attached");
        assert_eq!(backing.identity(), (0x801, 12));
        assert_eq!(backing.device, None);
    }
}
