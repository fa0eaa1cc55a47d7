//! Which drive a device is on.

use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot};

/// Whether a device, such as a partition, is on this drive.
pub(crate) fn is_on(device: &BlockDevice, drive: &Path) -> bool {
    let Some(drive) = BlockDevice::at(&SystemRoot::here(), drive) else { return false };
    fn is_on(device: &BlockDevice, drive: &BlockDevice, depth: u32) -> bool {
        device.name() == drive.name()
            || device.whole().name() == drive.name()
            || depth > 0 && device.slaves().iter().any(|below| is_on(below, drive, depth - 1))
    }
    // No stack is so high.
    is_on(device, &drive, 16)
}

/// The device that a stack has on a drive for the layer that joins several drives: its only partition,
/// and what is mapped on that.
pub(crate) fn top_of(drive: &Path) -> Option<PathBuf> {
    let mut top = BlockDevice::at(&SystemRoot::here(), drive)?;
    // No stack is so high.
    for _ in 0..16 {
        let above = [top.partitions(), top.holders()].concat();
        let [only] = &above[..] else { break };
        top = only.clone();
    }
    Some(top.node())
}
