//! One run of several parts.

use std::path::Path;

use crate::support::{cells, raw_directories, sample};
use disklab_cell::Cell;
use disklab_options::{BenchKind, RunPart, RunSettings};
use disklab_sample::{Environment, LabKernelIdentity, Sample, Tool};
use disklab_store::{CellState, NoPart, Run, RunInfo, Session, StoreError};
use disklab_study::StudyGoal;
use disklab_units::Bytes;
use proptest::prelude::*;

/// As in the lab, where parts can be merged.
fn info() -> RunInfo {
    RunInfo {
        bench: BenchKind::Lab.into(),
        options: RunSettings::default(),
        ..crate::support::info()
    }
}

/// The cells that a run with --only would have, which numbers its own.
fn some(keep: impl Fn(&Cell) -> bool) -> Vec<Cell> {
    let kept = cells().into_iter().filter(keep);
    (0..).zip(kept).map(|(number, cell)| Cell { number, ..cell }).collect()
}

/// Tells cells apart.
fn bytes(cell: &Cell) -> u64 {
    1 + u64::from(cell.block) * 100
        + cell.levels.stack.len() as u64 * 7
        + cell.levels.workload.len() as u64
}

/// Runs the first `done` of the cells.
fn part(directory: &Path, info: &RunInfo, cells: &[Cell], done: usize) -> Run {
    let mut run = Run::create(directory, info, cells).expect("create");
    let session = Session {
        began: "2026-01-02T03:04:05Z".parse().expect("time"),
        command: vec!["disklab".into(), directory.display().to_string()],
        disklab: "0.1.0".into(),
        kernel: "Linux".into(),
    };
    run.begin_session(&session).expect("session");
    for cell in &cells[..done] {
        let raw = run.begin_cell(cell).expect("begin");
        std::fs::write(raw.join("cell.txt"), format!("{} {}", cell.levels.stack, cell.block))
            .expect("write");
        run.record(cell, &sample(bytes(cell)), 2.0).expect("record");
    }
    run
}

fn merge(parts: &[Run], to: &Path) -> Result<Run, StoreError> {
    let directories: Vec<_> = parts.iter().map(|part| part.path().to_owned()).collect();
    Run::merge(&directories, to)
}

fn samples(run: &Run) -> Vec<(Cell, Sample)> {
    let mut all = Vec::new();
    run.for_each_sample(|record, sample| all.push((record.cell.clone(), sample))).expect("read");
    all
}

#[test]
fn parts_become_the_run_that_they_would_have_been() {
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to] = ["a", "b", "to"].map(|name| temp.path().join(name));
    let pattern = || vec!["b*".to_owned()];
    let with = |options| RunInfo { options, ..info() };
    let without = with(RunSettings { without: pattern(), ..RunSettings::default() });
    let only = with(RunSettings { only: pattern(), ..RunSettings::default() });
    let left = some(|cell| cell.levels.stack.starts_with('a'));
    let right = some(|cell| cell.levels.stack.starts_with('b'));
    let parts = [part(&a, &without, &left, left.len()), part(&b, &only, &right, right.len())];
    let run = merge(&parts, &to).expect("merge");
    drop(parts);

    assert_eq!(run.info().expect("info"), info(), "which cells a part had is no setting");
    let merged = samples(&run);
    assert_eq!(merged.len(), cells().len());
    for (index, (cell, sample)) in merged.iter().enumerate() {
        assert_eq!(cell.number as usize, index);
        assert_eq!(sample, &crate::support::sample(bytes(cell)), "each cell has its own sample");
        let whole = cells().into_iter().find(|c| {
            (c.block, &c.levels.stack, &c.levels.workload)
                == (cell.block, &cell.levels.stack, &cell.levels.workload)
        });
        assert_eq!(whole.expect("of the whole run").seed, cell.seed);
    }
    let blocks: Vec<u32> = merged.iter().map(|(cell, _)| cell.block).collect();
    assert!(blocks.is_sorted(), "{blocks:?}");
    assert_eq!(run.sessions().expect("sessions").len(), 2);
    let raw = raw_directories(&to);
    assert_eq!(raw.len(), merged.len());
    let text = std::fs::read_to_string(to.join("raw").join(&raw[0]).join("cell.txt"));
    let first = &merged[0].0;
    assert_eq!(text.expect("copied"), format!("{} {}", first.levels.stack, first.block));
    // And the parts are as they were.
    assert_eq!(samples(&Run::open(&a).expect("open")).len(), left.len());
    assert!(Run::resume(&b).is_ok());
}

/// The part of a divided run with these cells, which keep their numbers.
fn divided(temp: &Path, number: u32, of: u32, keep: impl Fn(&Cell) -> bool) -> Run {
    let options = RunSettings {
        part: Some(RunPart { number, of }),
        only: vec!["*".to_owned()],
        ..RunSettings::default()
    };
    let cells: Vec<Cell> = cells().into_iter().filter(keep).collect();
    let directory = temp.join(format!("{number}-{of}"));
    part(&directory, &RunInfo { options, ..info() }, &cells, cells.len())
}

#[test]
fn divided_run_becomes_whole_again() {
    let temp = tempfile::tempdir().expect("temp");
    let parts = [1, 2, 3].map(|n| divided(temp.path(), n, 3, |cell| cell.number % 3 == n - 1));
    // In whatever order they are named.
    let directories: Vec<_> = [2, 0, 1].map(|at: usize| parts[at].path().to_owned()).into();
    let run = Run::merge(&directories, &temp.path().join("to")).expect("merge");
    let merged: Vec<Cell> = samples(&run).into_iter().map(|(cell, _)| cell).collect();
    assert_eq!(merged, cells());
    let options = RunSettings { only: vec!["*".to_owned()], ..RunSettings::default() };
    assert_eq!(run.info().expect("info"), RunInfo { options, ..info() });
}

#[test]
fn missing_parts_are_named() {
    let temp = tempfile::tempdir().expect("temp");
    let parts = [2, 5, 9].map(|number| divided(temp.path(), number, 12, |_| false));
    let error = merge(&parts, &temp.path().join("to")).expect_err("missing").to_string();
    assert!(error.contains("9 of 12 parts missing, or not done: 1, 3-4, 6-8, 10-12;"), "{error}");
    assert!(!temp.path().join("to").exists());
    let other = divided(temp.path(), 1, 2, |_| true);
    let error = merge(&[divided(temp.path(), 1, 3, |_| true), other], &temp.path().join("to"));
    let error = error.expect_err("of two divisions").to_string();
    assert!(error.contains("--parts is '3' in the first and '2' in the second"), "{error}");
}

/// Of a run whose samples decide: parts 1 and 2 up to the first look, and 3 to 5 up to the second.
#[test]
fn parts_of_later_looks_are_counted_on() {
    let temp = tempfile::tempdir().expect("temp");
    let look = |number, of, at: u32| {
        let options = RunSettings {
            part: Some(RunPart { number, of }),
            looks: Some(12),
            ..RunSettings::default()
        };
        let cells: Vec<Cell> = cells().into_iter().filter(|cell| cell.number % 5 == at).collect();
        let directory = temp.path().join(format!("{number}-{of}"));
        part(&directory, &RunInfo { options, ..info() }, &cells, cells.len()).path().to_owned()
    };
    let to = temp.path().join("to");
    let parts = [look(4, 5, 0), look(1, 2, 1), look(5, 5, 2), look(2, 2, 3), look(3, 5, 4)];
    let missing = Run::merge(&parts[..3], &to).expect_err("two are missing").to_string();
    assert!(missing.contains("2 of 5 parts missing, or not done: 2-3;"), "{missing}");
    let run = Run::merge(&parts, &to).expect("merge");
    let merged: Vec<Cell> = samples(&run).into_iter().map(|(cell, _)| cell).collect();
    assert_eq!(merged, cells());
    let error = Run::merge(&[parts[1].clone(), look(3, 4, 4), parts[0].clone()], &to);
    let error = error.expect_err("of two plans").to_string();
    assert!(error.contains("--parts is '4' in the first and '5' in the second"), "{error}");
}

#[test]
fn parts_that_are_not_done_are_named() {
    let temp = tempfile::tempdir().expect("temp");
    let done = divided(temp.path(), 1, 2, |_| false);
    let options =
        RunSettings { part: Some(RunPart { number: 2, of: 2 }), ..RunSettings::default() };
    let begun = part(&temp.path().join("begun"), &RunInfo { options, ..info() }, &cells(), 1);
    let error = merge(&[done, begun], &temp.path().join("to")).expect_err("begun").to_string();
    assert!(error.contains("1 of 2 parts missing, or not done: 2;"), "{error}");
}

#[test]
fn pending_cells_wait_and_failed_ones_are_reported() {
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to] = ["a", "b", "to"].map(|name| temp.path().join(name));
    let cells = cells();
    let mut first = part(&a, &info(), &cells, 1);
    first.fail(&cells[1], "no space", &[], 0.5).expect("fail");
    // The second has the whole study, too, and ran the third cell alone.
    let mut second = part(&b, &info(), &cells, 0);
    second.record(&cells[2], &sample(3), 1.0).expect("record");
    second.fail(&cells[1], "no memory", &[], 0.5).expect("fail");
    second.fail(&cells[3], "no memory", &[], 0.5).expect("fail");
    let run = merge(&[first, second], &to).expect("merge");
    let records = run.cells().expect("cells");
    let of = |cell: &Cell| {
        let same = |c: &Cell| {
            (c.block, &c.levels.stack, &c.levels.workload)
                == (cell.block, &cell.levels.stack, &cell.levels.workload)
        };
        records.iter().find(|record| same(&record.cell)).expect("there")
    };
    assert_eq!(records.len(), cells.len());
    assert_eq!(of(&cells[0]).state, CellState::Done);
    assert_eq!(of(&cells[1]).state, CellState::Failed);
    assert_eq!(of(&cells[1]).error.as_deref(), Some("no space"), "the first part's");
    assert_eq!(of(&cells[2]).state, CellState::Done);
    assert_eq!(of(&cells[3]).error.as_deref(), Some("no memory"));
    assert_eq!(of(&cells[4]).state, CellState::Waiting);
    assert!(Run::resume(&to).is_err(), "half of it could be there");
    drop(run.publish().expect("publish"));
    assert!(Run::resume(&to).is_ok(), "it can be resumed");
}

#[test]
fn runs_that_decide_as_they_go_or_outside_the_lab_are_no_parts() {
    let temp = tempfile::tempdir().expect("temp");
    let refused = |name: &str, info: &RunInfo, outcome: Option<&str>| {
        let run = part(&temp.path().join(name), info, &cells(), 1);
        if let Some(outcome) = outcome {
            run.keep_outcome(outcome).expect("keep");
        }
        match merge(&[run], &temp.path().join("to")) {
            Err(StoreError::NoPart { why, .. }) => why,
            other => panic!("{name}: {:?}", other.map(drop)),
        }
    };
    let of = |options: RunSettings| RunInfo { options, ..info() };
    let none = RunSettings::default;
    for (name, options) in [
        ("looks", RunSettings { looks: Some(3), ..none() }),
        ("goal", RunSettings { goal: Some(StudyGoal::Best), ..none() }),
        ("precision", RunSettings { precision: Some(0.05), ..none() }),
    ] {
        assert_eq!(refused(name, &of(options), None), NoPart::Adaptive, "{name}");
    }
    assert_eq!(refused("decided", &info(), Some("{}")), NoPart::Adaptive);
    let real = crate::support::info();
    assert_eq!(refused("real", &real, None), NoPart::NotInTheLab);
    assert!(!temp.path().join("to").exists());
}

/// What is said where a run as `one` and a run as `other` are merged.
fn refusal(one: &RunInfo, other: &RunInfo) -> String {
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to] = ["a", "b", "to"].map(|name| temp.path().join(name));
    let left = some(|cell| cell.levels.stack.starts_with('a'));
    let right = some(|cell| cell.levels.stack.starts_with('b'));
    let parts = [part(&a, one, &left, 1), part(&b, other, &right, 1)];
    let error = merge(&parts, &to).expect_err("refused").to_string();
    assert!(!to.exists(), "nothing is made: {error}");
    error
}

#[test]
fn parts_of_different_runs_are_refused() {
    let tool = |version: &str| Tool { name: "mkfs.ext4".into(), version: version.into() };
    let tools = |version: &str| RunInfo {
        environment: Environment { tools: vec![tool(version)], ..Environment::default() },
        ..info()
    };
    let set = |gib: u64| RunInfo {
        options: RunSettings { memory: Some(Bytes::gib(gib)), ..RunSettings::default() },
        ..info()
    };
    let kernel = |digest: &str| {
        let kernel = LabKernelIdentity {
            digest: digest.to_owned(),
            configuration: None,
            recipe: Some("configuration 1".to_owned()),
        };
        let environment = Environment { lab_kernel: Some(kernel), ..Environment::default() };
        RunInfo { environment, ..info() }
    };
    let linux = |release: &str, words: &str| {
        let kernel = format!("Linux {release}{words}");
        RunInfo { environment: Environment { kernel, ..Environment::default() }, ..info() }
    };
    for (one, other, expected) in [
        (kernel("12"), kernel("34"), "the lab's kernel is 'SHA-256 12, built from configuration"),
        (kernel("12"), kernel("34"), "run all parts with one kernel (run --kernel PATH)"),
        (kernel("12"), info(), "and 'not recorded' in the second"),
        (linux("6.12.117", ""), linux("7.3.4", ""), "the kernel is 'Linux 6.12.117' in the first"),
        (
            linux("7.3.4", ", programs by seccomp"),
            linux("7.3.4", ", programs by ptrace"),
            "the kernel is 'Linux 7.3.4, programs by seccomp' in the first",
        ),
        (info(), RunInfo { seed: 1, ..info() }, "the seed is '18446744073709551615' in the first"),
        (info(), RunInfo { repeats: 3, ..info() }, "the number of repeats is '2'"),
        (info(), RunInfo { scale: 1.0, ..info() }, "the scale is '0.5'"),
        (info(), RunInfo { study: "t".into(), ..info() }, "the study is 's'"),
        (info(), RunInfo { study_text: "x".into(), ..info() }, "text is not the same"),
        (set(1), set(2), "--memory is '1g' in the first and '2g'"),
        (info(), set(2), "--memory is 'not given' in the first"),
        (tools("1.47.0"), tools("1.47.2"), "mkfs.ext4 is '1.47.0' in the first"),
        (
            info(),
            RunInfo { bench: BenchKind::Loop.into(), ..info() },
            "only what was run in the lab",
        ),
        (
            info(),
            RunInfo { options: RunSettings { looks: Some(3), ..RunSettings::default() }, ..info() },
            "decided which cells",
        ),
    ] {
        let error = refusal(&one, &other);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_host_of_the_lab_does_not_count() {
    let smartctl = |kernel: &str| Tool {
        name: "smartctl".into(),
        version: format!("smartctl 7.3 r5338 [x86_64-linux-{kernel}] (local build)"),
    };
    let on = |kernel: &str| RunInfo {
        environment: Environment { tools: vec![smartctl(kernel)], ..Environment::default() },
        ..info()
    };
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to] = ["a", "b", "to"].map(|name| temp.path().join(name));
    let left = some(|cell| cell.levels.stack.starts_with('a'));
    let right = some(|cell| cell.levels.stack.starts_with('b'));
    let parts = [part(&a, &on("6.1"), &left, 1), part(&b, &on("6.12"), &right, 1)];
    merge(&parts, &to).expect("merge");
}

#[test]
fn a_kernel_is_identified_by_its_digest() {
    let at = |path: &str| RunInfo {
        options: RunSettings { kernel: Some(path.into()), ..RunSettings::default() },
        ..info()
    };
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to] = ["a", "b", "to"].map(|name| temp.path().join(name));
    let left = some(|cell| cell.levels.stack.starts_with('a'));
    let right = some(|cell| cell.levels.stack.starts_with('b'));
    let parts = [part(&a, &at("/here/linux"), &left, 1), part(&b, &at("/there"), &right, 1)];
    merge(&parts, &to).expect("merge");
}

#[test]
fn a_cell_measured_twice_is_refused() {
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to] = ["a", "b", "to"].map(|name| temp.path().join(name));
    let parts = [part(&a, &info(), &cells(), 2), part(&b, &info(), &cells(), 1)];
    let error = merge(&parts, &to).expect_err("twice").to_string();
    assert!(
        error.contains("was measured in") && error.contains("leave one of them out"),
        "{error}"
    );
    assert!(!to.exists());
    let error = merge(&parts[..1], &a).expect_err("onto a part").to_string();
    assert!(error.contains("already contains a run"), "{error}");
    assert_eq!(samples(&parts[0]).len(), 2, "and it is still there");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However the cells are shared out, and in whatever order the parts are named.
    #[test]
    fn no_cell_is_lost(shares in proptest::collection::vec(0..3_usize, cells().len())) {
        let temp = tempfile::tempdir().expect("temp");
        let name = |cell: &Cell| (cell.block, cell.levels.stack.clone(), cell.levels.workload.clone());
        let share = |cell: &Cell| {
            let index = cells().iter().position(|c| name(c) == name(cell)).expect("known");
            shares[index]
        };
        let parts: Vec<Run> = (0..3)
            .map(|n| {
                let cells = some(|cell| share(cell) == n);
                part(&temp.path().join(n.to_string()), &info(), &cells, cells.len())
            })
            .collect();
        let run = merge(&parts, &temp.path().join("to")).expect("merge");
        let mut merged: Vec<_> = samples(&run)
            .iter()
            .map(|(cell, sample)| (name(cell), sample.steps[0].figures[0].bytes))
            .collect();
        merged.sort();
        let mut whole: Vec<_> =
            cells().iter().map(|cell| (name(cell), bytes(cell))).collect();
        whole.sort();
        prop_assert_eq!(merged, whole);
    }
}

/// Someone who gave a part away, or a guest of it, may have left anything in `raw/`.
#[test]
fn links_and_pipes_in_raw_outputs_are_left_behind() {
    let temp = tempfile::tempdir().expect("temp");
    let [a, b, to, user] = ["a", "b", "to", "user"].map(|name| temp.path().join(name));
    std::fs::create_dir(&user).expect("make");
    std::fs::write(user.join("secret"), "secret").expect("write");
    let cells_of =
        |first: bool| some(|cell| (cell.levels.stack == cells()[0].levels.stack) == first);
    let parts = [
        part(&a, &info(), &cells_of(true), cells_of(true).len()),
        part(&b, &info(), &cells_of(false), cells_of(false).len()),
    ];
    let hostile = raw_directories(&a).into_iter().next().expect("a cell");
    let hostile = a.join("raw").join(hostile);
    std::os::unix::fs::symlink(user.join("secret"), hostile.join("link")).expect("link");
    std::os::unix::fs::symlink(&user, hostile.join("directory")).expect("link");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, hostile.join("pipe"), kind, mode, 0).expect("pipe");
    let huge = std::fs::File::create(hostile.join("huge")).expect("make");
    huge.set_len(1 << 40).expect("a terabyte");
    merge(&parts, &to).and_then(Run::publish).expect("merge");
    let raw = to.join("raw");
    let copied = walk(&raw);
    assert_eq!(copied.iter().filter(|path| path.ends_with("cell.txt")).count(), cells().len());
    for name in ["link", "directory", "pipe", "huge"] {
        assert!(!copied.iter().any(|path| path.ends_with(name)), "{name}: {copied:?}");
    }
    // The whole of raw/ may be a link, too.
    std::fs::rename(a.join("raw"), a.join("kept")).expect("rename");
    std::os::unix::fs::symlink(a.join("kept"), a.join("raw")).expect("link");
    let error = merge(&parts, &temp.path().join("again")).expect_err("raw is a link");
    assert!(error.to_string().contains("raw"), "{error}");
}

fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).expect("read").flatten() {
        all.push(entry.path());
        if entry.file_type().expect("type").is_dir() {
            all.extend(walk(&entry.path()));
        }
    }
    all
}
