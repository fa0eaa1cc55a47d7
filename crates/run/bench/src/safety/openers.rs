//! Processes that keep a device open.

use std::time::Duration;

use disklab_measure::{BlockDevice, Opener, SystemRoot, openers};

/// Many programs open all disks for a moment to look at them: udev, blkid, smartd, mkfs.btrfs.
/// Only those that still have one open after this many looks count, whatever they are called.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// All other processes that have one of `devices` open and keep it open, as far
/// as the rights suffice to see it.
pub(crate) fn lasting_openers(root: &SystemRoot, devices: &[BlockDevice]) -> Vec<Opener> {
    let mut lasting = openers(root, devices);
    for _ in 1..ATTEMPTS {
        // A made-up machine does not change by waiting.
        if lasting.is_empty() || !root.is_here() {
            break;
        }
        std::thread::sleep(PAUSE);
        let before = std::mem::replace(&mut lasting, openers(root, devices));
        lasting.retain(|new| before.iter().any(|old| old.is(new)));
    }
    lasting
}
