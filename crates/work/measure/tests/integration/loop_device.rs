//! The meter and the drive's state on a real block device.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use disklab_exec::{Executor, Interrupt, Invocation};
use disklab_measure::{
    BlockDevice, Meter, NamedDevice, SystemRoot, drive_state, set_write_cache, smart, write_cache,
};

const MIB: u64 = 1 << 20;

/// A loop device over a sparse file; both are gone when this is dropped.
struct LoopDevice {
    directory: tempfile::TempDir,
    node: PathBuf,
    executor: Executor,
}

impl LoopDevice {
    /// `None`, with a word on standard error, where this machine cannot do it.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().expect("temp");
        let file = directory.path().join("drive");
        File::create(&file).and_then(|f| f.set_len(16 * MIB)).expect("sparse file");
        let executor = Executor::new(Interrupt::new());
        let losetup = Invocation::new("losetup").args(["--find", "--show"]).arg(&file);
        let Ok(finished) = executor.check(&losetup) else {
            eprintln!("skipped: needs root and loop devices");
            return None;
        };
        let node = PathBuf::from(finished.text().trim());
        Some(Self { directory, node, executor })
    }

    fn watched(&self) -> NamedDevice {
        NamedDevice { name: "d1".to_owned(), device: self.node.clone() }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = self.executor.run(&Invocation::new("losetup").arg("--detach").arg(&self.node));
    }
}

#[test]
fn the_meter_counts_what_dd_writes() {
    let Some(drive) = LoopDevice::new() else { return };
    let meter = Meter::start(&[drive.watched()], Duration::from_millis(10));
    let dd = Invocation::new("dd").args(["if=/dev/zero", "bs=1M", "count=8", "oflag=direct"]);
    let dd = dd.arg(format!("of={}", drive.node.display()));
    drive.executor.check(&dd).expect("dd");
    let measured = meter.stop();
    let traffic = &measured.drives[0];
    assert_eq!((traffic.drive.as_str(), traffic.write_bytes), ("d1", 8 * MIB));
    assert!(traffic.writes >= 8, "{traffic:?}");
    let series = &measured.series.drives[0];
    assert_eq!(series.write_bytes.iter().sum::<u64>(), 8 * MIB);
    assert_eq!(series.write_bytes.len(), series.read_bytes.len());
    assert!(measured.cpu.processors > 0);
}

#[test]
fn a_loop_device_reports_its_file_and_has_no_cache_or_smart() {
    let Some(drive) = LoopDevice::new() else { return };
    let root = SystemRoot::here();
    let state = drive_state(&root, &drive.watched());
    assert_eq!(state.size_bytes, 16 * MIB);
    assert_eq!(state.sectors, Some((512, 512)));
    let file = drive.directory.path().canonicalize().expect("directory").join("drive");
    assert_eq!(state.backing_file, Some(file.display().to_string()));
    assert_eq!(smart(&drive.executor, &drive.node), None);
    assert_eq!(write_cache(&drive.executor, &drive.node), None);
    let error = set_write_cache(&drive.executor, &drive.node, true).expect_err("no cache");
    assert!(error.to_string().contains("loop device"), "{error}");
    let device = BlockDevice::at(&root, &drive.node).expect("a block device");
    assert_eq!(device.node(), drive.node);
}
