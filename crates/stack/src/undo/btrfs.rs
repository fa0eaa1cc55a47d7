//! Having the kernel's Btrfs forget devices.

use std::path::PathBuf;

use disklab_exec::Invocation;

use super::Hand;

/// Takes unmounted devices out of the kernel's list of Btrfs devices, so that a
/// later file system on them is not taken for a part of this one. Best effort:
/// a device that is mounted, or that the kernel does not know, is refused,
/// which is just as well.
pub(super) fn forget(devices: &[PathBuf], hand: &mut Hand<'_>) -> bool {
    let mut forgot = false;
    for device in devices.iter().filter(|d| d.exists()) {
        let forget = Invocation::new("btrfs")
            .args(["device", "scan", "--forget"])
            .arg(device)
            .uninterruptible();
        forgot |= hand.executor.check(&forget).is_ok();
    }
    forgot
}
