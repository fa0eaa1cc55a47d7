//! From names on the command line to drives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot};

use super::{Cause, Fingerprint, Refusal};

/// Where the names are that stay with a drive (udev's persistent-storage rules).
const BY_ID: &str = "/dev/disk/by-id";

/// A drive that the user named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The stable name that the user gave.
    pub name: PathBuf,
    /// The device that it leads to.
    pub device: BlockDevice,
    /// What tells it from other drives.
    pub fingerprint: Fingerprint,
}

impl Target {
    /// A device under a name, without asking whether the name is a stable one.
    pub(crate) fn new(root: &SystemRoot, name: &Path, device: BlockDevice) -> Self {
        let fingerprint = Fingerprint::of(root, name, &device);
        Self { name: name.to_owned(), device, fingerprint }
    }

    /// Its device node, such as `/dev/sda`, which holds until the drive is
    /// unplugged.
    pub fn node(&self) -> PathBuf {
        self.device.node()
    }

    /// A partition under a stable name that leads to it. A study takes whole drives only.
    ///
    /// # Errors
    /// The partition's stable names, if `name` is none of them.
    pub fn partition(
        root: &SystemRoot,
        name: &Path,
        partition: BlockDevice,
    ) -> Result<Self, Vec<PathBuf>> {
        let names = stable_names(root, &partition);
        if is_by_id(name) && names.iter().any(|stable| stable == name) {
            return Ok(Self::new(root, name, partition));
        }
        Err(names)
    }

    pub(crate) fn refuse(&self, cause: Cause) -> Refusal {
        Refusal::new(&self.name, cause)
    }
}

/// Finds the drives that the user named, each by a link in `/dev/disk/by-id`.
/// Nothing is opened.
///
/// # Errors
/// All that is wrong with the names: not stable, nothing there, no whole drive,
/// one drive named twice.
pub fn resolve(root: &SystemRoot, names: &[String]) -> Result<Vec<Target>, Vec<Refusal>> {
    let mut targets: Vec<Target> = Vec::new();
    let mut refusals = Vec::new();
    for name in names {
        let name = Path::new(name);
        let found = find(root, name).and_then(|target| {
            match targets.iter().find(|other| is_same_drive(other, &target)) {
                Some(other) => Err(Cause::Duplicate { other: other.name.clone() }),
                None => Ok(target),
            }
        });
        match found {
            Ok(target) => targets.push(target),
            Err(cause) => refusals.push(Refusal::new(name, cause)),
        }
    }
    if refusals.is_empty() { Ok(targets) } else { Err(refusals) }
}

fn find(root: &SystemRoot, name: &Path) -> Result<Target, Cause> {
    if !root.path(BY_ID).is_dir() {
        return Err(Cause::NoStableNames);
    }
    if !is_by_id(name) {
        let device = BlockDevice::at(root, name);
        if device.is_none() && root.path(name).symlink_metadata().is_err() {
            // A bare `ata-…` was meant as a name in the directory, perhaps.
            let guess = Path::new(BY_ID).join(name.file_name().unwrap_or_default());
            let there = is_by_id(&guess) && BlockDevice::at(root, &guess).is_some();
            return Err(if there {
                Cause::NotStable { offered: vec![guess] }
            } else {
                Cause::Missing
            });
        }
        let offered = device.map(|device| stable_names(root, &device.whole())).unwrap_or_default();
        return Err(Cause::NotStable { offered });
    }
    let link = root.path(name);
    if link.symlink_metadata().is_err() {
        return Err(Cause::Missing);
    }
    let Ok(real) = link.canonicalize() else {
        let target = std::fs::read_link(&link).unwrap_or_default();
        return Err(Cause::Dangling { target });
    };
    let Some(device) = BlockDevice::at(root, name) else {
        return Err(Cause::NotBlock { target: root.inside(&real) });
    };
    if device.is_partition() {
        let drive = device.whole();
        let offered = stable_names(root, &drive);
        return Err(Cause::Partition { drive: drive.name().to_owned(), offered });
    }
    if !device.is_physical() {
        return Err(Cause::NotDrive { device: device.name().to_owned() });
    }
    Ok(Target::new(root, name, device))
}

/// Whether a name is `/dev/disk/by-id/SOMETHING`, written without detours.
fn is_by_id(name: &Path) -> bool {
    name.parent() == Some(Path::new(BY_ID))
        && name.file_name().is_some_and(|file| Path::new(BY_ID).join(file) == name)
        // `Path` ignores doubled and trailing slashes and single dots.
        && name.as_os_str().len() == BY_ID.len() + 1 + name.file_name().map_or(0, |f| f.len())
}

/// Links in `/dev/disk/by-id` that lead to a device; those that people can read
/// before those that are numbers.
pub fn stable_names(root: &SystemRoot, device: &BlockDevice) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = root
        .names(BY_ID)
        .iter()
        .map(|name| Path::new(BY_ID).join(name))
        .filter(|name| BlockDevice::at(root, name).as_ref() == Some(device))
        .collect();
    names.sort_by_key(|name| {
        let file = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_number = ["wwn-", "nvme-eui.", "nvme-nvme.", "scsi-3", "dm-uuid-", "md-uuid-"];
        (is_number.iter().any(|prefix| file.starts_with(prefix)), file)
    });
    names
}

/// One device under two names, or two paths of one drive (multipath): the same
/// world-wide name and serial number.
fn is_same_drive(a: &Target, b: &Target) -> bool {
    let (x, y) = (&a.fingerprint, &b.fingerprint);
    let same_wwid = x.wwid.is_some() && x.wwid == y.wwid;
    a.device == b.device || (same_wwid && x.serial == y.serial && x.size_bytes == y.size_bytes)
}

/// Devices that are other paths to the same drive (multipath).
pub(crate) fn other_paths(root: &SystemRoot, target: &Target) -> Vec<BlockDevice> {
    let all = BlockDevice::all(root).into_iter().filter(BlockDevice::is_physical);
    let others = all.filter(|device| *device != target.device);
    others.filter(|d| is_same_drive(target, &Target::new(root, &target.name, d.clone()))).collect()
}

/// Whether the link's name lacks the drive's serial number, where such names
/// have it (udev's ata_id and its NVMe rules replace what is no letter or digit).
pub(crate) fn name_lacks_serial(target: &Target) -> Option<&str> {
    let serial = target.fingerprint.serial.as_deref()?;
    let name = target.name.file_name()?.to_str()?;
    let carries = name.starts_with("ata-")
        || (name.starts_with("nvme-")
            && !name.contains("nvme-eui.")
            && !name.contains("nvme-nvme."));
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    (carries && !plain(name).contains(&plain(serial))).then_some(serial)
}

/// All whole drives that carry this serial number.
pub(crate) fn drives_with_serial(root: &SystemRoot, serial: &str) -> Vec<String> {
    let all = BlockDevice::all(root);
    let drives = all.iter().filter(|device| device.is_physical());
    let with = drives.filter(|d| disklab_measure::identity(d).serial.as_deref() == Some(serial));
    // Two paths of one drive are one drive. Cheap adapters give every drive the
    // same serial number and world-wide name, but tell its model and size.
    let mut seen = BTreeSet::new();
    with.filter(|d| {
        let identity = disklab_measure::identity(d);
        let (model, size) = (identity.model, d.size_bytes());
        identity.wwid.is_none_or(|wwid| seen.insert((wwid, model, size)))
    })
    .map(|device| device.name().to_owned())
    .collect()
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    fn made() -> (tempfile::TempDir, Fabricated) {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.drive("sdb", (8, 16), "B");
        tree.link("/dev/disk/by-id/wwn-0x5000", "../../sda");
        tree.link("/dev/disk/by-id/ata-TESTDRIVE_1000_A-part1", "../../sda1");
        (directory, tree)
    }

    fn refused(tree: &Fabricated, names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let refusals = resolve(&tree.root(), &names).expect_err("refused");
        refusals.iter().map(ToString::to_string).collect()
    }

    const A: &str = "/dev/disk/by-id/ata-TESTDRIVE_1000_A";
    const B: &str = "/dev/disk/by-id/ata-TESTDRIVE_1000_B";

    #[test]
    fn stable_names_lead_to_drives() {
        let (_directory, tree) = made();
        let targets = resolve(&tree.root(), &[A.to_owned(), B.to_owned()]).expect("two drives");
        assert_eq!(targets[0].node(), Path::new("/dev/sda"));
        assert_eq!(targets[1].fingerprint.serial.as_deref(), Some("B"));
        assert_eq!(resolve(&tree.root(), &[]), Ok(Vec::new()));
    }

    #[test]
    fn a_kernel_name_is_refused_and_the_stable_one_offered() {
        let (_directory, tree) = made();
        tree.link("/dev/disk/by-path/pci-1", "../../sda");
        for name in ["/dev/sda", "/dev/sda1", "/dev/disk/by-path/pci-1", "ata-TESTDRIVE_1000_A"] {
            let text = refused(&tree, &[name]).remove(0);
            assert!(text.contains("after the next start") && text.ends_with(A), "{text}");
        }
        // Detours are no stable names either.
        for name in [
            "/dev/disk/by-id/../../sda",
            "/dev/disk/by-id//wwn-0x5000",
            "/dev/disk/by-id/x/wwn-0x5000",
            "/dev/disk/by-id/wwn-0x5000 ",
            " /dev/disk/by-id/wwn-0x5000",
            "/dev/disk/by-id/wwn-0x5000\n",
        ] {
            let text = refused(&tree, &[name]).remove(0);
            assert!(text.contains("not touched"), "{text}");
        }
    }

    #[test]
    fn partitions_stacked_devices_and_other_files_are_refused() {
        let (_directory, tree) = made();
        tree.stacked("md0", (9, 0), &["sda1"]).link("/dev/disk/by-id/md-name-x", "../../md0");
        tree.file("/etc/passwd", "x");
        tree.link("/dev/disk/by-id/ata-evil", "../../../etc/passwd");
        tree.link("/dev/disk/by-id/ata-gone", "../../sdz");
        let texts = refused(
            &tree,
            &[
                "/dev/disk/by-id/ata-TESTDRIVE_1000_A-part1",
                "/dev/disk/by-id/md-name-x",
                "/dev/disk/by-id/ata-evil",
                "/dev/disk/by-id/ata-gone",
                "/dev/disk/by-id/ata-never",
            ],
        );
        let words = [
            "partition of sda",
            "md0, which is not a drive",
            "/etc/passwd, which is not a block device",
            "points to ../../sdz",
            "there is no such name",
        ];
        assert_eq!(texts.len(), words.len());
        for (text, word) in texts.iter().zip(words) {
            assert!(text.contains(word), "{text}");
        }
        assert!(texts[0].contains(A), "{}", texts[0]);
    }

    #[test]
    fn a_system_without_stable_names_says_what_can_be_done() {
        let (_directory, tree) = made();
        std::fs::remove_dir_all(tree.path("/dev/disk/by-id")).expect("removed");
        for name in [A, "/dev/sda", "ata-TESTDRIVE_1000_A"] {
            let text = refused(&tree, &[name]).remove(0);
            assert!(
                text.contains("no /dev/disk/by-id") && text.contains("--on dir:PATH"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_drive_is_taken_once() {
        let (_directory, tree) = made();
        let text = refused(&tree, &[A, "/dev/disk/by-id/wwn-0x5000"]).remove(0);
        assert!(text.contains("the same drive as") && text.ends_with("once"), "{text}");
        // Two paths of one drive.
        tree.drive("sdc", (8, 32), "B");
        tree.link("/dev/disk/by-id/scsi-other-path", "../../sdc");
        let text = refused(&tree, &[B, "/dev/disk/by-id/ata-TESTDRIVE_1000_B", A]).remove(0);
        assert!(text.contains("the same drive"), "{text}");
    }

    #[test]
    fn a_name_with_another_serial_is_noticed() {
        let (_directory, tree) = made();
        let target =
            |name: &str| resolve(&tree.root(), &[name.to_owned()]).expect("resolves").remove(0);
        assert_eq!(name_lacks_serial(&target(A)), None);
        assert_eq!(name_lacks_serial(&target("/dev/disk/by-id/wwn-0x5000")), None);
        tree.set("sda", "device/serial", "OTHER");
        assert_eq!(name_lacks_serial(&target(A)), Some("OTHER"));
    }
}
