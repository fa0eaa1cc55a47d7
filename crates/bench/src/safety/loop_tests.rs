//! The rules on this machine's kernel, with loop devices for drives.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use disklab_exec::{Executor, Interrupt, Invocation, find_program};
use disklab_measure::{BlockDevice, SystemRoot};

use super::*;

const MIB: u64 = 1 << 20;

/// Runs a program for a test.
fn run(program: &str, args: &[&str]) -> Option<String> {
    let executor = Executor::new(Interrupt::new());
    let finished = executor.check(&Invocation::new(program).args(args)).ok()?;
    Some(finished.text().trim().to_owned())
}

/// A loop device over a sparse file, and a place to mount it; both are gone when
/// this is dropped.
struct Looped {
    folder: tempfile::TempDir,
    node: String,
    swap: bool,
}

impl Looped {
    /// `None`, with a word on standard error, where this machine cannot do it.
    fn new(programs: &[&str]) -> Option<Self> {
        let missing = programs.iter().find(|program| find_program(program).is_none());
        if let Some(program) = missing {
            eprintln!("skipped: needs {program}");
            return None;
        }
        Self::attached(&["--partscan"])
    }

    fn attached(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("temp");
        let file = folder.path().join("drive");
        File::create(&file).and_then(|f| f.set_len(256 * MIB)).expect("sparse file");
        Self::over(&file, folder, options)
    }

    fn over(file: &Path, folder: tempfile::TempDir, options: &[&str]) -> Option<Self> {
        std::fs::create_dir_all(folder.path().join("mnt")).expect("mount point");
        let file = file.to_string_lossy();
        let args = [options, &["--find", "--show", &file]].concat();
        let node = run("losetup", &args);
        if node.is_none() {
            eprintln!("skipped: needs root and loop devices");
        }
        Some(Self { folder, node: node?, swap: false })
    }

    fn point(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }

    fn mount(&self) -> bool {
        let point = self.point();
        let mounted = run("mount", &[&self.node, &point.to_string_lossy()]).is_some();
        if !mounted {
            eprintln!("skipped: needs to mount {}", self.node);
        }
        mounted
    }

    fn target(&self) -> Target {
        let root = SystemRoot::here();
        let node = Path::new(&self.node);
        let device = BlockDevice::at(&root, node).expect("a block device");
        Target::new(&root, node, device)
    }

    /// What [`check`] and [`claim`], which must agree, say.
    fn refusals(&self) -> String {
        let executor = Executor::new(Interrupt::new());
        let (root, probe, target) =
            (SystemRoot::here(), KernelProbe::new(&executor), self.target());
        let checked = check(&root, &probe, &target, &[]).refusals;
        let claimed = claim(&root, &probe, &target, &[]);
        assert_eq!(checked.is_empty(), claimed.is_ok(), "{checked:?} and {claimed:?}");
        checked.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Looped {
    fn drop(&mut self) {
        if self.swap {
            run("swapoff", &[&self.node]);
        }
        run("umount", &["--quiet", &self.point().to_string_lossy()]);
        run("losetup", &["--detach", &self.node]);
    }
}

/// A process that ends when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_blank_device_is_claimed_once_at_a_time() {
    let Some(drive) = Looped::new(&["wipefs", "blkid"]) else { return };
    assert_eq!(drive.refusals(), "");
    let executor = Executor::new(Interrupt::new());
    let (root, probe, target) = (SystemRoot::here(), KernelProbe::new(&executor), drive.target());
    let first = claim(&root, &probe, &target, &[]).expect("free");
    let second = claim(&root, &probe, &target, &[]).expect_err("held");
    assert_eq!(second[0].cause, Cause::Busy);
    drop(first);
    assert!(claim(&root, &probe, &target, &[]).is_ok());
}

#[test]
fn a_mounted_device_is_refused_and_what_stands_on_it_named() {
    let Some(drive) = Looped::new(&["mkfs.ext4"]) else { return };
    assert!(run("mkfs.ext4", &["-q", "-L", "disklab-test", &drive.node]).is_some());
    let text = drive.refusals();
    assert!(text.contains("ext4 on loop") && text.contains("('disklab-test')"), "{text}");
    assert!(text.contains("leftover of disklab") && text.contains("no serial number"), "{text}");
    if !drive.mount() {
        return;
    }
    let text = drive.refusals();
    assert!(text.contains(&format!("is mounted at {}", drive.point().display())), "{text}");

    // A loop device over a file on it.
    let file = drive.point().join("inner");
    File::create(&file).and_then(|f| f.set_len(MIB)).expect("sparse file");
    let Some(inner) = Looped::over(&file, tempfile::tempdir().expect("temp"), &[]) else { return };
    let text = drive.refusals();
    let held = format!("{} ({}) stands on", inner.node.trim_start_matches("/dev/"), file.display());
    assert!(text.contains(&held), "{text}");
}

#[test]
fn a_loop_device_right_over_it_is_refused() {
    let Some(drive) = Looped::new(&[]) else { return };
    let over = Looped::over(Path::new(&drive.node), tempfile::tempdir().expect("temp"), &[]);
    let Some(_over) = over else { return };
    let text = drive.refusals();
    assert!(text.contains(&format!("({}) stands on loop", drive.node)), "{text}");
}

#[test]
fn both_devices_of_a_mounted_btrfs_are_refused() {
    let Some(first) = Looped::new(&["mkfs.btrfs"]) else { return };
    let Some(second) = Looped::new(&[]) else { return };
    let made = run("mkfs.btrfs", &["-q", "-d", "raid1", "-m", "raid1", &first.node, &second.node]);
    assert!(made.is_some(), "mkfs.btrfs failed");
    if !first.mount() {
        return;
    }
    // The kernel's mountinfo names only one of them.
    for drive in [&first, &second] {
        let text = drive.refusals();
        assert!(text.contains("belongs to the mounted Btrfs"), "{}: {text}", drive.node);
    }
}

#[test]
fn swap_in_use_is_refused() {
    let Some(mut drive) = Looped::new(&["mkswap", "swapon"]) else { return };
    assert!(run("mkswap", &[&drive.node]).is_some());
    assert!(drive.refusals().contains("swap on loop"));
    if run("swapon", &[&drive.node]).is_none() {
        eprintln!("skipped: needs swap on a loop device");
        return;
    }
    drive.swap = true;
    let text = drive.refusals();
    assert!(text.contains("is swap space in use"), "{text}");
}

#[test]
fn a_device_that_a_process_has_open_is_refused() {
    let Some(drive) = Looped::new(&[]) else { return };
    let executor = Executor::new(Interrupt::new());
    let device = drive.target().device;
    // Other tests' losetup may look in just now, which the probe sits out.
    let hold = KernelProbe::new(&executor).open_exclusively(&device, false).expect("free");
    let exclusive = hold.file().expect("a real device").try_clone().expect("duplicated");
    drop(hold);
    for file in [exclusive, File::open(&drive.node).expect("opened")] {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::from(file)).spawn();
        let child = Running(child.expect("sleep"));
        let text = drive.refusals();
        assert!(text.contains(&format!("process sleep ({})", child.0.id())), "{text}");
    }
    assert_eq!(drive.refusals(), "");
}

#[test]
fn a_read_only_device_is_refused() {
    // Not `blockdev --setro`: the loop device would stay so for its next user.
    let Some(drive) = Looped::attached(&["--read-only"]) else { return };
    let text = drive.refusals();
    assert!(text.contains("read-only"), "{text}");
}

#[test]
fn erasing_takes_signatures_and_partitions_while_the_device_is_held() {
    let Some(drive) = Looped::new(&["wipefs", "blkid", "addpart"]) else { return };
    let executor = Executor::new(Interrupt::new());
    let (root, probe) = (SystemRoot::here(), KernelProbe::new(&executor));
    let claim = claim(&root, &probe, &drive.target(), &[]).expect("free");
    let file = claim.hold().file().expect("a real device");
    // An MBR with one Linux partition: sectors 2048 to 4095.
    let mut table = [0_u8; 512];
    table[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0]);
    table[510..].copy_from_slice(&[0x55, 0xaa]);
    file.write_all_at(&table, 0).expect("table");
    // On the partition: the end of a swap area's header page.
    file.write_all_at(b"SWAPSPACE2", MIB + 4086).expect("swap area");
    file.write_all_at(&[1, 0, 0, 0, 0xff, 0, 0, 0], MIB + 1024).expect("version and last page");
    file.sync_all().expect("sync");
    // Kernels without this kind of table learn of the partition all the same.
    run("addpart", &[&drive.node, "1", "2048", "2048"]);
    let device = &claim.target.device;
    let partitions = device.partitions();
    assert_eq!(partitions.len(), 1);
    let kinds = |device| -> Vec<String> {
        let found = probe.signatures(device).expect("readable");
        found.into_iter().map(|signature| signature.kind).collect()
    };
    assert_eq!(kinds(device), ["dos"]);
    assert_eq!(kinds(&partitions[0]), ["swap"]);
    claim.erase(&executor).expect("erased");
    assert!(device.partitions().is_empty());
    assert_eq!(kinds(device), Vec::<String>::new());
    assert!(probe.looks_blank(device).expect("readable"));
    let mut old = [1; 10];
    file.read_exact_at(&mut old, MIB + 4086).expect("read");
    assert_eq!(old, [0; 10]);
    // What lies between the ends is left alone.
    file.write_all_at(b"data", 128 * MIB).expect("data");
    claim.erase(&executor).expect("erased");
    let mut data = [0; 4];
    file.read_exact_at(&mut data, 128 * MIB).expect("read");
    assert_eq!(&data, b"data");
    drop(claim);
    assert_eq!(drive.refusals(), "");
}
