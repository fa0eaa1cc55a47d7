//! A run in parts: the parts, carried out in any order, killed, twice, elsewhere, become the run
//! that it would have been in one go; and what a part from a stranger may not do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use disklab_runner::written_parts;
use disklab_store::{CellState, Run, RunInfo};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::lab_support::cluster::{Process, family};
use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{answer as disklab, disklab as program, said};

/// With what lies next to a study, a host that only one of the stacks has to itself, and guests of
/// two sizes.
pub const STUDY: &str = r#"
id = "divided"
title = "Divided"
repeats = 1
[lab]
memory = "512 MiB"
[lab.host]
cache = "writeback"
memory = "1 GiB"
[axes]
memory = ["512 MiB", "640 MiB"]
[[drives]]
model = "./mine.toml"
count = 2
size = "10 TB"
[layouts]
single = { drives = 1 }
mirror = { layers = "md-raid1", drives = 2, host-cache = "none" }
[file-systems]
ext4 = "ext4[noatime]"
[[workloads]]
id = "dd"
dd = { direction = "write", bs = "4k", count = 8, flags = "dsync" }
[[workloads]]
id = "job"
fio = { job = """
[one]
ioengine=psync
direct=1
rw=randread
bs=4k
size=8m
io_size=256k
""" }
"#;

/// A home with the study.
pub fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("temp");
    let model = disklab_drive::SHIPPED.iter().find(|(id, _)| *id == "hdn721010ale604");
    fs::write(home.path().join("mine.toml"), model.expect("a shipped model").1).expect("a model");
    fs::write(home.path().join("divided.toml"), STUDY).expect("a study");
    home
}

/// With this exit code; returns what it said.
pub fn ends(home: &Path, arguments: &[&str], code: i32) -> String {
    let output = disklab(home, arguments);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    said
}

/// The outputs of cells, by their names.
type Outputs = BTreeMap<PathBuf, Vec<u8>>;

/// All that a run has: what it is, its samples, and the bytes of its outputs.
pub fn contents(run: &Path) -> (RunInfo, Vec<(Value, Value)>, Outputs) {
    let run = Run::open(run).expect("a run");
    let mut samples = Vec::new();
    run.for_each_sample(|record, sample| {
        samples.push((json!(record.cell), serde_json::to_value(sample).expect("JSON")));
    })
    .expect("samples");
    let mut outputs = Outputs::new();
    for directory in fs::read_dir(run.path().join("raw")).expect("outputs").flatten() {
        for file in fs::read_dir(directory.path()).expect("outputs").flatten() {
            // What the kernel says has numbers of the host's descriptors.
            if file.file_name() != "console" {
                let name = Path::new(&directory.file_name()).join(file.file_name());
                outputs.insert(name, fs::read(file.path()).expect("read"));
            }
        }
    }
    (run.info().expect("info"), samples, outputs)
}

/// Plans the study in three parts.
fn plan(home: &Path) {
    let words = ["run", "divided.toml", "--seed", "7", "--parts", "3", "--to", "plan"];
    let said = ends(home, &words, 0);
    assert!(said.contains("3 parts with 8 cells are in plan"), "{said}");
}

#[test]
fn parts_are_the_run_in_one_go_to_the_byte() {
    let Some(_) = kernel() else { return };
    let home = home();
    let home = home.path();
    // As the cells have too few requests for an answer.
    ends(home, &["run", "divided.toml", "--seed", "7", "--out", "whole"], 1);
    plan(home);
    // Elsewhere, without the study and what lies next to it.
    fs::remove_file(home.join("divided.toml")).expect("removed");
    fs::remove_file(home.join("mine.toml")).expect("removed");
    killed_in_the_middle(home, "plan/002", "parts/002");
    for part in ["002", "001"] {
        let (plan, out) = (format!("plan/{part}"), format!("parts/{part}"));
        ends(home, &["run", "--part", &plan, "--out", &out], 0);
    }
    let parts = ["parts/001", "parts/002"];
    let merge = |more: &[&str], code| {
        ends(home, &[&["merge"], &parts[..], more, &["--to", "merged"]].concat(), code)
    };
    assert!(merge(&[], 2).contains("1 of 3 parts missing, or not done: 3;"));
    let mut third = program(home);
    third.args(["run", "--part", "plan", "--part-index", "--out", "parts", "--json"]);
    let third = third.env("SLURM_ARRAY_TASK_ID", "3").output().expect("it starts");
    assert_eq!(third.status.code(), Some(0), "{}", said(&third));
    // Once more: nothing is done.
    let before = fs::read(home.join("parts/001/run.sqlite")).expect("a run");
    let said = ends(home, &["run", "--part", "plan/001", "--out", "parts/001"], 0);
    assert!(said.contains("was done before"), "{said}");
    assert_eq!(fs::read(home.join("parts/001/run.sqlite")).expect("a run"), before);
    // In a directory of its own: one of them is enough. And twice at a time: one waits.
    let mut other = program(home);
    other.args(["run", "--part", "plan/001", "--out", "again"]).stderr(Stdio::null());
    let mut other = other.spawn().expect("it starts");
    while !home.join("again/raw").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = ends(home, &["run", "--part", "plan/001", "--out", "again"], 0);
    assert!(said.contains("another disklab carries this part out"), "{said}");
    assert!(said.contains("was done before"), "{said}");
    assert!(other.wait().expect("it ends").success());
    assert!(merge(&["parts/003", "again"], 2).contains("was measured in"));
    // Another part's directory.
    let said = ends(home, &["run", "--part", "plan/003", "--out", "parts/001"], 2);
    assert!(said.contains("has another run than this part"), "{said}");
    merge(&["parts/003"], 1);
    let (whole, merged) = (contents(&home.join("whole")), contents(&home.join("merged")));
    assert_eq!(whole.1.len(), 8);
    assert_eq!(whole.0, RunInfo { created: whole.0.created, ..merged.0 });
    assert_eq!(whole.1, merged.1);
    assert!(whole.2 == merged.2, "{:?}", whole.2.keys());
}

/// Begins a part, and kills it when its first cell runs.
fn killed_in_the_middle(home: &Path, part: &str, out: &str) {
    let mut part = program(home)
        .args(["run", "--part", part, "--out", out])
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    while !home.join(out).join("raw").exists() {
        assert_eq!(part.try_wait().expect("waited for"), None, "it ended before");
        std::thread::sleep(Duration::from_millis(5));
    }
    part.kill().expect("killed");
    part.wait().expect("waited for");
}

/// Engines signal all processes of a job that is cancelled or whose time is over.
#[test]
fn cells_whose_guests_are_signalled_with_the_run_have_not_failed() {
    let Some(_) = kernel() else { return };
    let home = home();
    let home = home.path();
    plan(home);
    let run = ["run", "--part", "plan/001", "--out", "part"];
    let mut part = program(home);
    let part = part.args(run).stderr(Stdio::null()).spawn().expect("it starts");
    // It, and more than one process of a guest.
    let mut all = Vec::new();
    while all.len() < 4 {
        all = family(part.id());
        assert!(!all.is_empty(), "it ended before");
        std::thread::sleep(Duration::from_millis(5));
    }
    all.iter().for_each(|process| process.signal(Signal::TERM));
    assert_eq!(part.wait_with_output().expect("it ends").status.code(), Some(130));
    let begun = Run::open(&home.join("part")).expect("a run");
    let records = begun.cells().expect("cells");
    assert!(records.iter().all(|record| record.state != CellState::Failed), "{records:?}");
    ends(home, &run, 0);
}

/// As Slurm binds a task to its processors.
#[test]
fn a_job_bound_to_one_processor_uses_no_other() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["taskset"]) {
        return;
    }
    let home = home();
    let home = home.path();
    plan(home);
    let bound = |words: &[&str]| {
        let disklab = program(home);
        let mut command = std::process::Command::new("taskset");
        command.args(["--cpu-list", "0"]).arg(disklab.get_program()).args(words);
        let variables = disklab.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(variables).current_dir(home);
        command
    };
    let part = ["run", "--part", "plan/001", "--out", "part"];
    let refused = bound(&[&part[..], &["--at-once", "2"]].concat()).output().expect("it starts");
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("--at-once 2: this process may use 1 processors"), "{text}");
    let running = bound(&part).stderr(Stdio::null()).spawn().expect("it starts");
    let mut all = Vec::new();
    while all.len() < 4 {
        all = family(running.id());
        assert!(!all.is_empty(), "it ended before");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Those that ended meanwhile say nothing.
    let processors: BTreeSet<String> = all.iter().filter_map(Process::processors).collect();
    assert_eq!(processors, BTreeSet::from(["0".to_owned()]));
    let output = running.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
}

/// A part's file, in which the first line, or the first cell, is changed.
fn changed(file: &str, line: usize, change: impl FnOnce(&mut Value)) -> String {
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    let mut value: Value = serde_json::from_str(&lines[line]).expect("JSON");
    change(&mut value);
    lines[line] = value.to_string();
    lines.join("\n") + "\n"
}

#[test]
fn a_strangers_part_is_refused_before_anything_is_touched() {
    let Some(_) = kernel() else { return };
    let home = home();
    let home = home.path();
    plan(home);
    let photos = home.join("photos");
    fs::create_dir(&photos).expect("a directory");
    fs::write(photos.join("one.jpg"), "mine").expect("a file");
    let there = json!({ "directory": photos });
    let file = fs::read_to_string(home.join("plan/001")).expect("a part");
    let first = changed(&file, 1, |_| ());
    let second = file.lines().nth(1).expect("a cell").to_owned();
    let at = |line, pointer: &'static str, value: Value| {
        changed(&first, line, |part| *part.pointer_mut(pointer).expect(pointer) = value)
    };
    let part_of = |line: &str, pointer| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        value.pointer(pointer).expect("a value").clone()
    };
    let dir = json!(format!("dir:{}", photos.display()));
    let texts = [
        ("not a part", String::new()),
        ("not a part", "{}\n".to_owned()),
        ("it was cut off", file[..file.len() - 40].to_owned()),
        ("it was cut off", file.lines().next().expect("a head").to_owned() + "\n"),
        ("more cells than it says", format!("{file}{second}\n")),
        ("it has format 99", at(0, "/format", json!(99))),
        ("a value that no run has", at(0, "/info/bench", dir)),
        ("invalid part '4/3'", at(0, "/info/options/part", json!("4/3"))),
        ("a cell does not run in the lab", {
            changed(&first, 1, |part| {
                (part["making"]["machine"], part["making"]["drives"]) = (there.clone(), json!([]));
            })
        }),
        ("a value that no run has", at(0, "/machine", there.clone())),
        ("does not know the machine", at(0, "/machine/lab/machine", json!("/etc"))),
        ("a guest's memory of", at(1, "/making/machine/lab/memory", json!(1_u64 << 60))),
        (
            "it has no cells",
            at(0, "/cells", json!(0)).lines().next().expect("a head").to_owned() + "\n",
        ),
        ("it has a cell twice", at(2, "/cell", part_of(&second, "/cell"))),
        ("needs OpenZFS", changed(&first, 1, |cell| cell["needs"]["zfs"] = json!(true))),
        ("unknown layer", at(1, "/making/stack/0/name", json!("rm"))),
        ("cannot be shown", at(1, "/cell/stack", json!("a\u{1b}[2J"))),
    ];
    refused(home, texts);
    assert_eq!(fs::read_dir(&photos).expect("photos").count(), 1);
}

/// Each text is refused as a part, for this reason, and nothing is made.
fn refused<const N: usize>(home: &Path, texts: [(&str, String); N]) {
    for (expected, text) in texts {
        fs::write(home.join("stranger"), text).expect("a part");
        let output = disklab(home, &["run", "--part", "stranger", "--out", "result"]);
        let said = said(&output);
        let is_refused = output.status.code() == Some(2) && said.contains(expected);
        assert!(is_refused, "{expected}: {said}");
        assert!(!home.join("result").exists(), "{expected}");
    }
}

#[test]
fn a_part_of_another_version_or_machine_is_refused_before_it_runs() {
    let Some(_) = kernel() else { return };
    let home = home();
    let home = home.path();
    plan(home);
    let file = fs::read_to_string(home.join("plan/001")).expect("a part");
    let at = |pointer: &'static str, value: Value| {
        changed(&file, 0, |part| *part.pointer_mut(pointer).expect(pointer) = value)
    };
    let other_program = changed(&file, 0, |head| {
        let tools = head.pointer_mut("/info/environment/tools").expect("tools");
        for tool in tools.as_array_mut().expect("tools") {
            if tool["name"] == "mkfs.ext4" {
                tool["version"] = json!("0.1");
            }
        }
    });
    let texts = [
        ("disklab was '0.0.1'", at("/info/disklab", json!("0.0.1"))),
        ("mkfs.ext4 was '0.1' and is", other_program),
        ("the lab's kernel was", at("/info/environment/lab_kernel/digest", json!("0"))),
    ];
    refused(home, texts);
}

#[test]
fn parts_go_nowhere_else() {
    let Some(_) = kernel() else { return };
    let home = home();
    let home = home.path();
    let photos = home.join("photos");
    fs::create_dir(&photos).expect("a directory");
    fs::write(photos.join("one.jpg"), "mine").expect("a file");
    let divide = ["run", "divided.toml", "--seed", "7", "--parts", "3", "--to"];
    ends(home, &[&divide[..], &["photos"]].concat(), 2);
    plan(home);
    let said = ends(home, &[&divide[..], &["plan"]].concat(), 2);
    assert!(said.contains("plan has parts already"), "{said}");
    ends(home, &["run", "--part", "plan/001", "--out", "photos"], 2);
    // Links under the names that a plan, or a part, uses.
    fs::remove_file(home.join("plan/001")).expect("removed");
    fs::remove_file(home.join("plan/003")).expect("removed");
    symlink(photos.join("one.jpg"), home.join("plan/003")).expect("a link");
    ends(home, &[&divide[..], &["plan"]].concat(), 2);
    let run = ["run", "--part", "plan/002", "--out", "out"];
    ends(home, &run, 0);
    let out = home.join("out");
    fs::remove_file(out.join("run.sqlite")).expect("removed");
    fs::remove_dir_all(out.join("raw")).expect("removed");
    symlink(&photos, out.join("raw")).expect("a link");
    assert_ne!(disklab(home, &run).status.code(), Some(0));
    fs::remove_file(out.join("raw")).expect("removed");
    let _ = fs::remove_file(out.join("run.sqlite"));
    symlink(photos.join("one.jpg"), out.join("run.sqlite")).expect("a link");
    ends(home, &run, 2);
    assert_eq!(fs::read_to_string(photos.join("one.jpg")).expect("there"), "mine");
    assert_eq!(fs::read_dir(&photos).expect("photos").count(), 1);
}

#[test]
fn parts_that_cannot_be_are_usage_errors() {
    let home = home();
    let home = home.path();
    fs::create_dir(home.join("d")).expect("a directory");
    let study = ["run", "divided.toml"];
    for (words, expected) in [
        (&["--parts", "9", "--to", "p"][..], "the run has 8 cells"),
        (&["--parts", "0", "--to", "p"], "0 is not in"),
        (&["--parts", "2"], "--to"),
        (&["--parts", "2", "--to", "p", "--budget", "1h"], "fix the number with --repeats"),
    ] {
        let said = ends(home, &[&study[..], words].concat(), 2);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let dir = ["first-look", "--repeats", "1", "--on", "dir:d", "--to", "p"];
    for (words, expected) in [
        (&dir[..], "only runs in the lab"),
        (&["--part", "none", "--out", "p"], "cannot read none"),
        (&["--part", "d", "--out", "p"], "d is a directory: name a part in it"),
        (&["--part", "d", "--part-index", "1", "--out", "p"], "d has no part 1"),
        (&["--part", "d", "--part-index", "--out", "p"], "none of SLURM_ARRAY_TASK_ID"),
        (&["--part", "d"], "--out"),
        (&["--part", "d", "--out", "p", "--seed", "1"], "cannot be used with"),
        (&["--resume", "--out", "d", "--to", "p"], "cannot be used with"),
    ] {
        let said = ends(home, &[&["run"][..], words].concat(), 2);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!home.join("p").exists());
}

#[test]
fn names_of_parts_sort_as_they_count() {
    let Some(_) = kernel() else { return };
    let home = home();
    plan(home.path());
    let parts = written_parts(&home.path().join("plan"), 1).expect("parts");
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["002", "003"]);
    assert!(parts[0].head.seconds > 0.0 && parts[0].head.cells > 0);
}
