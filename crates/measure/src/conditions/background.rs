//! Upkeep that the kernel or an administrator runs on arrays and file systems.

use crate::SystemRoot;

/// Programs and kernel threads whose presence is work on some drive, by their names
/// in `/proc/PID/comm`: ext4's thread ends when nothing is left to be initialised
/// (kernel: fs/ext4/super.c, `ext4_lazyinit_thread`); arrays of device-mapper have
/// threads as md has (drivers/md/md.c, `md_start_sync`).
const TASKS: [(&str, &str); 6] = [
    ("ext4lazyinit", "lazy initialisation of ext4"),
    ("mdX_resync", "resync of an LVM array"),
    ("mdX_reshape", "reshape of an LVM array"),
    ("fstrim", "fstrim"),
    ("badblocks", "badblocks"),
    ("updatedb", "updatedb"),
];

/// What runs now, each in a few words.
pub(super) fn background(root: &SystemRoot) -> Vec<String> {
    let mut found = arrays(root);
    found.extend(btrfs(root));
    let mut tasks = tasks(root);
    tasks.sort_unstable();
    tasks.dedup();
    found.extend(tasks);
    found
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
    fn upkeep_is_told_and_an_idle_machine_is_not() {
        let folder = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(folder.path());
        tree.device("md0", (9, 0)).device("md1", (9, 1));
        tree.set("md0", "md/sync_action", "idle\n").set("md1", "md/sync_action", "check\n");
        tree.file("/sys/fs/btrfs/u/exclusive_operation", "none\n");
        tree.file("/proc/7/comm", "kthreadd\n");
        assert_eq!(background(&tree.root()), ["check of md1"]);
        tree.set("md1", "md/sync_action", "idle\n");
        tree.file("/sys/fs/btrfs/u/exclusive_operation", "balance\n");
        tree.file("/proc/8/comm", "ext4lazyinit\n");
        tree.file("/proc/9/comm", "btrfs\n");
        tree.file("/proc/9/cmdline", "btrfs\0scrub\0start\0/data\0");
        tree.file("/proc/10/comm", "btrfs\n");
        tree.file("/proc/10/cmdline", "btrfs\0receive\0/data\0");
        let found = background(&tree.root());
        assert_eq!(
            found,
            ["balance of a Btrfs", "lazy initialisation of ext4", "scrub of a Btrfs"]
        );
    }

    proptest! {
        #[test]
        fn hostile_files_do_no_harm(text in "\\PC{0,40}") {
            let folder = tempfile::tempdir().expect("temp");
            let tree = Fabricated::new(folder.path());
            tree.device("md0", (9, 0)).set("md0", "md/sync_action", &text);
            tree.file("/proc/8/comm", &text);
            tree.file("/proc/8/cmdline", &text);
            prop_assert!(background(&tree.root()).len() <= 2);
        }
    }
}
