//! What tells one drive from another.

use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot, identity};
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};

/// What tells one drive from another, taken when the plan is made and again just
/// before the first write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The stable name that the user gave.
    pub name: PathBuf,
    /// Model.
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

    /// What of it is otherwise now, in words; empty where it is the same drive.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let mut differences = Vec::new();
        let mut compare = |what: &str, then: String, now: String| {
            if then != now {
                differences.push(format!("{what} was {then} and is {now}"));
            }
        };
        compare("the model", text(&self.model), text(&now.model));
        compare("the serial number", text(&self.serial), text(&now.serial));
        compare("the world-wide name", text(&self.wwid), text(&now.wwid));
        let size = |bytes| format!("{bytes} bytes ({})", Bytes(bytes).si());
        compare("the size", size(self.size_bytes), size(now.size_bytes));
        // Numbers of different starts cannot be compared.
        if self.boot == now.boot && self.diskseq != now.diskseq {
            differences.push("it was unplugged or attached anew".to_owned());
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    #[test]
    fn another_drive_is_noticed_and_the_same_is_not() {
        let folder = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(folder.path());
        tree.drive("sda", (8, 0), "A").file("/proc/sys/kernel/random/boot_id", "start-1\n");
        let take = || {
            let root = tree.root();
            let device = BlockDevice::named(&root, "sda").expect("there");
            Fingerprint::of(&root, Path::new("/dev/disk/by-id/x"), &device)
        };
        let then = take();
        assert_eq!(then.differences(&take()), Vec::<String>::new());
        tree.set("sda", "diskseq", "99");
        assert_eq!(then.differences(&take()), ["it was unplugged or attached anew"]);
        tree.file("/proc/sys/kernel/random/boot_id", "start-2\n");
        assert_eq!(then.differences(&take()), Vec::<String>::new());
        tree.set("sda", "device/serial", "B").set("sda", "size", "8");
        let differences = then.differences(&take()).join("; ");
        assert!(differences.contains("the serial number was A and is B"), "{differences}");
        assert!(differences.contains("is 4096 bytes"), "{differences}");
        let text = serde_json::to_string(&then).expect("stored");
        assert_eq!(serde_json::from_str::<Fingerprint>(&text).expect("read back"), then);
    }
}
