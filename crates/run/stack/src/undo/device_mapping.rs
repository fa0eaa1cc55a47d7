//! What device-mapper maps onto one device, and which device that is.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

use crate::udev::kernel_name;

/// A mapping onto one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMapping {
    /// Its name below `/dev/mapper`.
    pub name: String,
    /// The device below.
    pub device: PathBuf,
    /// The UUID in the header on the device, where there is one.
    pub uuid: String,
    /// Which device that is, whatever its name comes to mean: boot, device number and `diskseq`.
    pub incarnation: String,
}

impl DeviceMapping {
    /// A mapping that is about to be made.
    pub(crate) fn new(name: &str, device: &Path, uuid: &str) -> Self {
        Self {
            name: name.to_owned(),
            device: device.to_owned(),
            uuid: uuid.to_owned(),
            incarnation: incarnation(device).unwrap_or_default(),
        }
    }

    pub(super) fn marks(&self) -> Vec<String> {
        vec![self.name.clone(), self.uuid.clone()]
    }

    pub(super) fn is_same_device(&self) -> bool {
        !self.incarnation.is_empty() && incarnation(&self.device) == Some(self.incarnation.clone())
    }
}

impl fmt::Display for DeviceMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the mapping {} on {}", self.name, self.device.display())
    }
}

/// What a device's name means now: this boot of the machine, and the number
/// that the kernel gives each new device (`diskseq`, Linux 5.15; a partition
/// has its disk's) or, before that, its device number.
fn incarnation(device: &Path) -> Option<String> {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let name = kernel_name(device)?;
    let boot = read("/proc/sys/kernel/random/boot_id")?;
    let dir = format!("/sys/class/block/{name}");
    let sequence = read(&format!("{dir}/diskseq")).or_else(|| {
        let disk = fs::canonicalize(&dir).ok()?.parent()?.join("diskseq");
        read(disk.to_str()?)
    });
    let number = read(&format!("{dir}/dev"))?;
    Some(format!("{boot}/{number}/{}", sequence.unwrap_or_default()))
}
