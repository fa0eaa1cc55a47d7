//! Background maintenance that the kernel or an administrator runs on arrays and file systems.

use std::path::Path;

use disklab_sample::{OTHER_LAZY_INIT, OWN_LAZY_INIT, UNKNOWN_LAZY_INIT};

use super::inode_tables;
use crate::SystemRoot;
use crate::mounts::{mount_of, mounts};

const LAZY_THREAD: &str = "ext4lazyinit";

/// Programs and kernel threads whose presence is work on some drive, by their names
/// in `/proc/PID/comm`: ext4's thread ends when nothing is left to be initialised
/// (kernel: fs/ext4/super.c, `ext4_lazyinit_thread`); arrays of device-mapper have
/// threads as md has (drivers/md/md.c, `md_start_sync`).
const TASKS: [(&str, &str); 6] = [
    (LAZY_THREAD, OTHER_LAZY_INIT),
    ("mdX_resync", "resync of an LVM array"),
    ("mdX_reshape", "reshape of an LVM array"),
    ("fstrim", "fstrim"),
    ("badblocks", "badblocks"),
    ("updatedb", "updatedb"),
];

/// What runs now, each in a few words. `directory` is on the file system that is measured.
pub(super) fn background(root: &SystemRoot, directory: Option<&Path>) -> Vec<String> {
    let mut found = arrays(root);
    found.extend(btrfs(root));
    let mut tasks = tasks(root);
    for task in tasks.iter_mut().filter(|task| *task == OTHER_LAZY_INIT) {
        *task = lazy_init(root, directory).to_owned();
    }
    tasks.sort_unstable();
    tasks.dedup();
    found.extend(tasks);
    found
}

/// For whom ext4's thread works.
fn lazy_init(root: &SystemRoot, directory: Option<&Path>) -> &'static str {
    let mounts = mounts(root);
    let Some(mount) = directory.and_then(|directory| mount_of(&mounts, directory)) else {
        return UNKNOWN_LAZY_INIT;
    };
    let never = mount.super_options.split(',').any(|option| option == "noinit_itable");
    if mount.fs_type != "ext4" || never {
        return OTHER_LAZY_INIT;
    }
    match inode_tables::unwritten(&root.path(&mount.source)) {
        Some(true) => OWN_LAZY_INIT,
        Some(false) => OTHER_LAZY_INIT,
        None => UNKNOWN_LAZY_INIT,
    }
}

/// md's resync, recovery, check or reshape (Documentation/admin-guide/md.rst,
/// `sync_action`).
fn arrays(root: &SystemRoot) -> Vec<String> {
    let names = root.names("/sys/class/block");
    let action = |name: &String| {
        let action = root.value(format!("/sys/class/block/{name}/md/sync_action"))?;
        let at_work = !matches!(action.as_str(), "idle" | "frozen");
        at_work.then(|| format!("{action} of {name}"))
    };
    names.iter().filter_map(action).collect()
}

/// Balance, replacement and the like (kernel: fs/btrfs/sysfs.c,
/// `exclusive_operation`, from Linux 5.10 on).
fn btrfs(root: &SystemRoot) -> Vec<String> {
    let found = root.names("/sys/fs/btrfs").into_iter().filter_map(|uuid| {
        let operation = root.value(format!("/sys/fs/btrfs/{uuid}/exclusive_operation"))?;
        let at_work = !matches!(operation.as_str(), "none" | "balance paused");
        at_work.then(|| format!("{operation} of a Btrfs"))
    });
    let mut found: Vec<String> = found.collect();
    found.dedup();
    found
}

fn tasks(root: &SystemRoot) -> Vec<String> {
    let is_number = |name: &&String| name.bytes().all(|b| b.is_ascii_digit());
    let numbers = root.names("/proc");
    let found = numbers.iter().filter(is_number).filter_map(|number| {
        let name = root.value(format!("/proc/{number}/comm"))?;
        if name == "btrfs" {
            // `btrfs scrub start` stays as a process until it has ended.
            let line = root.text(format!("/proc/{number}/cmdline"))?;
            let scrubs = line.split('\0').any(|word| word == "scrub");
            return scrubs.then(|| "scrub of a Btrfs".to_owned());
        }
        TASKS.iter().find(|(task, _)| *task == name).map(|(_, words)| (*words).to_owned())
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn maintenance_is_reported_and_an_idle_machine_is_not() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.device("md0", (9, 0)).device("md1", (9, 1));
        tree.set("md0", "md/sync_action", "idle\n").set("md1", "md/sync_action", "check\n");
        tree.file("/sys/fs/btrfs/u/exclusive_operation", "none\n");
        tree.file("/proc/7/comm", "kthreadd\n");
        assert_eq!(background(&tree.root(), None), ["check of md1"]);
        tree.set("md1", "md/sync_action", "idle\n");
        tree.file("/sys/fs/btrfs/u/exclusive_operation", "balance\n");
        tree.file("/proc/8/comm", "ext4lazyinit\n");
        tree.file("/proc/9/comm", "btrfs\n");
        tree.file("/proc/9/cmdline", "btrfs\0scrub\0start\0/data\0");
        tree.file("/proc/10/comm", "btrfs\n");
        tree.file("/proc/10/cmdline", "btrfs\0receive\0/data\0");
        let found = background(&tree.root(), None);
        assert_eq!(found, ["balance of a Btrfs", UNKNOWN_LAZY_INIT, "scrub of a Btrfs"]);
    }

    #[test]
    fn lazy_initialisation_is_that_of_the_measured_file_system_only() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.file("/proc/8/comm", "ext4lazyinit\n");
        let texts = |fs_type: &str, options: &str| {
            let line = format!("36 1 7:0 / /data rw,relatime - {fs_type} /dev/sdx {options}\n");
            tree.file("/proc/self/mountinfo", &line);
            background(&tree.root(), Some(Path::new("/data/here")))
        };
        assert_eq!(texts("xfs", "rw"), [OTHER_LAZY_INIT]);
        assert_eq!(texts("ext4", "rw,noinit_itable"), [OTHER_LAZY_INIT]);
        assert_eq!(texts("ext4", "rw"), [UNKNOWN_LAZY_INIT], "the device cannot be read");
        // A superblock of one group with flags, and its descriptor.
        let mut disk = vec![0; 8192];
        disk[1024 + 0x38..1024 + 0x3A].copy_from_slice(&0xEF53_u16.to_le_bytes());
        disk[1024 + 0x64] = 0x10;
        for (at, value) in [(0x4, 100_u32), (0x20, 8192), (0x14, 1)] {
            disk[1024 + at..1024 + at + 4].copy_from_slice(&value.to_le_bytes());
        }
        for (flags, expected) in [(0, OWN_LAZY_INIT), (4, OTHER_LAZY_INIT)] {
            disk[2048 + 0x12] = flags;
            let device = tree.root().path("/dev/sdx");
            std::fs::create_dir_all(device.parent().expect("a directory")).expect("made");
            std::fs::write(device, &disk).expect("written");
            assert_eq!(texts("ext4", "rw"), [expected]);
        }
    }

    proptest! {
        #[test]
        fn hostile_files_do_no_harm(text in "\\PC{0,40}") {
            let directory = tempfile::tempdir().expect("temp");
            let tree = Fabricated::new(directory.path());
            tree.device("md0", (9, 0)).set("md0", "md/sync_action", &text);
            tree.file("/proc/8/comm", &text);
            tree.file("/proc/8/cmdline", &text);
            prop_assert!(background(&tree.root(), None).len() <= 2);
        }
    }
}
