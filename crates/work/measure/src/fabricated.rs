//! A made-up machine for tests: a directory with `proc`, `sys` and `dev` in the
//! kernel's layout, so that what would need four drives, md and a mounted Btrfs
//! runs anywhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::SystemRoot;

/// A tree under construction. Its methods panic where the directory cannot be
/// written to: they are for tests only.
#[derive(Debug, Clone)]
pub struct Fabricated {
    directory: PathBuf,
}

impl Fabricated {
    /// A machine without block devices, in an empty directory. Its root file system
    /// is one in memory.
    pub fn new(directory: &Path) -> Self {
        let tree = Self { directory: directory.to_owned() };
        tree.file("/proc/self/mountinfo", "1 0 0:1 / / rw - tmpfs tmpfs rw\n");
        tree.file("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
        tree.file("/proc/diskstats", "");
        tree.file("/proc/stat", "cpu  100 0 50 1000 0 0 0 5 0 0\ncpu0 100 0 50 1000 0 0 0 5 0 0\n");
        tree.directory("/sys/class/block");
        tree.directory("/sys/dev/block");
        tree.directory("/dev/disk/by-id");
        tree
    }

    /// As a root for the functions under test.
    pub fn root(&self) -> SystemRoot {
        SystemRoot::at(&self.directory)
    }

    /// Where a path of the made-up machine is in truth.
    pub fn path(&self, absolute: &str) -> PathBuf {
        self.directory.join(absolute.trim_start_matches('/'))
    }

    /// Writes a file, with the directories above it.
    pub fn file(&self, absolute: &str, text: &str) {
        let path = self.path(absolute);
        fs::create_dir_all(path.parent().expect("below the directory")).expect("directories");
        fs::write(path, text).expect("file");
    }

    /// Adds to a file.
    pub fn append(&self, absolute: &str, text: &str) {
        let old = fs::read_to_string(self.path(absolute)).unwrap_or_default();
        self.file(absolute, &(old + text));
    }

    /// Makes a directory.
    pub fn directory(&self, absolute: &str) {
        fs::create_dir_all(self.path(absolute)).expect("a directory");
    }

    /// Makes a link; `target` as it shall be in it.
    pub fn link(&self, absolute: &str, target: &str) {
        let path = self.path(absolute);
        fs::create_dir_all(path.parent().expect("below the directory")).expect("directories");
        let _ = fs::remove_file(&path);
        symlink(target, path).expect("link");
    }

    /// A whole device of 1 TB.
    pub fn device(&self, name: &str, number: (u32, u32)) -> &Self {
        self.place(name, name, number);
        self.set(name, "removable", "0");
        self.set(name, "queue/logical_block_size", "512");
        self.set(name, "queue/physical_block_size", "4096");
        self
    }

    /// A drive: a whole device with model and serial number.
    pub fn drive(&self, name: &str, number: (u32, u32), serial: &str) -> &Self {
        self.device(name, number);
        self.set(name, "device/model", "TESTDRIVE 1000");
        self.set(name, "device/serial", serial);
        self.set(name, "device/wwid", &format!("t10.ATA     TESTDRIVE 1000   {serial}"));
        self.set(name, "diskseq", &(number.1 + 1).to_string());
        self.link(
            &format!("/dev/disk/by-id/ata-TESTDRIVE_1000_{serial}"),
            &format!("../../{name}"),
        );
        self
    }

    /// A partition of a whole device.
    pub fn partition(&self, whole: &str, name: &str, number: (u32, u32)) -> &Self {
        self.place(&format!("{whole}/{name}"), name, number);
        self.set(name, "partition", "1");
        self
    }

    /// A device that is built on others, as md and device-mapper do.
    pub fn stacked(&self, name: &str, number: (u32, u32), below: &[&str]) -> &Self {
        self.device(name, number);
        for lower in below {
            self.link(
                &format!("/sys/class/block/{lower}/holders/{name}"),
                &format!("../../../{name}"),
            );
            self.link(
                &format!("/sys/class/block/{name}/slaves/{lower}"),
                &format!("../../../{lower}"),
            );
        }
        self
    }

    /// A loop device over a file of the made-up machine.
    pub fn looped(&self, name: &str, number: (u32, u32), file: &str) -> &Self {
        self.device(name, number);
        self.set(name, "loop/backing_file", &format!("{file}\n"));
        self
    }

    /// A process of this name; more tasks come by more calls.
    pub fn process(&self, pid: u32, task: u32, name: &str) -> &Self {
        self.file(&format!("/proc/{pid}/comm"), name);
        self.directory(&format!("/proc/{pid}/task/{task}/fd"));
        self
    }

    /// A mount; a device of (0, n) is an anonymous one, as Btrfs has.
    pub fn mount(&self, device: (u32, u32), source: &str, point: &str, kind: &str) -> &Self {
        let (major, minor) = device;
        let line = format!("9 1 {major}:{minor} / {point} rw,relatime - {kind} {source} rw\n");
        self.append("/proc/self/mountinfo", &line);
        self
    }

    /// A swap area.
    pub fn swap(&self, path: &str, kind: &str) -> &Self {
        self.append("/proc/swaps", &format!("{path}\t{kind}\t\t1048572\t\t0\t\t-2\n"));
        self
    }

    /// The devices of a mounted Btrfs.
    pub fn btrfs(&self, uuid: &str, devices: &[&str]) -> &Self {
        for name in devices {
            let link = format!("/sys/fs/btrfs/{uuid}/devices/{name}");
            self.link(&link, &format!("../../../../class/block/{name}"));
        }
        self
    }

    /// Sets a file of a device in sysfs.
    pub fn set(&self, device: &str, attribute: &str, text: &str) -> &Self {
        self.file(&format!("/sys/class/block/{device}/{attribute}"), text);
        self
    }

    /// Sets the counters of devices, in `stat` and in `/proc/diskstats`: sectors
    /// read and written.
    pub fn counters(&self, devices: &[(&str, u64, u64)]) -> &Self {
        let mut all = String::new();
        for (name, read, written) in devices {
            let stat = format!("{read} 0 {read} 7 {written} 0 {written} 8 0 9 15 0 0 0 0 1 2\n");
            self.set(name, "stat", &stat);
            all += &format!("   8   0 {name} {stat}");
        }
        self.file("/proc/diskstats", &all);
        self
    }

    fn place(&self, at: &str, name: &str, (major, minor): (u32, u32)) {
        self.directory(&format!("/sys/devices/made/block/{at}/holders"));
        self.directory(&format!("/sys/devices/made/block/{at}/slaves"));
        self.link(&format!("/sys/class/block/{name}"), &format!("../../devices/made/block/{at}"));
        let number = format!("{major}:{minor}");
        let link = format!("/sys/dev/block/{number}");
        self.link(&link, &format!("../../devices/made/block/{at}"));
        self.set(name, "dev", &number);
        self.set(name, "size", "1953525168");
        self.set(name, "ro", "0");
        self.set(name, "stat", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        self.file(&format!("/dev/{name}"), "");
    }
}
