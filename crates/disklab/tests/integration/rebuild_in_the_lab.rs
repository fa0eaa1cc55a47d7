//! `disklab rebuild`, as a user meets it.

use std::process::Command;

use disklab_lab_kernel::{KERNEL_VARIABLE, cache_directory, find_zfs};
use disklab_sample::{Figure, Sample, Step};
use predicates::str::contains;

use crate::command_support::disklab;
use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{answer, said, samples, samples_by, samples_in};

/// Drives of `size` bytes with all zones of theirs; the array is `layers`.
pub fn study(model: &str, size: u64, stacks: &[(&str, u32)], work: &str) -> String {
    let stacks: String = stacks
        .iter()
        .map(|(layers, drives)| {
            format!("'{layers}' = {{ layers = '{layers}/ext4', drives = {drives} }}\n")
        })
        .collect();
    format!(
        "id = 's'\ntitle = 's'\nrepeats = 1\n[[drives]]\nname = 'd'\nmodel = '{model}'\n\
         size = {size}\ncount = 4\nset = {{ capacity = {size} }}\n[stacks]\n{stacks}{work}"
    )
}

const REBUILD: &str = "[[workloads]]\nid = 'w'\nrebuild = { seconds = '12 s' }\n";

/// 6 GB, a multiple of the drive's sectors.
pub const SMALL: u64 = 6_000_001_024;

fn rebuilding(sample: &Sample) -> (&Step, &Figure) {
    passing(sample, ["rebuilding", "redundant"])
}

/// The step of a pass, and the figure of the whole.
pub fn passing<'a>(sample: &'a Sample, names: [&str; 2]) -> (&'a Step, &'a Figure) {
    let find = |name: &str| sample.steps.iter().find(|step| step.name == name).expect("a step");
    (find(names[0]), &find(names[1]).figures[0])
}

/// Other work, of random reads.
pub const READER: &str = "[[workloads]]\nid = 'w'\n\
                      fio = { rw = 'randread', bs = '64k', size = '512m', direct = 1 }\n";

/// What an array reads for what it rebuilds, by its level: RAID 5 and 6 of N drives read N−1 and N−2
/// blocks or more for one, copies are read from one drive.
#[test]
fn each_level_reads_what_it_needs() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4", "lvm"]) {
        return;
    }
    let levels = [
        ("md-raid1", 2, 1.0, 1.0),
        ("md-raid4", 4, 3.0, 3.0),
        ("md-raid5", 4, 3.0, 3.0),
        ("md-raid6", 4, 2.0, 3.0),
        ("md-raid10", 4, 1.0, 1.0),
        ("md-raid10[layout=far2]", 4, 1.0, 1.0),
        ("shr", 4, 3.0, 3.0),
    ];
    let stacks: Vec<(&str, u32)> = levels.iter().map(|(layers, n, ..)| (*layers, *n)).collect();
    let home = tempfile::tempdir().expect("temp");
    samples(home.path(), &study("hgst-10tb", SMALL, &stacks, REBUILD), &["--seed", "1"]);
    let all = samples_in(&home.path().join("run"));
    assert_eq!(all.len(), levels.len());
    for (layers, _, least, most) in levels {
        let cell = format!("{layers}:w ");
        let (_, sample) = all.iter().find(|(own, _)| *own == cell).expect("measured");
        let (step, whole) = rebuilding(sample);
        let rebuild = step.rebuild.as_ref().expect("measured");
        let rebuilt: u64 = rebuild.windows.iter().map(|window| window.bytes).sum();
        let read: u64 = step.drives.iter().map(|drive| drive.read_bytes).sum();
        let ratio = read as f64 / rebuilt as f64;
        assert!(ratio > least * 0.98 && ratio < most * 1.05, "{layers}: {ratio}");
        let own = step.drives.iter().find(|drive| drive.drive == rebuild.drive).expect("its");
        let written = own.write_bytes as f64 / rebuilt as f64;
        assert!(written > 0.99 && written < 1.05, "{layers}: {written}");
        assert!(whole.bytes > SMALL * 9 / 10 && whole.bytes <= SMALL, "{layers}: {}", whole.bytes);
        // From 108 to 225 MB/s, over all zones.
        let rate = whole.bytes_per_second.expect("a rate") / 1e6;
        assert!(rate > 100.0 && rate < 200.0, "{layers}: {rate}");
    }
}

/// The same array rebuilt as a whole takes as long, within 3 %.
#[test]
fn windows_agree_with_a_whole_rebuild() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let work = "[[workloads]]\nid = 'v'\ncaches = 'keep'\n\
                events = [{ do = 'replace', drive = 1 }, { do = 'rebuild' }]\n\
                fio = { rw = 'read', bs = '1M', size = '4M' }\n";
    let windows = REBUILD.replace("12 s", "24 s");
    let text = study("hgst-10tb", 2 * SMALL, &[("md-raid1", 2)], &format!("{windows}{work}"));
    let home = tempfile::tempdir().expect("temp");
    let all = samples(home.path(), &text, &["--seed", "1"]);
    let [(_, whole), (_, windows)] = &all[..] else { panic!("{}", all.len()) };
    let seconds = event_seconds(whole, "rebuild");
    let predicted = rebuilding(windows).1.elapsed_ns as f64 / 1e9;
    // It is looked at every second.
    let allowed = 1.0 + seconds * 0.03;
    assert!((predicted - seconds).abs() < allowed, "{predicted} s of {seconds} s");
}

/// How long an event of this kind took.
pub fn event_seconds(sample: &Sample, kind: &str) -> f64 {
    let notes = || sample.notes.iter().filter(|note| note.about == "events");
    let note = notes().find(|note| note.text.starts_with(kind)).expect("noted");
    let seconds = note.text.rsplit_once("for ").and_then(|(_, text)| text.strip_suffix(" s"));
    seconds.and_then(|text| text.parse().ok()).expect("its time")
}

/// What a rival publishes for every layout of members of 16,759,808 KiB on fast drives is the kernel's
/// limit of 200,000 KiB a second.
#[test]
fn the_kernels_limit_is_found_and_named() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let stacks = [("md-raid1", 2), ("md-raid1[sync-speed-max=20M]", 2), ("md-raid0", 2)];
    let other = "[[workloads]]\nid = 'w'\nfio = { rw = 'read', size = '1M' }\n";
    let text = study("samsung-990pro-2tb", 17_180_000_256, &stacks, other);
    let (printed, all) = rebuild(&text.replace("set = {", "# set = {"), &["--fail", "2"]);
    for line in [
        "md-raid1: redundant after 83.8 s (once); bounded by the kernel's limit of 205 MB/s (sync_speed_max).",
        "bounded by the kernel's limit of 21.0 MB/s (sync_speed_max).",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
    for (cell, kib) in [("md-raid1:", 200_000.0), ("md-raid1[", 20_480.0)] {
        let (_, sample) = all.iter().find(|(own, _)| own.starts_with(cell)).expect("measured");
        let (step, whole) = rebuilding(sample);
        assert_eq!(step.rebuild.as_ref().expect("measured").drive, "d-2");
        let ratio = (whole.bytes / 1024) as f64 / kib / (whole.elapsed_ns as f64 / 1e9);
        assert!((ratio - 1.0).abs() < 1e-6, "{cell} {ratio}");
    }
    assert!(!all.iter().any(|(cell, _)| cell.starts_with("md-raid0")), "it is left out");
}

#[test]
fn other_work_is_compared_with_a_healthy_stack() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let text = study("hgst-10tb", SMALL, &[("md-raid1", 2)], READER);
    let (printed, all) = rebuild(&text, &["--load", "w"]);
    let names: Vec<&str> = all[0].1.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["healthy", "degraded", "rebuilding", "redundant"]);
    assert!(printed.contains("Other work, without the drive: read rate"), "{printed}");
    assert!(printed.contains("Other work, meanwhile: read rate"), "{printed}");
    let rate = |at: usize| all[0].1.steps[at].figures[0].operations_per_second.expect("a rate");
    assert!(rate(2) < rate(1) * 0.9, "the arm is wanted elsewhere: {} of {}", rate(2), rate(1));
}

/// What moves what is used does so on a drive that stands for one of ten times its size, and takes a time
/// that goes with the data.
fn moves_what_is_used(stack: &str) {
    let work = |fill| {
        format!(
            "[[workloads]]\nid = 'w{fill}'\nrebuild = {{ fill = '{fill} %', small = '12 GB' }}\n"
        )
    };
    let text = study("hgst-10tb", SMALL * 20, &[(stack, 2)], &(work(10) + &work(40)));
    let home = tempfile::tempdir().expect("temp");
    let text = text.replace("/ext4'", "'");
    // Which kernel there is for ZFS, the program finds by itself.
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.env_remove(KERNEL_VARIABLE);
    let all = samples_by(command, home.path(), &text, &["--seed", "1"]);
    let seconds = |at: usize| rebuilding(&all[at].1).1.elapsed_ns as f64 / 1e9;
    let with_data = seconds(1) / seconds(0);
    assert!(with_data > 3.2 && with_data < 6.0, "{stack}: {with_data}");
    let (step, whole) = rebuilding(&all[0].1);
    let rebuild = step.rebuild.as_ref().expect("measured");
    let [moved] = &rebuild.windows[..] else { panic!("{rebuild:?}") };
    // A copy on each of two drives; the first and last 2 % are not measured.
    let share = moved.bytes as f64 / (SMALL as f64 * 0.2);
    assert!(share > 0.85 && share < 1.3, "{stack}: {share}");
    let scale = whole.bytes as f64 / moved.bytes as f64;
    assert!(scale > 10.0 && scale < 11.0, "{stack}: {scale}");
}

#[test]
fn btrfs_moves_what_is_used() {
    let Some(_) = kernel() else { return };
    if has_programs(&["mkfs.btrfs", "btrfs", "wipefs"]) {
        moves_what_is_used("partition/btrfs-raid1");
    }
}

/// A resilver takes a time that goes with the data; md's rebuild, one that goes with the drive.
#[test]
fn zfs_moves_what_is_used() {
    if find_zfs(&cache_directory()).is_none() {
        eprintln!("skipped: needs the lab's ZFS kernel (disklab lab build --zfs)");
        return;
    }
    moves_what_is_used("partition/zfs-mirror");
}

/// LVM's RAID rebuilds a device from its beginning to its end, however little it holds.
#[test]
fn lvm_rebuilds_a_whole_drive() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["lvm", "dmsetup", "mkfs.ext4"]) {
        return;
    }
    let work = "[[workloads]]\nid = 'w'\nrebuild = { fill = '5 %', small = '12 GB' }\n";
    let stacks = [("lvm-raid1", 2), ("lvm-raid5", 3)];
    let text = study("hgst-10tb", SMALL * 20, &stacks, work);
    let home = tempfile::tempdir().expect("temp");
    let all = samples(home.path(), &text, &["--seed", "1"]);
    assert_eq!(all.len(), 2);
    for (cell, sample) in &all {
        let (step, whole) = rebuilding(sample);
        let share = whole.bytes as f64 / (SMALL as f64 * 20.0);
        assert!(share > 0.97 && share < 1.03, "{cell}: {share}");
        let rebuild = step.rebuild.as_ref().expect("measured");
        let own = step.drives.iter().find(|drive| drive.drive == rebuild.drive).expect("its");
        assert!(own.write_bytes > SMALL * 2 * 97 / 100, "{cell}: {}", own.write_bytes);
    }
}

/// A first sync that is waited for is no part of what is measured, even by another guest than the one
/// that made the stack.
#[test]
fn a_first_sync_is_over_before_the_first_use() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "lvm", "dmsetup", "mkfs.ext4", "sfdisk"]) {
        return;
    }
    let work = "[[workloads]]\nid = 'w'\nfio = { rw = 'read', bs = '1M', size = '64M', \
                direct = 1, time_based = 1, runtime = '3 s' }\n";
    let stacks =
        [("partition[size=1G]/md-raid1[resync=wait]", 2), ("lvm-raid1[size=1G,resync=wait]", 2)];
    let text = study("hgst-10tb", SMALL, &stacks, work);
    let home = tempfile::tempdir().expect("temp");
    samples(home.path(), &text, &["--seed", "1"]);
    let all = samples_in(&home.path().join("run"));
    assert_eq!(all.len(), stacks.len());
    for (cell, sample) in &all {
        let (step, figure) = (&sample.steps[0], &sample.steps[0].figures[0]);
        let read: u64 = step.drives.iter().map(|drive| drive.read_bytes).sum();
        let written: u64 = step.drives.iter().map(|drive| drive.write_bytes).sum();
        assert!(read < figure.bytes + (1 << 20), "{cell}: {read} of {}", figure.bytes);
        assert!(written < 1 << 20, "{cell}: {written} bytes reached the drives");
        let rate = figure.bytes_per_second.expect("a rate");
        assert!(rate > 150e6, "{cell}: {rate}");
    }
}

/// A spare takes the place of a drive without anybody: md's kernel and ZFS's daemon see to it.
#[test]
fn a_hot_spare_is_rebuilt_at_once() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let load = "[[workloads]]\nid = 'w'\nfio = { rw = 'read', size = '1M' }\n";
    let text = study("hgst-10tb", SMALL, &[("md-raid5", 3), ("md-raid1", 2)], load);
    let (printed, all) = rebuild(&text, &["--hot-spare", "--fail", "1"]);
    assert_eq!(all.len(), 2, "{printed}");
    for (cell, sample) in &all {
        let (step, whole) = rebuilding(sample);
        assert_eq!(step.rebuild.as_ref().expect("measured").drive, "spare", "{cell}");
        assert!(whole.bytes > SMALL * 9 / 10, "{cell}: {}", whole.bytes);
        let began = sample.notes.iter().find(|note| note.text.starts_with("it began by itself"));
        assert!(began.is_some_and(|note| note.text.contains(", 0.")), "{cell}: {began:?}");
        let failed = step.drives.iter().find(|drive| drive.drive == "d-1").expect("its");
        assert!(failed.write_bytes < 1 << 20, "{cell}: nothing more is written to what failed");
    }
}

/// `btrfs replace` writes what was on the drive; `device remove` allocates anew all chunks that were on it.
#[test]
fn btrfs_is_rebuilt_in_two_ways() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.btrfs", "btrfs", "wipefs"]) {
        return;
    }
    let stacks = [("partition/btrfs-raid1", 2), ("partition/btrfs-raid1[replaced-by=remove]", 2)];
    let work = "[[workloads]]\nid = 'w'\nrebuild = { drive = 1, fill = '20 %' }\n";
    let text = study("hgst-10tb", SMALL, &stacks, work).replace("/ext4'", "'");
    let home = tempfile::tempdir().expect("temp");
    samples(home.path(), &text, &["--seed", "1"]);
    let all = samples_in(&home.path().join("run"));
    let [(_, replaced), (_, removed)] = &all[..] else { panic!("{}", all.len()) };
    let of = |sample| {
        let (step, whole) = rebuilding(sample);
        let written: u64 = step.drives.iter().map(|drive| drive.write_bytes).sum();
        (whole.elapsed_ns as f64, written as f64 / whole.bytes as f64)
    };
    let (replaced, removed) = (of(replaced), of(removed));
    assert!((0.9..1.1).contains(&replaced.1) && removed.1 > 1.9, "{replaced:?} {removed:?}");
    assert!(removed.0 > 2.0 * replaced.0, "{replaced:?} {removed:?}");
}

/// Btrfs is mounted again without a drive that died, which the sample says.
#[test]
fn btrfs_is_mounted_without_what_it_lacks() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.btrfs", "btrfs", "wipefs"]) {
        return;
    }
    let work = "[[workloads]]\nid = 'w'\ncaches = 'cold'\n\
                events = [{ do = 'fail', drive = 1 }, { do = 'remount', step = 'read' }]\n\
                large-read = { size = '64M', write = true }\n";
    let stacks = [("partition/btrfs-raid1", 2)];
    let text = study("hgst-10tb", SMALL, &stacks, work).replace("/ext4'", "'");
    let home = tempfile::tempdir().expect("temp");
    let all = samples(home.path(), &text, &["--seed", "1"]);
    let [(_, sample)] = &all[..] else { panic!("{}", all.len()) };
    let said = |note: &&disklab_sample::Note| note.text.contains("without one of its devices");
    let note = sample.notes.iter().find(said);
    assert!(note.is_some_and(|note| note.text.contains("degraded")), "{:?}", sample.notes);
}

/// ZFS has a spare drive take the place of one that failed; a dRAID's spare is on all drives.
#[test]
fn zfs_has_spares_and_spreads_them() {
    if find_zfs(&cache_directory()).is_none() {
        eprintln!("skipped: needs the lab's ZFS kernel (disklab lab build --zfs)");
        return;
    }
    let work = "[[workloads]]\nid = 'w'\nrebuild = { hot-spare = true, fill = '20 %' }\n";
    let text = study("hgst-10tb", SMALL, &[("zfs-draid1[data=2,spares=1]", 4)], work);
    let stacks =
        "[stacks]\nraidz = { layers = 'partition/zfs-raidz1', data = 'd:3', spare = 'd:1' }\n";
    let text = text.replace("'zfs-draid1", "'partition/zfs-draid1").replace("/ext4'", "'");
    let text = text.replace("[stacks]\n", stacks);
    let home = tempfile::tempdir().expect("temp");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.env_remove(KERNEL_VARIABLE);
    samples_by(command, home.path(), &text, &["--seed", "1"]);
    let all = samples_in(&home.path().join("run"));
    assert_eq!(all.len(), 2);
    for (stack, new) in [("raidz", "d-4"), ("partition/zfs-draid1", "")] {
        let (_, sample) = all.iter().find(|(cell, _)| cell.starts_with(stack)).expect(stack);
        let (step, whole) = rebuilding(sample);
        let rebuild = step.rebuild.as_ref().expect("measured");
        assert_eq!(rebuild.drive, new);
        // A fifth of what a drive may hold; with a spare, a quarter of each of dRAID's is free.
        let share = whole.bytes as f64 / SMALL as f64;
        assert!((0.13..0.25).contains(&share), "{stack} {share}");
        let written = step.drives.iter().map(|drive| drive.write_bytes as f64);
        let shares: Vec<f64> = written.map(|written| written / whole.bytes as f64).collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        assert!(if new.is_empty() { most < 0.5 } else { most > 0.9 }, "{stack} {shares:?}");
    }
}

/// LVM's rebuild is held to the same limit.
#[test]
fn lvm_has_the_knob_too() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["lvm", "dmsetup", "mkfs.ext4"]) {
        return;
    }
    let other = "[[workloads]]\nid = 'w'\nfio = { rw = 'read', size = '1M' }\n";
    let text = study("hgst-10tb", SMALL, &[("lvm-raid1", 2)], other);
    let (printed, _) = rebuild(&text, &["--speed", "30MB/s"]);
    let line = "bounded by the kernel's limit of 30.0 MB/s (sync_speed_max).";
    assert!(printed.contains(line), "{printed}");
}

/// The knob: a limit twice as high rebuilds twice as fast, and other work waits longer.
#[test]
fn a_faster_rebuild_has_its_cost() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let text = study("hgst-10tb", SMALL, &[("md-raid1", 2)], READER);
    let (printed, all) = rebuild(&text, &["--load", "w", "--speed", "10MB/s,40MB/s"]);
    assert_eq!(all.len(), 2);
    let line = "md-raid1, sync-speed-max 40MB against 10MB: rebuilt ";
    let rest = printed.split_once(line).expect(&printed).1;
    let times =
        |text: &str| text.split_once('×').and_then(|(number, _)| number.parse::<f64>().ok());
    let faster = times(rest).expect(rest);
    assert!(faster > 1.5 && faster < 4.2, "{rest}");
    let cost = rest.split_once("with ").and_then(|(_, cost)| times(cost)).expect(rest);
    assert!(cost > 0.9, "{rest}");
}

fn rebuild(study: &str, more: &[&str]) -> (String, Vec<(String, Sample)>) {
    passed("rebuild", study, more)
}

/// What `disklab rebuild` or `disklab scrub` prints, and its samples.
pub fn passed(command: &str, study: &str, more: &[&str]) -> (String, Vec<(String, Sample)>) {
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("s.toml"), study).expect("written");
    let words = [command, "s.toml", "--repeats", "1", "--seed", "1", "--out", "run"];
    let output = answer(home.path(), &[&words[..], more].concat());
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", said(&output));
    // As wide as a terminal is: where its lines end says nothing.
    let printed = String::from_utf8_lossy(&output.stdout);
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    (printed, samples_in(&home.path().join("run")))
}

#[test]
fn what_cannot_be_rebuilt_is_refused_before_anything_is_touched() {
    let home = tempfile::tempdir().expect("temp");
    let load = "[[workloads]]\nid = 'w'\nfio = { rw = 'read', size = '1M' }\n";
    for (layers, words, expected) in [
        ("md-raid0", &["--fail", "1"][..], "none of its layers can"),
        ("btrfs", &[][..], "none of its layers can"),
        ("btrfs-raid1", &["--hot-spare"][..], "none of its layers can"),
        ("btrfs-raid1", &["--speed", "50M"][..], "none of its layers can"),
        ("md-raid1", &["--speed", "fast"][..], "sync-speed-max"),
        ("md-raid1", &["--speed", "1M,1M"][..], "1M"),
        ("md-raid1", &["--fail", "5"][..], "there is no drive 5, only 2"),
        ("md-raid1", &["--load", "v"][..], "no workload 'v'"),
        ("md-raid1", &["--load", "w:x"][..], "found 'x'"),
        ("md-raid1", &["--fail", "0"][..], "--fail"),
    ] {
        let drives = if layers == "btrfs" { 1 } else { 2 };
        let text = study("hgst-10tb", SMALL, &[(layers, drives)], load);
        let text = text.replace("btrfs-raid1/ext4", "btrfs-raid1").replace("btrfs/ext4", "btrfs");
        std::fs::write(home.path().join("s.toml"), text).expect("written");
        let words = [&["rebuild", "s.toml", "--out", "run"][..], words].concat();
        disklab(home.path()).args(words).assert().code(2).stderr(contains(expected));
    }
    for (body, expected) in [
        ("windows = 0", "windows"),
        ("seconds = '1 s'", "8 windows need a phase of 8 s at least"),
        ("fill = '95 %'", "fill"),
        ("load = { rw = 'read' }", "size"),
        ("load = { rw = 'read', size = '1M', engine = 'fio' }", "native engine"),
        ("speed = 1", "speed"),
    ] {
        let work = format!("[[workloads]]\nid = 'w'\nrebuild = {{ {body} }}\n");
        let text = study("hgst-10tb", SMALL, &[("md-raid1", 2)], &work);
        std::fs::write(home.path().join("s.toml"), text).expect("written");
        disklab(home.path())
            .args(["run", "s.toml", "--out", "run"])
            .assert()
            .code(2)
            .stderr(contains(expected));
    }
    assert!(!home.path().join("run").exists());
}
