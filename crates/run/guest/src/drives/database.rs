//! What udev would have made of the drives: links below `/dev/disk/by-id`, and its database in
//! `/run/udev/data`, from which lsblk, zpool and others take models and serial numbers (systemd
//! 252: `device_update_db` in `src/libsystemd/sd-device/device-private.c`; rules
//! `60-persistent-storage.rules`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use disklab_drive::Transport;

use super::facts::{DriveFacts, FIRMWARE};
use super::names::{encode, replace_chars, word};

/// Where all of it is; another directory in tests.
#[derive(Debug, Clone)]
pub struct DeviceDatabase {
    sys: PathBuf,
    dev: PathBuf,
    run: PathBuf,
}

impl Default for DeviceDatabase {
    fn default() -> Self {
        Self::below(Path::new("/"))
    }
}

/// A drive, or a partition of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    name: String,
    /// `MAJOR:MINOR`.
    number: String,
    partition: Option<u32>,
}

impl DeviceDatabase {
    /// Below this directory.
    pub fn below(root: &Path) -> Self {
        Self { sys: root.join("sys/block"), dev: root.join("dev"), run: root.join("run/udev/data") }
    }

    /// Brings links and database to what there is now. A process that calls it at the same time does
    /// the same.
    ///
    /// # Errors
    /// That of the first file or directory that cannot be written.
    pub fn refresh(&self, drives: &[DriveFacts]) -> io::Result<()> {
        let links = self.dev.join("disk/by-id");
        fs::create_dir_all(&links)?;
        fs::create_dir_all(&self.run)?;
        let mut wanted = BTreeMap::new();
        let mut entries = BTreeSet::new();
        for drive in drives {
            for node in self.nodes(drive) {
                let names = link_names(drive, node.partition);
                let entry = format!("b{}", node.number);
                self.write_entry(&entry, &entry_text(drive, &names))?;
                entries.insert(entry);
                for name in names {
                    wanted.entry(name).or_insert_with(|| format!("../../{}", node.name));
                }
            }
        }
        self.remove_stale(&links, drives, &wanted, &entries);
        for (name, target) in wanted {
            match symlink(target, links.join(name)) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }

    /// The drive and its partitions, as far as the kernel has them.
    fn nodes(&self, drive: &DriveFacts) -> Vec<Node> {
        let directory = self.sys.join(&drive.node);
        let node = |directory: &Path, name: &str, partition| {
            let number = fs::read_to_string(directory.join("dev")).ok()?.trim().to_owned();
            Some(Node { name: name.to_owned(), number, partition })
        };
        let mut nodes: Vec<Node> = node(&directory, &drive.node, None).into_iter().collect();
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let number = fs::read_to_string(entry.path().join("partition"));
            let Some(number) = number.ok().and_then(|n| n.trim().parse().ok()) else { continue };
            nodes.extend(node(&entry.path(), &entry.file_name().to_string_lossy(), Some(number)));
        }
        nodes
    }

    /// Writes an entry whole or not at all, and only if it changes.
    fn write_entry(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.run.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        let unfinished = self.run.join(format!(".#{name}.{}", std::process::id()));
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, path)
    }

    /// Removes what partitions left that are gone, and links that lead elsewhere now. Links of
    /// others stay.
    fn remove_stale(
        &self,
        links: &Path,
        drives: &[DriveFacts],
        wanted: &BTreeMap<String, String>,
        entries: &BTreeSet<String>,
    ) {
        let stems: Vec<String> = drives.iter().flat_map(|drive| link_names(drive, None)).collect();
        let is_own = |name: &str| {
            stems.iter().any(|stem| {
                let rest = name.strip_prefix(stem.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-part"))
            })
        };
        for entry in fs::read_dir(links).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let target = fs::read_link(entry.path()).unwrap_or_default();
            if is_own(&name) && wanted.get(&name).is_none_or(|to| target != Path::new(to)) {
                let _ = fs::remove_file(entry.path());
            }
        }
        for entry in fs::read_dir(&self.run).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('b') && !entries.contains(&name) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The drive's names below `/dev/disk/by-id`: that of its modelled kind, and virtio's.
fn link_names(drive: &DriveFacts, partition: Option<u32>) -> Vec<String> {
    let bus = match drive.transport {
        Transport::Sata => "ata",
        Transport::Sas => "scsi",
        Transport::Nvme => "nvme",
    };
    let part = partition.map(|number| format!("-part{number}")).unwrap_or_default();
    vec![
        format!("{bus}-{}{part}", identity(drive)),
        format!("virtio-{}{part}", replace_chars(&drive.serial)),
    ]
}

/// `ID_SERIAL`: as `ata_id`, as `scsi_id` of a drive without page 0x83 (`S`, vendor, product and
/// serial number), and as the rules for NVMe.
fn identity(drive: &DriveFacts) -> String {
    let serial = word(&drive.serial);
    match drive.transport {
        Transport::Sata => format!("{}_{serial}", word(&drive.model_field(40))),
        Transport::Sas => {
            let (vendor, product) = drive.vendor_and_product();
            format!("S{}_{serial}", word(&format!("{vendor} {product}")))
        }
        Transport::Nvme => format!("{}_{serial}", replace_chars(drive.model_field(40).trim_end())),
    }
}

/// An entry of the database.
fn entry_text(drive: &DriveFacts, names: &[String]) -> String {
    let mut text: String = names.iter().map(|name| format!("S:disk/by-id/{name}\n")).collect();
    // Since when it is known, microseconds; a process that waits for it waits for this.
    text.push_str("I:1\n");
    for (name, value) in properties(drive) {
        text.push_str(&format!("E:{name}={value}\n"));
    }
    text + "V:1\n"
}

/// The properties that `ata_id`, `scsi_id` and the rules for NVMe set. A partition has those of
/// its drive.
fn properties(drive: &DriveFacts) -> Vec<(&'static str, String)> {
    let model = drive.model_field(40);
    let mut all = Vec::new();
    match drive.transport {
        Transport::Sata => {
            all.extend([("ID_ATA", "1".to_owned()), ("ID_BUS", "ata".to_owned())]);
            all.extend([("ID_ATA_SATA", "1".to_owned()), ("ID_ATA_WRITE_CACHE", "1".to_owned())]);
            let enabled = u8::from(drive.write_cache()).to_string();
            all.push(("ID_ATA_WRITE_CACHE_ENABLED", enabled));
            // ata_id says 0 of a drive that does not rotate.
            all.push(("ID_ATA_ROTATION_RATE_RPM", drive.rpm.unwrap_or(0).to_string()));
            all.extend([
                ("ID_MODEL", word(&model)),
                ("ID_MODEL_ENC", encode(&format!("{model:40}"))),
            ]);
        }
        Transport::Sas => {
            let (vendor, product) = drive.vendor_and_product();
            all.extend([("ID_SCSI", "1".to_owned()), ("ID_BUS", "scsi".to_owned())]);
            all.extend([
                ("ID_VENDOR", word(&vendor)),
                ("ID_VENDOR_ENC", encode(&format!("{vendor:8}"))),
            ]);
            all.extend([
                ("ID_MODEL", word(&product)),
                ("ID_MODEL_ENC", encode(&format!("{product:16}"))),
            ]);
            all.push(("ID_SCSI_SERIAL", word(&drive.serial)));
        }
        Transport::Nvme => {
            all.push(("ID_MODEL", replace_chars(model.trim_end())));
            all.push(("ID_MODEL_ENC", encode(model.trim_end())));
        }
    }
    all.extend([
        ("ID_TYPE", "disk".to_owned()),
        ("ID_REVISION", FIRMWARE.to_owned()),
        ("ID_SERIAL", identity(drive)),
        ("ID_SERIAL_SHORT", word(&drive.serial)),
    ]);
    all
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::facts;
    use super::*;

    /// A made-up `/sys/block/vda` with these partitions.
    fn machine(partitions: &[u32]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("temp");
        let disk = root.path().join("sys/block/vda");
        fs::create_dir_all(disk.join("queue")).expect("made");
        fs::write(disk.join("dev"), "253:0\n").expect("written");
        for number in partitions {
            add_partition(root.path(), *number);
        }
        root
    }

    fn add_partition(root: &Path, number: u32) {
        let directory = root.join(format!("sys/block/vda/vda{number}"));
        fs::create_dir_all(&directory).expect("made");
        fs::write(directory.join("dev"), format!("253:{number}\n")).expect("written");
        fs::write(directory.join("partition"), format!("{number}\n")).expect("written");
    }

    fn links(root: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(root.join("dev/disk/by-id")).expect("links");
        let mut all: Vec<_> = entries
            .flatten()
            .map(|e| {
                let target = fs::read_link(e.path()).expect("a link");
                (e.file_name().into_string().expect("UTF-8"), target.display().to_string())
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn drives_and_partitions_have_links_and_entries() {
        let root = machine(&[1, 9]);
        let database = DeviceDatabase::below(root.path());
        let drives = [facts("wd40efrx-68n32n0")];
        database.refresh(&drives).expect("refreshed");
        let stem = "ata-WDC_WD40EFRX-68N32N0_S-01";
        let expected = [
            (stem.to_owned(), "../../vda".to_owned()),
            (format!("{stem}-part1"), "../../vda1".to_owned()),
            (format!("{stem}-part9"), "../../vda9".to_owned()),
        ];
        assert_eq!(links(root.path())[..3], expected);
        assert_eq!(links(root.path()).len(), 6);
        let entry = fs::read_to_string(root.path().join("run/udev/data/b253:9")).expect("entry");
        for line in [
            "S:disk/by-id/ata-WDC_WD40EFRX-68N32N0_S-01-part9\n",
            "E:ID_MODEL=WDC_WD40EFRX-68N32N0\n",
            "E:ID_MODEL_ENC=WDC\\x20WD40EFRX-68N32N0\\x20",
            "E:ID_SERIAL_SHORT=S-01\n",
            "\nI:1\n",
        ] {
            assert!(entry.contains(line), "{line} in {entry}");
        }
        // A partition goes, another comes; what a user made stays.
        fs::remove_dir_all(root.path().join("sys/block/vda/vda9")).expect("removed");
        add_partition(root.path(), 2);
        symlink("../../vda", root.path().join("dev/disk/by-id/mine")).expect("linked");
        database.refresh(&drives).expect("refreshed");
        let names: Vec<String> = links(root.path()).into_iter().map(|(name, _)| name).collect();
        assert!(names.contains(&format!("{stem}-part2")) && names.contains(&"mine".to_owned()));
        assert!(!names.iter().any(|name| name.ends_with("-part9")), "{names:?}");
        assert!(!root.path().join("run/udev/data/b253:9").exists());
    }

    #[test]
    fn each_kind_of_drive_is_named_as_udev_names_it() {
        let name = |id: &str| link_names(&facts(id), Some(1)).remove(0);
        assert_eq!(name("samsung-980-1tb"), "nvme-Samsung_SSD_980_1TB_S-01-part1");
        assert_eq!(name("st9300603ss"), "scsi-SST9300603SS_S-01-part1");
        assert_eq!(name("samsung-870evo-1tb"), "ata-Samsung_SSD_870_EVO_1TB_S-01-part1");
    }

    #[test]
    fn odd_models_and_serial_numbers_stay_in_their_place() {
        let root = machine(&[1]);
        for model in ["../../../etc/x", "a\nE:ID_FS_TYPE=ext4", "\"'$(reboot)` ", "é?*", ""] {
            for id in ["hdn721010ale604", "samsung-980-1tb", "st9300603ss"] {
                let mut drive = facts(id);
                (drive.model, drive.serial) = (model.to_owned(), "S/../N \\x2f\n1".to_owned());
                DeviceDatabase::below(root.path()).refresh(&[drive]).expect("refreshed");
                let entry = fs::read_to_string(root.path().join("run/udev/data/b253:0"));
                let entry = entry.expect("entry");
                let known = ["S:disk/by-id/", "E:ID_", "I:1", "V:1"];
                for line in entry.lines() {
                    assert!(known.iter().any(|start| line.starts_with(start)), "{line}");
                }
                let forged = entry.lines().find(|line| line.starts_with("E:ID_FS_TYPE"));
                assert_eq!(forged, None, "{entry}");
            }
        }
        let directories: Vec<_> = fs::read_dir(root.path()).expect("root").flatten().collect();
        assert_eq!(directories.len(), 3, "{directories:?}");
        // Each was the next one's stale link or has another name.
        assert!(links(root.path()).iter().all(|(name, _)| !name.contains('/')));
    }

    #[test]
    fn two_drives_of_one_name_keep_the_first() {
        let root = machine(&[]);
        let second = root.path().join("sys/block/vdb");
        fs::create_dir_all(&second).expect("made");
        fs::write(second.join("dev"), "253:16\n").expect("written");
        let twin = DriveFacts { node: "vdb".to_owned(), ..facts("hdn721010ale604") };
        let database = DeviceDatabase::below(root.path());
        for _ in 0..2 {
            database.refresh(&[facts("hdn721010ale604"), twin.clone()]).expect("refreshed");
            assert!(links(root.path()).iter().all(|(_, target)| target == "../../vda"));
        }
        assert!(root.path().join("run/udev/data/b253:16").exists());
    }
}
