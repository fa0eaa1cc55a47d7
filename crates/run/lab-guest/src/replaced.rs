//! A drive that an operator has replaced, for the host.

use std::io;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use crate::{LAB_DIRECTORY, replaced_file};

/// Has another drive of the same model be in the place of this disk of the lab (`/dev/vdb`): without
/// faults, and blank, but for the mebibyte at each end, where a partition table is.
///
/// # Errors
/// What the system says.
pub fn replace_drive(device: &Path) -> io::Result<()> {
    let Some(name) = device.file_name().and_then(|name| name.to_str()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // No two are at the same time.
    let now = clock_gettime(ClockId::Monotonic);
    let mark = format!("{}.{:09}\n", now.tv_sec, now.tv_nsec);
    std::fs::write(Path::new(LAB_DIRECTORY).join(replaced_file(name)), mark)?;
    let disk = Path::new("/sys/block").join(name);
    // The host looks for the mark when a disk is asked what it is. A SCSI disk is when it is looked
    // for anew, which one that the kernel has given up is not before it is running.
    let scsi = disk.join("device/rescan");
    if scsi.exists() {
        std::fs::write(disk.join("device/state"), "running\n")?;
        return std::fs::write(scsi, "1");
    }
    // Each reading of this file asks it (drivers/block/virtio_blk.c, `serial_show`).
    std::fs::read(disk.join("serial")).map(drop)
}
