//! What lies between a directory and the drives.

use std::path::Path;

use crate::SystemRoot;
use crate::block::{BlockDevice, devices_under};
use crate::mounts::{mount_of, mounts};
use crate::share::{is_memory, is_network};

/// Block devices whose data are on another machine.
const NETWORK_DEVICES: [&str; 3] = ["nbd", "rbd", "drbd"];

/// What lies beneath a directory and changes what is measured there, in words.
pub(super) fn beneath(root: &SystemRoot, directory: &Path) -> Vec<String> {
    let real = root.path(directory).canonicalize();
    let directory = real.map_or_else(|_| directory.to_owned(), |real| root.inside(&real));
    let mounts = mounts(root);
    let mut found = Vec::new();
    if let Some(mount) = mount_of(&mounts, &directory) {
        let kind = mount.fs_type.as_str();
        if is_network(kind) {
            found.push(format!("network ({kind})"));
        } else if is_memory(kind) {
            found.push(format!("memory ({kind})"));
        }
    }
    let mut open = devices_under(root, &mounts, &directory).unwrap_or_default();
    let mut seen: Vec<BlockDevice> = Vec::new();
    while let Some(device) = open.pop() {
        if seen.contains(&device) {
            continue;
        }
        found.extend(layer(&device));
        open.extend(device.slaves());
        let whole = device.whole();
        open.extend((whole != device).then_some(whole));
        seen.push(device);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What a device adds. The UUIDs of device-mapper begin with their maker's word
/// (cryptsetup: `CRYPT-`; LVM2: lib/activate/dev_manager.c, where the origin of a
/// snapshot gets `-real` and its exceptions `-cow`).
fn layer(device: &BlockDevice) -> Option<String> {
    if let Some(uuid) = device.attribute("dm/uuid") {
        if uuid.starts_with("CRYPT-") {
            return Some("encryption".to_owned());
        }
        let of_snapshot = uuid.ends_with("-real") || uuid.ends_with("-cow");
        if uuid.starts_with("LVM-") && of_snapshot {
            return Some("snapshot".to_owned());
        }
    }
    let name = device.name();
    let numbered = |front: &&&str| {
        name.strip_prefix(**front)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if let Some(kind) = NETWORK_DEVICES.iter().find(numbered) {
        return Some(format!("network ({kind})"));
    }
    // An iSCSI disk hangs below its session (kernel: drivers/scsi/scsi_transport_iscsi.c).
    let place = device.attribute_path("device").canonicalize().ok()?;
    let session = place.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.strip_prefix("session").is_some_and(|n| n.parse::<u32>().is_ok())
    });
    session.then(|| "network (iSCSI)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn encryption_snapshots_and_networks_are_seen() {
        let temp = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(temp.path());
        tree.drive("sda", (8, 0), "A").stacked("dm-1", (252, 1), &["sda"]);
        tree.stacked("dm-0", (252, 0), &["dm-1"]).drive("sdb", (8, 16), "B");
        tree.set("dm-1", "dm/uuid", "LVM-abc-real\n").set("dm-0", "dm/uuid", "CRYPT-LUKS2-x\n");
        tree.device("nbd0", (43, 0));
        tree.mount((252, 0), "/dev/dm-0", "/safe", "ext4");
        tree.mount((8, 16), "/dev/sdb", "/plain", "xfs");
        tree.mount((43, 0), "/dev/nbd0", "/far", "xfs");
        tree.mount((0, 70), "host:/x", "/nfs", "nfs4").mount((0, 71), "tmpfs", "/tmp", "tmpfs");
        let root = tree.root();
        let at = |directory: &str| beneath(&root, Path::new(directory));
        assert_eq!(at("/safe/x"), ["encryption", "snapshot"]);
        assert!(at("/plain").is_empty());
        assert_eq!(at("/far"), ["network (nbd)"]);
        assert_eq!(at("/nfs/a"), ["network (nfs4)"]);
        assert_eq!(at("/tmp"), ["memory (tmpfs)"]);
    }

    #[test]
    fn an_iscsi_disk_hangs_below_a_session() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.device("sdc", (8, 32)).mount((8, 32), "/dev/sdc", "/lun", "ext4");
        tree.directory("/sys/devices/platform/host5/session1/target5:0:0");
        tree.link("/sys/class/block/sdc/device", "../../../platform/host5/session1/target5:0:0");
        assert_eq!(beneath(&tree.root(), Path::new("/lun")), ["network (iSCSI)"]);
    }
}
