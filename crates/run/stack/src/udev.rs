//! Whether udev makes the device nodes, and what they are.

use std::path::Path;

use disklab_exec::Invocation;
use rustix::fs::{FileType, stat};

/// Whether udev runs. libudev asks for the same file
/// (`udev_queue_get_udev_is_active`).
pub(crate) fn is_running() -> bool {
    Path::new("/run/udev/control").exists()
}

/// Tells the libraries of LVM and cryptsetup whether to wait for udev: where
/// none runs, they make the nodes themselves.
pub(crate) fn dm(invocation: Invocation) -> Invocation {
    if is_running() { invocation } else { invocation.env("DM_DISABLE_UDEV", "1") }
}

/// dmsetup(8), told to do this.
pub(crate) fn dmsetup(what: &str) -> Invocation {
    dm(Invocation::new("dmsetup")).arg(what)
}

/// zpool(8). Where no udev runs, it would ask again and again for three seconds whether udev knows
/// the names of each device, to keep them in the pool's configuration (`encode_device_strings` and
/// `update_vdev_config_dev_strs` in OpenZFS' lib/libzutil).
pub(crate) fn zpool() -> Invocation {
    let zpool = Invocation::new("zpool");
    if is_running() { zpool } else { zpool.env("ZFS_VDEV_DEVID_OPT_OUT", "1") }
}

/// Whether `path`, or what it leads to, is a block device.
pub(crate) fn is_block_device(path: &Path) -> bool {
    stat(path).is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::BlockDevice)
}

/// The kernel's name of a block device, such as `sda1` for
/// `/dev/disk/by-id/…-part1`.
pub(crate) fn kernel_name(path: &Path) -> Option<String> {
    let node = stat(path).ok()?;
    if FileType::from_raw_mode(node.st_mode) != FileType::BlockDevice {
        return None;
    }
    // By number, because a node may have any name.
    let (major, minor) = (rustix::fs::major(node.st_rdev), rustix::fs::minor(node.st_rdev));
    let entry = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    Some(entry.file_name()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use disklab_measure::{BlockDevice, SystemRoot};

    use super::*;

    #[test]
    fn block_devices_have_the_names_of_the_kernel() {
        assert_eq!(kernel_name(Path::new("/dev/null")), None);
        assert!(!is_block_device(Path::new("/dev/null")));
        let mut devices = BlockDevice::all(&SystemRoot::here()).into_iter();
        let Some(device) = devices.find(|device| is_block_device(&device.node())) else {
            eprintln!("skipped: needs a block device");
            return;
        };
        assert_eq!(kernel_name(&device.node()).as_deref(), Some(device.name()));
    }
}
