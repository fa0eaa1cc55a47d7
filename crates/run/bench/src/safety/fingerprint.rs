//! What tells one drive from another.

use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot, identity};
use serde::{Deserialize, Serialize};

use super::DriveChange;

/// What tells one drive from another, taken when the plan is made and again just
/// before the first write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The stable name that the user gave.
    pub name: PathBuf,
    /// As the drive reports it; `None` if it reports none.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World-wide name.
    pub wwid: Option<String>,
    /// Capacity in bytes.
    pub size_bytes: u64,
    /// The kernel's running number of this appearance of the drive (since Linux
    /// 5.15): a drive that was unplugged and came back has another one.
    pub diskseq: Option<u64>,
    /// The machine's start that `diskseq` belongs to.
    pub boot: Option<String>,
}

impl Fingerprint {
    /// That of a device as it is now.
    pub fn of(root: &SystemRoot, name: &Path, device: &BlockDevice) -> Self {
        let identity = identity(device);
        Self {
            name: name.to_owned(),
            model: identity.model,
            serial: identity.serial,
            wwid: identity.wwid,
            size_bytes: device.size_bytes(),
            diskseq: device.attribute("diskseq").and_then(|text| text.parse().ok()),
            boot: root.value("/proc/sys/kernel/random/boot_id"),
        }
    }

    /// What of it is different now; empty if it is the same drive.
    pub fn differences(&self, now: &Self) -> Vec<DriveChange> {
        let pair = |then: &Option<String>, now: &Option<String>| {
            (then != now).then(|| (then.clone(), now.clone()))
        };
        let model = pair(&self.model, &now.model);
        let serial = pair(&self.serial, &now.serial);
        let wwid = pair(&self.wwid, &now.wwid);
        let sizes = (self.size_bytes, now.size_bytes);
        // Numbers of different starts cannot be compared.
        let reattached = self.boot == now.boot && self.diskseq != now.diskseq;
        [
            model.map(|(then, now)| DriveChange::Model { then, now }),
            serial.map(|(then, now)| DriveChange::Serial { then, now }),
            wwid.map(|(then, now)| DriveChange::Wwid { then, now }),
            (sizes.0 != sizes.1).then_some(DriveChange::Size { then: sizes.0, now: sizes.1 }),
            reattached.then_some(DriveChange::Reattached),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    #[test]
    fn another_drive_is_noticed_and_the_same_is_not() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").file("/proc/sys/kernel/random/boot_id", "start-1\n");
        let take = || {
            let root = tree.root();
            let device = BlockDevice::named(&root, "sda").expect("there");
            Fingerprint::of(&root, Path::new("/dev/disk/by-id/x"), &device)
        };
        let then = take();
        assert_eq!(then.differences(&take()), []);
        tree.set("sda", "diskseq", "99");
        assert_eq!(then.differences(&take()), [DriveChange::Reattached]);
        tree.file("/proc/sys/kernel/random/boot_id", "start-2\n");
        assert_eq!(then.differences(&take()), []);
        tree.set("sda", "device/serial", "B").set("sda", "size", "8");
        let differences: Vec<_> =
            then.differences(&take()).iter().map(ToString::to_string).collect();
        let differences = differences.join("; ");
        assert!(differences.contains("the serial number was A and is B"), "{differences}");
        assert!(differences.contains("is 4096 bytes"), "{differences}");
        let text = serde_json::to_string(&then).expect("stored");
        assert_eq!(serde_json::from_str::<Fingerprint>(&text).expect("read back"), then);
    }
}
