//! What the things of one ledger are recognised by.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{DeviceMapping, FileIdentity};
use crate::udev::kernel_name;

/// All UUIDs, names and labels that the owner of a ledger gave.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: HashSet<String>,
    /// dm-integrity has no UUID: its superblock is ours while the device is.
    integrity: Vec<DeviceMapping>,
    /// The files and directories that are entered, and names in them.
    paths: HashSet<PathBuf>,
    names: HashSet<PathBuf>,
    /// The directories of those names.
    directories: HashSet<PathBuf>,
    identities: Vec<(PathBuf, FileIdentity)>,
}

impl Marks {
    /// Adds what is recognised by `mark`.
    pub(crate) fn add(&mut self, mark: &str) {
        let mark = normal(mark);
        if !mark.is_empty() {
            self.marks.insert(mark);
        }
    }

    /// Adds a device on which a superblock of dm-integrity is ours.
    pub(crate) fn add_integrity(&mut self, mapping: &DeviceMapping) {
        self.integrity.push(mapping.clone());
    }

    /// Adds the paths of an entry, and which file or directory it created.
    pub(crate) fn add_paths(&mut self, paths: &[&Path], identity: Option<FileIdentity>) {
        for path in paths {
            self.paths.insert(path.to_path_buf());
            if let Some(identity) = identity {
                self.identities.push((path.to_path_buf(), identity));
            }
        }
    }

    /// Adds what a workload makes in `directory`.
    pub(crate) fn add_names(&mut self, directory: &Path, names: &[String]) {
        self.directories.insert(directory.to_owned());
        self.names.extend(names.iter().map(|name| directory.join(name)));
    }

    /// Whether one of disklab's has this UUID or name.
    pub(crate) fn has(&self, mark: &str) -> bool {
        self.marks.contains(&normal(mark))
    }

    /// Whether a label holds a mark as one of its words.
    pub(crate) fn has_word_of(&self, label: &str) -> bool {
        label.split_whitespace().any(|word| self.has(word))
    }

    /// Whether dm-integrity's superblock on `device` is ours.
    pub(crate) fn has_integrity_on(&self, device: &Path) -> bool {
        let name = kernel_name(device);
        let same =
            |mapping: &&DeviceMapping| name.is_some() && kernel_name(&mapping.device) == name;
        self.integrity.iter().filter(same).any(DeviceMapping::is_same_device)
    }

    /// Whether the run made something of this path.
    pub(crate) fn has_path(&self, path: &Path) -> bool {
        self.paths.contains(path) || self.names.contains(path)
    }

    /// Whether it is known of what lies in the directory `path` which is the run's.
    pub(crate) fn knows_names_in(&self, path: &Path) -> bool {
        self.directories.contains(path)
    }

    /// The file or directory that was created at `path`.
    pub(crate) fn identity(&self, path: &Path) -> Option<FileIdentity> {
        self.identities.iter().rev().find(|(p, _)| p == path).map(|(_, identity)| *identity)
    }
}

/// Programs part the digits of one UUID in different ways.
fn normal(mark: &str) -> String {
    mark.chars().filter(|c| !matches!(c, '-' | ':')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use disklab_measure::{BlockDevice, SystemRoot};

    use super::*;

    #[test]
    fn a_superblock_of_dm_integrity_is_known_by_its_device() {
        let mut marks = Marks::default();
        let devices = BlockDevice::all(&SystemRoot::here()).into_iter();
        let mut mappings = devices.map(|device| DeviceMapping::new("ours", &device.node(), ""));
        let Some(mapping) = mappings.find(DeviceMapping::is_same_device) else {
            eprintln!("skipped: needs a block device");
            return;
        };
        assert!(!marks.has_integrity_on(&mapping.device));
        marks.add_integrity(&mapping);
        assert!(marks.has_integrity_on(&mapping.device));
        assert!(!marks.has_integrity_on(Path::new("/dev/null")));
    }

    #[test]
    fn a_uuid_is_the_same_in_all_forms() {
        let mut marks = Marks::default();
        marks.add("00112233-4455-6677-8899-aabbccddeeff");
        marks.add("");
        assert!(marks.has("00112233:44556677:8899AABB:ccddeeff"));
        assert!(!marks.has("00112233:44556677:8899AABB:ccddee00"));
        assert!(!marks.has("") && !marks.has("-"));
        assert!(marks.has_word_of("disklab1x0 00112233-4455-6677-8899-aabbccddeeff"));
        assert!(!marks.has_word_of("holiday photos"));
    }

    #[test]
    fn names_are_own_only_in_their_directory() {
        let mut marks = Marks::default();
        marks.add_names(Path::new("/x/mnt"), &["test".to_owned()]);
        marks.add_paths(&[Path::new("/x/mnt/a.img")], None);
        assert!(marks.has_path(Path::new("/x/mnt/test")));
        assert!(marks.has_path(Path::new("/x/mnt/a.img")));
        assert!(!marks.has_path(Path::new("/x/test")));
        assert_eq!(marks.identity(Path::new("/x/mnt/a.img")), None);
    }
}
