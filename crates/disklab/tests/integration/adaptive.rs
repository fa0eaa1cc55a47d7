//! Campaigns that decide as they go, as a user starts, kills and resumes them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command_support::disklab;
use disklab_store::{CellState, Run};

/// Two stacks that differ by what each write waits for, so that a noisy machine tells them
/// apart; and one that is the same again.
const STUDY: &str = r#"
id = "small"
title = "Small cells"
[[drives]]
model = "m"
size = "1 GB"
[loop]
drive-size = "64 MiB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
again = "ext4"
[[workloads]]
id = "dd"
caches = "keep"
dd = { direction = "write", bs = "4k", count = 4 }
"#;

fn place() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("temp");
    std::fs::write(directory.path().join("s.toml"), STUDY).expect("study");
    std::fs::create_dir(directory.path().join("dir")).expect("dir");
    directory
}

fn said(directory: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = disklab(directory).args(args).output().expect("run");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn contradictory_options_are_refused_before_anything_is_touched() {
    let directory = place();
    for (flags, expected) in [
        (&["--goal", "best", "--repeats", "3"][..], "--repeats fixes how often"),
        (&["--budget", "1h", "--repeats", "3"], "--budget lets the samples or the clock"),
        (&["--precision", "5", "--on", "loop"], "may mean 5% or 500%"),
        (&["--budget", "0s"], "nothing can be run in no time"),
        (&["--budget", "1ms"], "one block of"),
        (&["--goal", "best"], "no workload runs on two of them"),
    ] {
        for command in ["run", "plan"] {
            let mut args = vec![command, "s.toml"];
            if !flags.contains(&"--on") {
                args.extend(["--on", "dir:dir"]);
            }
            args.extend(flags);
            let (code, said) = said(directory.path(), &args);
            assert_eq!(code, Some(2), "{args:?}: {said}");
            assert!(said.contains(expected), "{args:?}: {said}");
        }
    }
    assert!(!directory.path().join("disklab-runs").exists());
}

#[test]
fn a_budget_ends_with_a_whole_block_and_can_be_raised() {
    let directory = place();
    let begun = ["run", "s.toml", "--on", "dir:dir", "--seed", "3", "--out", "run"];
    let (code, text) = said(directory.path(), &[&begun[..], &["--budget", "8s"]].concat());
    assert!(matches!(code, Some(0 | 1)), "{code:?} {text}");
    let blocks = |run: &str| {
        let run = Run::open(&directory.path().join(run)).expect("a run");
        let records = run.cells().expect("cells");
        assert!(records.iter().all(|r| r.state == CellState::Done), "{records:?}");
        let numbers: Vec<u32> = records.iter().map(|r| r.cell.block).collect();
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
        let outcome = run.outcome().expect("read").expect("kept");
        (numbers.len(), outcome)
    };
    let (first, outcome) = blocks("run");
    assert!(first > 0 && outcome.contains("as many blocks as fit"), "{outcome}");
    // Most machines do not reach the most blocks in this time; those that do are over.
    let again = ["run", "--resume", "--out", "run", "--budget", "14s"];
    let (code, text) = said(directory.path(), &again);
    assert!(matches!(code, Some(0 | 1)), "{code:?} {text}");
    assert!(blocks("run").0 >= first);
    let other = ["run", "--resume", "--out", "run", "--goal", "rank"];
    let (code, text) = said(directory.path(), &other);
    assert!(code == Some(2) && text.contains("started with none"), "{code:?} {text}");
    // What it took says what more would take.
    let plan = ["--json", "plan", "s.toml", "--on", "dir:dir", "--from", "run", "--repeats", "10"];
    let output = disklab(directory.path()).args(plan).output().expect("plan");
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(plan["predicted_seconds"].as_f64().is_some_and(|s| s > 0.0), "{plan}");
    let (code, text) = said(
        directory.path(),
        &["plan", "s.toml", "--on", "dir:dir", "--from", "run", "--scale", "1/2"],
    );
    assert!(code == Some(2) && text.contains("the scale there is 1"), "{text}");
}

#[test]
fn one_stack_alone_runs_until_its_figure_is_known() {
    let directory = place();
    let wanted = ["--precision", "50%", "--budget", "1h", "--seed", "3", "--out", "run"];
    let begun = [&["run", "s.toml", "--on", "dir:dir"][..], &wanted].concat();
    let (code, text) = said(directory.path(), &begun);
    assert!(matches!(code, Some(0 | 1)), "{code:?} {text}");
    let run = Run::open(&directory.path().join("run")).expect("a run");
    let outcome = run.outcome().expect("read").expect("kept");
    // Whether a machine is so idle depends on the machine.
    assert!(outcome.contains("the figure of a stack alone, within ±50 %"), "{outcome}");
    let value: serde_json::Value = serde_json::from_str(&outcome).expect("JSON");
    let figure = &value["figures"][0];
    let blocks = run.cells().expect("cells").len();
    assert!((3..=30).contains(&blocks), "{blocks}");
    assert_eq!(figure["is_known"].as_bool(), Some(figure["open"] == 0), "{figure}");
    if figure["is_known"] == true {
        let reached = figure["exactness"]["reached"].as_f64().expect("a share");
        assert!(reached <= 0.5, "{figure}");
    } else {
        assert_eq!(blocks, 30);
    }
    // The report shows the same interval as the outcome.
    let shown = figure["exactness"]["figure"].as_str().expect("a figure");
    let page = std::fs::read_to_string(directory.path().join("run/report.html")).expect("a page");
    let number = shown.split_whitespace().next().expect("a number");
    assert!(page.contains("How long it ran") && page.matches(number).count() >= 2, "{shown}");
    let (code, text) = said(directory.path(), &["run", "--resume", "--out", "run"]);
    assert!(matches!(code, Some(0 | 1)) && text.contains("are done"), "{text}");
}

#[test]
fn a_killed_campaign_continues_by_itself() {
    let directory = place();
    let (code, text) = said(directory.path(), &["plan", "s.toml", "--on", "loop"]);
    if code != Some(0) || text.contains("needs") || !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root and loop devices: {text}");
        return;
    }
    let start = |args: &[&str]| {
        Command::new(assert_cmd::cargo::cargo_bin("disklab"))
            .env("XDG_STATE_HOME", directory.path())
            .current_dir(directory.path())
            .args(["run", "--out", "run"])
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start")
    };
    // So wide that four blocks or so are enough.
    let begun = ["s.toml", "--on", "loop", "--precision", "50%", "--seed", "5"];
    let mut child = start(&begun);
    let began = Instant::now();
    let run = directory.path().join("run");
    let done = || {
        let cells = Run::open(&run).and_then(|run| run.cells()).unwrap_or_default();
        cells.iter().filter(|r| r.state != CellState::Waiting).count()
    };
    while done() < 2 && child.try_wait().expect("wait").is_none() {
        assert!(began.elapsed() < Duration::from_secs(300), "no cell is done");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("kill");
    let output = child.wait_with_output().expect("wait");
    if !run.join("run.sqlite").exists() {
        eprintln!("skipped: needs loop devices: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let output = start(&["--resume"]).wait_with_output().expect("wait");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{text}");
    let run = Run::open(&run).expect("open");
    let outcome = run.outcome().expect("read").expect("kept");
    assert!(outcome.contains("ratio to the baseline"), "{outcome}");
    let records = run.cells().expect("cells");
    assert!(records.iter().all(|r| r.state == CellState::Done), "{records:?}");
    // Whole blocks, each pair once in each.
    for stack in ["single/ext4", "single/again"] {
        let mut blocks: Vec<u32> =
            records.iter().filter(|r| r.cell.levels.stack == stack).map(|r| r.cell.block).collect();
        blocks.sort_unstable();
        assert!(
            blocks.len() >= 3 && blocks.iter().copied().eq(0..blocks.len() as u32),
            "{blocks:?}"
        );
    }
}
