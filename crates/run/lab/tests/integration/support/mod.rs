//! What the tests with a real kernel share.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

pub mod stacks;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_lab::{DiskOptions, KeptDisks, Lab, LabError, LabOptions, LabReport, Steady};

/// The kernel to test with, or `None`, said on standard error.
pub fn kernel() -> Option<PathBuf> {
    let kernel = disklab_lab_kernel::find(
        &disklab_lab_kernel::cache_directory(),
        disklab_lab_kernel::Parts::ALL,
    );
    if kernel.is_none() {
        eprintln!("skipped: needs the lab's kernel (disklab lab build)");
    }
    kernel
}

/// Disks of `mib` MiB whose requests take `latency` ns.
pub fn steady(count: usize, mib: u64, latency: u64) -> Vec<DiskOptions> {
    let drive = || Box::new(Steady::new(mib << 11, latency));
    let disk = |n| DiskOptions::new(drive(), format!("LAB{n:05}"));
    (0..count).map(disk).collect()
}

/// What every guest does first, and last.
const BEGIN: &str = "#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# mount of util-linux 2.39 and later otherwise takes a hostfs's directory for an option it does not know.
export LIBMOUNT_FORCE_MOUNT2=always
mount -t proc proc /proc
mount -t sysfs sys /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
for d in /tmp /run /var/tmp /mnt; do mount -t tmpfs tmp $d; done
";
const END: &str = "
cd /
umount /mnt 2>/dev/null
echo o > /proc/sysrq-trigger
sleep 100
";

/// What a guest left behind.
pub struct Outcome {
    pub report: Result<LabReport, LabError>,
    pub console: String,
    /// What its disks hold.
    pub kept: Option<KeptDisks>,
}

impl Outcome {
    /// Has another lab begin with what the disks hold.
    pub fn leave(&self, options: &mut LabOptions) {
        self.kept.as_ref().expect("it ran").begin_with_content(options).unwrap();
    }

    /// Its report; panics with the console where it failed.
    pub fn report(&self) -> &LabReport {
        match &self.report {
            Ok(report) => report,
            Err(e) => panic!("{e}\n{}", self.console),
        }
    }

    /// The word after `key=` in the console.
    pub fn word(&self, key: &str) -> &str {
        let found = self
            .console
            .split_whitespace()
            .find_map(|w| w.strip_prefix(key).and_then(|rest| rest.strip_prefix('=')));
        found.unwrap_or_else(|| panic!("no {key}= in\n{}", self.console))
    }

    /// The number after `key=` in the console.
    pub fn number(&self, key: &str) -> f64 {
        self.word(key).parse().unwrap()
    }
}

/// Boots a guest that runs `script`, and is changed by `adjust`.
pub fn run(
    kernel: PathBuf,
    script: &str,
    disks: Vec<DiskOptions>,
    adjust: impl FnOnce(&mut LabOptions),
) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(kernel, script, directory.path());
    options.disks = disks;
    adjust(&mut options);
    let result = Lab::start(options).and_then(Lab::run_and_keep);
    let console = std::fs::read_to_string(directory.path().join("console")).unwrap_or_default();
    let (report, kept) = match result {
        Ok((report, kept)) => (Ok(report), Some(kept)),
        Err(error) => (Err(error), None),
    };
    Outcome { report, console, kept }
}

/// The same, with a console that is not read: a guest may have put anything there.
pub fn run_unread(kernel: PathBuf, script: &str) -> Result<LabReport, LabError> {
    let directory = tempfile::tempdir().unwrap();
    Lab::start(options(kernel, script, directory.path())).and_then(Lab::run)
}

fn options(kernel: PathBuf, script: &str, directory: &Path) -> LabOptions {
    let init = directory.join("init");
    std::fs::write(&init, format!("{BEGIN}{script}{END}")).unwrap();
    std::fs::set_permissions(&init, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut options = LabOptions::new(kernel, directory, init);
    options.memory_bytes = 256 << 20;
    options.real_limit = Some(Duration::from_secs(120));
    options
}
