//! The lab's kernel has what the lab needs, as it says itself. It runs in real
//! time here, without disks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_exec::{Executor, Invocation, find_program};
use disklab_lab_kernel as kernel;

/// Says what there is, each list after a line of its own, and powers off.
const INIT: &str = "#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mkdir /tmp/cgroup
mount -t cgroup2 cgroup /tmp/cgroup
echo == filesystems; cat /proc/filesystems
echo == mdstat; head -1 /proc/mdstat
echo == crypto; grep name /proc/crypto
echo == scheduler; cat /sys/block/loop0/queue/scheduler
echo == cgroup; cat /tmp/cgroup/cgroup.controllers
echo == targets; dmsetup targets
echo == end
echo o >/proc/sysrq-trigger
sleep 1000
";

/// The words after `== name`, up to the next such line.
fn words<'a>(console: &'a str, name: &str) -> Vec<&'a str> {
    let text = console.split("== ").find_map(|part| part.strip_prefix(name)).unwrap_or_default();
    text.split(|c: char| c.is_whitespace() || "[]".contains(c)).collect()
}

/// The kernel to test with, or `None`, said on standard error.
fn kernel() -> Option<PathBuf> {
    let kernel = kernel::find(&kernel::cache_directory(), kernel::Parts::ALL);
    if kernel.is_none() {
        eprintln!("skipped: needs the lab's kernel (disklab lab build)");
    }
    kernel
}

/// What the kernel and `script`, kept in `directory`, say until the script powers it
/// off.
fn boot(kernel: &Path, directory: &Path, script: &str, options: &[&str]) -> String {
    let init = directory.join("init");
    fs::write(&init, script).expect("init");
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).expect("mode");
    let boot = Invocation::new(kernel.display().to_string())
        .args(["mem=256M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"])
        .args(["con=null", "con0=null,fd:1", "noreboot", "panic=-1", "umid=kernel"])
        .args(options)
        .arg(format!("uml_dir={}", directory.display()))
        .arg(format!("init={}", init.display()))
        // Not to find out how fast it is, but not to wait for ever.
        .timeout(Duration::from_secs(300));
    let finished = Executor::default().run(&boot).expect("it powers off");
    let console = finished.text();
    assert!(console.contains("== end"), "{console}\n{}", finished.error_text());
    console
}

#[test]
fn kernel_boots_and_has_what_the_lab_needs() {
    let Some(kernel) = kernel() else { return };
    let directory = tempfile::tempdir().expect("temp");
    let console = boot(&kernel, directory.path(), INIT, &[]);
    let mut needed = vec![
        ("filesystems", "ext4 xfs btrfs nilfs2 f2fs hostfs overlay tmpfs devtmpfs"),
        ("mdstat", "linear raid0 raid1 raid10 raid6 raid5 raid4"),
        ("crypto", "aes sha256 crc32c xxhash64 blake2b-256"),
        ("scheduler", "none mq-deadline kyber bfq"),
        ("cgroup", "io memory"),
    ];
    if find_program("dmsetup").is_some() {
        let targets = "crypt integrity raid snapshot log-writes flakey dust thin linear striped";
        needed.push(("targets", targets));
    } else {
        eprintln!("skipped: needs dmsetup for the list of targets");
    }
    for (list, names) in needed {
        let have = words(&console, list);
        for name in names.split(' ') {
            assert!(have.contains(&name), "{list} has no {name}: {have:?}\n{console}");
        }
    }
}

#[test]
fn its_random_numbers_follow_from_a_seed() {
    let Some(kernel) = kernel() else { return };
    let script = "#!/bin/sh
mount -t proc proc /proc
mount -t devtmpfs dev /dev
echo == random; head -c 32 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/uuid
echo == end
echo o >/proc/sysrq-trigger
sleep 1000
";
    // The kernel also takes its command line and the time of day for entropy: the
    // init must have the same path each time.
    let directory = tempfile::tempdir().expect("temp");
    let numbers = |seed: &str| {
        let options =
            ["time-travel=inf-cpu", "time-travel-start=1767225600000000000", "norandmaps", seed];
        words(&boot(&kernel, directory.path(), script, &options), "random").join(" ")
    };
    let seven = numbers("entropy=7");
    assert!(seven.len() > 100, "{seven}");
    assert_eq!(numbers("entropy=7"), seven);
    assert_ne!(numbers("entropy=8"), seven);
}
