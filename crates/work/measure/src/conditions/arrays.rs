//! Arrays over the drives, and whether they lack a member.

use std::collections::BTreeSet;

use disklab_sample::ArrayState;

use crate::block::BlockDevice;
use crate::mounts::{Mount, mounts};
use crate::{NamedDevice, SystemRoot, btrfs_families};

/// The arrays that are built on the same drives as the watched ones, md and Btrfs.
/// (Kernel: Documentation/admin-guide/md.rst, `degraded`;
/// Documentation/ABI/testing/sysfs-fs-btrfs, `devinfo/DEVID/missing`.)
pub(super) fn arrays(root: &SystemRoot, watched: &[NamedDevice]) -> Vec<ArrayState> {
    let mounts = mounts(root);
    let own: BTreeSet<String> = watched
        .iter()
        .filter_map(|drive| BlockDevice::at(root, &drive.device))
        .flat_map(|device| bottoms(&device, &mounts))
        .collect();
    let concerns = |device: &BlockDevice| !bottoms(device, &mounts).is_disjoint(&own);
    let md = BlockDevice::all(root).into_iter().filter_map(|device| {
        let missing = device.attribute("md/degraded")?.parse().ok()?;
        let state = ArrayState {
            name: device.name().to_owned(),
            level: device.attribute("md/level"),
            missing,
        };
        concerns(&device).then_some(state)
    });
    let btrfs = btrfs_families(root).into_iter().filter_map(|(uuid, devices)| {
        let dir = format!("/sys/fs/btrfs/{uuid}/devinfo");
        let numbers = root.names(&dir);
        let missing = numbers
            .iter()
            .filter(|number| root.value(format!("{dir}/{number}/missing")).as_deref() == Some("1"));
        let missing = u32::try_from(missing.count()).unwrap_or(u32::MAX);
        let several = devices.len() > 1 || missing > 0;
        (several && devices.iter().any(&concerns)).then(|| ArrayState {
            name: "btrfs".to_owned(),
            level: None,
            missing,
        })
    });
    md.chain(btrfs).collect()
}

/// The whole drives at the bottom of a device, itself included.
fn bottoms(device: &BlockDevice, mounts: &[Mount]) -> BTreeSet<String> {
    let below = device.bottom(mounts).unwrap_or_default();
    let slaves = all_below(device);
    below.iter().chain([device]).chain(&slaves).map(|d| d.whole().name().to_owned()).collect()
}

/// All devices that a device is built on, loop devices among them, which
/// [`BlockDevice::bottom`] looks through.
fn all_below(device: &BlockDevice) -> Vec<BlockDevice> {
    let mut found: Vec<BlockDevice> = Vec::new();
    let mut open = device.whole().slaves();
    while let Some(next) = open.pop() {
        if !found.contains(&next) {
            open.extend(next.whole().slaves());
            found.push(next);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    fn watched(device: &str) -> [NamedDevice; 1] {
        [NamedDevice { name: "d1".to_owned(), device: device.into() }]
    }

    #[test]
    fn a_missing_member_is_counted_where_it_concerns_the_drives() {
        let dir = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(dir.path());
        for (index, name) in ["sda", "sdb", "sdc"].into_iter().enumerate() {
            tree.drive(name, (8, 16 * index as u32), name);
        }
        tree.stacked("md0", (9, 0), &["sda", "sdb"]);
        tree.set("md0", "md/degraded", "1\n").set("md0", "md/level", "raid5\n");
        let root = tree.root();
        let found = arrays(&root, &watched("/dev/sda"));
        let md0 = ArrayState { name: "md0".into(), level: Some("raid5".into()), missing: 1 };
        assert_eq!(found, std::slice::from_ref(&md0));
        assert_eq!(arrays(&root, &watched("/dev/md0")), [md0]);
        assert_eq!(arrays(&root, &watched("/dev/sdc")), []);
    }

    #[test]
    fn a_btrfs_reports_its_missing_devices() {
        let dir = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(dir.path());
        tree.drive("sda", (8, 0), "A").drive("sdb", (8, 16), "B");
        tree.btrfs("u-1", &["sda", "sdb"]);
        tree.file("/sys/fs/btrfs/u-1/devinfo/1/missing", "0\n");
        tree.file("/sys/fs/btrfs/u-1/devinfo/3/missing", "1\n");
        let found = arrays(&tree.root(), &watched("/dev/sdb"));
        assert_eq!(found, [ArrayState { name: "btrfs".into(), level: None, missing: 1 }]);
    }
}
