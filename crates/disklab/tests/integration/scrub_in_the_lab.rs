//! `disklab scrub`, as a user meets it.

use std::process::Command;

use disklab_lab_kernel::{KERNEL_VARIABLE, cache_directory, find_zfs};
use disklab_sample::{Figure, Sample, Step};
use predicates::str::contains;

use crate::command_support::disklab;
use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{samples, samples_by, samples_in};
use crate::rebuild_in_the_lab::{READER, SMALL, event_seconds, passed, passing, study};

fn scrubbing(sample: &Sample) -> (&Step, &Figure) {
    passing(sample, ["scrubbing", "scrubbed"])
}

/// All drives are read from their beginning to their end; an array scrubbed as a whole takes as long, within 3 %.
#[test]
fn windows_agree_with_a_whole_scrub() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4", "lvm"]) {
        return;
    }
    let work = "[[workloads]]\nid = 'a'\nscrub = { seconds = '24 s' }\n\
                [[workloads]]\nid = 'b'\ncaches = 'keep'\nevents = [{ do = 'scrub' }]\n\
                fio = { rw = 'read', bs = '1M', size = '4M' }\n";
    let stacks = [
        ("md-raid1", 2),
        ("md-raid5", 4),
        ("md-raid10[layout=far2]", 4),
        ("md-raid1[width=2]/md-raid0", 4),
        ("shr", 4),
    ];
    let home = tempfile::tempdir().expect("temp");
    samples(home.path(), &study("hgst-10tb", 2 * SMALL, &stacks, work), &["--seed", "1"]);
    let all = samples_in(&home.path().join("run"));
    assert_eq!(all.len(), 2 * stacks.len());
    for (layers, drives) in stacks {
        let of = |work: &str| {
            let cell = format!("{layers}:{work} ");
            &all.iter().find(|(own, _)| *own == cell).expect("measured").1
        };
        let (step, whole) = scrubbing(of("a"));
        let scrub = step.scrub.as_ref().expect("measured");
        assert!(scrub.drive.is_empty() && step.rebuild.is_none(), "{layers}");
        // RAID 10 counts the array's bytes, which are on two drives each; groups are scrubbed at once.
        let copies = if layers.starts_with("md-raid10") { 2 } else { drives as u64 };
        let passed: u64 = scrub.windows.iter().map(|window| window.bytes).sum();
        let read: u64 = step.drives.iter().map(|drive| drive.read_bytes).sum();
        let ratio = read as f64 / (passed * copies) as f64;
        assert!((0.97..1.2).contains(&ratio), "{layers}: {ratio}");
        let written: u64 = step.drives.iter().map(|drive| drive.write_bytes).sum();
        assert!(written < 1 << 20, "{layers}: {written}");
        // Arrays that share no drive are scrubbed one after another by the event, and by the kernel at once.
        let groups = if layers.contains("width=2") { 2.0 } else { 1.0 };
        let (predicted, seconds) =
            (whole.elapsed_ns as f64 / 1e9, event_seconds(of("b"), "scrub") / groups);
        // It is looked at every second.
        let allowed = 1.0 + seconds * 0.03;
        assert!((predicted - seconds).abs() < allowed, "{layers}: {predicted} s of {seconds} s");
    }
}

/// What knows no places is scrubbed on drives that stand for ones of ten times the size, and what reads only what
/// is used takes a time that goes with the data.
fn scrubs_what_is_used(stack: &str, drives: u32, goes_with_data: bool) {
    let work = |fill| {
        format!("[[workloads]]\nid = 'w{fill}'\nscrub = {{ fill = '{fill} %', small = '12 GB' }}\n")
    };
    let text = study("hgst-10tb", SMALL * 20, &[(stack, drives)], &(work(10) + &work(40)));
    let home = tempfile::tempdir().expect("temp");
    let text = if stack.contains("lvm") { text } else { text.replace("/ext4'", "'") };
    // Which kernel there is for ZFS, the program finds by itself.
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.env_remove(KERNEL_VARIABLE);
    let all = samples_by(command, home.path(), &text, &["--seed", "1"]);
    let seconds = |at: usize| scrubbing(&all[at].1).1.elapsed_ns as f64 / 1e9;
    let with_data = seconds(1) / seconds(0);
    let expected = if goes_with_data { 3.2..6.0 } else { 0.97..1.03 };
    assert!(expected.contains(&with_data), "{stack}: {with_data}");
    for (_, sample) in &all {
        let (step, whole) = scrubbing(sample);
        let [window] = &step.scrub.as_ref().expect("measured").windows[..] else { panic!("one") };
        let scale = whole.elapsed_ns as f64 / step.elapsed_ns as f64;
        assert!((9.0..11.5).contains(&scale), "{stack}: {scale}");
        assert!(window.bytes < window.stands_for && !window.busy.is_empty(), "{stack}");
    }
}

#[test]
fn btrfs_scrubs_what_is_used() {
    let Some(_) = kernel() else { return };
    if has_programs(&["mkfs.btrfs", "btrfs", "wipefs"]) {
        scrubs_what_is_used("partition/btrfs-raid1", 2, true);
        scrubs_what_is_used("partition/btrfs", 1, true);
    }
}

#[test]
fn zfs_scrubs_what_is_used() {
    if find_zfs(&cache_directory()).is_none() {
        eprintln!("skipped: needs the lab's ZFS kernel (disklab lab build --zfs)");
        return;
    }
    scrubs_what_is_used("partition/zfs-mirror", 2, true);
}

#[test]
fn lvm_scrubs_whole_drives() {
    let Some(_) = kernel() else { return };
    if has_programs(&["lvm", "dmsetup", "mkfs.ext4"]) {
        scrubs_what_is_used("lvm-raid1", 2, false);
    }
}

#[test]
fn other_work_is_compared_with_a_stack_that_is_not_scrubbed() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let text = study("hgst-10tb", SMALL, &[("md-raid1", 2), ("md-raid0", 2)], READER);
    let (printed, all) = passed("scrub", &text, &["--load", "w", "--speed", "10MB/s,40MB/s"]);
    assert_eq!(all.len(), 2, "RAID 0 is left out: {printed}");
    let names: Vec<&str> = all[0].1.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["healthy", "scrubbing", "scrubbed"]);
    for words in [
        "md-raid1: scrubbed in",
        "Other work, meanwhile: read rate",
        "md-raid1, sync-speed-max 40MB against 10MB: scrubbed ",
        "the kernel's limit of 10.0 MB/s (sync_speed_max)",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let (alone, _) = passed("scrub", &text, &["--speed", "10MB/s"]);
    let limit = "bounded by the kernel's limit of 10.0 MB/s (sync_speed_max)";
    assert!(alone.contains(limit), "{alone}");
    let rate = |at: usize| all[0].1.steps[at].figures[0].operations_per_second.expect("a rate");
    assert!(rate(1) < rate(0), "the arm is wanted elsewhere: {} of {}", rate(1), rate(0));
}

#[test]
fn what_cannot_be_scrubbed_is_refused_before_anything_is_touched() {
    let home = tempfile::tempdir().expect("temp");
    let load = "[[workloads]]\nid = 'w'\nfio = { rw = 'read', size = '1M' }\n";
    for (layers, words, expected) in [
        ("md-raid0", &[][..], "none of its layers can"),
        ("btrfs", &["--speed", "50M"][..], "none of its layers can"),
        ("md-raid1", &["--speed", "fast"][..], "sync-speed-max"),
        ("md-raid1", &["--load", "v"][..], "no workload 'v'"),
        ("md-raid1", &["--load", "w:x"][..], "found 'x'"),
        ("md-raid1", &["--fail", "1"][..], "--fail"),
        ("btrfs", &["--on", "dir:."][..], "a directory"),
    ] {
        let drives = if layers == "btrfs" { 1 } else { 2 };
        let text = study("hgst-10tb", SMALL, &[(layers, drives)], load);
        let text = text.replace("btrfs/ext4", "btrfs");
        std::fs::write(home.path().join("s.toml"), text).expect("written");
        let words = [&["scrub", "s.toml", "--out", "run"][..], words].concat();
        disklab(home.path()).args(words).assert().code(2).stderr(contains(expected));
    }
    for (body, expected) in [("windows = 0", "windows"), ("drive = 1", "drive")] {
        let work = format!("[[workloads]]\nid = 'w'\nscrub = {{ {body} }}\n");
        let text = study("hgst-10tb", SMALL, &[("md-raid1", 2)], &work);
        std::fs::write(home.path().join("s.toml"), text).expect("written");
        let run = ["run", "s.toml", "--out", "run"];
        disklab(home.path()).args(run).assert().code(2).stderr(contains(expected));
    }
    assert!(!home.path().join("run").exists());
}

/// A directory that holds something else, or that another user's link leads to, is none for a run.
#[test]
fn a_scrub_writes_nothing_where_something_else_is() {
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("s.toml"), study("hgst-10tb", SMALL, &[("md-raid1", 2)], ""))
        .expect("written");
    let theirs = home.path().join("theirs");
    std::fs::create_dir(&theirs).expect("made");
    std::fs::write(theirs.join("letter"), "dear").expect("written");
    std::os::unix::fs::symlink(&theirs, home.path().join("link")).expect("linked");
    for out in ["theirs", "link", "s.toml"] {
        disklab(home.path()).args(["scrub", "s.toml", "--out", out]).assert().code(2);
    }
    let names: Vec<_> = std::fs::read_dir(&theirs).expect("there").flatten().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(std::fs::read_to_string(theirs.join("letter")).expect("there"), "dear");
}
