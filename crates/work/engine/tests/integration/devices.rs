//! Block devices: written to only if the caller holds them (21.26).

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use disklab_engine::{
    DeviceAccess, EngineError, HeldDevice, JobContext, preflight, run, written_devices,
};
use disklab_jobfile::{Job, Policy, Runner, parse};
use disklab_source::Source;

const SIZE: u64 = 16 << 20;

/// A loop device of its own over a sparse file; detached when this is dropped.
struct LoopDevice {
    directory: tempfile::TempDir,
    node: String,
}

impl LoopDevice {
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().expect("temp");
        let image = directory.path().join("image");
        File::create(&image).and_then(|file| file.set_len(SIZE)).expect("sparse");
        let losetup = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        let Some(output) = losetup.ok().filter(|output| output.status.success()) else {
            eprintln!("skipped: needs root and loop devices");
            return None;
        };
        let node = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Some(Self { directory, node })
    }

    fn is_blank(&self) -> bool {
        let _ = Command::new("sync").status();
        let content = std::fs::read(self.directory.path().join("image")).expect("read");
        content.iter().all(|byte| *byte == 0)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.node]).status();
    }
}

fn jobs(options: &str) -> Vec<Job> {
    let text = format!("[job]\nsize=1m\nbs=64k\n{options}\n");
    let source = Arc::new(Source { name: "test.fio".to_owned(), text });
    let policy = Policy { runner: Runner::Native, directory: true };
    parse(&source, policy).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_device_is_written_to_only_while_the_caller_holds_it() {
    let Some(device) = LoopDevice::new() else { return };
    let other = tempfile::tempdir().expect("temp");
    let mut context = JobContext::new(other.path(), 1);
    let write = jobs(&format!("rw=write\nend_fsync=1\nfilename={}", device.node));
    assert_eq!(written_devices(&write, &context), [Path::new(&device.node)]);
    let read = jobs(&format!("rw=read\nfilename={}", device.node));
    assert!(written_devices(&read, &context).is_empty());
    run(&read, &context).expect("reading hurts nobody");
    for engine in ["psync", "libaio", "io_uring"] {
        let write = jobs(&format!("rw=write\nioengine={engine}\nfilename={}", device.node));
        let refused = run(&write, &context).expect_err("refused");
        assert!(matches!(refused, EngineError::Untouchable { .. }), "{engine}: {refused}");
    }
    assert!(device.is_blank(), "something was written");

    let mut exclusively = OpenOptions::new();
    exclusively.read(true).write(true).custom_flags(libc::O_EXCL);
    let file = exclusively.open(&device.node).expect("free");
    let held = Arc::new(HeldDevice::new(file).expect("a block device"));
    context.devices = DeviceAccess::Only(vec![held]);
    preflight(&write, &context).expect("held");
    let report = run(&write, &context).expect("runs");
    assert_eq!((report.jobs[0].write.bytes, &report.jobs[0].error), (1 << 20, &None));
    assert!(!device.is_blank());
    let mut last = [0; 8];
    let file = File::open(&device.node).expect("opened");
    file.read_exact_at(&mut last, (1 << 20) - 8).expect("read");
    assert_ne!(last, [0; 8]);
    // Held for as long as the jobs could run.
    assert!(exclusively.open(&device.node).is_err(), "another one got it");
    context.devices = DeviceAccess::default();
    assert!(run(&write, &context).is_err());
}
