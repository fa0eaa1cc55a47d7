//! Mistakes made on purpose on this machine, each of which an audit must find: in a
//! directory, and on loop devices.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disklab_audits::{AUDITS, Reproducer, Severity};
use disklab_store::{CellState, Run};
use rustix::process::{Pid, Signal, kill_process};

use crate::audit_support::{Found, assert_found, assert_says, command, findings, found_in};

/// Audits that a test here makes happen, test by test.
const IN_MEMORY: [&str; 3] = ["cpu-bound", "background-io", "not-on-drives"];
const SAME_DRIVES: [&str; 1] = ["other-load"];
const CUT_OFF: [&str; 2] = ["failed-cells", "unfinished"];
const STOOD_STILL: [&str; 1] = ["outlier"];
const MOUNTED: [&str; 2] = ["degraded-array", "maintenance-running"];
const ON_LOOP: [&str; 2] = ["host-nearly-full", "shared-spindle"];

#[test]
fn each_audit_that_says_so_is_made_to_happen_here() {
    let here = |reproducer| matches!(reproducer, Reproducer::Directory(_) | Reproducer::Loop(_));
    let said: BTreeSet<&str> =
        AUDITS.iter().filter(|audit| here(audit.reproducer)).map(|audit| audit.name).collect();
    let made = [&IN_MEMORY[..], &SAME_DRIVES, &CUT_OFF, &STOOD_STILL, &MOUNTED, &ON_LOOP].concat();
    assert_eq!(said, made.into_iter().collect());
}

/// A study on one drive, or two, of which a directory takes no notice.
fn study(stack: &str, workloads: &str) -> String {
    format!(
        "id = \"mistake\"\ntitle = \"A mistake, made on purpose\"\nrepeats = 1\n\
         [[drives]]\nmodel = \"m\"\ncount = 2\nsize = \"10 TB\"\n\
         [loop]\ndrive-size = \"256 MiB\"\n[stacks]\nx = {stack}\n{workloads}"
    )
}

const ONE: &str = "{ layers = \"ext4\", drives = 1 }";

/// The findings of a run in a directory.
fn in_directory(directory: &Path, workloads: &str) -> Found {
    let home = tempfile::tempdir().expect("temp");
    let on = format!("dir:{}", directory.display());
    let output = command(home.path(), &study(ONE, workloads), &["--on", &on]).output();
    findings(home.path(), &output.expect("it starts"))
}

/// A directory next to this program: on a disk, as a rule, where /tmp may be memory.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("temp")
}

/// Sectors that all drives of the machine have been written.
fn written() -> u64 {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let of = |line: &str| line.split_whitespace().nth(9)?.parse::<u64>().ok();
    text.lines().filter(|line| !line.contains(" loop")).filter_map(of).sum()
}

/// Writes to a disk until it is told to stop. Says whether a disk was seen to be written.
fn write_to_a_disk(stop: &AtomicBool) -> bool {
    let (directory, before) = (on_disk(), written());
    let mut file = File::create(directory.path().join("other")).expect("a file");
    // Nothing that a device or its host could leave out.
    let block: Vec<u8> =
        (0..4_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    while !stop.load(Ordering::Relaxed) {
        file.rewind().expect("rewound");
        file.write_all(&block).expect("written");
        file.sync_all().expect("synced");
    }
    written() > before + (32 << 11)
}

#[test]
fn memory_as_a_disk_and_other_programs_are_found() {
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        eprintln!("skipped: needs /dev/shm");
        return;
    }
    let directory = tempfile::tempdir_in(shm).expect("a directory");
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let workloads = format!(
        "[[workloads]]\nid = \"busy\"\n\
         fio = {{ ioengine = \"psync\", rw = \"randwrite\", bs = \"4k\", size = \"8M\", \
         numjobs = {jobs}, time_based = 1, runtime = 2 }}\n"
    );
    let stop = AtomicBool::new(false);
    let (found, seen) = std::thread::scope(|scope| {
        let other = scope.spawn(|| write_to_a_disk(&stop));
        let found = in_directory(directory.path(), &workloads);
        stop.store(true, Ordering::Relaxed);
        (found, other.join().expect("no panic"))
    });
    if !seen {
        eprintln!("skipped in part: needs a disk beneath {}", env!("CARGO_TARGET_TMPDIR"));
    }
    assert_found(&found, |name, _| IN_MEMORY.contains(&name) && (seen || name != "background-io"));
    assert_says(&found, "not-on-drives", Severity::Severe, &["memory (tmpfs)"]);
    assert_says(&found, "cpu-bound", Severity::Warning, &["busy", "processor"]);
}

/// A run that does not outlive its test.
struct Started(Child);

impl Started {
    /// Repeats in a directory; the run's directory is `run` in `home`.
    fn in_directory(home: &Path, directory: &Path, workloads: &str, repeats: u32) -> Self {
        let (on, repeats) = (format!("dir:{}", directory.display()), repeats.to_string());
        let arguments = ["--on", &on, "--repeats", &repeats];
        let mut command = command(home, &study(ONE, workloads), &arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("it starts"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until so many cells of a run have come to this state.
fn wait_for(started: &mut Started, run: &Path, state: CellState, cells: usize) {
    let there = || {
        let records = Run::open(run).and_then(|run| run.cells()).unwrap_or_default();
        records.iter().filter(|record| record.state == state).count() >= cells
    };
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < Duration::from_secs(120), "no {cells} cells are {state:?}");
        assert!(started.0.try_wait().expect("waited").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn signal(started: &Started, signal: Signal) {
    kill_process(Pid::from_child(&started.0), signal).expect("a signal");
}

#[test]
fn cells_that_failed_or_never_ran_are_found() {
    let (home, directory) = (tempfile::tempdir().expect("temp"), on_disk());
    let workloads = "[[workloads]]\nid = \"runs-out\"\nfilebench = { text = '''\n\
        define fileset name=s,path=/x,entries=3,prealloc=100,dirwidth=5\n\
        define process name=p { thread name=t { flowop deletefile name=gone,filesetname=s } }\n\
        run 60\n''' }\n\
        [[workloads]]\nid = \"reads\"\n\
        fio = { rw = \"read\", bs = \"4k\", size = \"64k\", time_based = 1, runtime = 2 }\n";
    let mut started = Started::in_directory(home.path(), directory.path(), workloads, 3);
    let run = home.path().join("run");
    // One of the first two fails, whichever comes first; four more are to follow.
    wait_for(&mut started, &run, CellState::Failed, 1);
    signal(&started, Signal::INT);
    assert_eq!(started.0.wait().expect("waited").code(), Some(130));
    let found = found_in(&run);
    assert_found(&found, |name, _| CUT_OFF.contains(&name));
    let reason = ["failed: runs-out with as-it-is", "'gone' found no existing file"];
    assert_says(&found, "failed-cells", Severity::Warning, &reason);
    assert_says(&found, "unfinished", Severity::Warning, &["of 6 cells have not run"]);
}

#[test]
fn a_repeat_in_which_the_program_stood_still_is_found() {
    let (home, directory) = (tempfile::tempdir().expect("temp"), on_disk());
    // As much in each second, whatever else the machine does.
    let workloads = "[[workloads]]\nid = \"paced\"\ncaches = \"keep\"\n\
        fio = { rw = \"randread\", bs = \"4k\", size = \"64k\", rate_iops = 200, \
        time_based = 1, runtime = 2 }\n";
    let mut started = Started::in_directory(home.path(), directory.path(), workloads, 5);
    let run = home.path().join("run");
    wait_for(&mut started, &run, CellState::Done, 2);
    // The third has begun then, and has more than a second to go.
    std::thread::sleep(Duration::from_millis(700));
    signal(&started, Signal::STOP);
    std::thread::sleep(Duration::from_secs(3));
    signal(&started, Signal::CONT);
    let code = started.0.wait().expect("waited").code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
    let found = found_in(&run);
    assert_found(&found, |name, _| STOOD_STILL.contains(&name));
    assert_says(&found, "outlier", Severity::Warning, &["paced with as-it-is in block 3"]);
}

/// Whether a program is there and ends well.
fn made(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

/// A sparse file of so many bytes with ext4 in it; none where there is no mkfs, which is
/// said on standard error.
fn ext4_image(directory: &Path, bytes: u64, options: [&str; 2]) -> Option<String> {
    let image = directory.join("image");
    File::create(&image).and_then(|file| file.set_len(bytes)).expect("a sparse file");
    if !made(Command::new("mkfs.ext4").args(["-q", "-F"]).args(options).arg(&image)) {
        eprintln!("skipped: needs mkfs.ext4");
        return None;
    }
    Some(image.display().to_string())
}

/// Something mounted, which goes when it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// None where it cannot be mounted, which is said on standard error.
    fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).expect("a directory");
        let output = Command::new("mount").args(arguments).arg(at).output().ok()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            eprintln!("skipped: needs root and loop devices: {said}");
            return None;
        }
        Some(Self(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Whatever is wrong with it, the test has said already.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_program_that_writes_to_the_measured_drives_is_found() {
    let directory = on_disk();
    let workloads = "[[workloads]]\nid = \"read\"\n\
        fio = { rw = \"read\", bs = \"64k\", size = \"8M\", rate = \"1m\", time_based = 1, \
        runtime = 3 }\n";
    let stop = AtomicBool::new(false);
    let (found, seen) = std::thread::scope(|scope| {
        let other = scope.spawn(|| write_to_a_disk(&stop));
        let found = in_directory(directory.path(), workloads);
        stop.store(true, Ordering::Relaxed);
        (found, other.join().expect("no panic"))
    });
    if !seen {
        eprintln!("skipped in part: needs a disk beneath {}", env!("CARGO_TARGET_TMPDIR"));
    }
    assert_found(&found, |name, _| SAME_DRIVES.contains(&name) && seen);
}

#[test]
fn a_file_system_that_is_still_being_made_is_found() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    // In a PID namespace of its own a process does not see the kernel's threads.
    let second = std::fs::read_to_string("/proc/2/comm");
    if !second.is_ok_and(|name| name.trim() == "kthreadd") {
        eprintln!("skipped: needs to see the kernel's threads");
        return;
    }
    let directory = on_disk();
    // What was discarded is known to be zero: then nothing is left to be written.
    let lazily = ["-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1"];
    let Some(image) = ext4_image(directory.path(), 64 << 30, lazily) else { return };
    // The kernel's thread waits a hundred times as long as each table took it.
    let options = ["-o", "loop,init_itable=100", &image];
    let Some(mounted) = Mounted::new(&options, &directory.path().join("mounted")) else { return };
    let workloads = "[[workloads]]\nid = \"write\"\n\
        dd = { direction = \"write\", bs = \"64k\", count = 16, source = \"random\" }\n";
    let found = in_directory(&mounted.0, workloads);
    assert_says(&found, "maintenance-running", Severity::Severe, &["lazy initialisation of ext4"]);
}

/// A loop device, which goes when it is dropped.
struct LoopDevice(String);

impl LoopDevice {
    /// A sparse file of so many bytes as a device; none where there are no such devices.
    fn new(file: &Path, bytes: u64) -> Option<Self> {
        File::create(file).and_then(|file| file.set_len(bytes)).expect("a sparse file");
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(Self(device))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // Whatever is wrong with it, the test has said already.
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_mirror_that_lacks_a_half_is_found() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let directory = on_disk();
    let of = |name| LoopDevice::new(&directory.path().join(name), 512 << 20);
    let (Some(whole), Some(gone)) = (of("one"), of("other")) else {
        eprintln!("skipped: needs loop devices");
        return;
    };
    let mirror = ["-q", "-d", "raid1", "-m", "raid1", &whole.0, &gone.0];
    if !made(Command::new("mkfs.btrfs").args(mirror)) {
        eprintln!("skipped: needs mkfs.btrfs");
        return;
    }
    drop(gone);
    // The kernel may know the device by its old place, until it is told to forget it.
    let _ = Command::new("btrfs").args(["device", "scan", "--forget"]).output();
    let options = ["-t", "btrfs", "-o", "degraded", &whole.0];
    let Some(mounted) = Mounted::new(&options, &directory.path().join("mounted")) else { return };
    let workloads = "[[workloads]]\nid = \"write\"\n\
        dd = { direction = \"write\", bs = \"64k\", count = 16, source = \"random\" }\n";
    let found = in_directory(&mounted.0, workloads);
    assert_says(&found, "degraded-array", Severity::Severe, &["lacks 1 of its members"]);
}

#[test]
fn files_of_one_full_disk_are_found() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let (home, directory) = (tempfile::tempdir().expect("temp"), on_disk());
    let Some(image) = ext4_image(directory.path(), 1 << 30, ["-m", "0"]) else { return };
    let options = ["-o", "loop", &image];
    let Some(scratch) = Mounted::new(&options, &directory.path().join("scratch")) else { return };
    // Nine tenths and a little more; what is left is enough for what is written.
    let room = rustix::fs::statvfs(&scratch.0).expect("room");
    let ballast = File::create(scratch.0.join("ballast")).expect("a file");
    let most = room.f_bavail * room.f_frsize - (88 << 20);
    rustix::fs::fallocate(&ballast, rustix::fs::FallocateFlags::empty(), 0, most).expect("filled");
    let mirror = "{ layers = \"btrfs-raid1\", drives = 2 }";
    let workloads = "[[workloads]]\nid = \"write\"\n\
        dd = { direction = \"write\", bs = \"64k\", count = 16, source = \"random\" }\n";
    let place = scratch.0.display().to_string();
    let arguments = ["--on", "loop", "--scratch", &place];
    let output = command(home.path(), &study(mirror, workloads), &arguments).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) && said.contains("needs") {
        eprintln!("skipped: {said}");
        return;
    }
    let found = findings(home.path(), &output);
    assert_found(&found, |name, _| ON_LOOP.contains(&name));
    assert_says(&found, "shared-spindle", Severity::Note, &["files in one directory"]);
    assert_says(&found, "host-nearly-full", Severity::Warning, &[" full in ", " left: "]);
}
