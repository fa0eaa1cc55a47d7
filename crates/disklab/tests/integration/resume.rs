//! Killed at any moment and resumed, a run ends like one that never was.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab_support::run::forget_first_cell;
use disklab_store::{CellState, Run};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Small cells that do not wait for the disk, so that kills hit every phase.
const STUDY: &str = r#"
id = "kill-me"
title = "Killed and resumed"
repeats = 3
[[drives]]
model = "m"
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
[[workloads]]
id = "dd-{bs}"
caches = "keep"
matrix = { bs = ["1k", "2k", "4k", "8k"] }
dd = { direction = "write", bs = "{bs}", count = 8 }
[[workloads]]
id = "copy"
caches = "keep"
copy = { files = 5, size = "100 kB" }
"#;

const KILLS: u32 = 50;

struct Fixture {
    directory: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("temp");
        std::fs::write(directory.path().join("study.toml"), STUDY).expect("study");
        std::fs::create_dir(directory.path().join("dir")).expect("dir");
        Self { directory }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn start(&self, run: &str, resume: bool) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
        command
            .env("XDG_STATE_HOME", self.path("state"))
            .current_dir(self.directory.path())
            .arg("run")
            .args(["--out", run])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if resume {
            command.arg("--resume");
        } else {
            command.args(["study.toml", "--on", "dir:dir", "--seed", "7"]);
        }
        command.spawn().expect("start")
    }

    fn finish(child: Child) {
        let output = child.wait_with_output().expect("wait");
        // A small, noisy run may well have severe findings: exit code 1.
        let code = output.status.code();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(code == Some(0) || code == Some(1), "{code:?}: {said}");
    }
}

/// What must be the same whether or not a run was killed on its way.
#[derive(Debug, PartialEq)]
struct Shape {
    cells: Vec<(u32, u32, String, String, u64)>,
    samples: usize,
    steps: usize,
    raw: BTreeSet<String>,
}

fn shape(directory: &Path) -> Shape {
    let run = Run::open(directory).expect("open");
    let records = run.cells().expect("cells");
    for record in &records {
        assert_eq!(record.state, CellState::Done, "{record:?}");
    }
    let (mut samples, mut steps) = (0, 0);
    run.for_each_sample(|_, sample| {
        samples += 1;
        steps += sample.steps.len();
    })
    .expect("samples");
    let raw = std::fs::read_dir(directory.join("raw"))
        .expect("raw")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    let cells = records
        .into_iter()
        .map(|r| {
            (r.cell.number, r.cell.block, r.cell.levels.stack, r.cell.levels.workload, r.cell.seed)
        })
        .collect();
    Shape { cells, samples, steps, raw }
}

#[test]
fn a_run_killed_at_random_points_ends_like_an_unkilled_one() {
    let place = Fixture::new();
    let began = Instant::now();
    Fixture::finish(place.start("unkilled", false));
    let whole = began.elapsed().max(Duration::from_millis(200));
    let expected = shape(&place.path("unkilled"));
    assert_eq!(expected.samples, 15);

    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut kills = 0;
    let mut number = 0;
    while kills < KILLS {
        number += 1;
        let run = format!("run-{number}");
        let mut resume = false;
        while kills < KILLS {
            let mut child = place.start(&run, resume);
            // Not the whole length: most kills shall find cells to do.
            let wait = whole.mul_f64(random.random_range(0.02..0.6));
            std::thread::sleep(wait);
            let over = child.try_wait().expect("wait").is_some();
            child.kill().expect("kill");
            child.wait().expect("wait");
            if !over {
                kills += 1;
            }
            // Killed before there was a run: nothing to resume.
            resume = place.path(&run).join("run.sqlite").exists();
            if over {
                break;
            }
        }
        Fixture::finish(place.start(&run, resume));
        assert_eq!(shape(&place.path(&run)), expected, "{run} after {kills} kills");
        let left: Vec<_> = std::fs::read_dir(place.path("dir")).expect("dir").flatten().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
    let state = place.path("state/disklab/ledger");
    let ledgers: Vec<_> = std::fs::read_dir(state).expect("ledgers").flatten().collect();
    assert!(ledgers.is_empty(), "{ledgers:?}");
}

#[test]
fn ctrl_c_ends_cleanly_and_says_how_to_continue() {
    let place = Fixture::new();
    let began = Instant::now();
    Fixture::finish(place.start("unkilled", false));
    let whole = began.elapsed();
    let child = place.start("run", false);
    std::thread::sleep(whole.mul_f64(0.4));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("signal");
    let output = child.wait_with_output().expect("wait");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(130) {
        assert!(said.contains("disklab run --resume --out run"), "{said}");
    } else {
        // It was over before the signal came; then it must have ended well.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    }
    let left: Vec<_> = std::fs::read_dir(place.path("dir")).expect("dir").flatten().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    Fixture::finish(place.start("run", true));
    assert_eq!(shape(&place.path("run")), shape(&place.path("unkilled")));
}

#[test]
fn a_run_is_resumed_only_as_it_was_begun() {
    let place = Fixture::new();
    Fixture::finish(place.start("run", false));
    let resume = |args: &[&str]| {
        let output = Command::new(assert_cmd::cargo::cargo_bin("disklab"))
            .env("XDG_STATE_HOME", place.path("state"))
            .current_dir(place.directory.path())
            .args(["run", "--out", "run", "--resume"])
            .args(args)
            .output()
            .expect("run");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, _) = resume(&[]);
    assert!(matches!(code, Some(0 | 1)), "all cells are done: nothing to do");
    forget_first_cell(&place.path("run"));
    for args in [&["--scale", "2"][..], &["--seed", "8"], &["--on", "loop"], &["--repeats", "9"]] {
        let (code, said) = resume(args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains("was started with"), "{args:?}: {said}");
    }
    std::fs::write(place.path("study.toml"), STUDY.replace("count = 8", "count = 9"))
        .expect("another study");
    let (code, said) = resume(&["study.toml"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("was started with another"), "{said}");
}
