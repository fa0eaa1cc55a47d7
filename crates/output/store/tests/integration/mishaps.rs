//! What happens to parts on nodes and on a directory that all of them share.

use std::path::{Path, PathBuf};
use std::process::Command;

use disklab_cell::Cell;
use disklab_options::{BenchKind, RunPart, RunSettings};
use disklab_store::{CellState, DirectoryClaim, Run, RunInfo};

use crate::support::{cells, info, sample};

/// The part of this number of two.
fn info_of(number: u32) -> RunInfo {
    let options = RunSettings { part: Some(RunPart { number, of: 2 }), ..RunSettings::default() };
    RunInfo { bench: BenchKind::Lab.into(), options, ..info() }
}

/// Every other cell.
fn cells_of(number: u32) -> Vec<Cell> {
    cells().into_iter().filter(|cell| cell.number % 2 == number - 1).collect()
}

fn carried_out(directory: &Path, number: u32, info: &RunInfo) -> PathBuf {
    let cells = cells_of(number);
    let mut run = Run::create(directory, info, &cells).expect("create");
    for cell in &cells {
        run.begin_cell(cell).expect("begin");
        run.record(cell, &sample(1), 2.0).expect("record");
    }
    directory.to_owned()
}

#[test]
fn a_part_whose_output_was_cut_off_is_named_and_nothing_made() {
    let temp = tempfile::tempdir().expect("temp");
    let parts = [1, 2].map(|n| carried_out(&temp.path().join(n.to_string()), n, &info_of(n)));
    let database = parts[1].join("run.sqlite");
    let whole = std::fs::read(&database).expect("read");
    let to = temp.path().join("to");
    for length in [0, 100, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(&database, &whole[..length]).expect("cut off");
        let error = Run::merge(&parts, &to).expect_err("cut off").to_string();
        assert!(error.contains("/2"), "{length} bytes: {error}");
        assert!(!to.join("run.sqlite").exists(), "{length} bytes");
    }
    std::fs::write(&database, &whole).expect("whole again");
    Run::merge(&parts, &to).expect("merged").publish().expect("published");
}

#[test]
fn a_node_whose_clock_is_off_changes_but_the_times() {
    let temp = tempfile::tempdir().expect("temp");
    let at = |created: &str, n| RunInfo { created: created.parse().expect("time"), ..info_of(n) };
    let first = at("2026-01-02T03:04:05Z", 1);
    let of_merged = |name: &str, created: &str| {
        let directory = |what: &str| temp.path().join(format!("{name}-{what}"));
        let second = at(created, 2);
        let parts =
            [carried_out(&directory("1"), 1, &first), carried_out(&directory("2"), 2, &second)];
        let run =
            Run::merge(&parts, &directory("to")).expect("merged").publish().expect("published");
        let mut cells = run.cells().expect("cells");
        cells.iter_mut().for_each(|record| record.ended = None);
        (cells, run.info().expect("info").created)
    };
    let (right, began) = of_merged("right", "2026-01-02T03:05:00Z");
    assert_eq!(began, first.created);
    for (name, off) in [("early", "1970-01-01T00:00:01Z"), ("late", "2106-02-07T06:28:15Z")] {
        let (cells, began) = of_merged(name, off);
        assert_eq!(cells, right, "{name}");
        assert_eq!(began, off.parse().map_or(first.created, |off| first.created.min(off)));
    }
}

/// A file system in memory of so many KiB; unmounted when dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn mount(kib: u32) -> Option<Self> {
        let small = tempfile::tempdir().expect("temp");
        let size = format!("size={kib}k");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "small"])
            .arg(small.path())
            .output();
        if mount.is_ok_and(|mount| mount.status.success()) {
            return Some(Self(small));
        }
        println!("skipped: needs root to mount a tmpfs");
        None
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{}", self.0.path().display());
    }
}

#[test]
fn a_directory_that_fills_loses_no_cell_that_was_recorded() {
    let Some(small) = Small::mount(512) else { return };
    let directory = small.0.path().join("part");
    let cells = cells();
    let mut run = Run::create(&directory, &info_of(1), &cells).expect("create");
    run.begin_cell(&cells[0]).expect("begin");
    run.record(&cells[0], &sample(1), 2.0).expect("record");
    let rest = small.0.path().join("others");
    let filled = std::fs::write(&rest, vec![1; 1 << 20]);
    assert!(filled.is_err(), "it is full");
    let failed = run
        .begin_cell(&cells[1])
        .and_then(|_| run.record(&cells[1], &sample(2), 2.0))
        .expect_err("no room");
    assert!(!failed.to_string().is_empty());
    drop(run);
    let error = Run::merge(std::slice::from_ref(&directory), &small.0.path().join("to"));
    error.expect_err("no room for another run");
    assert!(!small.0.path().join("to/run.sqlite").exists());

    std::fs::remove_file(&rest).expect("room");
    let mut run = Run::resume(&directory).expect("resumed");
    let states: Vec<_> = run.cells().expect("cells").iter().map(|record| record.state).collect();
    assert_eq!(states[0], CellState::Done);
    assert!(states[1..].iter().all(|state| *state == CellState::Waiting), "{states:?}");
    run.begin_cell(&cells[1]).expect("begin");
    run.record(&cells[1], &sample(2), 2.0).expect("room again");
}

#[test]
fn a_place_that_is_read_only_is_found_before_anything_is_made() {
    let Some(small) = Small::mount(64) else { return };
    let at = |name: &str| small.0.path().join(name);
    std::fs::create_dir(at("empty")).expect("make");
    DirectoryClaim::check(&at("new/run")).expect("it can be made");
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(small.0.path()).status();
    assert!(remounted.is_ok_and(|status| status.success()));
    for name in ["empty", "new", "new/run"] {
        let error = DirectoryClaim::check(&at(name)).expect_err(name).to_string();
        assert!(error.contains("cannot write into"), "{name}: {error}");
    }
}
