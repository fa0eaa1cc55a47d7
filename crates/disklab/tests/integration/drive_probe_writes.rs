//! `disklab drive probe --writes` on blank partitions of modelled drives, in the lab.

use std::fs;
use std::path::Path;

use crate::command_support::disklab;
use crate::lab_support::kernel::{kernel, program_for_guests};
use disklab_drive::DriveFile;

/// A solid-state drive whose SLC cache is full after two seconds.
const SMALL_CACHE: &str = "id = \"small-cache\"\nname = \"small\"\nmodel = \"Small\"\n\
                           like = \"samsung-980-1tb\"\n[slc-cache]\nsize = \"2 GB\" # test\n";

/// A hard disk of the size of that test's.
const SMALL_DISK: &str = "id = \"small-disk\"\nname = \"small\"\nmodel = \"Small\"\n\
                          like = \"hdn721010ale604\"\ncapacity = 18000003072 # test\n";

/// Runs a script in the lab, with the drives of the arguments.
fn shell(home: &Path, kernel: &Path, drives: &[&str], script: &str) -> String {
    let mut shell = disklab(home);
    shell.env("XDG_CACHE_HOME", home).args(["lab", "shell", "--kernel"]).arg(kernel);
    for drive in drives {
        shell.args(["--drives", drive]);
    }
    shell.args(["--memory", "512MiB", "--writable", ".", "-c", script]);
    let output = shell.assert().success();
    String::from_utf8_lossy(&output.get_output().stdout).into_owned()
}

fn twin(home: &Path) -> DriveFile {
    let text = fs::read_to_string(home.join("twin.toml")).expect("a drive file");
    disklab_drive::load("twin.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Compares values with those of the drive, each within a tenth.
fn agree(twin: &DriveFile, drive: &DriveFile, paths: &[&str]) {
    for path in paths {
        let field = disklab_probe::Field::by_path(path).expect("a field");
        let [found, truth] = [twin, drive].map(|file| field.get(&file.kind).expect("a value"));
        assert!((found / truth - 1.0).abs() < 0.1, "{path}: {found} instead of {truth}");
    }
}

/// With 256 MiB of dirty data, requests of 4 MiB are needed to fill it.
#[test]
fn a_hard_disks_large_write_cache_is_found_on_a_blank_partition() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let Some(program) = program_for_guests() else { return };
    let script = format!(
        "cd /dev/disk/by-id && echo start=1MiB | sfdisk -q -X gpt /dev/vda && udevadm settle &&
        part=$PWD/$(ls | grep part1 | head -n 1) && cd - > /dev/null &&
        {program} drive probe /dev/vda --to twin.toml --writes $part > table"
    );
    shell(home.path(), &kernel, &["mg08aca16te"], &script);
    let drive = disklab_drive::shipped("mg08aca16te").expect("shipped");
    let paths = ["cache.dirty-extents", "cache.dirty-limit", "interface.write-overhead"];
    agree(&twin(home.path()), &drive, &paths);
}

#[test]
fn a_solid_state_drives_writes_are_found_on_a_blank_partition() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let Some(program) = program_for_guests() else { return };
    fs::write(home.path().join("small.toml"), SMALL_CACHE).expect("written");
    let script = format!(
        "cd /dev/disk/by-id && printf 'start=1MiB,size=4GiB\\nsize=9GiB\\n' |
        sfdisk -q -X gpt /dev/vda && udevadm settle && part=$PWD/$(ls | grep part2 | head -n 1) && cd - > /dev/null &&
        fio --name=fill --filename=/dev/vda1 --size=3g --rw=write --bs=1m --direct=1 > fio.txt &&
        sleep 600 &&
        {program} drive probe /dev/vda --to twin.toml --writes $part > table"
    );
    shell(home.path(), &kernel, &["./small.toml"], &script);
    let drive = fs::read_to_string(home.path().join("small.toml")).expect("there");
    let drive = disklab_drive::load("small.toml", &drive).expect("a drive");
    let paths = [
        "slc-cache.size",
        "slc-cache.program",
        "slc-cache.read",
        "slc-cache.fold-delay",
        "buffer.flush-overhead",
        "flash.program",
    ];
    agree(&twin(home.path()), &drive, &paths);
}

/// What is on a partition stays there: signed, not signed, or in use.
#[test]
fn a_partition_that_is_not_blank_is_refused_and_keeps_its_content() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let Some(program) = program_for_guests() else { return };
    fs::write(home.path().join("small.toml"), SMALL_DISK).expect("written");
    let script = format!(
        "cd /dev/disk/by-id && printf 'size=5GiB\\nsize=5GiB\\nsize=5GiB\\nsize=1GiB\\n' |
        sfdisk -q -X gpt /dev/vda && udevadm settle && for n in 1 2 3 4; do
            eval part$n=$PWD/$(ls | grep -- HDN.*part$n | head -n 1); done
        other=$PWD/$(ls | grep -- ST35 | head -n 1); cd - > /dev/null
        mkfs.ext4 -q /dev/vda1
        dd if=/dev/urandom of=/dev/vda2 bs=1M count=64 seek=100 oflag=direct status=none
        exec 3< /dev/vda3
        cksum /dev/vda1 > /run/before1; dd if=/dev/vda2 bs=1M count=200 status=none | cksum > /run/before2
        probe() {{ {program} drive probe /dev/vda --to /run/twin.toml --writes $1; echo code $?; }}
        for place in $part1 $part2 $part4 /dev/vda3 /dev/vda $other; do probe $place; done 2>&1
        check() {{ {program} drive check small.toml /dev/vda --writes $1; echo code $?; }}
        for place in $part1 $part2; do check $place; done 2>&1
        probe $part3 2>&1
        exec 3<&- 4< /dev/vda; probe $part3 2>&1; exec 4<&-
        loop=$(losetup --find --show /dev/vda3) && probe $part3 2>&1; losetup -d $loop
        mkfs.xfs -q /dev/vda3 && mount /dev/vda3 /mnt && probe $part3 2>&1
        cksum /dev/vda1 | cmp - /run/before1 &&
        dd if=/dev/vda2 bs=1M count=200 status=none | cksum | cmp - /run/before2 && echo kept"
    );
    let drives = ["hdn721010ale604:1:18GB", "st3500418as"];
    let said = shell(home.path(), &kernel, &drives, &script);
    for expected in [
        "there is something on it (ext4 on vda1); it must be blank\ncode 2\n",
        "data without a signature at byte ",
        "1 GiB are free there, and 4 GiB are needed\ncode 2\n",
        "expected a stable name, in /dev/disk/by-id, such as /dev/disk/by-id/",
        "it is not a partition of the drive; name one of its own, or a directory on it\ncode 2\n",
        " has vda3 open; end it first\n",
        " has vda open; end it first\n",
        "vda3 is in use by loop0 (/dev/vda3); stop that first\n",
        "vda3 is mounted at /mnt; unmount it first\n",
        "kept\n",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert_eq!(said.matches("code 2\n").count(), 12, "{said}");
    assert_eq!(said.matches("data without a signature at byte ").count(), 2, "{said}");
}

/// The loads of `drive check` on a modelled drive, through the kernel, compared with `model`.
fn check_writes(drive: &str, model: &str, prepare: &str) -> serde_json::Value {
    let (Some(kernel), Some(program)) = (kernel(), program_for_guests()) else {
        return serde_json::Value::Null;
    };
    let home = tempfile::tempdir().expect("temp");
    let check = format!("{program} drive check {model} /dev/vda --json --writes $place > checked");
    shell(home.path(), &kernel, &[drive], &format!("{prepare} && {check} && ls $place"));
    let checked = fs::read_to_string(home.path().join("checked")).expect("a comparison");
    serde_json::from_str(&checked).expect("JSON")
}

/// What a drive's own twin is apart by, for the loads that write and those that read.
fn assert_twin(checked: &serde_json::Value) {
    let loads = checked["loads"].as_array().expect("loads");
    assert!(loads.iter().any(|load| load["load"] == "random writes of 4 KiB, each flushed"));
    for load in loads {
        let apart = load["difference"]["value"].as_f64().expect("a number");
        assert!(apart.abs() < 0.1, "{load}");
    }
}

const EXT4: &str = "mkfs.ext4 -q -N 65536 -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda &&
    mount /dev/vda /mnt && sync && sleep 60 && place=/mnt";

#[test]
fn a_modelled_disk_writes_as_its_twin_does_in_a_file() {
    let checked = check_writes("generic-3tb", "generic-3tb", EXT4);
    if !checked.is_null() {
        assert_twin(&checked);
    }
}

#[test]
fn a_modelled_flash_drive_writes_as_its_twin_does_on_a_blank_partition() {
    let prepare = "printf 'start=1MiB,size=4GiB\\nsize=5GiB\\n' | sfdisk -q -X gpt /dev/vda &&
        udevadm settle && for place in /dev/disk/by-id/*part2; do break; done &&
        fio --name=fill --filename=/dev/vda1 --size=3g --rw=write --bs=1m --direct=1 > fio.txt &&
        sleep 600";
    let checked = check_writes("samsung-980-1tb", "samsung-980-1tb", prepare);
    if !checked.is_null() {
        assert_twin(&checked);
    }
}
