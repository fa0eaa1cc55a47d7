//! What a directory lies on: from its file system down to the drives, or to the network.

use std::path::Path;

use disklab_sample::NetworkShare;

use crate::SystemRoot;
use crate::block::{BlockDevice, btrfs_families, devices_under};
use crate::drive_state::identity;
use crate::mounts::{Mount, mount_of, mounts};
use crate::share::{is_memory, is_network, network_share};

/// Levels at most: more are a loop.
const DEEPEST: usize = 16;

/// What a directory lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foundation {
    /// The file system's type, as the kernel calls it.
    pub file_system: String,
    /// How Btrfs keeps data on its devices: `single`, `raid1` …
    pub profile: Option<String>,
    /// The part of its file system that is mounted there, if it is not the whole.
    pub bound: Option<String>,
    /// What lies below the file system, from the top.
    pub levels: Vec<FoundationLevel>,
    /// The drives at the bottom.
    pub drives: Vec<BlockDevice>,
    /// The share, if its files are on another machine.
    pub share: Option<NetworkShare>,
    /// Why there are no drives to be seen, or not how they are used.
    pub hidden: Option<String>,
}

/// Something between a file system and its drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundationLevel {
    /// A part of a drive or an array.
    Partition,
    /// An array of md.
    Array {
        /// As the kernel calls it: `raid5`.
        level: String,
        /// How many members it has.
        members: u64,
        /// Bytes of a chunk; 0 if it has none.
        chunk: u64,
        /// md's number of its layout.
        layout: Option<String>,
        /// How many members are missing.
        missing: u64,
    },
    /// dm-crypt.
    Encryption,
    /// A volume of LVM on one device.
    Volume,
}

/// What `directory` lies on; `None` if nothing is mounted there.
pub fn foundation(root: &SystemRoot, directory: &Path) -> Option<Foundation> {
    let real = root.path(directory).canonicalize();
    let directory = real.map_or_else(|_| directory.to_owned(), |real| root.inside(&real));
    let mounts = mounts(root);
    let mount = mount_of(&mounts, &directory)?;
    let mut found = Foundation {
        file_system: mount.fs_type.clone(),
        profile: None,
        bound: bound(mount),
        levels: Vec::new(),
        drives: Vec::new(),
        share: None,
        hidden: None,
    };
    if is_network(&mount.fs_type) {
        found.share = Some(network_share(root, mount));
    } else if is_memory(&mount.fs_type) {
        found.hidden = Some("its files are in memory".to_owned());
    } else {
        let devices = devices_under(root, &mounts, &directory).unwrap_or_default();
        found.below(root, mount, &devices);
    }
    Some(found)
}

/// Btrfs mounts a subvolume by its path, which is no part of another mount.
fn bound(mount: &Mount) -> Option<String> {
    let is_whole = mount.root == Path::new("/") || mount.fs_type == "btrfs";
    (!is_whole).then(|| mount.root.display().to_string())
}

impl Foundation {
    fn below(&mut self, root: &SystemRoot, mount: &Mount, devices: &[BlockDevice]) {
        if devices.is_empty() {
            self.hidden = Some(match mount.fs_type.as_str() {
                "overlay" => "an overlay, as containers have it".to_owned(),
                "zfs" => "the drives of a ZFS pool are not looked up".to_owned(),
                kind if kind.starts_with("fuse") => "a program serves it (FUSE)".to_owned(),
                _ => "the kernel names no block device below it".to_owned(),
            });
            return;
        }
        if mount.fs_type == "btrfs" && devices.len() > 1 {
            self.profile = btrfs_profile(root, &devices[0]);
            if self.profile.is_none() {
                self.hidden = Some("how Btrfs keeps data on its devices is not known".to_owned());
            }
        }
        self.take(siblings(devices, 0));
    }

    fn take(&mut self, below: Below) {
        self.levels = below.levels;
        self.drives = below.drives;
        if self.hidden.is_none() {
            self.hidden = below.hidden;
        }
    }

    /// How the drives call themselves, each name once, with how many there are of it.
    pub fn models(&self) -> Vec<(String, usize)> {
        let mut all: Vec<(String, usize)> = Vec::new();
        for drive in &self.drives {
            let name = identity(drive).model.unwrap_or_else(|| drive.name().to_owned());
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => all.push((name, 1)),
            }
        }
        all
    }
}

/// What lies below a device.
#[derive(Debug, Default, PartialEq, Eq)]
struct Below {
    levels: Vec<FoundationLevel>,
    drives: Vec<BlockDevice>,
    hidden: Option<String>,
}

impl Below {
    fn hidden(why: impl Into<String>) -> Self {
        Self { hidden: Some(why.into()), ..Self::default() }
    }

    fn under(mut self, level: FoundationLevel) -> Self {
        self.levels.insert(0, level);
        self
    }
}

/// What lies below devices that are used alike.
fn siblings(devices: &[BlockDevice], depth: usize) -> Below {
    let mut all = devices.iter().map(|device| chain(device, depth + 1));
    let Some(mut first) = all.next() else { return Below::hidden("nothing is seen below it") };
    for next in all {
        if first.hidden.is_none() && next.levels != first.levels {
            first.hidden = Some("its members are not built alike".to_owned());
        }
        first.hidden = first.hidden.or(next.hidden);
        first.drives.extend(next.drives);
    }
    first
}

fn chain(device: &BlockDevice, depth: usize) -> Below {
    if depth > DEEPEST {
        return Below::hidden("it is built on itself");
    }
    let slaves = device.slaves();
    if device.is_partition() {
        return chain(&device.whole(), depth + 1).under(FoundationLevel::Partition);
    }
    if let Some(level) = device.attribute("md/level") {
        let number = |file: &str| {
            device.attribute(file).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
        };
        return siblings(&slaves, depth).under(FoundationLevel::Array {
            level,
            members: number("md/raid_disks"),
            chunk: number("md/chunk_size"),
            layout: device.attribute("md/layout"),
            missing: number("md/degraded"),
        });
    }
    if let Some(uuid) = device.attribute("dm/uuid") {
        return mapping(device, &uuid, &slaves, depth);
    }
    if let Some(file) = device.backing_file() {
        return Below::hidden(format!("a loop device over {}", file.display()));
    }
    if device.is_physical() {
        return Below { drives: vec![device.clone()], ..Below::default() };
    }
    Below::hidden(format!("{} is not a drive", device.name()))
}

/// A device of device-mapper. The UUIDs begin with their maker's word (cryptsetup: `CRYPT-`; LVM2:
/// `LVM-`, and a suffix after a hyphen for all but plain volumes).
fn mapping(device: &BlockDevice, uuid: &str, slaves: &[BlockDevice], depth: usize) -> Below {
    let plain = uuid.strip_prefix("LVM-").is_some_and(|rest| !rest.contains('-'));
    let level = match slaves {
        [_] if uuid.starts_with("CRYPT-") => FoundationLevel::Encryption,
        [one] if plain && !is_part_of_volume(one) => FoundationLevel::Volume,
        _ => {
            let name = device.attribute("dm/name").unwrap_or_else(|| device.name().to_owned());
            let below = siblings(slaves, depth);
            let why = format!("how {name} uses its devices is not known");
            return Below { hidden: Some(why), ..below };
        }
    };
    siblings(slaves, depth).under(level)
}

/// Whether a volume's device is one of LVM's own: a thin pool, a snapshot's origin, a mirror's leg.
fn is_part_of_volume(device: &BlockDevice) -> bool {
    device.attribute("dm/uuid").is_some_and(|uuid| uuid.starts_with("LVM-"))
}

/// The profile of data, which has a directory of its name (kernel: fs/btrfs/sysfs.c,
/// `allocation/data/PROFILE`). Two of them stand for a conversion that is not done.
fn btrfs_profile(root: &SystemRoot, device: &BlockDevice) -> Option<String> {
    let (uuid, _) = btrfs_families(root).into_iter().find(|(_, all)| all.contains(device))?;
    let data = format!("/sys/fs/btrfs/{uuid}/allocation/data");
    let is_profile = |name: &String| root.path(format!("{data}/{name}")).is_dir();
    let mut profiles = root.names(&data).into_iter().filter(is_profile);
    profiles.next().filter(|_| profiles.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    fn at(tree: &Fabricated, directory: &str) -> Foundation {
        foundation(&tree.root(), Path::new(directory)).expect("mounted")
    }

    fn array() -> (tempfile::TempDir, Fabricated) {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        for (n, name) in ["sda", "sdb", "sdc", "sdd"].into_iter().enumerate() {
            let n = n as u32;
            tree.drive(name, (8, 16 * n), name);
            tree.partition(name, &format!("{name}1"), (8, 16 * n + 1));
        }
        tree.stacked("md0", (9, 0), &["sda1", "sdb1", "sdc1", "sdd1"]);
        tree.set("md0", "md/level", "raid5\n").set("md0", "md/raid_disks", "4\n");
        tree.set("md0", "md/chunk_size", "524288\n").set("md0", "md/degraded", "1\n");
        tree.stacked("dm-0", (252, 0), &["md0"]).set("dm-0", "dm/uuid", "CRYPT-LUKS2-x\n");
        tree.stacked("dm-1", (252, 1), &["dm-0"]).set("dm-1", "dm/uuid", "LVM-abc\n");
        (directory, tree)
    }

    #[test]
    fn an_array_below_encryption_and_a_volume_is_seen_to_its_drives() {
        let (_directory, tree) = array();
        tree.mount((252, 1), "/dev/dm-1", "/srv", "xfs");
        let found = at(&tree, "/srv/films");
        let array = FoundationLevel::Array {
            level: "raid5".into(),
            members: 4,
            chunk: 524_288,
            layout: None,
            missing: 1,
        };
        let levels = [
            FoundationLevel::Volume,
            FoundationLevel::Encryption,
            array,
            FoundationLevel::Partition,
        ];
        assert_eq!(found.levels, levels);
        assert_eq!((found.file_system.as_str(), found.hidden), ("xfs", None));
        assert_eq!(found.drives.len(), 4);
    }

    #[test]
    fn what_is_not_known_below_a_directory_says_why() {
        let (_directory, tree) = array();
        tree.stacked("dm-2", (252, 2), &["sda", "md0"]).set("dm-2", "dm/uuid", "LVM-def\n");
        tree.stacked("dm-4", (252, 4), &["md0"]).set("dm-4", "dm/uuid", "LVM-pool-tpool\n");
        tree.stacked("dm-3", (252, 3), &["dm-4"]).set("dm-3", "dm/uuid", "LVM-thin\n");
        tree.looped("loop0", (7, 0), "/data/image");
        for (number, device, point, kind) in [
            ((252, 2), "/dev/dm-2", "/mixed", "ext4"),
            ((252, 3), "/dev/dm-3", "/thin", "ext4"),
            ((7, 0), "/dev/loop0", "/image", "ext4"),
            ((0, 70), "tmpfs", "/tmp", "tmpfs"),
            ((0, 71), "overlay", "/box", "overlay"),
            ((0, 72), "tank/a", "/tank", "zfs"),
            ((0, 73), "what", "/fuse", "fuse.what"),
        ] {
            tree.mount(number, device, point, kind);
        }
        for (directory, expected) in [
            ("/mixed", "how dm-2 uses its devices is not known"),
            ("/thin", "how dm-3 uses its devices is not known"),
            ("/image", "a loop device over /data/image"),
            ("/tmp/x", "its files are in memory"),
            ("/box", "an overlay"),
            ("/tank", "ZFS pool"),
            ("/fuse", "a program serves it"),
        ] {
            let hidden = at(&tree, directory).hidden.expect(directory);
            assert!(hidden.contains(expected), "{directory}: {hidden}");
        }
    }

    #[test]
    fn btrfs_over_several_drives_has_its_profile() {
        let (_directory, tree) = array();
        tree.btrfs("u-1", &["sda", "sdb"]).mount((0, 60), "/dev/sda", "/b", "btrfs");
        let unknown = at(&tree, "/b");
        assert!(unknown.hidden.is_some_and(|why| why.contains("Btrfs")));
        tree.directory("/sys/fs/btrfs/u-1/allocation/data/raid1");
        let found = at(&tree, "/b");
        assert_eq!((found.profile.as_deref(), found.hidden), (Some("raid1"), None));
        assert_eq!(found.drives.len(), 2);
    }

    #[test]
    fn a_bound_directory_lies_on_its_file_system() {
        let (_directory, tree) = array();
        let line = "9 1 8:17 /films /bound rw - ext4 /dev/sdb1 rw\n";
        tree.append("/proc/self/mountinfo", line);
        let found = at(&tree, "/bound");
        assert_eq!(found.bound.as_deref(), Some("/films"));
        assert_eq!(found.levels, [FoundationLevel::Partition]);
        assert_eq!(found.models(), [("TESTDRIVE 1000".to_owned(), 1)]);
    }

    #[test]
    fn a_device_that_is_built_on_itself_ends() {
        let (_directory, tree) = array();
        tree.stacked("dm-8", (252, 8), &["dm-8"]).set("dm-8", "dm/uuid", "CRYPT-x\n");
        tree.mount((252, 8), "/dev/dm-8", "/round", "ext4");
        assert!(at(&tree, "/round").hidden.is_some());
    }
}
