//! `disklab drive probe` and `check`: what they refuse, and what they leave alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::command_support::disklab;
use crate::lab_support::kernel::{kernel, program_for_guests};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

/// Starts a probe that must be refused with a reason.
fn refused(home: &Path, device: &str, to: &str, reason: &str) {
    let arguments = ["drive", "probe", device, "--to", to];
    disklab(home).args(arguments).assert().code(2).stderr(contains(reason));
}

/// An attack: the drive file must not cost the user a file, nor reach one through a link.
#[test]
fn outputs_replace_no_other_file_and_follow_no_link() {
    let home = tempfile::tempdir().expect("temp");
    let precious = home.path().join("precious.toml");
    fs::write(&precious, "id = \"mine\"\n").expect("written");
    symlink("precious.toml", home.path().join("link.toml")).expect("linked");
    symlink("nowhere.toml", home.path().join("dangling.toml")).expect("linked");
    fs::create_dir(home.path().join("directory.toml")).expect("made");
    // A file that only mentions a probe is not one that a probe wrote.
    let claims = home.path().join("claims.toml");
    fs::write(&claims, "# mine\n# Measured by `disklab drive probe`.\n").expect("written");
    for name in ["precious.toml", "link.toml", "dangling.toml", "directory.toml", "claims.toml"] {
        refused(home.path(), "/dev/null", name, "was not written by disklab and is left as it is");
    }
    assert_eq!(fs::read_to_string(&precious).expect("there"), "id = \"mine\"\n");
    assert!(fs::read_to_string(&claims).expect("there").starts_with("# mine"));
    assert!(home.path().join("link.toml").is_symlink());
    assert!(!home.path().join("nowhere.toml").exists());
    refused(home.path(), "/dev/null", "/no/such/directory/x.toml", "there is no such directory");
    refused(home.path(), "/dev/null", "/dev/null", "was not written by disklab");
    refused(home.path(), "/dev/null", "..", "expected the name of a file");
}

#[test]
fn non_drives_are_refused_and_nothing_is_written() {
    let home = tempfile::tempdir().expect("temp");
    fs::write(home.path().join("file"), "no drive").expect("written");
    for (device, reason) in [
        ("/dev/null", "not a block device"),
        ("file", "not a block device"),
        ("/dev/disk/by-id/no-such", "no such file; `ls -l /dev/disk/by-id`"),
    ] {
        refused(home.path(), device, "my.toml", reason);
        let check = ["drive", "check", "hgst-10tb", device];
        disklab(home.path()).args(check).assert().code(2).stderr(contains(reason));
    }
    let check = ["drive", "check", "no-such-model", "/dev/null"];
    disklab(home.path()).args(check).assert().code(2).stderr(contains("unknown drive model"));
    assert!(!home.path().join("my.toml").exists());
}

#[test]
fn non_drives_of_this_machine_are_refused_with_the_reason() {
    let reasons = [
        ("loop", "it is a loop device"),
        ("vd", "virtual disk (virtio)"),
        ("xvd", "virtual disk (Xen)"),
        ("md", "it is a RAID"),
        ("dm-", "is a mapping"),
    ];
    let home = tempfile::tempdir().expect("temp");
    let mut seen = 0;
    for entry in fs::read_dir("/sys/class/block").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let node = format!("/dev/{name}");
        if !Path::new(&node).exists() {
            continue;
        }
        let attached = entry.path().join("loop/backing_file").exists() || !name.starts_with("loop");
        let reason = if entry.path().join("partition").exists() {
            "it is a partition"
        } else if let Some((_, reason)) =
            reasons.iter().find(|(prefix, _)| name.starts_with(prefix))
        {
            if attached { reason } else { "is a mapping" }
        } else {
            // A real drive would be probed.
            continue;
        };
        refused(home.path(), &node, "my.toml", reason);
        seen += 1;
    }
    if seen == 0 {
        eprintln!("skipped: needs a block device that is no drive of its own");
    }
    assert!(!home.path().join("my.toml").exists());
}

/// The closed loop with the kernel in it: the program runs in a guest, on a modelled drive.
#[test]
fn a_modelled_drive_is_found_again_in_the_lab() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let Some(program) = program_for_guests() else { return };
    let script = format!(
        "{program} drive probe /dev/vda --to twin.toml > told && \
         {program} drive check twin.toml /dev/vda --json > checked"
    );
    let mut shell = disklab(home.path());
    shell.env("XDG_CACHE_HOME", home.path()).args(["lab", "shell", "--kernel"]).arg(kernel);
    shell.args(["--memory", "512MiB", "--drives", "st3500418as", "--writable", "."]);
    shell.args(["-c", &script]);
    shell.assert().success().stderr(contains("seeks; about").and(contains("left")));
    let text = fs::read_to_string(home.path().join("twin.toml")).expect("a drive file");
    let twin = disklab_drive::load("twin.toml", &text).expect("the lab takes it");
    let (twin, drive) = (twin.mechanics().expect("a disk"), disklab_drive::shipped("st3500418as"));
    let drive = drive.expect("shipped");
    let drive = drive.mechanics().expect("a disk");
    let near = |what: &str, found: f64, truth: f64, tolerance: f64| {
        let off = found / truth - 1.0;
        assert!(off.abs() <= tolerance, "{what}: {found} instead of {truth}\n{text}");
    };
    near("rpm", twin.rpm as f64, drive.rpm as f64, 0.02);
    near("outer rate", twin.outer_rate, drive.outer_rate, 0.02);
    near("inner rate", twin.inner_rate, drive.inner_rate, 0.02);
    let (seek, truth) = (twin.read_seek, drive.read_seek);
    near("average seek", seek.average as f64, truth.average as f64, 0.02);
    near("full seek", seek.full as f64, truth.full as f64, 0.02);
    near("single track", seek.single_track as f64, truth.single_track as f64, 0.1);
    near("read overhead", twin.read_overhead as f64, drive.read_overhead as f64, 0.1);
    near("link", twin.link_rate, drive.link_rate, 0.1);
    near("segments", twin.segments as f64, drive.segments as f64, 0.1);
    near("segment", twin.segment_size as f64, drive.segment_size as f64, 0.1);
    near("NCQ window", twin.ncq_window as f64, drive.ncq_window as f64, 0.1);
    let checked = fs::read_to_string(home.path().join("checked")).expect("a comparison");
    let checked: serde_json::Value = serde_json::from_str(&checked).expect("JSON");
    for load in checked["loads"].as_array().expect("loads") {
        let apart = load["difference"]["value"].as_f64().expect("a number");
        assert!(apart.abs() < 0.1, "{load}");
    }
}

/// Writes go to a file of the probe's own: a user's file, a link, a device and another drive's
/// directory are refused before anything is measured, and stay as they are.
#[test]
fn writes_reach_nothing_but_a_file_of_their_own() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let Some(program) = program_for_guests() else { return };
    let script = format!(
        "set -e; cd /mnt; mkdir a b c
        mkfs.ext4 -q /dev/vda; mount /dev/vda a; echo mine > a/mine; cksum < a/mine > /run/before
        mkfs.btrfs -q /dev/vdb; mount /dev/vdb b; mkfs.ext4 -q /dev/vdc; mount /dev/vdc c
        ln -s mine a/link; ln -s ../c a/elsewhere; set +e
        probe() {{ {program} drive probe $1 --to /run/twin.toml --writes $2; echo code $?; }}
        for place in a/mine a/link a/elsewhere c /dev/vda /run a/none; do
            probe /dev/vda $place
        done 2>&1
        {{ probe /dev/vdb b; probe /dev/vdc c; probe /dev/vdd a; }} 2>&1
        cksum < a/mine | cmp - /run/before && ls a c /run/twin.toml
        df --output=used a | tail -n 1 | xargs test 1000 -gt && echo nothing is taken"
    );
    let mut shell = disklab(home.path());
    shell.env("XDG_CACHE_HOME", home.path()).args(["lab", "shell", "--kernel"]).arg(kernel);
    shell.args(["--memory", "512MiB", "--drives", "st3500418as:2", "--drives", "hgst-10tb:1:4GB"]);
    shell.args(["--drives", "samsung-980-1tb", "-c", &script]);
    let elsewhere = "no file system of /dev/vda or its partitions is mounted there\ncode 2\n";
    let expected = [
        "--writes a/mine: expected a directory on the drive".to_owned(),
        "--writes a/link: expected a directory on the drive".to_owned(),
        format!("--writes a/elsewhere: {elsewhere}"),
        format!("--writes c: {elsewhere}"),
        "--writes /dev/vda: it is not a partition of the drive".to_owned(),
        format!("--writes /run: {elsewhere}"),
        "--writes a/none: No such file or directory".to_owned(),
        "--writes b: no file system of /dev/vdb or its partitions is mounted there".to_owned(),
        "--writes c: 3.39 GiB are free there, and 5 GiB are needed".to_owned(),
        "--writes a: no file system of /dev/vdd or its partitions is mounted there".to_owned(),
    ];
    let output = shell.assert().success().stdout(contains("nothing is taken\n"));
    let said = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    for text in expected {
        assert!(said.contains(&text), "{text}\n{said}");
    }
    assert_eq!(said.matches("code 2\n").count(), 10, "{said}");
    assert!(said.contains("a:\nelsewhere\nlink\nlost+found\nmine\n\nc:\nlost+found\n"), "{said}");
}

/// The cache of a modelled disk, through the kernel and a file system.
#[test]
fn a_modelled_disks_write_cache_is_found_again_in_the_lab() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let Some(program) = program_for_guests() else { return };
    let script = format!(
        "mkfs.ext4 -q -N 65536 -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda &&
        mount /dev/vda /mnt && sync && sleep 60 &&
        {program} drive probe /dev/vda --to twin.toml --writes /mnt > table && ls /mnt"
    );
    let mut shell = disklab(home.path());
    shell.env("XDG_CACHE_HOME", home.path()).args(["lab", "shell", "--kernel"]).arg(kernel);
    shell.args(["--memory", "512MiB", "--drives", "generic-3tb", "--writable", "."]);
    shell.args(["-c", &script]).assert().success().stdout("lost+found\n");
    let text = fs::read_to_string(home.path().join("twin.toml")).expect("a drive file");
    let twin = disklab_drive::load("twin.toml", &text).expect("the lab takes it");
    let drive = disklab_drive::shipped("generic-3tb").expect("shipped");
    for path in ["cache.dirty-extents", "cache.dirty-limit", "interface.write-overhead"] {
        let field = disklab_probe::Field::by_path(path).expect("a field");
        let [found, truth] = [&twin, &drive].map(|file| field.get(&file.kind).expect("a disk"));
        let off = found / truth - 1.0;
        assert!(off.abs() < 0.1, "{path}: {found} instead of {truth}\n{text}");
    }
    assert!(text.contains("by reading, and writing in a place of its own, for "), "{text}");
    let table = fs::read_to_string(home.path().join("table")).expect("a table");
    assert!(table.contains("random writes of 4 KiB within this room, the cache being full: "));
}
