//! `disklab fio` and block devices: the attacks of 21.26, as a user types them.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

const MIB: u64 = 1 << 20;

fn disklab(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::cargo_bin("disklab").expect("built");
    command.current_dir(directory).arg("fio").args(words).output().expect("ran")
}

fn run(program: &str, words: &[&str]) -> Option<String> {
    let output = std::process::Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An ext4 with a file on it, on a loop device. Detached when this is dropped.
struct Device {
    directory: tempfile::TempDir,
    node: String,
}

impl Device {
    /// `None`, with a word on standard error, if this machine cannot do it.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().expect("temp");
        let image = directory.path().join("image");
        File::create(&image).and_then(|f| f.set_len(64 * MIB)).expect("sparse");
        fs::create_dir(directory.path().join("mnt")).expect("mount point");
        fs::create_dir(directory.path().join("here")).expect("a directory");
        let image = image.display().to_string();
        let Some(node) = run("losetup", &["--find", "--show", &image]) else {
            eprintln!("skipped: needs root and loop devices");
            return None;
        };
        let device = Self { directory, node };
        run("mkfs.ext4", &["-q", &device.node]).or_else(|| {
            eprintln!("skipped: needs mkfs.ext4");
            None
        })?;
        Some(device)
    }

    fn here(&self) -> PathBuf {
        self.directory.path().join("here")
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("image")
    }

    fn mount(&self) -> bool {
        let point = self.directory.path().join("mnt");
        // Read-only: the file system itself would write, and hide who else does.
        let mounted =
            run("mount", &["-o", "ro", &self.node, &point.display().to_string()]).is_some();
        if !mounted {
            eprintln!("skipped: needs to mount {}", self.node);
        }
        mounted
    }

    /// What is on the device.
    fn content(&self) -> Vec<u8> {
        run("sync", &[]);
        fs::read(self.image()).expect("read")
    }

    /// Asserts that the words are a usage error that says `part`, and touch nothing.
    fn refused(&self, words: &[&str], part: &str) {
        let before = self.content();
        let output = disklab(&self.here(), words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: no '{part}' in: {said}");
        assert!(self.content() == before, "{words:?}: something was written");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        run("umount", &["--quiet", &self.directory.path().join("mnt").display().to_string()]);
        run("losetup", &["--detach", &self.node]);
    }
}

#[test]
fn a_mounted_device_is_not_written_to_under_any_of_its_names() {
    let Some(device) = Device::new() else { return };
    if !device.mount() {
        return;
    }
    let node = device.node.as_str();
    let name = node.trim_start_matches("/dev/");
    symlink(node, device.here().join("link")).expect("linked");
    let job = format!("[x]\nrw=randwrite\nbs=4k\nsize=8m\nfilename={node}\n");
    fs::write(device.here().join("j.fio"), job).expect("job");
    let all = format!("--filename=a:{node}");
    let direct = format!("--filename={node}");
    let common = ["--name=x", "--size=8m", "--rw=write"];
    for words in [
        &["j.fio"][..],
        &["j.fio", "--yes"],
        &[&common[..], &[&direct, "--direct=1"]].concat(),
        &[&common[..], &["--filename=link"]].concat(),
        &[&common[..], &[&all]].concat(),
        &[&common[..], &["--directory=/dev", "--filename", name]].concat(),
        &["--name=x", "--size=8m", "--rw=randrw", &direct, "--unlink=1"],
        &["--name=r", "--size=8m", &direct, "--name=w", "--size=8m", "--rw=write", &direct],
    ] {
        device.refused(words, "is not touched");
    }
    assert!(!device.here().join("a").exists(), "the other file was made");
    assert!(Path::new(node).exists() && device.here().join("link").is_symlink());
    // It is no drive of its own, so no consent helps.
    device.refused(&[&common[..], &[&direct, "--yes", "--erase=x"]].concat(), "is not touched");
}

#[test]
fn a_device_is_read_as_fio_does() {
    let Some(device) = Device::new() else { return };
    let before = device.content();
    let filename = format!("--filename={}", device.node);
    let words = ["--name=x", "--rw=randread", "--bs=4k", "--size=4m", &filename, "--unlink=1"];
    let output = disklab(&device.here(), &words);
    assert!(output.status.success(), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("read"));
    assert!(Path::new(&device.node).exists(), "its node was removed");
    assert!(device.content() == before);
}

#[test]
fn a_share_of_a_device_is_read() {
    let Some(device) = Device::new() else { return };
    let filename = format!("--filename={}", device.node);
    for (size, bytes) in [("--size=100%", 64 * MIB), ("--offset=75%", 16 * MIB)] {
        let words = ["--name=a", "--rw=read", "--bs=1m", size, &filename, "--output-format=json"];
        let output = disklab(&device.here(), &words);
        assert!(output.status.success(), "{}", said(&output));
        let read = format!("\"io_bytes\": {bytes},");
        assert!(String::from_utf8_lossy(&output.stdout).contains(&read), "{size}");
    }
    // A job that is called as the device works on it.
    let name = format!("--name={}", device.node);
    let output = disklab(&device.here(), &[&name, "--rw=read", "--bs=1m", "--size=50%"]);
    assert!(output.status.success(), "{}", said(&output));
    device.refused(&[&name, "--rw=write", "--bs=1m", "--size=50%"], "is not touched");
}

#[test]
fn the_data_of_a_loop_device_are_left_alone() {
    let Some(device) = Device::new() else { return };
    let image = device.image();
    fs::hard_link(&image, device.here().join("alias")).expect("linked");
    let direct = format!("--filename={}", image.display());
    let part = format!("the loop device {} keeps its data in it", &device.node[5..]);
    for words in [
        &["--name=x", "--rw=write", "--size=1m", &direct][..],
        &["--name=x", "--rw=write", "--size=1m", "--filename=alias"],
        // It reads, but would make the file anew, since it is too short; or remove it.
        &["--name=x", "--rw=read", "--size=100m", &direct],
        &["--name=x", "--rw=read", "--size=1m", "--unlink=1", &direct],
    ] {
        device.refused(words, &part);
    }
    let output = disklab(&device.here(), &["--name=x", "--rw=read", "--size=1m", &direct]);
    assert!(output.status.success(), "{}", said(&output));
}

/// By device and inode: the name by which it was attached leads elsewhere, in another mount
/// namespace or to another file, or to none.
#[test]
fn the_data_of_a_loop_device_are_left_alone_under_any_name() {
    let Some(device) = Device::new() else { return };
    let (image, alias) = (device.image(), device.here().join("alias"));
    fs::hard_link(&image, &alias).expect("linked");
    let part = format!("the loop device {} keeps its data in it", &device.node[5..]);
    let write = ["--name=x", "--rw=write", "--size=1m", "--filename=alias"];
    let hidden = |words: &[&str]| {
        let bin = assert_cmd::cargo::cargo_bin("disklab");
        let script = "mount --bind /dev/null \"$0\" && cd \"$1\" && shift && exec \"$@\"";
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(&image).arg(device.here());
        command.arg(bin).arg("fio").args(words).output().expect("ran")
    };
    let before = device.content();
    let output = hidden(&write);
    assert!(said(&output).contains(&part), "mounted over: {}", said(&output));
    assert!(device.content() == before, "something was written");
    fs::remove_file(&image).expect("its first name");
    for replaced in [false, true] {
        if replaced {
            fs::write(&image, "another file").expect("written");
        }
        let output = disklab(&device.here(), &write);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(&part), "{}", said(&output));
        assert!(fs::read(&alias).expect("read") == before, "something was written");
    }
}

#[test]
fn swap_in_use_is_left_alone() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("temp");
    let swap = directory.path().join("swap");
    fs::write(&swap, vec![0; 8 << 20]).expect("written");
    let shown = swap.display().to_string();
    run("chmod", &["600", &shown]);
    if run("mkswap", &[&shown]).is_none() || run("swapon", &[&shown]).is_none() {
        eprintln!("skipped: needs root and a file system that takes swap files");
        return;
    }
    let output =
        disklab(directory.path(), &["--name=x", "--rw=write", "--size=1m", "--filename=swap"]);
    run("swapoff", &[&shown]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("it is swap space in use"), "{}", said(&output));
}

#[test]
fn results_are_not_written_over_a_device() {
    let Some(device) = Device::new() else { return };
    let output = format!("--output={}", device.node);
    device.refused(&["--name=x", "--size=1m", &output], "is a block device");
    assert_eq!(fs::read_dir(device.here()).expect("directory").count(), 0);
}

#[test]
fn names_that_are_no_devices_are_usage_errors() {
    let directory = tempfile::tempdir().expect("temp");
    for (filename, part) in [
        ("/dev/disklab-none", "there is no such device"),
        ("/dev/disk/by-id/ata-disklab-none", "there is no such device"),
        ("/dev/tty", "it is a character device"),
    ] {
        if !Path::new(filename).parent().is_some_and(Path::exists) {
            continue;
        }
        let filename = format!("--filename={filename}");
        let output = disklab(directory.path(), &["--name=x", "--rw=write", "--size=1m", &filename]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(part), "{}", said(&output));
    }
    let output = disklab(directory.path(), &["--name=x", "--size=1m", "--erase=K1"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("no job writes to a drive"), "{}", said(&output));
    assert!(!Path::new("/dev/disklab-none").exists());
}

/// The rest of a drive's life, on one that is a drive: see `disks_in_the_lab.rs`.
#[test]
fn plain_files_are_still_written() {
    let directory = tempfile::tempdir().expect("temp");
    let output = disklab(directory.path(), &["--name=x", "--rw=write", "--size=64k"]);
    assert!(output.status.success(), "{}", said(&output));
    let file = OpenOptions::new().read(true).open(directory.path().join("x.0.0")).expect("written");
    let mut first = [0; 16];
    file.read_exact_at(&mut first, 0).expect("read");
    assert_ne!(first, [0; 16]);
}
