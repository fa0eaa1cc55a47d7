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
struct LoopDevice {
    directory: tempfile::TempDir,
    file: PathBuf,
    node: String,
    swap: bool,
}

impl LoopDevice {
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
        let directory = tempfile::tempdir().expect("temp");
        let file = directory.path().join("drive");
        File::create(&file).and_then(|f| f.set_len(256 * MIB)).expect("sparse file");
        Self::over(&file, directory, options)
    }

    fn over(file: &Path, directory: tempfile::TempDir, options: &[&str]) -> Option<Self> {
        std::fs::create_dir_all(directory.path().join("mnt")).expect("mount point");
        let name = file.to_string_lossy();
        let args = [options, &["--find", "--show", &name]].concat();
        let node = run("losetup", &args);
        if node.is_none() {
            eprintln!("skipped: needs root and loop devices");
        }
        Some(Self { directory, file: file.to_owned(), node: node?, swap: false })
    }

    /// Whether it is still attached to its file: its number may have gone to another test's.
    fn is_attached(&self) -> bool {
        let device = BlockDevice::at(&SystemRoot::here(), Path::new(&self.node));
        let file = device.and_then(|device| device.backing_file());
        file.is_some_and(|file| file == self.file)
    }

    fn point(&self) -> PathBuf {
        self.directory.path().join("mnt")
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

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if self.swap {
            run("swapoff", &[&self.node]);
        }
        run("umount", &["--quiet", &self.point().to_string_lossy()]);
        if self.is_attached() {
            run("losetup", &["--detach", &self.node]);
        }
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
    let Some(drive) = LoopDevice::new(&["wipefs", "blkid"]) else { return };
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
fn a_mounted_device_is_refused_and_its_users_named() {
    let Some(drive) = LoopDevice::new(&["mkfs.ext4"]) else { return };
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
    let Some(inner) = LoopDevice::over(&file, tempfile::tempdir().expect("temp"), &[]) else {
        return;
    };
    let text = drive.refusals();
    let held =
        format!("is in use by {} ({})", inner.node.trim_start_matches("/dev/"), file.display());
    assert!(text.contains(&held), "{text}");
}

#[test]
fn a_loop_device_right_over_it_is_refused() {
    let Some(drive) = LoopDevice::new(&[]) else { return };
    let over = LoopDevice::over(Path::new(&drive.node), tempfile::tempdir().expect("temp"), &[]);
    let Some(_over) = over else { return };
    let text = drive.refusals();
    assert!(text.contains(&format!("({}); stop that first", drive.node)), "{text}");
}

#[test]
fn both_devices_of_a_mounted_btrfs_are_refused() {
    let Some(first) = LoopDevice::new(&["mkfs.btrfs"]) else { return };
    let Some(second) = LoopDevice::new(&[]) else { return };
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
    let Some(mut drive) = LoopDevice::new(&["mkswap", "swapon"]) else { return };
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
    let Some(drive) = LoopDevice::new(&[]) else { return };
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

/// A node that is not in /dev, as in a chroot, and a program that is called as udev's are.
#[test]
fn neither_the_nodes_name_nor_the_programs_hides_an_open_device() {
    let Some(drive) = LoopDevice::new(&["mknod", "sleep"]) else { return };
    let at = |name: &str| drive.directory.path().join(name).display().to_string();
    let number = drive.target().device.number().expect("a number");
    let (major, minor) = (number.0.to_string(), number.1.to_string());
    assert!(run("mknod", &[&at("node"), "b", &major, &minor]).is_some());
    let sleep = find_program("sleep").expect("asked for");
    for name in ["blkid-copy", "smartd", "losetup2"] {
        std::fs::copy(&sleep, at(name)).expect("copied");
        let node = File::open(at("node")).expect("opened");
        let child = Command::new(at(name)).arg("1000").stdin(Stdio::from(node)).spawn();
        let child = Running(child.expect("started"));
        let text = drive.refusals();
        assert!(text.contains(&format!("process {name} ({})", child.0.id())), "{text}");
    }
    assert_eq!(drive.refusals(), "");
}

/// What /proc shows of no process: this one is not asked about itself.
#[test]
fn a_device_that_is_open_out_of_sight_is_refused() {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    use std::os::fd::AsFd;
    let Some(drive) = LoopDevice::new(&["addpart"]) else { return };
    let refused = |what: &str| {
        let text = drive.refusals();
        assert!(text.contains("the kernel has it in use"), "{what}: {text}");
    };
    // On its way through a socket: in no process.
    let sockets = std::os::unix::net::UnixDatagram::pair().expect("sockets");
    let file = File::open(&drive.node).expect("opened");
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut sent = SendAncillaryBuffer::new(&mut space);
    let files = [file.as_fd()];
    assert!(sent.push(SendAncillaryMessage::ScmRights(&files)));
    let bytes = [std::io::IoSlice::new(b"x")];
    sendmsg(&sockets.0, &bytes, &mut sent, SendFlags::empty()).expect("sent");
    drop(file);
    refused("in flight");
    drop(sockets);
    assert_eq!(drive.refusals(), "");
    // Open through a partition.
    run("addpart", &[&drive.node, "1", "2048", "2048"]);
    let part = File::open(format!("{}p1", drive.node)).expect("opened");
    refused("a partition");
    drop(part);
}

/// A partition is not free while its drive is open, nor under a loop device; one next to it may be
/// in use.
#[test]
fn the_rules_hold_for_a_partition() {
    let Some(drive) = LoopDevice::new(&["addpart", "blkid", "wipefs"]) else { return };
    for (number, start) in [("1", "2048"), ("2", "8192")] {
        run("addpart", &[&drive.node, number, start, "4096"]);
    }
    let root = SystemRoot::here();
    let [first, second] = [1, 2].map(|n| PathBuf::from(format!("{}p{n}", drive.node)));
    let executor = Executor::new(Interrupt::new());
    let probe = KernelProbe::new(&executor);
    let refused = |expected: &str| {
        let device = BlockDevice::at(&root, &first).expect("a partition");
        let target = Target::new(&root, &first, device);
        let texts: Vec<_> = match claim(&root, &probe, &target, &[]) {
            Ok(_) => Vec::new(),
            Err(refusals) => refusals.iter().map(ToString::to_string).collect(),
        };
        let text = texts.join("\n");
        assert_eq!(text.is_empty(), expected.is_empty(), "{text}");
        assert!(text.contains(expected), "{text}");
    };
    refused("");
    let opened = |node: &Path| {
        let node = File::open(node).expect("opened");
        let sleep = Command::new("sleep").arg("1000").stdin(node).spawn();
        Running(sleep.expect("sleep"))
    };
    let name = drive.node.trim_start_matches("/dev/").to_owned();
    for (node, part) in [(first.clone(), format!("{name}p1")), ((&drive.node).into(), name.clone())]
    {
        let _sleep = opened(&node);
        refused(&format!("has {part} open"));
    }
    // Here, and so in no other process.
    for node in [&first, Path::new(&drive.node)] {
        let _open = File::open(node).expect("opened");
        refused("the kernel has it in use");
    }
    let next = opened(&second);
    refused("");
    drop(next);
    for node in [first.display().to_string(), drive.node.clone()] {
        let over = LoopDevice::over(Path::new(&node), tempfile::tempdir().expect("temp"), &[]);
        let Some(over) = over else { return };
        refused(&format!("is in use by {}", over.node.trim_start_matches("/dev/")));
    }
    refused("");
}

#[test]
fn a_read_only_device_is_refused() {
    // Not `blockdev --setro`: the loop device would stay so for its next user.
    let Some(drive) = LoopDevice::attached(&["--read-only"]) else { return };
    let text = drive.refusals();
    assert!(text.contains("read-only"), "{text}");
}

#[test]
fn erasing_takes_signatures_and_partitions_while_the_device_is_held() {
    let Some(drive) = LoopDevice::new(&["wipefs", "blkid", "addpart"]) else { return };
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
    assert!(probe.surface(device, claim.hold(), 1).expect("readable").is_blank());
    let mut old = [1; 10];
    file.read_exact_at(&mut old, MIB + 4086).expect("read");
    assert_eq!(old, [0; 10]);
    // What lies between the ends is left alone.
    file.write_all_at(b"data", 128 * MIB).expect("data");
    claim.erase(&executor).expect("erased");
    let mut data = [0; 4];
    file.read_exact_at(&mut data, 128 * MIB).expect("read");
    assert_eq!(&data, b"data");
    // And is not blank for the next run.
    drop(claim);
    assert!(drive.refusals().contains("data without a signature at byte 134217728"));
}

/// Writes what looks like the output of a cipher all over a part of a device.
fn encrypt(node: &str, from: u64, to: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(node).expect("opened");
    let mut state = 7_u64;
    let mut piece = vec![0_u8; MIB as usize];
    for at in (from..to).step_by(MIB as usize) {
        for word in piece.chunks_exact_mut(8) {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            word.copy_from_slice(&(state ^ (state >> 29)).to_le_bytes());
        }
        file.write_all_at(&piece, at).expect("written");
    }
    file.sync_all().expect("sync");
}

/// The attack of 21.31: `--yes` on a drive with plain dm-crypt, which signs nothing.
#[test]
fn unsigned_data_is_refused_wherever_it_lies() {
    let Some(drive) = LoopDevice::new(&["wipefs", "blkid"]) else { return };
    assert_eq!(drive.refusals(), "");
    // Both ends are zeros, as a drive has that was begun to be wiped.
    for (from, to) in [(200 * MIB, 216 * MIB), (16 * MIB, 240 * MIB)] {
        encrypt(&drive.node, from, to);
        let text = drive.refusals();
        assert!(text.contains("it is not blank: data without a signature at byte"), "{text}");
        assert!(text.contains("no serial number"), "{text}");
    }
}

/// The attack of 21.31: an ext4 that lost all its superblocks and descriptors.
#[test]
fn an_ext4_without_superblocks_is_refused() {
    let Some(drive) = LoopDevice::new(&["mkfs.ext4", "dumpe2fs"]) else { return };
    assert!(run("mkfs.ext4", &["-q", "-b", "1024", &drive.node]).is_some());
    if !drive.mount() {
        return;
    }
    std::fs::write(drive.point().join("photo"), vec![0xa5; 9 << 20]).expect("a photo");
    run("umount", &[&drive.point().to_string_lossy()]);
    let said = run("dumpe2fs", &[&drive.node]).expect("groups");
    let file = std::fs::OpenOptions::new().write(true).open(&drive.node).expect("opened");
    let mut wiped = 0;
    for line in said.lines().filter(|line| line.contains("superblock at ")) {
        let block = line.split("superblock at ").nth(1).and_then(|rest| rest.split(',').next());
        let block: u64 = block.and_then(|b| b.trim().parse().ok()).expect("a block");
        file.write_all_at(&[0; 8 << 10], block << 10).expect("wiped");
        wiped += 1;
    }
    assert!(wiped > 3, "{said}");
    file.write_all_at(&[0; 4 << 20], 0).expect("wiped");
    file.sync_all().expect("sync");
    drop(file);
    let executor = Executor::new(Interrupt::new());
    let found = KernelProbe::new(&executor).signatures(&drive.target().device);
    assert!(found.is_ok_and(|found| found.is_empty()), "nothing is left that a program knows");
    let text = drive.refusals();
    assert!(text.contains("it is not blank: data without a signature"), "{text}");
}

/// Another file behind the same loop device: a drive that was pulled out, and another
/// one that took its number (ioctl LOOP_CHANGE_FD, linux/loop.h).
#[allow(unsafe_code)]
fn exchange(node: &str, with: &File) -> bool {
    use std::os::fd::AsRawFd;
    const LOOP_CHANGE_FD: rustix::ioctl::Opcode = 0x4c06;
    let device = File::open(node).expect("opened");
    // SAFETY: the argument is a descriptor, a plain number.
    unsafe {
        let number = usize::try_from(with.as_raw_fd()).unwrap_or_default();
        let change = rustix::ioctl::IntegerSetter::<LOOP_CHANGE_FD>::new_usize(number);
        rustix::ioctl::ioctl(&device, change).is_ok()
    }
}

/// The attack of 21.31: a hot-swap between erasing and mkfs.
#[test]
fn another_drive_under_the_number_of_a_pinned_one_is_noticed() {
    // The kernel exchanges what is read-only.
    let Some(drive) = LoopDevice::attached(&["--read-only"]) else { return };
    let executor = Executor::new(Interrupt::new());
    let root = SystemRoot::here();
    let target = drive.target();
    let hold = KernelProbe::new(&executor).open_exclusively(&target.device, false).expect("free");
    let pin = Pin::new(&root, target, &hold).expect("pinned");
    drop(hold);
    assert_eq!(pin.check(), Ok(()));
    let other = tempfile::tempfile().expect("temp");
    other.set_len(256 * MIB).expect("as large");
    if drive.target().fingerprint.diskseq.is_none() || !exchange(&drive.node, &other) {
        eprintln!("skipped: needs Linux 5.15, and a loop device that can be exchanged");
        return;
    }
    let text = pin.check().expect_err("another drive").to_string();
    assert!(text.contains("it was unplugged or attached anew"), "{text}");
}

/// What the pin is for: while it lives, the number goes to no other drive, and mkfs, which
/// wants the device for itself, still gets it.
#[test]
fn a_pinned_number_goes_to_no_other_drive_and_mkfs_gets_the_pinned_one() {
    let Some(drive) = LoopDevice::new(&["mkfs.ext4", "wipefs", "blkid"]) else { return };
    let executor = Executor::new(Interrupt::new());
    let (root, probe) = (SystemRoot::here(), KernelProbe::new(&executor));
    let claim = claim(&root, &probe, &drive.target(), &[]).expect("free");
    claim.erase(&executor).expect("erased");
    let pin = claim.into_pin(&root).expect("pinned");
    let backing = drive.directory.path().join("drive");
    let photos = drive.directory.path().join("photos");
    File::create(&photos).and_then(|f| f.set_len(256 * MIB)).expect("another drive");
    // Pulled out, and another one plugged in: it does not get this number.
    run("losetup", &["--detach", &drive.node]);
    let taken = run("losetup", &[&drive.node, &photos.to_string_lossy()]);
    assert_eq!(taken, None, "the number went to another drive");
    assert_eq!(pin.check(), Ok(()));
    assert!(run("mkfs.ext4", &["-q", &drive.node]).is_some(), "mkfs got no device");
    let mut magic = [0; 2];
    File::open(&backing).and_then(|f| f.read_exact_at(&mut magic, 1080)).expect("read");
    assert_eq!(magic, [0x53, 0xef], "mkfs wrote elsewhere");
    let written = std::os::unix::fs::MetadataExt::blocks(&photos.metadata().expect("there"));
    assert_eq!(written, 0, "mkfs wrote to the other drive");
    drop(pin);
}
