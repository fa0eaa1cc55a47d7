//! `--fault`, as a user meets it.

use std::process::Command;

use crate::command_support::{TINY_STUDY, disklab};
use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{disklab as disklab_in_lab, samples, samples_in};
use predicates::prelude::*;
use predicates::str::contains;

/// A file is read for 20 s from an array of three drives.
const STUDY: &str = r#"
id = "s"
title = "s"
repeats = 1
[[drives]]
name = "d"
model = "hgst-10tb"
size = "10 GB"
count = 3
[stacks]
raid5 = { layers = "md-raid5[resync=skip]/ext4", drives = 3 }
[[workloads]]
id = "w"
caches = "keep"
fio = { rw = "randread", bs = "64k", size = "512m", direct = 1, time_based = 1, runtime = "20s" }
"#;

#[test]
fn an_array_that_loses_a_drive_is_measured_and_reported() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let figures = |faults: &[&str]| {
        let home = tempfile::tempdir().expect("temp");
        let faults = faults.iter().flat_map(|fault| ["--fault", fault]);
        let arguments: Vec<&str> = ["--seed", "1"].into_iter().chain(faults).collect();
        let (_, sample) = samples(home.path(), STUDY, &arguments).remove(0);
        let notes = sample.notes.iter().filter(|note| note.about == "faults");
        let notes: Vec<String> = notes.map(|note| note.text.clone()).collect();
        let reads: Vec<u64> = sample.steps[0].drives.iter().map(|drive| drive.reads).collect();
        (notes, reads, home)
    };
    let (notes, sound, _) = figures(&[]);
    assert!(notes.is_empty(), "{notes:?}");
    let (dies, late) = ("drive 2: dies at 10 s", "drive 1: slow by 2 at 1 h");
    let (notes, degraded, home) = figures(&[dies, late]);
    let [first, second] = &notes[..] else { panic!("{notes:?}") };
    assert!(first.starts_with("drive 2: dies at 10 s: from 10.000 s of the work, on "), "{first}");
    assert!(second.ends_with("did not happen, as no request came so late"), "{second}");
    // The two others read what it had.
    assert!(degraded[1] < sound[1] * 6 / 10, "{degraded:?} of {sound:?}");
    assert!(degraded[0] > degraded[1] * 3 / 2, "{degraded:?}");
    let (again, repeated, _) = figures(&[dies, late]);
    assert_eq!((again, repeated), (notes, degraded), "the same at the same seed");
    let report = |format: &str| {
        let mut command = disklab_in_lab(home.path());
        let output = command.args(["report", "run", "--format", format, "--out", "-"]).output();
        String::from_utf8(output.expect("it starts").stdout).expect("UTF-8")
    };
    let page = report("md");
    assert!(page.contains("with faults: drive 2: dies at 10 s; drive 1: slow"), "{page}");
    assert!(report("html").contains("--fault 'drive 2: dies at 10 s'"));
}

/// A file is written, and read while a drive of its stack fails, is replaced and rebuilt.
fn cared_for(layers: &str, drives: u32, events: &str) -> String {
    format!(
        "id = 's'\ntitle = 's'\nrepeats = 1\n[lab]\nmemory = '1 GiB'\n[[drives]]\nname = 'd'\n\
         model = 'hgst-10tb'\nsize = '2 GB'\ncount = {drives}\n[stacks]\n\
         s = {{ layers = '{layers}', drives = {drives} }}\n[[workloads]]\nid = 'w'\n\
         caches = 'keep'\nevents = [{events}]\n\
         fio = {{ rw = 'randread', bs = '64k', size = '512m', direct = 1, time_based = 1, runtime = '20s' }}\n"
    )
}

fn event_notes(study: &str, more: &[&str]) -> Vec<String> {
    let home = tempfile::tempdir().expect("temp");
    let arguments: Vec<&str> = ["--seed", "1"].iter().chain(more).copied().collect();
    let (_, sample) = samples(home.path(), study, &arguments).remove(0);
    let notes = sample.notes.iter().filter(|note| note.about == "events");
    notes.map(|note| note.text.clone()).collect()
}

#[test]
fn a_drive_is_failed_replaced_and_rebuilt_while_the_work_runs() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4", "lvm"]) {
        return;
    }
    let events = "{ do = 'fail', drive = 2, at = '2 s' }, { do = 'replace', drive = 2, at = '5 s' }, \
                  { do = 'rebuild', at = '6 s' }, { do = 'scrub', at = '7 s' }";
    for (layers, drives, runtime, found) in [
        ("md-raid5[resync=skip]/ext4", 3, "'170s'", "md-raid5: 0 sectors differ"),
        ("shr[resync=skip]/ext4", 3, "'170s'", "shr: 0 sectors differ"),
    ] {
        let study = cared_for(layers, drives, events).replace("'20s'", runtime);
        let notes = event_notes(&study, &[]);
        let [fail, replace, rebuild, scrub] = &notes[..] else { panic!("{layers}: {notes:?}") };
        assert!(fail.starts_with("fail drive 2: 2.000 s after 'w' began"), "{layers}: {fail}");
        assert!(replace.starts_with("replace drive 2: 5.0"), "{layers}: {replace}");
        assert!(rebuild.starts_with("rebuild: "), "{layers}: {rebuild}");
        assert!(scrub.contains(found), "{layers}: {scrub}");
        assert!(!scrub.contains("did not happen"), "{layers}: {scrub}");
    }
}

#[test]
fn a_scrub_finds_what_rotted() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let events = "{ do = 'scrub', at = '5 s' }";
    let rot = ["--fault", "drive 1: rots 300 bytes at 1 s"];
    let notes = event_notes(&cared_for("md-raid1/ext4", 2, events), &rot);
    let [scrub] = &notes[..] else { panic!("{notes:?}") };
    assert!(scrub.contains("sectors differ") && !scrub.contains(" 0 sectors"), "{scrub}");
}

/// The kernel counts 64 KiB that a mirror cannot read as different, and corrects them; other levels tell them apart.
#[test]
fn a_scrub_says_what_could_not_be_read() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let (events, bad) = ("{ do = 'scrub', at = '5 s' }", "drive 2: unreadable 3 sectors at 1 s");
    for (layers, drives, found) in [
        ("md-raid1/ext4", 2, " sectors differ, or a read of them failed"),
        (
            "md-raid5/ext4",
            3,
            "0 sectors differ, 24 were in reads that failed, and were written anew",
        ),
        // Whole requests of a megabyte fail for a sector of theirs.
        ("md-raid10/ext4", 4, " were in reads that failed, and were written anew"),
    ] {
        let notes = event_notes(&cared_for(layers, drives, events), &["--fault", bad]);
        let [scrub] = &notes[..] else { panic!("{notes:?}") };
        assert!(scrub.contains(found) && !scrub.contains("1: 0 "), "{scrub}");
    }
}

/// The study that comes with disklab, of three stacks of two and four drives.
#[test]
fn sectors_that_nothing_else_has_are_lost_in_a_rebuild() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4", "mkfs.btrfs"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    let study = include_str!("../../../../studies/bad-sectors.toml");
    let only = ["raid1/ext4", "raid6/ext4", "btrfs-raid1"].into_iter();
    let arguments: Vec<&str> =
        only.flat_map(|stack| ["--only", stack]).chain(["--repeats", "1", "--seed", "1"]).collect();
    samples(home.path(), study, &arguments);
    let found = samples_in(&home.path().join("run"));
    assert_eq!(found.len(), 3);
    for (cell, sample) in found {
        let stack = cell.split(':').next().unwrap_or_default();
        let kept: Vec<_> = sample.steps.iter().filter_map(|step| step.kept).collect();
        let [read, again] = kept[..] else { panic!("{stack}: {kept:?}") };
        for kept in [read, again] {
            assert_eq!((kept.wrong, kept.files), (0, 256), "{stack}: {kept:?}");
            assert_eq!(kept.right + kept.unreadable, 65536, "{stack}: {kept:?}");
            // A new drive is blank: Btrfs would find there what a failed one had.
            let lost = if stack == "raid6/ext4" { 0..=0 } else { 5..=10 };
            assert!(lost.contains(&kept.unreadable), "{stack}: {kept:?}");
            assert_eq!(kept.damaged > 0, kept.unreadable > 0, "{stack}: {kept:?}");
        }
    }
}

#[test]
fn an_event_that_a_stack_cannot_have_is_refused() {
    let home = tempfile::tempdir().expect("temp");
    for (layers, event, expected) in [
        ("md-raid5/ext4", "{ do = 'fail', drive = 4 }", "there is no drive 4, only 3"),
        ("md-raid0/ext4", "{ do = 'fail', drive = 1 }", "none of its layers can"),
        ("md-raid0/ext4", "{ do = 'scrub' }", "none of its layers can"),
        ("btrfs-single", "{ do = 'replace', drive = 1 }", "none of its layers can"),
        ("md-raid5/ext4", "{ do = 'replace' }", "needs `drive`"),
    ] {
        std::fs::write(home.path().join("s.toml"), cared_for(layers, 3, event)).expect("written");
        for command in [&["plan", "s.toml"][..], &["run", "s.toml", "--out", "run"]] {
            disklab(home.path()).args(command).assert().code(2).stderr(contains(expected));
        }
    }
    assert!(!home.path().join("run").exists());
}

#[test]
fn a_shell_has_failing_drives() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let mut shell: Command = disklab_in_lab(home.path());
    shell.args(["lab", "shell", "--drives", "hgst-10tb:2:64GB", "--fault", "drive 2: dies at 5 s"]);
    let read = "dd if=/dev/vdb of=/dev/null bs=1M count=1 iflag=direct status=none 2>&1";
    let output = shell.args(["-c", &format!("{read} && echo read; sleep 5; {read}")]).output();
    let said = String::from_utf8(output.expect("it starts").stdout).expect("UTF-8");
    assert!(said.starts_with("read\n") && said.contains("Input/output error"), "{said}");
}

#[test]
fn a_fault_that_cannot_be_is_refused_before_anything_is_touched() {
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("s.toml"), STUDY).expect("written");
    std::fs::write(home.path().join("tiny.toml"), TINY_STUDY).expect("written");
    for (fault, expected) in [
        ("drive 4: dies", "there is no drive 4: raid5 has 3"),
        ("drive 2: dyes", "did you mean 'dies'"),
        ("drive 2 dies", "expected 'drive N: …'"),
        ("drive 2: dies within 110 % to 120 %", "120 %"),
        ("drive 2: unreadable 1 sector on sectors 99999999999", "the last sector of the drive is"),
    ] {
        for command in [&["plan", "s.toml"][..], &["run", "s.toml", "--out", "run"]] {
            disklab(home.path())
                .args(command.iter().chain(&["--fault", fault]))
                .assert()
                .code(2)
                .stderr(contains(expected).and(contains("fault")));
        }
        disklab(home.path())
            .args(["lab", "shell", "--drives", "hgst-10tb:3:64GB", "-c", "true", "--fault", fault])
            .assert()
            .code(2)
            .stderr(contains(expected.replace("raid5", "the guest")));
    }
    disklab(home.path())
        .args(["run", "tiny.toml", "--on", "loop", "--out", "run", "--fault", "drive 1: dies"])
        .assert()
        .code(2)
        .stderr(contains("--fault applies only to the lab"));
    assert!(!home.path().join("run").exists());
}
