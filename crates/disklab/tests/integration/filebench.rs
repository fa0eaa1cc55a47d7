//! `disklab filebench`, as a user runs it.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::command_support::disklab;
use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};

fn filebench() -> Command {
    let mut command = Command::cargo_bin("disklab").expect("built");
    command.arg("filebench");
    command
}

#[test]
fn a_personality_runs_and_leaves_nothing() {
    let directory = tempfile::tempdir().expect("temp");
    filebench()
        .args(["fileserver", "--set", "nfiles=100", "--set", "nthreads=2"])
        .args(["--set", "meanfilesize=8k", "--run", "0.3", "--dir"])
        .arg(directory.path())
        .assert()
        .success()
        .stdout(contains("Per-Operation Breakdown").and(contains("IO Summary:")));
    assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 0);
}

#[test]
fn an_early_stop_fails_and_shows_what_was_measured() {
    let directory = tempfile::tempdir().expect("temp");
    let script = directory.path().join("own.f");
    let text = "define fileset name=s,path=/x,entries=3,prealloc=100,dirwidth=5\n\
        define process name=p { thread name=t { flowop deletefile name=gone,filesetname=s } }\n\
        run 60\n";
    std::fs::write(&script, text).expect("script");
    filebench()
        .arg(&script)
        .arg("--dir")
        .arg(directory.path())
        .assert()
        .code(1)
        .stdout(contains("gone                 3ops"))
        .stderr(contains("stopped early: flowop 'gone' found no existing file in 's'"));
}

#[test]
fn an_early_stop_is_seen_in_imported_output() {
    // The second is in the dialect of 1.4.9, which shows its rows otherwise.
    for old in ["", "stats clear\n"] {
        let temp = tempfile::tempdir().expect("temp");
        let home = temp.path();
        let text = format!(
            "define fileset name=s,path=/x,entries=3,prealloc=100,dirwidth=5\n\
             define process name=p {{ thread name=t {{ flowop deletefile name=gone,filesetname=s }} }}\n\
             {old}run 60\n"
        );
        std::fs::write(home.join("own.f"), text).expect("script");
        let ran = disklab(home).args(["filebench", "own.f"]).assert().code(1);
        let out = ran.get_output().stdout.clone();
        let shown = String::from_utf8_lossy(&out);
        assert_eq!(shown.contains("us/op-cpu"), !old.is_empty(), "{shown}");
        std::fs::write(home.join("ext4.txt"), out).expect("output");
        disklab(home)
            .args(["import", "ext4.txt", "--as", "ext4", "--to", "run"])
            .assert()
            .code(1)
            .stdout(contains("! 1 cell failed; the report says why"));
        let post = std::fs::read_to_string(home.join("run/report.md")).expect("a post");
        assert!(post.contains("*failed-cells*: 1 cell failed: filebench with ext4"), "{post}");
        assert!(post.contains("flowop 'gone' found no existing file in 's'"), "{post}");
    }
}

fn holds_a_file(directory: &Path) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.is_file() || holds_a_file(&path))
}

#[test]
fn ctrl_c_shows_what_was_measured_until_then() {
    let directory = tempfile::tempdir().expect("temp");
    let (script, files) = (directory.path().join("own.f"), directory.path().join("files"));
    let text = "define fileset name=s,path=/x,entries=3,dirwidth=5,filesize=4k\n\
        define process name=p { thread name=t {\n\
        flowop createfile name=make,filesetname=s,fd=1\n\
        flowop closefile name=close,fd=1\n\
        flowop delay name=pause,value=1\n\
        flowop deletefile name=gone,filesetname=s } }\n\
        run 60\n";
    std::fs::write(&script, text).expect("script");
    std::fs::create_dir(&files).expect("directory");
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.arg("filebench").arg(&script).arg("--dir").arg(&files);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // The run makes the first file; the fileset's directories are there before.
    let began = Instant::now();
    while !holds_a_file(&files) {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was made");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("waited");
    let [out, said] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(out.contains("Run stopped early: it was interrupted"), "{out}");
    assert!(out.contains("make                 ") && out.contains("IO Summary:"), "{out}");
    assert!(said.contains("interrupted; the figures are of what was done"), "{said}");
    assert_eq!(std::fs::read_dir(&files).expect("directory").count(), 0, "it leaves nothing");
}

#[test]
fn usage_errors_are_reported_before_anything_is_touched() {
    for (arguments, part) in [
        (vec!["fileservr"], "cannot read fileservr"),
        (vec!["fileserver", "--set", "nfiles"], "expected NAME=VALUE"),
        (vec!["fileserver", "--set", "nfile=1"], "nfile"),
        (vec!["fileserver", "--dir", "/no/such/place"], "/no/such/place"),
        (vec!["fileserver", "--run", "soon"], "number of seconds"),
    ] {
        filebench().args(&arguments).assert().code(2).stderr(contains(part));
    }
    filebench().arg("--list").assert().success().stdout(contains("varmail"));
}
