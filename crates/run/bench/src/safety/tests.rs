//! The rules on machines that do not exist.

use disklab_measure::fabricated::Fabricated;
use disklab_measure::{BlockDevice, SystemRoot};
use proptest::prelude::*;

use super::*;

/// Replaces the drive and the kernel: finds these signatures, and finds
/// these devices in use.
#[derive(Default)]
struct Fake {
    signatures: Vec<Signature>,
    busy: Vec<&'static str>,
    unreadable: bool,
    filled: bool,
}

impl Probe for Fake {
    fn signatures(&self, device: &BlockDevice) -> Result<Vec<Signature>, InspectionError> {
        if self.unreadable {
            return Err(InspectionError::NoSignatures);
        }
        let here = self.signatures.iter().filter(|s| s.device == device.name());
        Ok(here.cloned().collect())
    }

    fn surface(&self, device: &BlockDevice, _: &Hold, _: u64) -> Result<Surface, InspectionError> {
        let size = device.size_bytes();
        let data_at = self.filled.then_some(4096);
        Ok(Surface { size, read: size / 2, places: 128, data_at })
    }

    fn open_exclusively(&self, device: &BlockDevice, _write: bool) -> Result<Hold, OpenError> {
        let busy = self.busy.contains(&device.name());
        if busy { Err(OpenError::Busy) } else { Ok(Hold::nothing()) }
    }
}

fn signature(device: &str, kind: &str, label: Option<&str>) -> Signature {
    let (device, kind) = (device.to_owned(), kind.to_owned());
    Signature { device, kind, label: label.map(str::to_owned) }
}

/// Two drives: `sda` with the system on it, and `sdb`, blank.
fn machine() -> (tempfile::TempDir, Fabricated) {
    let directory = tempfile::tempdir().expect("temp");
    let tree = Fabricated::new(directory.path());
    tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1)).partition(
        "sda",
        "sda2",
        (8, 2),
    );
    tree.drive("sdb", (8, 16), "B");
    (directory, tree)
}

fn target(root: &SystemRoot, serial: &str) -> Target {
    let name = format!("/dev/disk/by-id/ata-TESTDRIVE_1000_{serial}");
    resolve(root, &[name]).expect("resolves").remove(0)
}

fn checked(tree: &Fabricated, serial: &str, fake: &Fake, erase: &[&str]) -> Inspection {
    let root = tree.root();
    let erase: Vec<String> = erase.iter().map(|s| (*s).to_owned()).collect();
    check(&root, fake, &target(&root, serial), &erase)
}

fn words(inspection: &Inspection) -> String {
    inspection.refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Asserts that the drive with `serial` is refused, in these words.
fn refused(tree: &Fabricated, serial: &str, fake: &Fake, expected: &[&str]) {
    let inspection = checked(tree, serial, fake, &[serial]);
    let words = words(&inspection);
    assert!(!inspection.is_free());
    for word in expected {
        assert!(words.contains(word), "no '{word}' in: {words}");
    }
    let root = tree.root();
    let claimed = claim(&root, fake, &target(&root, serial), &[serial.to_owned()]);
    assert!(claimed.is_err(), "checked as refused, and claimed all the same");
}

#[test]
fn a_blank_drive_is_free() {
    let (_directory, tree) = machine();
    let fake = Fake::default();
    let inspection = checked(&tree, "B", &fake, &[]);
    assert!(inspection.is_free());
    let [Warning::Blank { surface }] = inspection.warnings.as_slice() else {
        panic!("nothing says how blank it is: {inspection:?}")
    };
    assert!(surface.to_string().contains("128 random offsets"), "{surface}");
    let root = tree.root();
    let claim = claim(&root, &fake, &target(&root, "B"), &[]).expect("free");
    assert_eq!(claim.target.node(), std::path::Path::new("/dev/sdb"));
    assert_eq!(claim.warnings, inspection.warnings);
    assert!(claim.hold().file().is_none());
}

#[test]
fn a_mounted_partition_and_the_root_drive_are_refused() {
    let (_directory, tree) = machine();
    tree.mount((8, 2), "/dev/sda2", "/home", "ext4");
    refused(&tree, "A", &Fake::default(), &["sda2 is mounted at /home"]);
    tree.mount((8, 1), "/dev/sda1", "/", "ext4");
    refused(
        &tree,
        "A",
        &Fake::default(),
        &["the root file system of this machine is on it (sda1)"],
    );
}

#[test]
fn the_root_drive_is_found_below_lvm_on_crypt_on_md() {
    let (_directory, tree) = machine();
    tree.partition("sdb", "sdb1", (8, 17)).stacked("md0", (9, 0), &["sda1", "sdb1"]);
    tree.stacked("dm-0", (252, 0), &["md0"]).stacked("dm-1", (252, 1), &["dm-0"]);
    tree.set("dm-1", "dm/name", "vg-root").mount((252, 1), "/dev/mapper/vg-root", "/", "xfs");
    for serial in ["A", "B"] {
        refused(
            &tree,
            serial,
            &Fake::default(),
            &[
                "the root file system of this machine is on it (dm-1 (vg-root))",
                "dm-1 (vg-root) is mounted at /",
                "is in use by md0",
            ],
        );
    }
}

#[test]
fn holders_are_refused_also_where_nothing_is_mounted() {
    let (_directory, tree) = machine();
    tree.stacked("dm-0", (252, 0), &["sdb"]).set("dm-0", "dm/name", "luks-x");
    refused(&tree, "B", &Fake::default(), &["sdb is in use by dm-0 (luks-x); stop that first"]);
}

#[test]
fn bcache_without_its_cache_set_is_refused() {
    let (_directory, tree) = machine();
    tree.set("sdb", "bcache/state", "no cache");
    refused(&tree, "B", &Fake::default(), &["sdb is in use by bcache"]);
}

#[test]
fn loop_devices_on_top_are_refused() {
    let (_directory, tree) = machine();
    tree.looped("loop0", (7, 0), "/dev/sdb");
    refused(&tree, "B", &Fake::default(), &["sdb is in use by loop0 (/dev/sdb)"]);
    tree.mount((8, 2), "/dev/sda2", "/data", "ext4").looped("loop1", (7, 1), "/data/image");
    refused(&tree, "A", &Fake::default(), &["sda2 is in use by loop1 (/data/image)"]);
}

#[test]
fn the_second_device_of_a_btrfs_is_refused() {
    let (_directory, tree) = machine();
    tree.btrfs("0-1-2", &["sda2", "sdb"]).mount((0, 40), "/dev/sda2", "/b", "btrfs");
    refused(&tree, "B", &Fake::default(), &["sdb belongs to the mounted Btrfs 0-1-2"]);
    refused(&tree, "A", &Fake::default(), &["sda2 belongs to", "sda2 is mounted at /b"]);
}

#[test]
fn a_root_on_btrfs_over_two_drives_is_found_on_both() {
    let (_directory, tree) = machine();
    tree.btrfs("0-1-2", &["sda2", "sdb"]).mount((0, 40), "/dev/sda2", "/", "btrfs");
    for serial in ["A", "B"] {
        refused(&tree, serial, &Fake::default(), &["root file system of this machine"]);
    }
}

#[test]
fn all_devices_of_a_bcachefs_are_refused() {
    let (_directory, tree) = machine();
    tree.mount((0, 41), "/dev/sda2:/dev/sdb", "/bc", "bcachefs");
    for serial in ["A", "B"] {
        refused(&tree, serial, &Fake::default(), &["is mounted at /bc"]);
    }
}

#[test]
fn swap_is_refused_as_device_and_as_file() {
    let (_directory, tree) = machine();
    tree.swap("/dev/sda1", "partition");
    refused(&tree, "A", &Fake::default(), &["/dev/sda1 is swap space in use"]);
    tree.mount((8, 16), "/dev/sdb", "/with\\040space", "ext4");
    tree.swap("/with\\040space/swapfile", "file");
    refused(&tree, "B", &Fake::default(), &["/with space/swapfile is swap space"]);
}

#[test]
fn a_use_of_another_path_to_the_drive_counts() {
    let (_directory, tree) = machine();
    tree.drive("sdc", (8, 32), "B");
    tree.link("/dev/disk/by-id/ata-TESTDRIVE_1000_B", "../../sdb");
    assert!(checked(&tree, "B", &Fake::default(), &[]).is_free());
    tree.mount((8, 32), "/dev/sdc", "/m", "xfs");
    refused(&tree, "B", &Fake::default(), &["sdc, which is in use", "another path"]);
}

#[test]
fn an_open_drive_is_refused() {
    let (_directory, tree) = machine();
    tree.process(77, 77, "qemu-system-x86\n").link("/proc/77/task/77/fd/9", "/dev/sdb");
    refused(&tree, "B", &Fake::default(), &["process qemu-system-x86 (77) has sdb open"]);
}

#[test]
fn a_drive_in_use_by_means_unseen_is_refused() {
    let (_directory, tree) = machine();
    let fake = Fake { busy: vec!["sdb"], ..Fake::default() };
    refused(&tree, "B", &fake, &["the kernel has it in use"]);
}

#[test]
fn read_only_and_empty_drives_are_refused_and_removable_ones_noted() {
    let (_directory, tree) = machine();
    tree.set("sdb", "removable", "1");
    let warnings = checked(&tree, "B", &Fake::default(), &[]).warnings;
    assert!(matches!(warnings.as_slice(), [Warning::Removable, Warning::Blank { .. }]));
    tree.set("sdb", "ro", "1").set("sdb", "size", "0");
    refused(&tree, "B", &Fake::default(), &["read-only", "its size is 0"]);
}

#[test]
fn signatures_are_refused_unless_the_exact_serial_is_named() {
    let (_directory, tree) = machine();
    let zfs = signature("sdb", "zfs_member", Some("tank"));
    let fake = Fake { signatures: vec![zfs.clone()], ..Fake::default() };
    for erase in [vec![], vec!["A"], vec!["b"], vec!["B "], vec![""], vec!["sdb"]] {
        let text = words(&checked(&tree, "B", &fake, &erase));
        assert!(text.contains("zfs_member on sdb ('tank')"), "{text}");
        assert!(text.contains("zpool import") && text.contains("--erase B"), "{text}");
    }
    let allowed = checked(&tree, "B", &fake, &["X", "B"]);
    assert!(allowed.is_free());
    let Some(Warning::Erases { found, .. }) = allowed.warnings.first() else {
        panic!("no word of what is erased: {allowed:?}")
    };
    assert_eq!(found, &[zfs]);
}

#[test]
fn empty_partitions_count_as_data() {
    let (_directory, tree) = machine();
    let text = words(&checked(&tree, "A", &Fake::default(), &[]));
    assert!(text.contains("partition on sda1, partition on sda2"), "{text}");
    let fake =
        Fake { signatures: vec![signature("sda2", "ext4", Some("home"))], ..Fake::default() };
    let text = words(&checked(&tree, "A", &fake, &[]));
    assert!(text.contains("ext4 on sda2 ('home')"), "{text}");
}

#[test]
fn a_drive_with_unsigned_data_is_refused_unless_its_serial_is_named() {
    let (_directory, tree) = machine();
    let fake = Fake { filled: true, ..Fake::default() };
    let root = tree.root();
    let target = target(&root, "B");
    for erase in [vec![], vec!["A"], vec!["b"], vec![""]] {
        let text = words(&checked(&tree, "B", &fake, &erase));
        assert!(text.contains("it is not blank: data without a signature at byte 4096"), "{text}");
        assert!(text.contains("plain dm-crypt") && text.contains("--erase B"), "{text}");
        let erase: Vec<String> = erase.iter().map(|s| (*s).to_owned()).collect();
        assert!(claim(&root, &fake, &target, &erase).is_err());
    }
    let allowed = checked(&tree, "B", &fake, &["B"]);
    assert!(allowed.is_free());
    let text = allowed.warnings[0].to_string();
    assert!(text.contains("will be erased: data without a signature"), "{text}");
    // What this run wrote is its own.
    assert!(reclaim(&root, &fake, &target).is_ok());
    // And if two drives have that serial number, it names neither.
    tree.drive("sdc", (8, 32), "C").set("sdc", "device/serial", "B");
    let text = words(&checked(&tree, "B", &fake, &["B"]));
    assert!(text.contains("sdb, sdc have that serial number"), "{text}");
}

#[test]
fn a_pin_notices_that_names_and_drive_do_not_belong_together_any_more() {
    let (_directory, tree) = machine();
    let root = tree.root();
    let claim = claim(&root, &Fake::default(), &target(&root, "B"), &[]).expect("free");
    let pin = claim.into_pin(&root).expect("pinned");
    assert_eq!(pin.check(), Ok(()));
    let changed = || pin.check().expect_err("changed").to_string();
    tree.set("sdb", "device/serial", "OTHER");
    assert!(changed().contains("the serial number was B and is OTHER"), "{}", changed());
    tree.set("sdb", "device/serial", "B").set("sdb", "diskseq", "99");
    assert!(changed().contains("unplugged or attached anew"), "{}", changed());
    std::fs::remove_dir_all(tree.path("/sys/class/block/sdb")).expect("unplugged");
    assert!(changed().contains("it is gone"), "{}", changed());
}

#[test]
fn signatures_of_the_run_are_accepted_but_mounts_are_not() {
    let (_directory, tree) = machine();
    let fake = Fake { signatures: vec![signature("sdb", "ext4", None)], ..Fake::default() };
    tree.set("sdb", "device/serial", "");
    let root = tree.root();
    let target = target(&root, "B");
    assert!(claim(&root, &fake, &target, &[]).is_err());
    assert!(reclaim(&root, &fake, &target).is_ok());
    tree.mount((8, 16), "/dev/sdb", "/m", "ext4");
    assert!(reclaim(&root, &fake, &target).is_err());
}

#[test]
fn our_own_leftovers_are_named_and_refused() {
    let (_directory, tree) = machine();
    let own = signature("sdb", "linux_raid_member", Some("host:disklab12x3"));
    let fake = Fake { signatures: vec![own], ..Fake::default() };
    let text = words(&checked(&tree, "B", &fake, &[]));
    assert!(text.contains("looks like a leftover of disklab"), "{text}");
}

#[test]
fn a_serial_that_two_drives_have_erases_neither() {
    let (_directory, tree) = machine();
    tree.drive("sdc", (8, 32), "C").set("sdc", "device/serial", "B");
    let fake = Fake { signatures: vec![signature("sdb", "xfs", None)], ..Fake::default() };
    refused(&tree, "B", &fake, &["sdb, sdc have that serial number"]);
}

#[test]
fn a_drive_without_serial_can_not_be_named_for_erasing() {
    let (_directory, tree) = machine();
    tree.set("sdb", "device/serial", "");
    let fake = Fake { signatures: vec![signature("sdb", "xfs", None)], ..Fake::default() };
    for erase in ["", "none", "B"] {
        let text = words(&checked(&tree, "B", &fake, &[erase]));
        assert!(text.contains("has no serial number"), "{text}");
    }
}

#[test]
fn drives_that_cannot_be_inspected_are_refused() {
    let (_directory, tree) = machine();
    let fake = Fake { unreadable: true, ..Fake::default() };
    let unknown = |fake: &Fake| {
        let inspection = checked(&tree, "B", fake, &["B"]);
        inspection.refusals.into_iter().find_map(|refusal| match refusal.cause {
            Cause::Unknown(error) => Some(error),
            _ => None,
        })
    };
    let error = unknown(&fake).expect("refused");
    assert!(matches!(*error, InspectionError::NoSignatures), "{error}");
    let refusal = target(&tree.root(), "B").refuse(Cause::Unknown(error.clone()));
    let source = std::error::Error::source(&refusal).expect("its source");
    assert_eq!(source.to_string(), error.to_string());
    assert!(unknown(&Fake::default()).is_none());
    tree.file("/proc/self/mountinfo", "");
    let error = unknown(&Fake::default()).expect("refused");
    assert!(matches!(*error, InspectionError::NoMounts), "{error}");
}

#[test]
fn a_drive_that_changed_since_the_plan_is_refused() {
    let (_directory, tree) = machine();
    let root = tree.root();
    let planned = target(&root, "B");
    let refused = |tree: &Fabricated| {
        let refusals = claim(&tree.root(), &Fake::default(), &planned, &[]).expect_err("refused");
        refusals[0].to_string()
    };
    tree.set("sdb", "device/serial", "B2");
    let text = refused(&tree);
    assert!(text.contains("changed between plan and run: the serial number was B"), "{text}");
    tree.set("sdb", "device/serial", "B");
    tree.link("/dev/disk/by-id/ata-TESTDRIVE_1000_B", "../../sda");
    assert!(refused(&tree).contains("leads to sda now"));
    tree.link("/dev/disk/by-id/ata-TESTDRIVE_1000_B", "../../sdz");
    assert!(refused(&tree).contains("leads nowhere now"));
}

#[test]
fn nvme_namespaces_are_drives_like_any_other() {
    let (_directory, tree) = machine();
    tree.drive("nvme0n1", (259, 0), "N").partition("nvme0n1", "nvme0n1p1", (259, 1));
    tree.link("/dev/disk/by-id/nvme-eui.0025", "../../nvme0n1");
    tree.mount((259, 1), "/dev/nvme0n1p1", "/boot/efi", "vfat");
    refused(&tree, "N", &Fake::default(), &["nvme0n1p1 is mounted at /boot/efi"]);
}

/// What makes a drive a forbidden one.
#[derive(Debug, Clone, Copy)]
enum Use {
    Mounted,
    Swapped,
    InArray,
    LoopDevice,
    Btrfs,
    Opened,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A random tower on a random drive, used at a random height: that drive is
    /// refused, with `--erase` too, and another drive is as free as it was.
    #[test]
    fn devices_in_use_at_any_level_are_refused(
        // Of each device in the tower: what it is built on, and how.
        tower in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3), 0..7),
        at in any::<prop::sample::Index>(),
        used in prop::sample::select(vec![
            Use::Mounted, Use::Swapped, Use::InArray, Use::LoopDevice, Use::Btrfs, Use::Opened,
        ]),
    ) {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").drive("sdb", (8, 16), "B");
        let mut devices = vec![("sda".to_owned(), (8, 0))];
        for (step, (below, how)) in tower.iter().enumerate() {
            let (below, _) = devices[below.index(devices.len())].clone();
            let minor = step as u32;
            let partition = tree.path(&format!("/sys/class/block/{below}/partition"));
            let whole = !partition.exists();
            devices.push(match how {
                0 if whole => {
                    let name = format!("{below}p{step}");
                    tree.partition(&below, &name, (259, minor));
                    (name, (259, minor))
                }
                1 => {
                    let name = format!("loop{step}");
                    tree.looped(&name, (7, minor), &format!("/dev/{below}"));
                    (name, (7, minor))
                }
                _ => {
                    let name = format!("dm-{step}");
                    tree.stacked(&name, (252, minor), &[&below]);
                    (name, (252, minor))
                }
            });
        }
        let (name, number) = devices[at.index(devices.len())].clone();
        let node = format!("/dev/{name}");
        match used {
            Use::Mounted => { tree.mount(number, "/dev/whatever", "/m", "ext4"); }
            Use::Swapped => { tree.swap(&node, "partition"); }
            Use::InArray => { tree.stacked("md9", (9, 9), &[&name]); }
            Use::LoopDevice => { tree.looped("loop99", (7, 99), &node); }
            Use::Btrfs => { tree.btrfs("u", &[&name]); }
            Use::Opened => {
                tree.process(5, 5, "reader").link("/proc/5/task/5/fd/0", &node);
            }
        }
        let fake = Fake::default();
        let inspection = checked(&tree, "A", &fake, &["A"]);
        prop_assert!(!inspection.is_free(), "{:?} of {} was let through", used, name);
        let root = tree.root();
        prop_assert!(claim(&root, &fake, &target(&root, "A"), &["A".to_owned()]).is_err());
        prop_assert!(checked(&tree, "B", &fake, &[]).is_free());
    }
}

#[test]
fn only_stable_links_are_resolved() {
    let (_directory, tree) = machine();
    tree.link("/dev/disk/by-id/wwn-1", "../../sdb");
    let root = tree.root();
    proptest!(|(name in "(/dev/)?(disk/by-id/)?[a-z./-]{0,12}(sda|sdb|wwn-1)?")| {
        if let Ok(targets) = resolve(&root, std::slice::from_ref(&name)) {
            prop_assert_eq!(name.as_str(), "/dev/disk/by-id/wwn-1");
            prop_assert_eq!(targets[0].device.name(), "sdb");
        }
    });
}
