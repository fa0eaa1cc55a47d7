//! How fast a drive's link is, and how fast it could be.

use std::path::{Path, PathBuf};

use disklab_sample::Link;

use crate::SystemRoot;
use crate::block::BlockDevice;

/// The link that a drive is attached to; none where sysfs does not tell.
pub(super) fn link(root: &SystemRoot, device: &BlockDevice) -> Option<Link> {
    let place = device.whole().attribute_path("device").canonicalize().ok()?;
    pcie(&place).or_else(|| sata(root, &place)).or_else(|| usb(&place))
}

fn value(dir: &Path, file: &str) -> Option<String> {
    let text = std::fs::read_to_string(dir.join(file)).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// An NVMe drive's PCI device has its speed and width (kernel: Documentation/ABI/
/// testing/sysfs-bus-pci).
fn pcie(controller: &Path) -> Option<Link> {
    let device = [controller.join("device"), controller.to_owned()];
    let device = device.iter().find(|dir| dir.join("current_link_speed").exists())?;
    let speed = value(device, "current_link_speed")?;
    let width: u64 = value(device, "current_link_width")?.parse().ok()?;
    let rate = lane(&speed)?.checked_mul(width)?;
    let most = value(device, "max_link_speed").and_then(|speed| lane(&speed));
    let most_width = value(device, "max_link_width").and_then(|width| width.parse::<u64>().ok());
    let short = speed.trim_end_matches("PCIe").trim();
    Some(Link {
        kind: "PCIe".to_owned(),
        speed: format!("{short} x{width}"),
        bytes_per_second: rate,
        most_bytes_per_second: most
            .zip(most_width)
            .and_then(|(lane, width)| lane.checked_mul(width)),
    })
}

/// Bytes per second of a lane: 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on (PCI
/// Express Base Specification).
fn lane(speed: &str) -> Option<u64> {
    let transfers = number(speed)? * 1e9;
    let code = if transfers < 8e9 { 0.8 } else { 128.0 / 130.0 };
    Some((transfers * code / 8.0) as u64)
}

/// A SATA link has 8b/10b, so a tenth of its bits are bytes (kernel: Documentation/ABI/
/// testing/sysfs-ata). The port's number is that of the link.
fn sata(root: &SystemRoot, place: &Path) -> Option<Link> {
    let port = place.components().find_map(|part| {
        let part = part.as_os_str().to_str()?;
        part.strip_prefix("ata")?.parse::<u32>().ok()
    })?;
    let dir = format!("/sys/class/ata_link/link{port}");
    let rate = |file: &str| {
        let text = root.value(format!("{dir}/{file}"))?;
        Some(((number(&text)? * 1e8) as u64, text))
    };
    let (bytes_per_second, speed) = rate("sata_spd")?;
    // The port's limit; the drive's own is SMART's to tell.
    let most = rate("hw_sata_spd_limit").map(|(rate, _)| rate);
    Some(Link { kind: "SATA".to_owned(), speed, bytes_per_second, most_bytes_per_second: most })
}

/// A USB device has its speed in Mbit/s (kernel: Documentation/ABI/testing/
/// sysfs-bus-usb). USB 2 carries at most 53 MB/s in bulk transfers (USB 2.0, table
/// 5-10), Gen 1 has 8b/10b, Gen 2 128b/132b.
fn usb(place: &Path) -> Option<Link> {
    let device: PathBuf = place
        .ancestors()
        .find(|dir| dir.join("idVendor").exists() && dir.join("speed").exists())?
        .to_owned();
    let speed = value(&device, "speed")?;
    let megabits = number(&speed)?;
    let bytes_per_second = match megabits {
        m if m <= 480.0 => m * 1e6 / 8.0 * (53.0 / 60.0),
        m if m <= 5000.0 => m * 1e6 / 10.0,
        m => m * 1e6 / 8.0 * (128.0 / 132.0),
    };
    Some(Link {
        kind: "USB".to_owned(),
        speed: format!("{speed} Mbit/s"),
        bytes_per_second: bytes_per_second as u64,
        most_bytes_per_second: None,
    })
}

/// The number that a text begins with, if it is one that a link can have.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    (number > 0.0 && number < 1e6).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    fn made(device: &str, below: &str) -> (tempfile::TempDir, Fabricated) {
        let dir = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(dir.path());
        tree.device(device, (8, 0));
        tree.directory(&format!("/sys/devices/pci/{below}"));
        let link = format!("/sys/class/block/{device}/device");
        tree.link(&link, &format!("../../../pci/{below}"));
        (dir, tree)
    }

    fn found(tree: &Fabricated, device: &str) -> Option<Link> {
        let root = tree.root();
        link(&root, &BlockDevice::named(&root, device).expect("device"))
    }

    #[test]
    fn a_sata_drive_behind_a_slow_port() {
        let (_dir, tree) = made("sda", "ata3/host2/target2:0:0");
        assert_eq!(found(&tree, "sda"), None);
        tree.file("/sys/class/ata_link/link3/sata_spd", "3.0 Gbps\n");
        tree.file("/sys/class/ata_link/link3/hw_sata_spd_limit", "6.0 Gbps\n");
        let link = found(&tree, "sda").expect("a link");
        assert_eq!((link.kind.as_str(), link.speed.as_str()), ("SATA", "3.0 Gbps"));
        assert_eq!(link.bytes_per_second, 300_000_000);
        assert_eq!(link.most_bytes_per_second, Some(600_000_000));
        tree.file("/sys/class/ata_link/link3/sata_spd", "<unknown>\n");
        assert_eq!(found(&tree, "sda"), None);
    }

    #[test]
    fn an_nvme_drive_in_a_narrow_slot() {
        let (_dir, tree) = made("nvme0n1", "slot/nvme/nvme0");
        for (file, text) in [
            ("current_link_speed", "8.0 GT/s PCIe\n"),
            ("current_link_width", "2\n"),
            ("max_link_speed", "8.0 GT/s PCIe\n"),
            ("max_link_width", "4\n"),
        ] {
            tree.file(&format!("/sys/devices/pci/slot/nvme/nvme0/device/{file}"), text);
        }
        let link = found(&tree, "nvme0n1").expect("a link");
        assert_eq!(link.speed, "8.0 GT/s x2");
        assert_eq!(link.bytes_per_second, 1_969_230_768);
        assert_eq!(link.most_bytes_per_second, Some(2 * 1_969_230_768));
    }

    #[test]
    fn a_usb_drive_has_the_speed_of_its_plug() {
        let (_dir, tree) = made("sdb", "usb1/1-1/1-1:1.0/host3");
        tree.file("/sys/devices/pci/usb1/1-1/idVendor", "0951\n");
        tree.file("/sys/devices/pci/usb1/1-1/speed", "480\n");
        let link = found(&tree, "sdb").expect("a link");
        assert_eq!((link.kind.as_str(), link.bytes_per_second), ("USB", 53_000_000));
    }

    proptest! {
        #[test]
        fn hostile_speeds_do_no_harm(text in "\\PC{0,30}", digits in "-?[0-9.e]{1,12}( GT/s)?") {
            for text in [text, digits] {
                let _ = lane(&text);
                if let Some(number) = number(&text) {
                    prop_assert!(number > 0.0);
                }
            }
        }
    }
}
