use disklab_exec::Executor;
use proptest::prelude::*;

use super::*;
use crate::testing::{context, read, run_in};

#[test]
fn commits_are_kept_and_looked_up() {
    for (journal, synchronous) in
        [("wal", "normal"), ("wal", "full"), ("delete", "full"), ("truncate", "normal")]
    {
        let directory = tempfile::tempdir().expect("temp");
        let body = format!(
            "journal = '{journal}'\nsynchronous = '{synchronous}'\nrows = 3\nrow-size = 500\n\
             commits = 80\nsize = '400 kB'\nreads = 60"
        );
        let workload = read("sqlite", &body, 0.5).expect("valid");
        let ran = run_in(&*workload, directory.path(), None).expect(journal);
        let steps: Vec<_> = ran
            .steps
            .iter()
            .map(|s| {
                let figure = &s.figures[0];
                let latencies = figure.latency.as_ref().map(|l| l.histogram.count());
                (s.name.as_str(), figure.direction, figure.bytes, figure.operations, latencies)
            })
            .collect();
        assert_eq!(
            steps,
            [
                ("commit", Direction::Write, 60_000, Some(40), Some(40)),
                ("look-up", Direction::Read, 15_000, Some(30), Some(30)),
            ]
        );
        assert!(ran.notes.iter().any(|n| n.text.contains("no row is missing")));
        let size = directory.path().join(FILE).metadata().expect("file").len();
        assert!(size > 200_000 && size <= workload.cost().space.0, "{size}");
        let left = std::fs::read_dir(directory.path()).expect("directory").count();
        assert_eq!(left, if journal == "truncate" { 2 } else { 1 }, "{journal}");
    }
}

#[test]
fn changed_rows_are_read_again_as_a_whole() {
    let directory = tempfile::tempdir().expect("temp");
    let body = "rows = 2\nchanges = 5\nrow-size = 500\ncommits = 20\nsize = '400 kB'\nscan = true";
    let workload = read("sqlite", body, 1.0).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    let figures: Vec<_> = ran.steps.iter().map(|s| (s.name.as_str(), s.figures[0].bytes)).collect();
    let rows = 400_000 / 548 + 40;
    assert_eq!(figures, [("commit", 20 * 7 * 500), ("scan", rows * 500)]);
    assert_eq!(workload.profile("scan").and_then(|p| p.task), Some(Task::TableScan));
    assert!(read("sqlite", "changes = 3\nsize = 0\ncommits = 2", 1.0).is_ok());
}

#[test]
fn time_may_end_it() {
    let directory = tempfile::tempdir().expect("temp");
    let body = "commits = 1000000\nruntime = '50ms'\nsize = 0";
    let workload = read("sqlite", body, 1.0).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    assert!(ran.steps[0].figures[0].operations.is_some_and(|n| n < 1_000_000));
    assert!(ran.notes.iter().any(|n| n.text.starts_with("time was up after")));
}

#[test]
fn a_lost_row_and_a_damaged_file_are_found() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::new(Interrupt::new());
    let mut context = context(&executor, directory.path(), None);
    let workload = read("sqlite", "commits = 5\nsize = '1 MB'", 1.0).expect("valid");
    workload.prepare(&mut context).expect("prepared");
    let path = directory.path().join(FILE);
    let connection = Connection::open(&path).expect("database");
    connection.execute("delete from entry where id = 7", []).expect("deleted");
    close(connection).expect("closed");
    let error = workload.run(&mut context).expect_err("one row less").to_string();
    assert!(error.contains("rows, "), "{error}");
    let mut bytes = std::fs::read(&path).expect("database");
    let length = bytes.len();
    bytes[8192..length.min(200_000)].fill(0x55);
    std::fs::write(&path, bytes).expect("damaged");
    assert!(workload.run(&mut context).is_err());
}

#[test]
fn an_interrupt_stops_it() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::new(Interrupt::new());
    executor.interrupt.raise();
    let mut context = context(&executor, directory.path(), None);
    let workload = read("sqlite", "size = '1 GB'", 1.0).expect("valid");
    assert!(workload.prepare(&mut context).expect_err("stopped").is_interrupt());
}

#[test]
fn wrong_fields_are_errors() {
    for (body, part) in [
        ("journal = 'off'", "'wal'"),
        ("synchronous = 'off'", "'full' or 'normal'"),
        ("rows = 0", "from 1"),
        ("row-size = '4 KiB'", "an integer"),
        ("size = '2 PB'", "1 TiB"),
        ("runtime = 'long'", "`runtime`"),
        ("commit = 3", "did you mean 'commits'"),
    ] {
        let error = read("sqlite", body, 1.0).expect_err(body).to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn the_cost_holds_the_content(
        scale in 1e-9_f64..4.0, commits in 1_u64..1 << 29, rows in 1_u64..1000, size in 0_u64..1 << 39,
        changes in 0_u64..1000,
    ) {
        let body = format!(
            "commits = {commits}\nrows = {rows}\nsize = {size}\nchanges = {changes}\nscan = true"
        );
        let cost = read("sqlite", &body, scale).expect("valid").cost();
        prop_assert!(cost.content <= cost.space && cost.prewrite <= cost.content);
        prop_assert!(cost.seeks > 0);
    }
}
