//! Block devices as the kernel knows them: names, and what is built on what.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::SystemRoot;
use crate::counters::{Counters, SECTOR_BYTES};
use crate::mounts::{Mount, device_number, mount_of};

/// Devices that hold no data of their own: they pass it on to others, to a file,
/// to memory or over the network.
const STACKED: [&str; 10] =
    ["loop", "dm-", "md", "zram", "ram", "zd", "bcache", "nbd", "rbd", "drbd"];

/// A block device (whole or partition), by its kernel name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    root: SystemRoot,
    name: String,
}

impl BlockDevice {
    /// The device with a kernel name such as `sda`, `nvme0n1p2` or `dm-0`;
    /// `None` where the kernel knows none.
    pub fn named(root: &SystemRoot, name: &str) -> Option<Self> {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        let device = Self { root: root.clone(), name: name.to_owned() };
        root.path(device.directory()).is_dir().then_some(device)
    }

    /// The device with a number.
    pub fn numbered(root: &SystemRoot, (major, minor): (u32, u32)) -> Option<Self> {
        let link = root.path(format!("/sys/dev/block/{major}:{minor}"));
        if let Ok(target) = std::fs::read_link(link) {
            return Self::named(root, &target.file_name()?.to_string_lossy());
        }
        Self::all(root).into_iter().find(|device| device.number() == Some((major, minor)))
    }

    /// The device that a node or a link to one stands for, such as
    /// `/dev/disk/by-id/…`.
    pub fn at(root: &SystemRoot, path: &Path) -> Option<Self> {
        let real = root.path(path).canonicalize().ok()?;
        let metadata = real.metadata().ok().filter(|m| m.file_type().is_block_device());
        if let Some(number) = metadata.map(|metadata| metadata.rdev()) {
            let number = (rustix::fs::major(number), rustix::fs::minor(number));
            return Self::numbered(root, number);
        }
        // On this machine a node that is no block device is none; made-up trees
        // have plain files for nodes.
        if root.is_here() {
            return None;
        }
        let name = real.file_name()?.to_string_lossy().replace('/', "!");
        Self::named(root, &name)
    }

    /// All of them, partitions included, by name.
    pub fn all(root: &SystemRoot) -> Vec<Self> {
        root.names("/sys/class/block").iter().filter_map(|name| Self::named(root, name)).collect()
    }

    /// Its kernel name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its node under `/dev`, where nothing renamed it.
    pub fn node(&self) -> PathBuf {
        // sysfs writes `!` for a `/` in names such as cciss/c0d0.
        Path::new("/dev").join(self.name.replace('!', "/"))
    }

    fn directory(&self) -> PathBuf {
        Path::new("/sys/class/block").join(&self.name)
    }

    /// The text of one of its files in sysfs, such as `queue/rotational`; `None`
    /// where there is none or it is empty.
    pub fn attribute(&self, file: &str) -> Option<String> {
        self.root.value(self.directory().join(file))
    }

    /// The bytes of one of its files in sysfs.
    pub fn attribute_bytes(&self, file: &str) -> Option<Vec<u8>> {
        self.root.bytes(self.directory().join(file))
    }

    /// Where one of its files in sysfs is.
    pub fn attribute_path(&self, file: &str) -> PathBuf {
        self.root.path(self.directory().join(file))
    }

    /// Its major and minor number.
    pub fn number(&self) -> Option<(u32, u32)> {
        device_number(&self.attribute("dev")?)
    }

    /// Its size in bytes; 0 where it is unknown, as for an empty card reader.
    pub fn size_bytes(&self) -> u64 {
        let sectors: u64 = self.attribute("size").and_then(|s| s.parse().ok()).unwrap_or(0);
        sectors.saturating_mul(SECTOR_BYTES)
    }

    /// Where a partition begins on its drive, in bytes: sysfs counts sectors of 512, whatever the
    /// drive's (kernel: Documentation/ABI/stable/sysfs-block, `start`). `None` of a whole drive.
    pub fn start_bytes(&self) -> Option<u64> {
        let sectors: u64 = self.attribute("start")?.parse().ok()?;
        Some(sectors.saturating_mul(SECTOR_BYTES))
    }

    /// Its counters now.
    pub fn counters(&self) -> Option<Counters> {
        Counters::parse(&self.attribute("stat")?)
    }

    /// Whether it is a partition.
    pub fn is_partition(&self) -> bool {
        self.attribute_path("partition").exists()
    }

    /// The whole device that it is a partition of, or itself.
    pub fn whole(&self) -> Self {
        if !self.is_partition() {
            return self.clone();
        }
        // /sys/class/block/sda1 links to …/block/sda/sda1.
        let parent = self
            .root
            .path(self.directory())
            .canonicalize()
            .ok()
            .and_then(|real| Some(real.parent()?.file_name()?.to_string_lossy().into_owned()));
        parent.and_then(|name| Self::named(&self.root, &name)).unwrap_or_else(|| self.clone())
    }

    /// As the kernel shows them; none of a drive without a partition table.
    pub fn partitions(&self) -> Vec<Self> {
        if self.is_partition() {
            return Vec::new();
        }
        self.root
            .names(self.directory())
            .iter()
            .filter(|name| self.attribute_path(&format!("{name}/partition")).exists())
            .filter_map(|name| Self::named(&self.root, name))
            .collect()
    }

    /// Devices that stand directly on it: md, device-mapper, bcache. Loop
    /// devices are not among them; see [`BlockDevice::backing_file`].
    pub fn holders(&self) -> Vec<Self> {
        self.related("holders")
    }

    /// Devices that it is directly built on.
    pub fn slaves(&self) -> Vec<Self> {
        self.related("slaves")
    }

    /// Whether it is this drive, lies on a partition of it, or is built on what does.
    pub fn is_on(&self, drive: &Path) -> bool {
        // No stack is so high.
        Self::at(&self.root, drive).is_some_and(|drive| self.is_above(&drive, 16))
    }

    fn is_above(&self, drive: &Self, devices: u32) -> bool {
        let whole = self.whole();
        let is_below = |below: &Self| below.is_above(drive, devices - 1);
        self == drive || whole == *drive || devices > 0 && whole.slaves().iter().any(is_below)
    }

    fn related(&self, directory: &str) -> Vec<Self> {
        let names = self.root.names(self.directory().join(directory));
        names.iter().filter_map(|name| Self::named(&self.root, name)).collect()
    }

    /// The file behind a loop device, as the kernel names it; see [`crate::LoopBacking`] for which
    /// one that is.
    pub fn backing_file(&self) -> Option<PathBuf> {
        let path = self.attached_path()?.into_os_string().into_vec();
        let plain = path.strip_suffix(b" (deleted)").unwrap_or(&path).to_vec();
        Some(PathBuf::from(OsString::from_vec(plain)))
    }

    /// The same with what the kernel appends to the name of a file that was removed.
    pub(crate) fn attached_path(&self) -> Option<PathBuf> {
        let bytes = self.attribute_bytes("loop/backing_file")?;
        // A name may end with a line feed of its own.
        let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        // An empty attribute: the loop device is not attached.
        (!path.is_empty()).then(|| PathBuf::from(OsString::from_vec(path.to_vec())))
    }

    /// The numbers of the character devices through which programs reach the same drive past its
    /// block device: SCSI's (sg, bsg) and NVMe's.
    pub(crate) fn generic_numbers(&self) -> Vec<(u32, u32)> {
        let whole = self.whole();
        let mut files = Vec::new();
        for directory in ["device/scsi_generic", "device/bsg"] {
            let names = whole.root.names(whole.directory().join(directory)).into_iter();
            files.extend(names.map(|name| format!("{directory}/{name}/dev")));
        }
        files.extend(whole.name.strip_prefix("nvme").map(|rest| format!("device/ng{rest}/dev")));
        files.iter().filter_map(|file| device_number(&whole.attribute(file)?)).collect()
    }

    /// Whether it is a whole device that holds data itself: no partition, no
    /// loop, device-mapper, md, zram or RAM device, and no hidden path of a
    /// multipath NVMe drive.
    pub fn is_physical(&self) -> bool {
        let stacked = STACKED.iter().any(|prefix| {
            let rest = self.name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '_'))
        });
        !stacked && !self.is_partition() && self.attribute("hidden").as_deref() != Some("1")
    }

    /// The devices at the bottom of what it is built on, through md,
    /// device-mapper and loop devices: whole drives or partitions; itself where
    /// it is built on nothing known. `None` where something below is out of
    /// sight, such as a loop device over a file on ZFS.
    pub fn bottom(&self, mounts: &[Mount]) -> Option<Vec<Self>> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![self.clone()];
        while let Some(device) = open.pop() {
            if !seen.insert(device.name.clone()) {
                continue;
            }
            let mut below = device.slaves();
            // A partition of an md array or a loop device passes its I/O to that.
            let whole = device.whole();
            if device.is_partition() && !whole.is_physical() {
                below.push(whole);
            } else if let Some(file) = device.backing_file() {
                below.extend(devices_under(&self.root, mounts, &file)?);
            }
            if below.is_empty() && device.name.starts_with("zd") {
                return None;
            }
            if below.is_empty() && device.whole().is_physical() {
                found.push(device);
            }
            open.extend(below);
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Some(found)
    }
}

/// The block devices that the file system of `path` lies on: one as a rule,
/// several for Btrfs, none for one in memory such as tmpfs. `None` where they
/// is unknown, as for ZFS, overlays and network file systems.
pub fn devices_under(root: &SystemRoot, mounts: &[Mount], path: &Path) -> Option<Vec<BlockDevice>> {
    let mount = mount_of(mounts, path)?;
    if mount.device.0 != 0 {
        return BlockDevice::numbered(root, mount.device).map(|device| vec![device]);
    }
    match mount.fs_type.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" => Some(Vec::new()),
        "btrfs" => {
            let device = BlockDevice::at(root, &mount.source)?;
            let mut families = btrfs_families(root).into_iter().map(|(_, devices)| devices);
            Some(families.find(|family| family.contains(&device)).unwrap_or_else(|| vec![device]))
        }
        _ => None,
    }
}

/// The UUID and the devices of each mounted Btrfs, from
/// `/sys/fs/btrfs/UUID/devices`: mountinfo shows only one of them.
pub fn btrfs_families(root: &SystemRoot) -> Vec<(String, Vec<BlockDevice>)> {
    let families = root.names("/sys/fs/btrfs").into_iter().map(|uuid| {
        let names = root.names(format!("/sys/fs/btrfs/{uuid}/devices"));
        let devices = names.iter().filter_map(|name| BlockDevice::named(root, name)).collect();
        (uuid, devices)
    });
    families.filter(|(_, devices): &(_, Vec<_>)| !devices.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;
    use crate::mounts::mounts;

    fn names(devices: &[BlockDevice]) -> Vec<&str> {
        devices.iter().map(BlockDevice::name).collect()
    }

    fn machine() -> (tempfile::TempDir, Fabricated) {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.drive("sdb", (8, 16), "B").partition("sdb", "sdb1", (8, 17));
        tree.stacked("md0", (9, 0), &["sda1", "sdb1"]).partition("md0", "md0p1", (259, 0));
        tree.stacked("dm-0", (252, 0), &["md0p1"]);
        (directory, tree)
    }

    #[test]
    fn partitions_holders_and_bottoms_are_found() {
        let (_directory, tree) = machine();
        let root = tree.root();
        let get = |name| BlockDevice::named(&root, name).expect("there");
        assert_eq!(names(&get("sda").partitions()), ["sda1"]);
        assert_eq!(get("sda1").whole(), get("sda"));
        assert_eq!(names(&get("sda1").holders()), ["md0"]);
        assert_eq!(names(&get("md0").slaves()), ["sda1", "sdb1"]);
        assert_eq!(get("sda").size_bytes(), 1_000_204_886_016);
        assert_eq!(names(&get("dm-0").bottom(&[]).expect("in sight")), ["sda1", "sdb1"]);
        assert_eq!(names(&get("sda").bottom(&[]).expect("in sight")), ["sda"]);
        let physical: Vec<_> = BlockDevice::all(&root);
        let physical: Vec<_> = physical.iter().filter(|d| d.is_physical()).collect();
        assert_eq!(physical, [&get("sda"), &get("sdb")]);
    }

    #[test]
    fn what_is_on_a_drive_is_found() {
        let (_directory, tree) = machine();
        tree.drive("sdc", (8, 32), "C");
        let root = tree.root();
        let on = |drive: &str| -> Vec<String> {
            let all = BlockDevice::all(&root).into_iter();
            let own = all.filter(|device| device.is_on(Path::new(drive)));
            own.map(|device| device.name().to_owned()).collect()
        };
        assert_eq!(on("/dev/sda"), ["dm-0", "md0", "md0p1", "sda", "sda1"]);
        assert_eq!(on("/dev/disk/by-id/ata-TESTDRIVE_1000_C"), ["sdc"]);
        assert_eq!(on("/dev/sda1"), ["dm-0", "md0", "md0p1", "sda1"]);
        assert_eq!(on("/dev/nothing"), [""; 0]);
    }

    #[test]
    fn devices_are_found_by_link_by_number_and_by_name() {
        let (_directory, tree) = machine();
        let root = tree.root();
        let link = Path::new("/dev/disk/by-id/ata-TESTDRIVE_1000_B");
        assert_eq!(BlockDevice::at(&root, link).expect("there").name(), "sdb");
        assert_eq!(BlockDevice::numbered(&root, (259, 0)).expect("there").name(), "md0p1");
        assert_eq!(BlockDevice::numbered(&root, (77, 0)), None);
        for name in ["", "..", "sda/sda1", "sdz"] {
            assert_eq!(BlockDevice::named(&root, name), None, "{name}");
        }
        assert_eq!(BlockDevice::at(&SystemRoot::here(), Path::new("/dev/null")), None);
    }

    #[test]
    fn a_loop_device_lies_on_the_drive_under_its_file() {
        let (_directory, tree) = machine();
        tree.mount((252, 0), "/dev/dm-0", "/data", "ext4");
        tree.mount((0, 50), "pool/x", "/pool", "zfs");
        tree.looped("loop0", (7, 0), "/data/a (deleted)").looped("loop1", (7, 1), "/pool/a");
        tree.looped("loop2", (7, 2), "/in-memory");
        let root = tree.root();
        let mounts = mounts(&root);
        let bottom =
            |name| BlockDevice::named(&root, name).expect("there").bottom(&mounts).map(|d| d.len());
        assert_eq!(bottom("loop0"), Some(2));
        assert_eq!(bottom("loop1"), None);
        assert_eq!(bottom("loop2"), Some(0));
    }

    #[test]
    fn a_btrfs_lies_on_all_its_devices() {
        let (_directory, tree) = machine();
        tree.drive("sdc", (8, 32), "C").drive("sdd", (8, 48), "D");
        tree.btrfs("u-u-i-d", &["sdc", "sdd"]).mount((0, 60), "/dev/sdd", "/b", "btrfs");
        let root = tree.root();
        let under = devices_under(&root, &mounts(&root), Path::new("/b/file"));
        assert_eq!(names(&under.expect("in sight")), ["sdc", "sdd"]);
    }
}
