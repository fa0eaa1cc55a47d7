//! Runs that the user stops, by one signal: what is known by then is shown.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use disklab_store::{CellState, Run};
use rustix::process::{Pid, Signal, kill_process};

/// One stack in a directory, and cells that take a moment each.
const STUDY: &str = r#"
id = "stopped"
title = "Stopped by its user"
repeats = 200
[[drives]]
model = "m"
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
[[workloads]]
id = "write"
caches = "keep"
dd = { direction = "write", bs = "64k", count = 64 }
[[questions]]
ask = "How fast is it written?"
workloads = "write"
measure = "throughput"
"#;

fn place() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("temp");
    std::fs::write(directory.path().join("s.toml"), STUDY).expect("study");
    std::fs::create_dir(directory.path().join("dir")).expect("dir");
    directory
}

/// Runs until so many cells are done, and stops it then by the signal.
fn stopped(directory: &Path, arguments: &[&str], done: usize, signal: Signal) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.env("XDG_STATE_HOME", directory).env_remove("DISKLAB_LOG").current_dir(directory);
    command.args(arguments).args(["run", "s.toml", "--on", "dir:dir", "--seed", "5"]);
    command.args(["--out", "run"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("start");
    let began = Instant::now();
    while cells(directory).0 < done {
        assert!(began.elapsed() < Duration::from_secs(120), "no {done} cells in two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("pid")).expect("pid");
    kill_process(pid, signal).expect("signalled");
    child.wait_with_output().expect("ended")
}

/// Cells that are done, and all.
fn cells(directory: &Path) -> (usize, usize) {
    let cells = Run::open(&directory.join("run")).and_then(|run| run.cells()).unwrap_or_default();
    (cells.iter().filter(|cell| cell.state == CellState::Done).count(), cells.len())
}

#[test]
fn one_signal_shows_what_is_known_and_how_to_continue() {
    for signal in [Signal::INT, Signal::TERM] {
        let directory = place();
        let output = stopped(directory.path(), &[], 4, signal);
        let [shown, said] = [&output.stdout, &output.stderr].map(|t| String::from_utf8_lossy(t));
        assert_eq!(output.status.code(), Some(130), "{said}");
        // The same count everywhere.
        let (done, all) = cells(directory.path());
        assert!((4..200).contains(&done) && all == 200, "{done} of {all}");
        assert!(shown.contains(&format!("· {done} of 200 cells")), "{shown}");
        assert!(
            shown.contains(&format!("with {done} of 200 cells done"))
                || shown.contains("No answers yet"),
            "{shown}"
        );
        assert!(said.contains(&format!("interrupted with {done} of 200 cells done")), "{said}");
        let page = std::fs::read_to_string(directory.path().join("run/report.html")).expect("page");
        assert!(page.contains(&format!("{done} of 200 cells finished")));
        // Lines, few, and none that acts on a terminal.
        assert!(!shown.contains('\u{1b}') && !said.contains('\u{1b}'), "{shown}{said}");
        assert!(said.lines().filter(|line| line.starts_with('[')).count() < 5, "{said}");
        assert!(said.contains("[0/200] about "), "{said}");
        let next = said.lines().last().expect("a line");
        assert_eq!(next, "Continue with: disklab run --resume --out run");
        assert_eq!(std::fs::read_dir(directory.path().join("dir")).expect("dir").count(), 0);
    }
}

#[test]
fn an_interrupted_run_answers_programs_too() {
    let directory = place();
    let output = stopped(directory.path(), &["--json"], 2, Signal::INT);
    assert_eq!(output.status.code(), Some(130));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&value["interrupted"], &value["failed_cells"]),
        (&true.into(), &0.into()),
        "{value}"
    );
}

/// A link that another put where the page goes leads nowhere.
#[test]
fn what_is_shown_follows_no_link() {
    let directory = place();
    let mine = directory.path().join("mine");
    std::fs::write(&mine, "mine").expect("written");
    std::fs::create_dir(directory.path().join("run")).expect("run");
    let begun = stopped(directory.path(), &[], 2, Signal::INT);
    assert_eq!(begun.status.code(), Some(130));
    let page = directory.path().join("run/report.html");
    std::fs::remove_file(&page).expect("removed");
    std::os::unix::fs::symlink(&mine, &page).expect("linked");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.env("XDG_STATE_HOME", directory.path()).current_dir(directory.path());
    command.args(["run", "--resume", "--out", "run"]).stderr(Stdio::piped());
    let before = cells(directory.path()).0;
    let child = command.stdout(Stdio::null()).spawn().expect("start");
    let began = Instant::now();
    while cells(directory.path()).0 <= before && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("pid")).expect("pid");
    kill_process(pid, Signal::INT).expect("signalled");
    let output = child.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("Continue with: "), "{said}");
    assert_eq!(std::fs::read_to_string(&mine).expect("read"), "mine");
}
