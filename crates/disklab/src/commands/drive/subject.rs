//! Which devices can be known by timing requests: whole drives of their own.

use std::path::{Path, PathBuf};

use crate::exit::exit_codes;
use disklab_bench::safety::stable_names;
use disklab_measure::{BlockDevice, SystemRoot, host_of, identity, mounts, volume_of};

/// A drive that can be probed.
#[derive(Debug, Clone)]
pub struct Subject {
    pub device: BlockDevice,
    pub model: String,
    /// What it and its links are called.
    pub names: Vec<String>,
    pub rotates: bool,
    /// Bytes of a logical and of a physical sector.
    pub sector_sizes: (u64, u64),
    /// How many requests the kernel gives it at a time.
    pub queue_depth: Option<u64>,
    /// What the user must know.
    pub notes: Vec<String>,
}

/// Finds the drive that `path` names.
///
/// # Errors
/// [`SubjectError`] if the drive behind it cannot be known.
pub fn find(root: &SystemRoot, path: &Path) -> Result<Subject, SubjectError> {
    let refuse = |why| SubjectError::Unknown { path: path.to_owned(), why };
    let absolute = std::path::absolute(path).map_err(|e| refuse(NotADrive::Path(e)))?;
    if root.path(&absolute).symlink_metadata().is_err() {
        return Err(SubjectError::NoFile(absolute));
    }
    let device = BlockDevice::at(root, &absolute).ok_or_else(|| refuse(NotADrive::NotADevice))?;
    if let Some(why) = not_a_drive(root, &device) {
        return Err(refuse(why));
    }
    let model = identity(&device).model.unwrap_or_default();
    let other = || {
        let host = host_of(&device).map(NotADrive::Virtual);
        host.or_else(|| volume_of(&device).map(NotADrive::Volume))
    };
    if !is_lab(root)
        && let Some(why) = other()
    {
        return Err(refuse(why));
    }
    let links = stable_names(root, &device);
    let mut names: Vec<String> =
        links.iter().filter_map(|link| file_name(link.as_path())).collect();
    let model = if model.is_empty() {
        names.first().cloned().unwrap_or_else(|| "unknown model".to_owned())
    } else {
        names.push(model.clone());
        model
    };
    let number = |file: &str| device.attribute(file).and_then(|text| text.trim().parse().ok());
    let logical = number("queue/logical_block_size").unwrap_or(512);
    let mut notes = Vec::new();
    if is_mounted(root, &device) {
        notes.push("something on it is mounted; it is only read, but must stay idle".to_owned());
    }
    Ok(Subject {
        rotates: device.attribute("queue/rotational").as_deref() == Some("1"),
        model,
        names,
        sector_sizes: (logical, number("queue/physical_block_size").unwrap_or(logical)),
        queue_depth: number("device/queue_depth"),
        notes,
        device,
    })
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// Why a device cannot be probed.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// Nothing is there.
    #[error(
        "{}: no such file; `ls -l /dev/disk/by-id` shows the drives of this machine", .0.display()
    )]
    NoFile(PathBuf),
    /// What is there is not one drive, and only that.
    #[error("cannot know the drive behind {}: {why}", path.display())]
    Unknown {
        /// The path that was named.
        path: PathBuf,
        /// What is there.
        #[source]
        why: NotADrive,
    },
}

exit_codes! { SubjectError => USAGE_ERROR, }

/// What is not a whole drive of its own.
#[derive(Debug, thiserror::Error)]
pub enum NotADrive {
    /// A path without a directory that it is relative to.
    #[error(transparent)]
    Path(std::io::Error),
    /// A file of another kind.
    #[error("not a block device; name a drive in /dev/disk/by-id")]
    NotADevice,
    /// A part of a drive.
    #[error(
        "it is a partition, which shows a part of the places and none of the rest; name the whole \
         drive, {}",
        whole.display()
    )]
    Partition {
        /// The drive's stable name.
        whole: PathBuf,
    },
    /// A loop device.
    #[error(
        "it is a loop device: what it answers comes from the file {} and the page cache",
        .0.display()
    )]
    Loop(PathBuf),
    /// An md array.
    #[error("it is a RAID, which answers with several drives at once")]
    Raid,
    /// A device-mapper device, a network block device, and the like.
    #[error("{0} is a mapping onto other devices, memory or the network")]
    Mapping(String),
    /// Nothing to read.
    #[error("it has no medium, or its size is unknown")]
    Empty,
    /// A virtual machine's disk.
    #[error(
        "it is a virtual disk ({0}): a host with a cache of its own answers, and other guests may \
         use the same drive"
    )]
    Virtual(&'static str),
    /// What a RAID controller or another machine offers as one disk.
    #[error("it is {0}: several drives may answer at once, and a memory that is not the drive's")]
    Volume(&'static str),
}

/// Why a device is not a whole drive of its own.
fn not_a_drive(root: &SystemRoot, device: &BlockDevice) -> Option<NotADrive> {
    if device.is_partition() {
        let whole = device.whole();
        let offered = stable_names(root, &whole);
        let whole = offered.first().map_or_else(|| whole.node(), Clone::clone);
        return Some(NotADrive::Partition { whole });
    }
    if let Some(file) = device.backing_file() {
        return Some(NotADrive::Loop(file));
    }
    let name = device.name();
    if name.starts_with("md") {
        return Some(NotADrive::Raid);
    }
    if !device.slaves().is_empty() || !device.is_physical() {
        return Some(NotADrive::Mapping(name.to_owned()));
    }
    (device.size_bytes() == 0).then_some(NotADrive::Empty)
}

/// Whether this is a guest of the lab, whose virtual disks are modelled drives alone.
fn is_lab(root: &SystemRoot) -> bool {
    let processor = root.text("/proc/cpuinfo").unwrap_or_default();
    processor.contains("User Mode Linux") && root.path(disklab_lab_guest::PLACE).is_dir()
}

/// Whether a file system on a drive or its partitions is mounted.
fn is_mounted(root: &SystemRoot, device: &BlockDevice) -> bool {
    let mut numbers: Vec<_> = device.partitions().iter().filter_map(BlockDevice::number).collect();
    numbers.extend(device.number());
    mounts(root).iter().any(|mount| numbers.contains(&mount.device))
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    #[test]
    fn partitions_and_virtual_disks_are_refused_with_the_reason() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1)).set(
            "sda",
            "queue/rotational",
            "1",
        );
        tree.drive("sdb", (8, 16), "B").set("sdb", "device/model", "QEMU HARDDISK");
        tree.drive("sdc", (8, 32), "C").set("sdc", "device/model", "LOGICAL VOLUME");
        tree.drive("sdd", (8, 48), "D").set("sdd", "device/model", "PERC H730 Mini");
        tree.drive("sde", (8, 64), "E").set("sde", "device/vendor", "LIO-ORG");
        tree.drive("sdf", (8, 80), "F").set("sdf", "device/model", "Perccell 8TB");
        tree.drive("sdg", (8, 96), "G").set("sdg", "device/model", "Synology HAT5300-8T");
        tree.drive("sdh", (8, 112), "H").set("sdh", "device/vendor", "SYNOLOGY");
        tree.drive("sdi", (8, 128), "I").set("sdi", "device/model", "MR9271-8i");
        tree.drive("vda", (252, 0), "V");
        tree.stacked("md0", (9, 0), &["sda1"]).stacked("dm-0", (253, 0), &["sda1"]);
        tree.looped("loop0", (7, 0), "/data/file");
        let root = tree.root();
        let found = find(&root, Path::new("/dev/sda")).expect("a drive");
        assert!(found.rotates && !found.names.is_empty());
        assert!(find(&root, Path::new("/dev/sdf")).is_ok(), "a word that only looks like one");
        assert!(find(&root, Path::new("/dev/sdg")).is_ok(), "a drive of a maker of targets");
        for (name, expected) in [
            ("sda1", "it is a partition"),
            ("sdb", "virtual disk (QEMU)"),
            ("sdc", "a Smart Array controller's volume"),
            ("sdd", "a PERC controller's volume"),
            ("sde", "target (LIO)"),
            ("sdh", "target (Synology)"),
            ("sdi", "a MegaRAID controller's volume"),
            ("vda", "virtual disk (virtio)"),
            ("md0", "it is a RAID"),
            ("dm-0", "is a mapping"),
            ("loop0", "it is a loop device"),
            ("sdz", "no such file"),
        ] {
            let error = find(&root, &Path::new("/dev").join(name)).expect_err(name).to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn in_the_lab_virtual_disks_are_modelled_drives() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("vda", (252, 0), "V");
        tree.file("/proc/cpuinfo", "vendor_id\t: User Mode Linux\n");
        assert!(find(&tree.root(), Path::new("/dev/vda")).is_err(), "another's User-Mode Linux");
        tree.directory(disklab_lab_guest::PLACE);
        assert!(find(&tree.root(), Path::new("/dev/vda")).is_ok());
    }
}
