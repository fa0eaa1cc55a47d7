//! Who a drive is and how the kernel drives it, from sysfs (kernel:
//! Documentation/ABI/stable/sysfs-block).

use std::path::Path;

use disklab_exec::Executor;
use serde_json::Value;

use crate::block::BlockDevice;
use crate::facts::chosen;
use crate::{NamedDevice, SystemRoot};
use disklab_sample::DriveState;

/// How a drive calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// Model, with the maker's name before it where the kernel keeps them apart.
    /// A SATA drive's is cut to 16 characters by the kernel.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World-wide name or another identifier that no two drives share.
    pub wwid: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
}

/// How a drive calls itself, from sysfs: NVMe, SCSI and SATA, virtio, MMC.
/// Partitions give what their drive gives.
pub fn identity(device: &BlockDevice) -> Identity {
    let device = device.whole();
    let first = |files: &[&str]| files.iter().find_map(|file| device.attribute(file));
    let model = first(&["device/model", "device/name"]);
    // SATA drives are all of the vendor "ATA"; virtio has a PCI number there.
    let vendor = device.attribute("device/vendor").filter(|v| v != "ATA" && !v.starts_with("0x"));
    let model = match (vendor, model) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (_, model) => model,
    };
    let serial = first(&["device/serial", "serial"])
        .or_else(|| serial_of_page(&device.attribute_bytes("device/vpd_pg80")?));
    Identity {
        model: model.map(|text| single_spaced(&text)),
        serial: serial.map(|text| single_spaced(&text)),
        wwid: first(&["wwid", "device/wwid", "nguid", "eui"]).map(|text| single_spaced(&text)),
        firmware: first(&["device/firmware_rev", "device/rev", "device/fwrev"]),
    }
}

/// The serial number in a SCSI Unit Serial Number page (SPC-4, 7.8.15): byte 1 is
/// the page's number 80h, bytes 2 and 3 the length of the text that follows.
fn serial_of_page(page: &[u8]) -> Option<String> {
    let [_, 0x80, high, low, text @ ..] = page else { return None };
    let length = usize::from(u16::from_be_bytes([*high, *low])).min(text.len());
    let serial: String = text[..length]
        .iter()
        .filter(|byte| byte.is_ascii_graphic() || **byte == b' ')
        .map(|byte| char::from(*byte))
        .collect();
    let serial = serial.trim();
    (!serial.is_empty()).then(|| serial.to_owned())
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Who a drive is and how the kernel drives it, without SMART. Fields stay empty
/// where the device is not there or does not tell.
pub fn drive_state(root: &SystemRoot, watched: &NamedDevice) -> DriveState {
    let mut state = DriveState {
        drive: watched.name.clone(),
        device: watched.device.display().to_string(),
        ..DriveState::default()
    };
    let Some(device) = BlockDevice::at(root, &watched.device) else { return state };
    let whole = device.whole();
    let identity = identity(&whole);
    state.model = identity.model;
    state.serial = identity.serial;
    state.wwid = identity.wwid;
    state.firmware = identity.firmware;
    state.size_bytes = device.size_bytes();
    let sector = |file| whole.attribute(file)?.parse::<u32>().ok();
    state.sectors = sector("queue/logical_block_size").zip(sector("queue/physical_block_size"));
    state.rotational = match whole.attribute("queue/rotational").as_deref() {
        Some("1") => Some(true),
        Some("0") => Some(false),
        _ => None,
    };
    state.scheduler = whole.attribute("queue/scheduler").and_then(|text| chosen(&text));
    state.write_cache = whole.attribute("queue/write_cache");
    state.zoned = whole.attribute("queue/zoned").filter(|zoned| zoned != "none");
    state.backing_file = whole.backing_file().map(|file| file.display().to_string());
    state
}

/// The same with SMART, whose words for model, serial number, firmware and link
/// are fuller than the kernel's.
pub fn drive_state_with_smart(
    root: &SystemRoot,
    executor: &Executor,
    watched: &NamedDevice,
) -> DriveState {
    let mut state = drive_state(root, watched);
    // A loop device has nothing to ask.
    if state.backing_file.is_none() {
        state.smart = crate::smart(executor, Path::new(&watched.device));
    }
    adopt(&mut state);
    state
}

fn adopt(state: &mut DriveState) {
    let reported = |name: &str| {
        let text = state.smart.as_ref()?.get(name).and_then(Value::as_str)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let (model, serial) = (reported("model"), reported("serial"));
    let (firmware, link) = (reported("firmware"), reported("link_speed"));
    state.model = model.or(state.model.take());
    state.serial = serial.or(state.serial.take());
    state.firmware = firmware.or(state.firmware.take());
    state.link_speed = link.or(state.link_speed.take());
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fabricated::Fabricated;

    fn made() -> (tempfile::TempDir, Fabricated) {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        (directory, tree)
    }

    fn state(tree: &Fabricated, device: &str) -> DriveState {
        let watched = NamedDevice { name: "d1".to_owned(), device: device.into() };
        drive_state(&tree.root(), &watched)
    }

    #[test]
    fn a_sata_drive_reports_all() {
        let (_directory, tree) = made();
        tree.device("sda", (8, 0)).partition("sda", "sda1", (8, 1));
        tree.set("sda", "device/vendor", "ATA     \n").set(
            "sda",
            "device/model",
            "WDC WD10EZEX-00B\n",
        );
        tree.set("sda", "device/rev", "1A01\n").set("sda", "queue/rotational", "1\n");
        let page = b"\x00\x80\x00\x14     WD-WCC3F1234567";
        std::fs::write(tree.path("/sys/class/block/sda/device/vpd_pg80"), page).expect("page");
        tree.set("sda", "queue/scheduler", "none [mq-deadline] kyber bfq\n");
        tree.set("sda", "queue/write_cache", "write back\n").set("sda", "queue/zoned", "none\n");
        let drive = state(&tree, "/dev/sda");
        assert_eq!(drive.model.as_deref(), Some("WDC WD10EZEX-00B"));
        assert_eq!(drive.serial.as_deref(), Some("WD-WCC3F1234567"));
        assert_eq!(drive.firmware.as_deref(), Some("1A01"));
        assert_eq!(drive.sectors, Some((512, 4096)));
        assert_eq!((drive.rotational, drive.size_bytes), (Some(true), 1_000_204_886_016));
        assert_eq!(drive.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!((drive.write_cache.as_deref(), drive.zoned), (Some("write back"), None));
        let partition = state(&tree, "/dev/sda1");
        assert_eq!((partition.model, partition.serial), (drive.model, drive.serial));
    }

    #[test]
    fn nvme_usb_and_loop_are_distinguished() {
        let (_directory, tree) = made();
        tree.device("nvme0n1", (259, 0)).set(
            "nvme0n1",
            "device/model",
            "Samsung SSD 990 PRO 1TB   \n",
        );
        tree.set("nvme0n1", "device/serial", "S6Z1 \n").set(
            "nvme0n1",
            "device/firmware_rev",
            "4B2QJXD7",
        );
        tree.set("nvme0n1", "wwid", "eui.0025384\n");
        let nvme = state(&tree, "/dev/nvme0n1");
        assert_eq!(nvme.model.as_deref(), Some("Samsung SSD 990 PRO 1TB"));
        assert_eq!(
            (nvme.serial.as_deref(), nvme.wwid.as_deref()),
            (Some("S6Z1"), Some("eui.0025384"))
        );
        assert_eq!(nvme.firmware.as_deref(), Some("4B2QJXD7"));
        tree.device("sdb", (8, 16)).set("sdb", "device/vendor", "Kingston").set(
            "sdb",
            "device/model",
            "DT 101 G2",
        );
        assert_eq!(state(&tree, "/dev/sdb").model.as_deref(), Some("Kingston DT 101 G2"));
        tree.looped("loop0", (7, 0), "/tmp/d1.img");
        let looped = state(&tree, "/dev/loop0");
        assert_eq!((looped.backing_file.as_deref(), looped.serial), (Some("/tmp/d1.img"), None));
        assert_eq!(state(&tree, "/dev/none").size_bytes, 0);
    }

    #[test]
    fn smart_takes_precedence() {
        let mut state =
            DriveState { model: Some("WDC WD10EZEX-00B".into()), ..DriveState::default() };
        state.smart =
            Some(json!({"model": "WDC WD10EZEX-00BN5A0", "serial": " ", "link_speed": "6.0 Gb/s"}));
        adopt(&mut state);
        assert_eq!(state.model.as_deref(), Some("WDC WD10EZEX-00BN5A0"));
        assert_eq!((state.serial, state.link_speed.as_deref()), (None, Some("6.0 Gb/s")));
    }

    #[test]
    fn a_loop_device_is_not_asked_for_smart() {
        let (_directory, tree) = made();
        tree.looped("loop0", (7, 0), "/x");
        let executor = Executor::new(Interrupt::new());
        let watched = NamedDevice { name: "d1".to_owned(), device: "/dev/loop0".into() };
        let state = drive_state_with_smart(&tree.root(), &executor, &watched);
        assert_eq!(state.smart, None);
        assert!(executor.trace.entries().is_empty());
    }

    proptest! {
        #[test]
        fn hostile_pages_do_no_harm(page in prop::collection::vec(any::<u8>(), 0..40), tail in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = serial_of_page(&page);
            let page: Vec<u8> = [0, 0x80].into_iter().chain(tail).collect();
            if let Some(serial) = serial_of_page(&page) {
                prop_assert!(serial.is_ascii() && !serial.is_empty() && serial.trim() == serial);
            }
        }
    }
}
