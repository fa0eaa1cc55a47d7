//! Figures do not depend on what else is in the lab's kernel, nor on the program's file.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples_by;
use disklab_lab_kernel::{KERNEL_VARIABLE, Parts, cache_directory, find};
use serde_json::Value;

/// Btrfs reads from one copy or the other by the PID of the thread that reads.
const STUDY: &str = r#"
id = "copies"
title = "Which copy is read"
repeats = 1
[[drives]]
model = "hgst-10tb"
count = 4
size = "10 TB"
[stacks]
btrfs = { layers = "btrfs", drives = 1 }
btrfs-raid1 = "btrfs-raid1"
btrfs-raid10 = "btrfs-raid10"
[[workloads]]
id = "random"
fio = { ioengine = "psync", direct = 1, rw = "randread", bs = "4k", size = "64M", io_size = "1M", numjobs = 3 }
[[workloads]]
id = "commits"
dd = { direction = "write", bs = "64k", count = 16, flags = "dsync" }
"#;

/// The page cache is full after a quarter of the file: which pages the kernel reclaims, and when,
/// decides what Btrfs writes and reads.
const MEMORY_RUNS_SHORT: &str = r#"
id = "short"
title = "Memory runs short"
repeats = 1
[lab]
memory = "384 MiB"
[[drives]]
model = "hgst-10tb"
count = 1
size = "10 TB"
[stacks]
btrfs = "btrfs"
[[workloads]]
id = "rewrites"
fio = { ioengine = "psync", rw = "randrw", bs = "64k", size = "1G", io_size = "128M", end_fsync = 1 }
"#;

/// What the host kept of the drives' content, in bytes: some blocks of file systems hold what
/// the guest's memory held before, and compress differently under another kernel.
const KEPT_BY_THE_HOST: &str = "content";

/// The kernel's counters of pressure: one tick more or less of a stall at boot, which with other
/// parts takes longer.
const PRESSURE: &str = "pressure.";

/// All samples of a study, in the order of its cells.
fn samples_of(study: &str, cells: usize, program: &Path, kernel: &Path) -> Vec<(String, Value)> {
    let home = tempfile::tempdir().expect("temp");
    let mut command = Command::new(program);
    command.env(KERNEL_VARIABLE, kernel);
    let samples = samples_by(command, home.path(), study, &["--seed", "1", "--repeats", "1"]);
    assert_eq!(samples.len(), cells);
    let values = samples.into_iter().map(|(workload, sample)| {
        let mut sample = serde_json::to_value(sample).expect("json");
        let lab = sample.pointer_mut("/lab").and_then(Value::as_object_mut);
        assert!(lab.expect("of the lab").remove(KEPT_BY_THE_HOST).is_some());
        (workload, sample)
    });
    values.collect()
}

/// Holds that samples of two kernels are the same to the byte, but for the counters of pressure.
fn assert_same(one: &[(String, Value)], other: &[(String, Value)]) {
    assert_eq!(one.len(), other.len());
    for ((cell, one), (other_cell, other)) in one.iter().zip(other) {
        assert_eq!(cell, other_cell);
        assert_same_values(cell, "", one, other);
    }
}

fn assert_same_values(cell: &str, key: &str, one: &Value, other: &Value) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            assert!(one.keys().eq(other.keys()), "{cell}: {key}: {one:?} {other:?}");
            for (key, value) in one.iter().filter(|(key, _)| !key.starts_with(PRESSURE)) {
                assert_same_values(cell, key, value, &other[key]);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{cell}: {key}");
            for (one, other) in one.iter().zip(other) {
                assert_same_values(cell, key, one, other);
            }
        }
        _ => assert_eq!(one, other, "{cell}: {key}"),
    }
}

/// What a script says in a guest.
fn said(script: &str, kernel: &Path) -> String {
    let place = tempfile::tempdir().expect("temp");
    let mut command = assert_cmd::Command::from_std(Command::new(disklab()));
    command.args(["lab", "shell", "-c", script, "--kernel"]).arg(kernel);
    let ran = command.env("XDG_CACHE_HOME", place.path()).current_dir(place.path()).assert();
    String::from_utf8_lossy(&ran.success().get_output().stdout).into_owned()
}

fn disklab() -> PathBuf {
    assert_cmd::cargo::cargo_bin("disklab")
}

#[test]
fn other_parts_of_the_kernel_do_not_count() {
    let Some(_) = kernel() else { return };
    let cache = cache_directory();
    let small = find(&cache, Parts::with_options(["CONFIG_BTRFS_FS"]));
    let full = find(&cache, Parts::ALL);
    let (Some(small), Some(full)) = (small, full) else { return };
    if small == full {
        eprintln!("skipped: needs a second kernel of the lab, with fewer parts");
        return;
    }
    let of = |kernel: &Path| samples_of(STUDY, 6, &disklab(), kernel);
    assert_same(&of(&small), &of(&full));
}

#[test]
fn the_size_of_the_program_does_not_count() {
    let Some(kernel) = kernel() else { return };
    let directory = tempfile::tempdir().expect("temp");
    let larger = directory.path().join("disklab");
    let guests = directory.path().join("disklab-guest");
    std::fs::copy(disklab(), &larger).expect("copied");
    std::fs::copy(disklab().with_file_name("disklab-guest"), &guests).expect("copied");
    let mut file = OpenOptions::new().append(true).open(&guests).expect("opened");
    file.write_all(&vec![1; 8 << 20]).expect("written");
    drop(file);
    for (study, cells) in [(STUDY, 6), (MEMORY_RUNS_SHORT, 1)] {
        let of = |program: &Path| samples_of(study, cells, program, &kernel);
        assert_eq!(of(&disklab()), of(&larger));
    }
}

/// What a cell used first of it would take of the cell's memory, and how much that is depends on the
/// compiler. The next page of page tables would, too.
#[test]
fn the_program_is_in_memory_before_a_cell() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["fincore"]) {
        return;
    }
    let script = "exe=$(readlink /proc/1/exe)
        while read -r range rights offset device inode path; do
            bytes=$((0x${range#*-} - 0x${range%-*}))
            case $path in
            $exe) echo mapped $((0x$offset + bytes)) ;;
            '[heap]') echo heap $((0x${range#*-})) ;;
            esac
        done < /proc/1/maps
        resident() { fincore --noheadings --bytes --output RES /proc/1/exe; }
        echo before $(resident)
        echo 3 > /proc/sys/vm/drop_caches
        echo after $(resident)";
    let text = said(script, &kernel);
    let last = |of: &str| -> u64 {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(of));
        lines.filter_map(|number| number.trim().parse().ok()).max().expect(of)
    };
    assert!(last("before") >= last("mapped") && last("mapped") > 1 << 20, "{text}");
    assert_eq!(last("after"), last("before"), "{text}");
    assert_eq!(last("heap") % (2 << 20), 0, "{text}");
}

/// Of two builds, file servers that do not fit differed by 0.05 to 10 % where compaction moved pages of
/// the program: of the optimised one there are fewer.
#[test]
fn compaction_leaves_the_program_where_it_is() {
    let Some(kernel) = kernel() else { return };
    let script = "echo moves $(cat /proc/sys/vm/compact_unevictable_allowed)
        grep VmLck /proc/1/status
        echo 1 > /proc/sys/vm/compact_memory && echo compacted";
    let text = said(script, &kernel);
    assert!(text.contains("moves 0") && text.contains("compacted"), "{text}");
    let locked =
        text.lines().find_map(|line| line.strip_prefix("VmLck:")?.trim().strip_suffix(" kB"));
    assert!(
        locked.is_some_and(|kib| kib.trim().parse::<u64>().is_ok_and(|kib| kib > 1024)),
        "{text}"
    );
}

#[test]
fn kernel_threads_take_no_pid_of_a_program() {
    let Some(kernel) = kernel() else { return };
    // Kernel threads have no program. The shell is none, and began before.
    let script = "for p in /proc/[0-9]*; do
            readlink $p/exe >/dev/null || echo kernel ${p#/proc/}
        done
        sh -c 'echo program $$'";
    let text = said(script, &kernel);
    let pids = |of: &str| -> Vec<u32> {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(of));
        lines.map(|pid| pid.trim().parse().expect("a PID")).collect()
    };
    // PIDs end at 32768 (PID_MAX_DEFAULT); kthreadd, which starts the others, has 2.
    let threads = pids("kernel ");
    assert!(threads.len() > 10, "{text}");
    let apart = |pid: &u32| *pid == 2 || (*pid >= 16384 && pid.is_multiple_of(48));
    assert!(threads.iter().all(apart), "{threads:?}");
    assert!(matches!(pids("program ")[..], [pid] if pid < 16384), "{text}");
}
