//! A guest in which disklab is used on drives that are block devices with model
//! and serial number.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

pub mod cluster;
pub mod kernel;
pub mod run;
mod shared;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use disklab_exec::find_program;
use disklab_lab::{CpuLease, CpuLeases, DiskOptions, Lab, LabOptions, LabReport};

/// The words that the guests' scripts are written in.
const WORDS: &str = include_str!("guest.sh");
/// The model of the drives. What they are told to be in the guest is up to the
/// scripts.
const MODEL: &str = "hdn721010ale604";
/// Programs that the scripts use, apart from those that every machine has.
const PROGRAMS: &[&str] = &[
    "blkid",
    "blockdev",
    "cryptsetup",
    "dd",
    "dmsetup",
    "fio",
    "losetup",
    "lvm",
    "mdadm",
    "mkfs.btrfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "mkswap",
    "script",
    "setpriv",
    "sfdisk",
    "swapon",
    "unshare",
    "wipefs",
];
/// What was tried in a guest, and what came of it.
#[derive(Debug)]
pub struct Case {
    /// The exit code.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// Sectors written to and discarded from each virtio disk.
    written: [String; 2],
    /// What was on the disks that the case is about.
    content: [String; 2],
    /// Mounts, arrays, mappings, loop devices, swap.
    leftovers: [String; 2],
    /// The same, in the middle of a run.
    pub leftovers_during: String,
}

impl Case {
    fn read(directory: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
        let pair = |name: &str| ["before", "after"].map(|when| text(&format!("{name}-{when}")));
        Self {
            code: text("code").trim().parse().unwrap_or(-1),
            stdout: text("stdout"),
            stderr: text("stderr"),
            written: pair("written"),
            content: pair("content"),
            leftovers: pair("standing"),
            leftovers_during: text("standing-during"),
        }
    }

    /// Asserts that nothing reached any drive, and that what was on those of this
    /// case still is.
    pub fn touched_nothing(&self, name: &str) {
        let [before, after] = &self.written;
        assert!(!before.is_empty(), "{name}: nothing is known of the drives");
        assert_eq!(before, after, "{name}: something was written\n{}", self.stderr);
        let [before, after] = &self.content;
        assert_eq!(before, after, "{name}: the content changed\n{}", self.stderr);
    }

    /// Asserts that nothing reached these disks, which the case was begun with.
    pub fn left_alone(&self, name: &str, disks: &[&str]) {
        for texts in [&self.written, &self.content] {
            for disk in disks {
                let [before, after] = texts.each_ref().map(|text| {
                    let line = text.lines().find(|line| line.starts_with(disk));
                    line.unwrap_or_else(|| panic!("{name}: nothing is known of {disk}"))
                });
                assert_eq!(before, after, "{name}\n{}", self.stderr);
            }
        }
    }

    /// Asserts that what stood before stands, and nothing else.
    pub fn left_nothing(&self, name: &str) {
        let [before, after] = &self.leftovers;
        assert_eq!(before, after, "{name}: left standing\n{}", self.stderr);
    }
}

/// A guest that was powered off.
#[derive(Debug)]
pub struct Guest {
    pub report: LabReport,
    pub transcript: Transcript,
    /// The last counts of what was written to each virtio disk.
    written: String,
}

/// What came of all that was tried in a guest.
#[derive(Debug)]
pub struct Transcript {
    pub console: String,
    cases: BTreeMap<String, Case>,
}

/// What [`Transcript::read`] reads.
const TRANSCRIPT: [&str; 2] = ["console", "cases"];

impl Transcript {
    /// From the directory of a guest, or a copy of its transcript.
    fn read(directory: &Path) -> Self {
        let console = fs::read(directory.join("console")).unwrap_or_default();
        let console = String::from_utf8_lossy(&console).into_owned();
        let cases = fs::read_dir(directory.join("cases")).into_iter().flatten().flatten();
        let cases = cases
            .map(|entry| (entry.file_name().into_string().unwrap(), Case::read(&entry.path())))
            .collect();
        Self { console, cases }
    }

    /// Of a guest that the first test boots that needs it, for all of this run.
    pub fn shared(
        name: &str,
        script: &str,
        files: &[(&str, &str)],
        drives_mib: &[u64],
    ) -> Option<Self> {
        let copy = |guest: &Path, to: &Path| {
            for part in TRANSCRIPT.iter().map(|part| guest.join(part)).filter(|p| p.exists()) {
                let copied = Command::new("cp").arg("-r").arg(part).arg(to).status().unwrap();
                assert!(copied.success(), "cannot copy the transcript of {name}");
            }
        };
        let make = |to: &Path| boot(script, files, drives_mib, |guest| copy(guest, to)).map(|_| ());
        shared::shared(name, make).map(|directory| Self::read(&directory))
    }

    /// What was tried under this name.
    pub fn case(&self, name: &str) -> &Case {
        self.cases.get(name).unwrap_or_else(|| panic!("no case {name} in\n{}", self.console))
    }

    /// What a case said on standard error, each run of blanks as one; after it ended
    /// with one of these codes.
    pub fn said(&self, name: &str, codes: &[i32]) -> String {
        let case = self.case(name);
        let said = unwrapped(&case.stderr);
        assert!(codes.contains(&case.code), "{name} ended with {}: {said}", case.code);
        said
    }

    /// Asserts that a case was refused, in these words, and nothing was touched.
    pub fn refused(&self, name: &str, words: &[&str]) {
        let case = self.case(name);
        let said = self.said(name, &[2]);
        for word in words {
            assert!(said.contains(word), "{name}: no '{word}' in: {said}");
        }
        case.touched_nothing(name);
        case.left_nothing(name);
    }
}

impl Case {
    /// What is at its end.
    pub fn leftovers_after(&self) -> &str {
        &self.leftovers[1]
    }
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether these programs are here. What is missing is said on standard error.
pub fn has_programs(names: &[&str]) -> bool {
    let missing: Vec<&str> =
        names.iter().copied().filter(|name| find_program(name).is_none()).collect();
    if !missing.is_empty() {
        eprintln!("skipped: needs {}", missing.join(", "));
    }
    missing.is_empty()
}

/// A guest with these drives (`/dev/vda` and so on, by their sizes in MiB) that
/// carries out `script`. What `look` takes from its directory is handed back. `None`,
/// said on standard error, where this machine cannot do it.
pub fn boot<T>(
    script: &str,
    files: &[(&str, &str)],
    drives_mib: &[u64],
    look: impl FnOnce(&Path) -> T,
) -> Option<(Guest, T)> {
    let kernel = kernel::kernel()?;
    if !has_programs(PROGRAMS) {
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    // A copy: the next build may replace the program while a guest runs it.
    fs::copy(assert_cmd::cargo::cargo_bin("disklab"), directory.path().join("disklab")).unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let init = directory.path().join("init");
    let lab = shell_words::quote(directory.path().to_str().unwrap());
    fs::write(&init, format!("#!/bin/sh\nLAB={lab}\n{WORDS}\n{script}\npower_off\n")).unwrap();
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).unwrap();

    let mut options = LabOptions::new(kernel, directory.path(), &init);
    options.memory_bytes = 512 << 20;
    options.real_limit = Some(Duration::from_secs(900));
    let model = disklab_drive::shipped(MODEL).unwrap();
    options.disks = (1..)
        .zip(drives_mib)
        .map(|(seed, mib)| {
            let model = model.limited_to(mib << 20).unwrap();
            DiskOptions::of(&model, seed, format!("VIRT{seed:04}"))
        })
        .collect();
    // Other tests, and the disklab that they start, keep off it.
    let cores = disklab_lab::processors().unwrap();
    let lease = CpuLeases::of_user().take(&cores, options.memory_bytes);
    options.core = lease.as_ref().map(CpuLease::core);
    let report = Lab::start(options).and_then(Lab::run);
    let transcript = Transcript::read(directory.path());
    let report = report.unwrap_or_else(|error| panic!("{error}\n{}", transcript.console));
    let written = fs::read(directory.path().join("written")).unwrap_or_default();
    let written = String::from_utf8_lossy(&written).into_owned();
    let guest = Guest { report, transcript, written };
    guest.agrees_with_the_drives();
    Some((guest, look(directory.path())))
}

impl Guest {
    /// Asserts that the guest's kernel counts writes where the drive models do, and
    /// nowhere else, so that the cases' counts can be believed.
    fn agrees_with_the_drives(&self) {
        let counted: Vec<(&str, bool)> = self
            .written
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, counts)| (name, counts != "0 0"))
            .collect();
        let names: Vec<String> = ('a'..).take(counted.len()).map(|c| format!("vd{c}")).collect();
        let disks = names.iter().zip(&self.report.disks);
        let expected: Vec<(&str, bool)> = disks
            .map(|(name, disk)| (&**name, disk.as_ref().is_some_and(|d| d.drive.writes > 0)))
            .collect();
        let console = &self.transcript.console;
        assert_eq!(counted.len(), self.report.disks.len(), "{console}");
        assert_eq!(counted, expected, "{console}");
    }
}
