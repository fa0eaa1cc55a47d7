//! What a user put on or in the leftovers of a killed run stays: each kind of thing
//! that a run makes is left behind, put to another use, and recovered.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{LOOPS, LoopFixture, can, output, stack};
use disklab_exec::{Executor, Invocation};
use disklab_stack::{Ledger, LeftoverDecision, Made, Need, Obstacle, Recovery, decide, recover};
use disklab_units::Bytes;

/// The user's own file system.
const THEIRS: &str = "11111111-2222-4333-8444-555555555555";

/// A stack whose owner is dead, and the user's directory.
struct Fixture {
    loops: LoopFixture,
    made: Made,
    user: PathBuf,
    /// Holds the ledger that replaced the dead owner's.
    _elsewhere: tempfile::TempDir,
}

impl Fixture {
    /// Makes a stack, writes a file as a workload would, and dies: the lock goes, the
    /// entries stay.
    fn new(text: &str, drives: usize) -> Option<Self> {
        let stack = stack(text, drives);
        if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
            return None;
        }
        let mut loops = LoopFixture::new(drives, Bytes::mib(600));
        let made = loops.make(&stack).unwrap_or_else(|e| panic!("{text}: {e}"));
        let below = made.directory.join("below");
        for (directory, name) in [(&made.directory, "below"), (&below, "test")] {
            loops.ledger.expect(directory, vec![name.to_owned()]).expect("expected");
        }
        fs::create_dir(&below).expect("directory");
        fs::write(below.join("test"), "the run's").expect("write");
        let elsewhere = tempfile::tempdir().expect("temp");
        let ledger = Ledger::open(elsewhere.path()).expect("ledger");
        drop(std::mem::replace(&mut loops.ledger, ledger));
        let user = loops.path().join("user");
        fs::create_dir(&user).expect("directory");
        Some(Self { loops, made, user, _elsewhere: elsewhere })
    }

    fn recover(&self) -> Recovery {
        recover(&self.loops.state, &self.loops.executor)
    }

    fn unmount(&self) {
        run("umount", &[&self.made.directory]);
    }

    /// The user's ext4 on `device`, with a file in it.
    fn format(&self, device: &Path) {
        let device = device.display().to_string();
        output("mkfs.ext4", &["-F", "-q", "-U", THEIRS, &device]);
        self.mount(Path::new(&device));
        fs::write(self.user.join("precious"), "the user's").expect("write");
        run("umount", &[&self.user]);
    }

    fn mount(&self, device: &Path) {
        run("mount", &[device, &self.user]);
    }

    /// That it is still there, with its file.
    fn assert_intact(&self, device: &Path) {
        self.mount(device);
        let text = fs::read_to_string(self.user.join("precious"));
        run("umount", &[&self.user]);
        assert_eq!(text.expect("still there"), "the user's");
    }

    /// Recovers twice, as any start does, and each time something is left for this
    /// reason and nothing fails.
    fn assert_left(&self, reason: impl Fn(&Obstacle) -> bool) {
        for _ in 0..2 {
            let Recovery { left, errors, .. } = self.recover();
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(left.len(), 1, "{left:?}");
            assert!(left[0].obstacles.iter().any(&reason), "{left:?}");
            let text = left[0].to_string();
            let id = &left[0].id;
            for option in [format!("--discard {id}"), format!("--keep {id}")] {
                assert!(text.contains(&option), "{text}");
            }
        }
    }

    /// Removes all, as the user wants; then nothing is left.
    fn discard(self) {
        let left = self.recover().left;
        let id = &left.first().expect("it was left").id;
        let Recovery { errors, .. } =
            decide(&self.loops.state, id, LeftoverDecision::Discard, &self.loops.executor)
                .expect("decided");
        assert!(errors.is_empty(), "{errors:?}");
        self.assert_gone();
    }

    /// Recovers, and nothing is left.
    fn assert_goes(&self) {
        let Recovery { left, errors, .. } = self.recover();
        assert!(left.is_empty() && errors.is_empty(), "{left:?} {errors:?}");
        self.assert_gone();
    }

    fn assert_gone(&self) {
        assert!(self.loops.leftovers().is_empty(), "{:?}", self.loops.leftovers());
        assert_eq!(fs::read_dir(&self.loops.state).expect("state").count(), 0);
        let left: Vec<_> = fs::read_dir(self.loops.path())
            .expect("directory")
            .flatten()
            .map(|e| e.path())
            .collect();
        assert!(left.len() <= 2, "only the state and the user's: {left:?}");
    }

    fn device(&self) -> PathBuf {
        self.made.device.clone().expect("a device")
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-q").arg(&self.user).stderr(Stdio::null()).status();
        for left in self.recover().left {
            let _ = decide(
                &self.loops.state,
                &left.id,
                LeftoverDecision::Discard,
                &Executor::default(),
            );
        }
    }
}

fn run(program: &str, paths: &[&Path]) {
    let done = Executor::default().check(&Invocation::new(program).args(paths));
    done.unwrap_or_else(|e| panic!("{e}"));
}

fn is_theirs(obstacle: &Obstacle) -> bool {
    matches!(obstacle, Obstacle::Signature { uuid: Some(uuid), .. } if uuid == THEIRS)
}

/// A stack whose file system the user replaces.
fn replaced(text: &str, drives: usize) {
    let Some(fixture) = Fixture::new(text, drives) else { return };
    let device = fixture.device();
    fixture.unmount();
    fixture.format(&device);
    fixture.assert_left(is_theirs);
    fixture.assert_intact(&device);
    // In use, it stays as well.
    fixture.mount(&device);
    fixture.assert_left(
        |obstacle| matches!(obstacle, Obstacle::Mount { at, .. } if *at == fixture.user),
    );
    assert!(fixture.user.join("precious").exists());
    run("umount", &[&fixture.user]);
    fixture.assert_intact(&device);
    fixture.discard();
}

#[test]
fn an_untouched_leftover_goes() {
    for text in ["partition/ext4", "btrfs", "xfs/loop-file[size=300M]/xfs", "nilfs2", "f2fs"] {
        let Some(fixture) = Fixture::new(text, 1) else { continue };
        let Recovery { left, errors, .. } = fixture.recover();
        assert!(left.is_empty() && errors.is_empty(), "{text}: {left:?} {errors:?}");
        fs::remove_dir(&fixture.user).expect("empty");
        fixture.assert_gone();
    }
}

#[test]
fn a_file_system_on_a_leftover_partition() {
    replaced("partition/xfs", 1);
}

#[test]
fn a_file_system_on_a_leftover_loop_device() {
    replaced("xfs", 1);
}

#[test]
fn a_file_system_on_a_leftover_loop_file() {
    replaced("ext4/loop-file[size=200M]/ext4", 1);
}

#[test]
fn a_file_system_on_a_leftover_array() {
    replaced("md-raid1/xfs", 2);
}

#[test]
fn a_file_system_on_arrays_of_partitions() {
    replaced("shr/ext4", 2);
}

#[test]
fn a_file_system_on_a_leftover_volume_group() {
    replaced("lvm[stripes=2]/xfs", 2);
}

#[test]
fn a_file_system_on_a_leftover_mapping() {
    replaced("crypt/xfs", 1);
}

#[test]
fn a_file_system_on_a_leftover_mapping_with_checksums() {
    replaced("integrity/xfs", 1);
}

#[test]
fn a_file_system_on_one_device_of_a_leftover_btrfs() {
    let Some(fixture) = Fixture::new("btrfs-raid1", 2) else { return };
    let device = fixture.loops.drives[0].clone();
    fixture.unmount();
    fixture.format(&device);
    fixture.assert_left(is_theirs);
    fixture.assert_intact(&device);
    fixture.discard();
}

/// A device of the user's over a file of that size.
struct UserDevice {
    node: PathBuf,
    file: PathBuf,
}

impl UserDevice {
    fn new(fixture: &Fixture) -> Self {
        let file = fixture.user.join("disk");
        fs::File::create(&file).and_then(|file| file.set_len(600 << 20)).expect("file");
        let shown = file.display().to_string();
        let node = output("losetup", &["--find", "--show", &shown]).trim().into();
        Self { node, file }
    }
}

impl Drop for UserDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
        let _ = fs::remove_file(&self.file);
    }
}

fn is_member(obstacle: &Obstacle) -> bool {
    matches!(obstacle, Obstacle::Member(_))
}

/// The user's data lie on all devices then; and one of the run's may be gone from it.
#[test]
fn a_device_of_the_users_in_a_leftover_btrfs() {
    let balance = ["balance", "start", "--full-balance"];
    for replaces in [false, true] {
        let Some(fixture) = Fixture::new("btrfs-raid1", 2) else { return };
        let theirs = UserDevice::new(&fixture);
        let (node, at) = (theirs.node.display().to_string(), &fixture.made.directory);
        let at = at.display().to_string();
        if replaces {
            output("btrfs", &["replace", "start", "-B", "-f", "1", &node, &at]);
        } else {
            output("btrfs", &["device", "add", "-f", &node, &at]);
            output("btrfs", &[&balance[..], &[&at]].concat());
        }
        fixture.unmount();
        fixture.assert_left(is_member);
        // Also while it is unplugged.
        output("btrfs", &["device", "scan", "--forget"]);
        output("losetup", &["--detach", &node]);
        fixture.assert_left(is_member);
        output("losetup", &[&node, &theirs.file.display().to_string()]);
        output("btrfs", &["device", "scan"]);
        let mountable = if replaces {
            fixture.loops.drives[1].clone()
        } else {
            fixture.loops.drives[0].clone()
        };
        fixture.mount(&mountable);
        assert_eq!(
            fs::read_to_string(fixture.user.join("below/test")).expect("there"),
            "the run's"
        );
        run("umount", &[&fixture.user]);
        output("btrfs", &["device", "scan", "--forget"]);
        drop(theirs);
        fixture.discard();
    }
}

/// As after a reboot: only the files are left, and one cannot tell whose all of them are.
#[test]
fn images_of_a_leftover_btrfs_of_several_devices_stay() {
    let Some(fixture) = Fixture::new("btrfs-raid1", 2) else { return };
    fixture.unmount();
    output("btrfs", &["device", "scan", "--forget"]);
    for drive in &fixture.loops.drives {
        run("losetup", &[Path::new("--detach"), drive]);
    }
    fixture.assert_left(|obstacle| obstacle.to_string().contains("a part of a Btrfs"));
    assert!(fixture.loops.path().join("drive1").exists());
    fixture.discard();
}

#[test]
fn a_device_of_the_users_in_a_leftover_array() {
    let Some(fixture) = Fixture::new("md-raid1/ext4", 2) else { return };
    let theirs = UserDevice::new(&fixture);
    let (array, node) = (fixture.device().display().to_string(), theirs.node.display().to_string());
    output("mdadm", &["--manage", &array, "--add", &node]);
    fixture.unmount();
    fixture.assert_left(is_member);
    output("mdadm", &["--stop", &array]);
    fixture.assert_left(is_member);
    output("mdadm", &["--zero-superblock", &node]);
    drop(theirs);
    fixture.assert_goes();
}

#[test]
fn a_device_of_the_users_in_a_leftover_group() {
    let Some(fixture) = Fixture::new("lvm[size=300M]/ext4", 2) else { return };
    let theirs = UserDevice::new(&fixture);
    let device = fixture.device().display().to_string();
    let group = output("lvs", &["--noheadings", "--options", "vg_name", &device]);
    let node = theirs.node.display().to_string();
    output("vgextend", &["--yes", group.trim(), &node]);
    fixture.unmount();
    fixture.assert_left(is_member);
    output("vgreduce", &[group.trim(), &node]);
    output("pvremove", &["--yes", &node]);
    drop(theirs);
    fixture.assert_goes();
}

/// With what no program signs in it, such as plain dm-crypt.
#[test]
fn a_partition_of_the_users_next_to_a_leftover_partition() {
    let Some(fixture) = Fixture::new("partition[size=100M]/ext4", 1) else { return };
    let drive = fixture.loops.drives[0].display().to_string();
    let append = Invocation::new("sfdisk")
        .args(["--quiet", "--append", "--no-reread", "--no-tell-kernel", &drive])
        .stdin("size=64M\n".to_owned());
    Executor::default().check(&append).expect("added");
    output("partx", &["--update", &drive]);
    fixture.unmount();
    fixture.assert_left(is_member);
    fixture.discard();
}

/// A virtual machine of the user's, say. Nothing is mounted.
#[test]
fn a_process_of_the_users_with_a_leftover_device() {
    let Some(fixture) = Fixture::new("partition/ext4", 1) else { return };
    fixture.unmount();
    let device = fs::File::open(fixture.device()).expect("opened");
    let sleep = Process(Command::new("sleep").arg("1000").stdin(device).spawn().expect("sleep"));
    fixture.assert_left(|obstacle| {
        matches!(obstacle, Obstacle::Process { process, .. } if process.contains("sleep"))
    });
    drop(sleep);
    fixture.assert_goes();
}

#[test]
fn a_leftover_that_the_user_mounted_elsewhere() {
    for (text, drives) in [("ext4", 1), ("partition/xfs", 1), ("btrfs-raid1", 2), ("btrfs", 1)] {
        let Some(fixture) = Fixture::new(text, drives) else { continue };
        fixture.unmount();
        let device = fixture.made.device.clone().unwrap_or(fixture.loops.drives[0].clone());
        fixture.mount(&device);
        fixture.assert_left(
            |obstacle| matches!(obstacle, Obstacle::Mount { at, .. } if *at == fixture.user),
        );
        assert!(fixture.user.join("below/test").exists(), "{text}");
        run("umount", &[&fixture.user]);
        let Recovery { left, errors, .. } = fixture.recover();
        assert!(left.is_empty() && errors.is_empty(), "{text}: {left:?} {errors:?}");
        fixture.assert_gone();
    }
}

#[test]
fn a_file_in_a_leftover_mount() {
    for inside in ["precious", "below/precious"] {
        let Some(fixture) = Fixture::new("partition/ext4", 1) else { return };
        let precious = fixture.made.directory.join(inside);
        fs::write(&precious, "the user's").expect("write");
        fixture.assert_left(|obstacle| *obstacle == Obstacle::File(precious.clone()));
        assert_eq!(fs::read_to_string(&precious).expect("still there"), "the user's");
        assert!(fixture.made.directory.join("below/test").exists());
        fixture.discard();
    }
}

#[test]
fn another_mount_on_a_leftover_mount_point() {
    let Some(fixture) = Fixture::new("ext4", 1) else { return };
    fixture.unmount();
    let directory = fixture.made.directory.display().to_string();
    output("mount", &["-t", "tmpfs", "theirs", &directory]);
    let precious = fixture.made.directory.join("precious");
    fs::write(&precious, "the user's").expect("write");
    fixture.assert_left(|obstacle| {
        matches!(obstacle, Obstacle::Mount { source, .. } if source == Path::new("theirs"))
    });
    assert!(precious.exists());
    fixture.unmount();
}

#[test]
fn a_mount_below_a_leftover_mount() {
    let Some(fixture) = Fixture::new("ext4", 1) else { return };
    let inside = fixture.made.directory.join("test-inside");
    fs::create_dir(&inside).expect("directory");
    output(
        "mount",
        &["--bind", &fixture.user.display().to_string(), &inside.display().to_string()],
    );
    fixture.assert_left(|obstacle| matches!(obstacle, Obstacle::Mount { at, .. } if *at == inside));
    run("umount", &[&inside]);
}

/// Ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_of_the_users_in_a_leftover_mount() {
    let Some(fixture) = Fixture::new("ext4", 1) else { return };
    let shell = Command::new("sleep").arg("1000").current_dir(&fixture.made.directory).spawn();
    let mut shell = Process(shell.expect("sleep"));
    fixture.assert_left(|obstacle| {
        matches!(obstacle, Obstacle::Process { process, .. } if process.contains("sleep"))
    });
    assert!(shell.0.try_wait().expect("asked").is_none(), "it was not killed");
    assert!(fixture.made.directory.join("below/test").exists(), "nor was it unmounted lazily");
    drop(shell);
    fixture.assert_goes();
}

#[test]
fn swap_on_a_leftover_partition() {
    let Some(fixture) = Fixture::new("partition/ext4", 1) else { return };
    fixture.unmount();
    run("mkswap", &[&fixture.device()]);
    fixture.assert_left(
        |obstacle| matches!(obstacle, Obstacle::Signature { kind, .. } if kind == "swap"),
    );
    if Command::new("swapon").arg(fixture.device()).status().is_ok_and(|s| s.success()) {
        fixture.assert_left(|obstacle| matches!(obstacle, Obstacle::Signature { .. }));
        let swaps = fs::read_to_string("/proc/swaps").expect("swaps");
        run("swapoff", &[&fixture.device()]);
        assert!(swaps.contains(&fixture.device().display().to_string()), "{swaps}");
    }
    fixture.discard();
}

// As after a reboot, which detaches loop devices: only the file is left.
#[test]
fn a_file_system_in_a_leftover_image_that_is_not_attached() {
    for text in ["xfs", "partition/xfs"] {
        let Some(fixture) = Fixture::new(text, 1) else { continue };
        let drive = fixture.loops.drives[0].clone();
        fixture.unmount();
        fixture.format(&fixture.device());
        let _ = Command::new("partx").arg("--delete").arg(&drive).stderr(Stdio::null()).status();
        run("losetup", &[Path::new("--detach"), &drive]);
        fixture.assert_left(is_theirs);
        assert!(fixture.loops.path().join("drive1").exists(), "{text}");
        fixture.discard();
    }
}

#[test]
fn a_file_of_the_users_under_the_name_of_an_image() {
    let Some(fixture) = Fixture::new("xfs", 1) else { return };
    let image = fixture.loops.path().join("drive1");
    fixture.unmount();
    run("losetup", &[Path::new("--detach"), &fixture.loops.drives[0]]);
    fs::remove_file(&image).expect("remove");
    fs::write(&image, "the user's").expect("write");
    fixture.assert_left(|obstacle| *obstacle == Obstacle::Replaced(image.clone()));
    assert_eq!(fs::read_to_string(&image).expect("still there"), "the user's");
}

#[test]
fn another_image_of_the_users_on_a_loop_device() {
    let Some(fixture) = Fixture::new("xfs", 1) else { return };
    let image = fixture.loops.path().join("drive1");
    fixture.unmount();
    run("losetup", &[Path::new("--detach"), &fixture.loops.drives[0]]);
    fs::remove_file(&image).expect("remove");
    let file = fs::File::create(&image).expect("file");
    file.set_len(64 << 20).expect("size");
    let attached = output("losetup", &["--find", "--show", &image.display().to_string()]);
    fixture.assert_left(|obstacle| *obstacle == Obstacle::Replaced(image.clone()));
    let listed =
        output("losetup", &["--list", "--noheadings", "--output", "BACK-FILE", attached.trim()]);
    assert_eq!(Path::new(listed.trim()), image, "still attached");
    run("losetup", &[Path::new("--detach"), Path::new(attached.trim())]);
}

const MAPPER: [Need; 1] = [Need::DeviceMapper("linear")];

// Nothing on the device shows it.
#[test]
fn a_mapping_of_the_users_over_a_leftover_partition() {
    if !can(&MAPPER) {
        return;
    }
    let Some(fixture) = Fixture::new("partition/ext4", 1) else { return };
    fixture.unmount();
    let table = format!("0 2048 linear {} 0", fixture.device().display());
    let name = format!("theirs{}", std::process::id());
    let create = Invocation::new("dmsetup")
        .args(["create", &name, "--table", &table])
        .env("DM_DISABLE_UDEV", "1");
    Executor::default().check(&create).expect("mapped");
    fixture.assert_left(|obstacle| matches!(obstacle, Obstacle::Holder { .. }));
    output("dmsetup", &["remove", &name]);
    let Recovery { left, errors, .. } = fixture.recover();
    assert!(left.is_empty() && errors.is_empty(), "{left:?} {errors:?}");
}

#[test]
fn a_logical_volume_of_the_users_in_a_leftover_group() {
    let Some(fixture) = Fixture::new("lvm[size=300M]/ext4", 2) else { return };
    fixture.unmount();
    let group = output(
        "lvs",
        &["--noheadings", "--options", "vg_name", &fixture.device().display().to_string()],
    );
    let create = ["--yes", "--name", "theirs", "--size", "64M", group.trim()];
    output("lvcreate", &create);
    let theirs = format!("{}/theirs", group.trim());
    fixture.assert_left(|obstacle| *obstacle == Obstacle::Volume(theirs.clone()));
    output("lvs", &[&theirs]);
    fixture.discard();
}

// Stopped by the user, or not assembled since a reboot.
#[test]
fn a_file_system_on_a_leftover_array_that_is_stopped() {
    let Some(fixture) = Fixture::new("md-raid0/ext4", 2) else { return };
    let device = fixture.device();
    fixture.unmount();
    fixture.format(&device);
    run("mdadm", &[Path::new("--stop"), &device]);
    fixture.assert_left(is_theirs);
    let [a, b] = [&fixture.loops.drives[0], &fixture.loops.drives[1]];
    let again = Path::new("/dev/md/theirs");
    let assemble = [Path::new("--assemble"), again, a, b];
    run("mdadm", &assemble);
    fixture.assert_intact(again);
    run("mdadm", &[Path::new("--stop"), again]);
    fixture.discard();
}
