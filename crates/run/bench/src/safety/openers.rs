//! Processes that have a device open. A program that reads or writes a raw disk,
//! as a virtual machine does, leaves no other trace.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::time::Duration;

use disklab_measure::{BlockDevice, SystemRoot};

/// Programs that open every disk, or every loop device, for a moment now and
/// then, to look at it.
const HARMLESS_OPENERS: [&str; 8] = [
    "systemd-udevd",
    "(udev-worker)",
    "udevd",
    "smartd",
    "smartctl",
    "blkid",
    "udisksd",
    "losetup",
];

/// A process and the device that it has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opener {
    /// Its number. The name may change while one looks: by exec(2).
    pid: String,
    /// Such as `qemu-system-x86 (1234)`.
    pub process: String,
    /// The device's kernel name.
    pub device: String,
}

impl Opener {
    fn is(&self, other: &Self) -> bool {
        (&self.pid, &self.device) == (&other.pid, &other.device)
    }
}

/// Some tools (mkfs.btrfs is one) open all disks for a moment to look for their
/// own; only who still has it open after this many looks counts.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// All other processes that have one of `devices` open and keep it open, as far
/// as the rights suffice to see it.
pub(crate) fn openers(root: &SystemRoot, devices: &[BlockDevice]) -> Vec<Opener> {
    let mut lasting = openers_now(root, devices);
    for _ in 1..ATTEMPTS {
        // A made-up machine does not change by waiting.
        if lasting.is_empty() || !root.is_here() {
            break;
        }
        std::thread::sleep(PAUSE);
        let before = std::mem::replace(&mut lasting, openers_now(root, devices));
        lasting.retain(|new| before.iter().any(|old| old.is(new)));
    }
    lasting
}

fn openers_now(root: &SystemRoot, devices: &[BlockDevice]) -> Vec<Opener> {
    let own = std::process::id().to_string();
    let numbers: Vec<_> = devices.iter().map(BlockDevice::number).collect();
    let mut openers = Vec::new();
    for pid in root.names("/proc") {
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) || (root.is_here() && pid == own) {
            continue;
        }
        let name = root.text(format!("/proc/{pid}/comm")).unwrap_or_default();
        if HARMLESS_OPENERS.iter().any(|looker| name.starts_with(looker)) {
            continue;
        }
        let folder = format!("/proc/{pid}/fd");
        for fd in root.names(&folder) {
            let link = root.path(PathBuf::from(&folder).join(fd));
            let Ok(target) = std::fs::read_link(&link) else { continue };
            // Following a link to a dead network file system would hang.
            if !target.starts_with("/dev") {
                continue;
            }
            let open = if root.is_here() {
                link.metadata().ok().filter(|m| m.file_type().is_block_device()).and_then(|m| {
                    let number = (rustix::fs::major(m.rdev()), rustix::fs::minor(m.rdev()));
                    devices.iter().zip(&numbers).find(|(_, n)| **n == Some(number)).map(|(d, _)| d)
                })
            } else {
                let device = BlockDevice::at(root, &target);
                devices.iter().find(|d| Some(*d) == device.as_ref())
            };
            if let Some(device) = open {
                let process = format!("{name} ({pid})");
                let device = device.name().to_owned();
                let opener = Opener { pid: pid.clone(), process, device };
                if !openers.iter().any(|known: &Opener| known.is(&opener)) {
                    openers.push(opener);
                }
            }
        }
    }
    openers
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    #[test]
    fn users_of_a_drive_are_found_and_udev_is_tolerated() {
        let folder = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(folder.path());
        tree.drive("sda", (8, 0), "A").drive("sdb", (8, 16), "B");
        for (pid, name, target) in [
            ("10", "qemu-system-x86", "/dev/sda"),
            ("11", "systemd-udevd", "/dev/sda"),
            ("12", "vlc", "/dev/sdb"),
            ("13", "bash", "/home/x"),
        ] {
            tree.file(&format!("/proc/{pid}/comm"), name);
            tree.link(&format!("/proc/{pid}/fd/3"), target);
            tree.link(&format!("/proc/{pid}/fd/4"), target);
        }
        tree.link("/proc/self/fd/3", "/dev/sda");
        let root = tree.root();
        let device = BlockDevice::named(&root, "sda").expect("there");
        let found = openers(&root, &[device]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].process.as_str(), found[0].device.as_str()),
            ("qemu-system-x86 (10)", "sda")
        );
    }
}
