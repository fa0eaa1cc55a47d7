//! A drive and everything built on it.

use std::collections::{BTreeMap, BTreeSet};

use disklab_measure::{BlockDevice, Mount, SystemRoot};

/// A device that is built on another one of the family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub device: BlockDevice,
    /// What it is built on; none for the drive itself and its partitions, which
    /// occupy nothing by being there.
    pub on: Option<String>,
}

/// A drive, its partitions, and whatever is built on them, upwards through md,
/// device-mapper, bcache, and loop devices over the device itself or over a file
/// on it. Of a partition: itself, the drive without its other partitions, and what is built on
/// either.
pub(crate) fn family(root: &SystemRoot, mounts: &[Mount], drive: &BlockDevice) -> Vec<Member> {
    let loops = loops(root, mounts);
    let mut members: BTreeMap<String, Member> = BTreeMap::new();
    let mut open = vec![Member { device: drive.clone(), on: None }];
    let whole = drive.is_partition().then(|| drive.whole());
    open.extend(whole.iter().map(|whole| Member { device: whole.clone(), on: None }));
    while let Some(member) = open.pop() {
        let device = member.device.clone();
        if members.contains_key(device.name()) {
            continue;
        }
        let name = device.name().to_owned();
        // A partition of an md array is built on what the array is built on.
        let on = member.on.clone();
        members.insert(name.clone(), member);
        if whole.as_ref() != Some(&device) {
            let parts = device.partitions().into_iter();
            open.extend(parts.map(|device| Member { device, on: on.clone() }));
        }
        let above = device.holders().into_iter();
        let looped = loops.iter().filter(|(_, below)| below.contains(&name));
        let above = above.chain(looped.map(|(device, _)| device.clone()));
        open.extend(above.map(|device| Member { device, on: Some(name.clone()) }));
    }
    members.into_values().collect()
}

/// Every attached loop device with the devices right below it.
fn loops(root: &SystemRoot, mounts: &[Mount]) -> Vec<(BlockDevice, BTreeSet<String>)> {
    let below = |device: &BlockDevice| -> BTreeSet<String> {
        let below = device.below_loop(root, mounts);
        below.iter().map(|device| device.name().to_owned()).collect()
    };
    BlockDevice::all(root).into_iter().map(|device| (device.clone(), below(&device))).collect()
}

/// A device's name for people: with the name that device-mapper gave it.
pub(crate) fn spoken(device: &BlockDevice) -> String {
    match device.attribute("dm/name") {
        Some(name) => format!("{} ({name})", device.name()),
        None => device.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;
    use disklab_measure::mounts;

    use super::*;

    #[test]
    fn everything_above_is_found_and_nothing_next_to() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.drive("sdb", (8, 16), "B").partition("sdb", "sdb1", (8, 17));
        tree.drive("sdc", (8, 32), "C");
        tree.stacked("md0", (9, 0), &["sda1", "sdb1"]).partition("md0", "md0p1", (259, 0));
        tree.stacked("dm-0", (252, 0), &["md0p1"]).set("dm-0", "dm/name", "vg-lv");
        tree.mount((252, 0), "/dev/dm-0", "/data", "ext4").looped("loop0", (7, 0), "/data/file");
        tree.looped("loop1", (7, 1), "/dev/sdc");
        let root = tree.root();
        let names = |name: &str| -> Vec<String> {
            let drive = BlockDevice::named(&root, name).expect("there");
            let members = family(&root, &mounts(&root), &drive);
            members.iter().map(|member| member.device.name().to_owned()).collect()
        };
        assert_eq!(names("sda"), ["dm-0", "loop0", "md0", "md0p1", "sda", "sda1"]);
        assert_eq!(names("sdc"), ["loop1", "sdc"]);
        tree.partition("sda", "sda2", (8, 2)).looped("loop2", (7, 2), "/dev/sda");
        tree.looped("loop3", (7, 3), "/dev/sda1");
        assert_eq!(names("sda2"), ["loop2", "sda", "sda2"]);
        assert_eq!(spoken(&BlockDevice::named(&root, "dm-0").expect("there")), "dm-0 (vg-lv)");
    }

    #[test]
    fn a_ring_ends() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.device("dm-0", (252, 0)).stacked("dm-1", (252, 1), &["dm-0"]);
        tree.link("/sys/class/block/dm-1/holders/dm-0", "../../dm-0");
        let root = tree.root();
        let drive = BlockDevice::named(&root, "dm-0").expect("there");
        assert_eq!(family(&root, &[], &drive).len(), 2);
    }
}
