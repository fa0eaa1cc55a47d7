//! Arrays, volume groups and mappings that only look like disklab's are left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{LOOPS, LoopFixture, can, output, stack};
use disklab_exec::{Executor, Invocation};
use disklab_stack::{Ledger, Need, Undo};
use disklab_units::Bytes;

/// Tears down one thing, as a ledger would that was found.
fn undo(fixture: &LoopFixture, undo: Undo) -> Vec<String> {
    let directory = tempfile::tempdir().expect("directory");
    let mut ledger = Ledger::open(directory.path()).expect("ledger");
    ledger.enter(undo).expect("enter");
    ledger.tear_down_to(0, &fixture.executor).iter().map(ToString::to_string).collect()
}

/// All that a stack's own ledger says of arrays, groups and mappings.
fn entries(fixture: &LoopFixture) -> Vec<serde_json::Value> {
    let mut found = Vec::new();
    for file in fs::read_dir(&fixture.state).expect("state").flatten() {
        for line in fs::read_to_string(file.path()).expect("ledger").lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            found.extend(line.pointer("/enter/undo").cloned());
        }
    }
    found
}

/// The entry for this kind of thing, changed in one field.
fn changed(fixture: &LoopFixture, kind: &str, field: &str, value: &str) -> Undo {
    let mut entry = entries(fixture)
        .into_iter()
        .rfind(|entry| entry.get(kind).is_some())
        .unwrap_or_else(|| panic!("no {kind}"));
    entry[kind][field] = value.into();
    serde_json::from_value(entry).expect("an entry")
}

#[test]
fn the_same_name_is_not_enough() {
    const OTHER: &str = "11111111-2222-4333-8444-555555555555";
    for (text, kind, field) in [
        ("md-raid1[resync=skip]/ext4", "stop-array", "uuid"),
        ("lvm/ext4", "remove-volume-group", "mark"),
        ("lvm/ext4", "remove-volume-group", "name"),
        ("md-raid0/crypt/ext4", "close-crypt", "uuid"),
        ("md-raid0/integrity/ext4", "close-integrity", "name"),
    ] {
        let stack = stack(text, 2);
        if !can(&[stack.needs(), LOOPS.to_vec()].concat()) {
            continue;
        }
        let mut fixture = LoopFixture::new(2, Bytes::mib(64));
        let mark = fixture.ledger.mark();
        let made = fixture.make(&stack).unwrap_or_else(|e| panic!("{text}: {e}"));
        // Not in use, so that only its identity protects it.
        output("umount", &[&made.directory.display().to_string()]);
        let device = made.device.expect("device");
        let before = output("blkid", &["--probe", &device.display().to_string()]);
        let below = below(&fixture.drives, text);
        assert_eq!(
            undo(&fixture, changed(&fixture, kind, field, OTHER)),
            Vec::<String>::new(),
            "{text}"
        );
        let after = output("blkid", &["--probe", &device.display().to_string()]);
        assert_eq!(before, after, "{text}: {field}");
        assert_eq!(below, self::below(&fixture.drives, text), "{text}: {field}");
        // Under its own name it goes.
        fixture.tear_down_to(mark);
        assert!(!device.exists(), "{text}");
    }
}

/// What blkid says of each drive.
fn below(drives: &[PathBuf], stack: &str) -> Vec<String> {
    let blkid = |drive: &PathBuf| {
        let output = Command::new("blkid").arg("--probe").arg(drive).output().expect("blkid");
        assert!(output.status.success(), "{stack}: {} is bare", drive.display());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    drives.iter().map(blkid).collect()
}

const INTEGRITY: [Need; 4] = [
    Need::Root,
    Need::Loop,
    Need::Program { name: "integritysetup", package: "cryptsetup-bin" },
    Need::DeviceMapper("integrity"),
];

// integritysetup maps the device for itself while it writes it over, and leaves
// the mapping behind when it is killed.
#[test]
fn a_format_that_was_killed_comes_down() {
    if !can(&INTEGRITY) {
        return;
    }
    let mut fixture = LoopFixture::new(1, Bytes::mib(256));
    let mark = fixture.ledger.mark();
    let stack = stack("integrity/ext4", 1);
    fixture.make(&stack).expect("made");
    let undone = changed(&fixture, "close-integrity", "name", "disklab-never-made");
    fixture.tear_down_to(mark);
    let drive = fixture.drives[0].clone();
    let mut format = Command::new("integritysetup")
        .args(["format", "--batch-mode", "--integrity", "sha256"])
        .arg(&drive)
        .spawn()
        .expect("integritysetup");
    let holders =
        Path::new("/sys/class/block").join(drive.file_name().expect("name")).join("holders");
    let is_held = || fs::read_dir(&holders).is_ok_and(|mut entries| entries.next().is_some());
    while !is_held() && format.try_wait().expect("wait").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    format.kill().expect("kill -9");
    format.wait().expect("dead");
    assert_eq!(undo(&fixture, undone), Vec::<String>::new());
    assert!(!is_held(), "a mapping is left");
    let wipefs = Invocation::new("wipefs").arg("--noheadings").arg(&drive);
    let left = Executor::default().check(&wipefs).expect("wipefs").text();
    assert_eq!(left, "", "a superblock is left");
}
