//! A run's life: made, written, cut off, resumed, read.

use std::path::Path;

use disklab_cell::Cell;
use disklab_sample::{DriveTraffic, Latency, LatencyHistogram, TraceEntry};

use crate::support::{cells, info, raw_directories, sample};
use disklab_options::RunSettings;
use disklab_store::{CellState, Run, RunInfo, Session, StoreError};
use disklab_study::StudyGoal;
use tempfile::TempDir;

#[test]
fn a_run_is_read_back_as_written() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    for cell in &cells[..2] {
        let raw = run.begin_cell(cell).expect("begin");
        std::fs::write(raw.join("fio.out"), "raw").expect("write");
        run.record(cell, &sample(u64::from(cell.number) + 1), 1.5).expect("record");
    }
    run.fail(&cells[2], "no space", &[], 0.5).expect("fail");
    drop(run);

    let run = Run::open(temp.path()).expect("open");
    assert_eq!(run.info().expect("info"), info());
    let records = run.cells().expect("cells");
    let stored: Vec<_> = records.iter().map(|r| r.cell.clone()).collect();
    assert_eq!(stored, cells, "seeds above 2^63 included");
    assert_eq!(records[2].state, CellState::Failed);
    assert_eq!(records[2].error.as_deref(), Some("no space"));
    assert_eq!(records[3].state, CellState::Waiting);
    let mut seen = Vec::new();
    run.for_each_sample(|record, s| seen.push((record.cell.number, s))).expect("samples");
    assert_eq!(seen, [(0, sample(1)), (1, sample(2))]);
    let raw = raw_directories(temp.path());
    assert_eq!(raw.len(), 3);
    assert!(raw.iter().all(|name| !name.contains('/') && !name.contains('[')), "{raw:?}");
    assert!(temp.path().join("raw").join(&raw[0]).join("fio.out").is_file());
}

#[test]
fn cells_that_differ_in_a_further_axis_are_different() {
    let temp = tempfile::tempdir().expect("temp");
    let mut cells = cells();
    let mut other = cells[0].clone();
    other.number = cells.len() as u32;
    other.levels.further = [("linux".to_owned(), "7.3".to_owned())].into();
    cells.push(other.clone());
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    assert!(run.append(&[Cell { number: 99, ..other.clone() }]).is_err(), "it is there already");
    let raw = run.begin_cell(&other).expect("begin");
    std::fs::write(raw.join("fio.out"), "raw").expect("write");
    run.record(&other, &sample(1), 1.5).expect("record");
    let records = run.cells().expect("cells");
    assert_eq!(records.iter().map(|r| r.cell.clone()).collect::<Vec<_>>(), cells);
    let done = records.iter().filter(|r| r.state == CellState::Done);
    assert_eq!(done.map(|r| &r.cell).collect::<Vec<_>>(), [&other]);
}

/// A run of format 2, as disklab 0.1 left it.
#[test]
fn an_earlier_run_is_read_and_not_continued() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    run.begin_cell(&cells[0]).expect("begin");
    run.record(&cells[0], &sample(1), 1.5).expect("record");
    drop(run);
    let database = rusqlite::Connection::open(temp.path().join("run.sqlite")).expect("open");
    let table: String = database
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'cell'", [], |row| row.get(0))
        .expect("its table");
    let earlier = table
        .replace("    levels TEXT NOT NULL,\n", "")
        .replace("UNIQUE (block, stack, workload, levels)", "UNIQUE (block, stack, workload)");
    let copy = "INSERT INTO cell SELECT number, block, stack, workload, seed, state, error, ended,
                seconds FROM new";
    database
        .execute_batch(&format!(
            "PRAGMA foreign_keys = 0; PRAGMA legacy_alter_table = 1; ALTER TABLE cell RENAME TO new; {earlier}; {copy};
             DROP TABLE new; PRAGMA user_version = 2"
        ))
        .expect("an earlier run");
    drop(database);
    let run = Run::open(temp.path()).expect("open");
    let records = run.cells().expect("cells");
    assert_eq!(records.iter().map(|r| r.cell.clone()).collect::<Vec<_>>(), cells);
    let mut samples = 0;
    run.for_each_sample(|_, _| samples += 1).expect("samples");
    assert_eq!((samples, run.outcome().expect("read")), (1, None));
    drop(run);
    let error = Run::resume(temp.path()).expect_err("only read");
    assert!(matches!(error, StoreError::ReadOnlyFormat(_)), "{error}");
}

#[test]
fn a_campaign_grows_by_blocks_and_keeps_its_outcome() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells[..2]).expect("create");
    assert_eq!(run.outcome().expect("read"), None);
    run.append(&cells[2..]).expect("append");
    assert!(run.append(&cells[2..]).is_err(), "they are there already");
    for json in ["{\"a\":1}", "{\"a\":2}"] {
        run.keep_outcome(json).expect("keep");
    }
    drop(run);
    let run = Run::open(temp.path()).expect("open");
    let stored: Vec<_> = run.cells().expect("cells").into_iter().map(|r| r.cell).collect();
    assert_eq!(stored, cells);
    assert_eq!(run.outcome().expect("read").as_deref(), Some("{\"a\":2}"));
    assert!(run.keep_outcome("{}").is_err(), "open for reading only");
}

#[test]
fn figures_can_be_asked_for_by_sql() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    let mut two = sample(7);
    let drives = &mut two.steps[0].drives;
    drives.push(DriveTraffic { read_bytes: 3, write_bytes: 5, ..DriveTraffic::default() });
    // Of this one, nothing but its mean is known.
    let mut unknown = two.steps[0].clone();
    unknown.figures[0].bytes = u64::MAX;
    unknown.figures[0].latency = Some(Latency::from_histogram(LatencyHistogram::new()));
    two.steps.push(unknown);
    run.record(&cells[1], &two, 1.0).expect("record");
    let database = rusqlite::Connection::open(temp.path().join("run.sqlite")).expect("open");
    let ask = |column: &str| -> Vec<Option<i64>> {
        let query = format!("SELECT {column} FROM figure WHERE cell = 1 ORDER BY rowid");
        let mut rows = database.prepare(&query).expect("a column");
        rows.query_map([], |row| row.get(0)).expect("rows").map(|n| n.expect("a number")).collect()
    };
    // More bytes than SQLite's integers hold are as many as these hold.
    assert_eq!(ask("bytes"), [Some(7), Some(i64::MAX)]);
    assert_eq!([ask("operations"), ask("elapsed_ns")], [[Some(5); 2], [Some(5_000_000); 2]]);
    assert_eq!([ask("drive_read_bytes"), ask("drive_write_bytes")], [[Some(3); 2], [Some(19); 2]]);
    for column in ["latency_p50_ns", "latency_p99_ns", "latency_p999_ns"] {
        let [Some(known), None] = ask(column)[..] else { panic!("{column}: {:?}", ask(column)) };
        assert!((known - 1_000_000).abs() < 10_000, "{column}: {known}");
    }
}

#[test]
fn a_cells_commands_are_kept_next_to_its_outputs() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    let entry = |argv: &[&str], cwd: Option<&str>| TraceEntry {
        at_seconds: 1.25,
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        cwd: cwd.map(str::to_owned),
        status: "0".to_owned(),
        elapsed_seconds: 0.5,
    };
    let trace = [entry(&["mkfs.ext4", "/dev/x"], None), entry(&["sync"], Some("/mnt"))];
    run.fail(&cells[0], "no space", &trace, 0.5).expect("fail");
    let outputs = temp.path().join(run.outputs(&cells[0]).expect("outputs"));
    let text = std::fs::read_to_string(outputs.join("commands.txt")).expect("read");
    assert_eq!(
        text,
        "     1.250 s     0.500 s  [0]  mkfs.ext4 /dev/x\n     1.250 s     0.500 s  [0]  sync (in /mnt)\n"
    );
    let record = &run.cells().expect("cells")[0];
    assert!(record.ended.is_some() && record.seconds == Some(0.5), "{record:?}");
}

#[test]
fn a_cell_ends_only_once() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    run.record(&cells[0], &sample(1), 1.0).expect("first");
    assert!(run.record(&cells[0], &sample(9), 1.0).is_err());
    assert!(run.fail(&cells[0], "late", &[], 1.0).is_err());
    let mut bytes = Vec::new();
    run.for_each_sample(|_, s| bytes.push(s.steps[0].figures[0].bytes)).expect("samples");
    assert_eq!(bytes, [1]);
}

#[test]
fn many_recorded_at_once_keep_the_outputs_of_those_that_were_begun() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    let begun = [&cells[0], &cells[1]];
    for cell in begun {
        let raw = run.begin_cell(cell).expect("begin");
        std::fs::write(raw.join("imported.txt"), "a line").expect("write");
    }
    let samples: Vec<_> = (1..4).map(sample).collect();
    let mut results: Vec<_> = cells.iter().zip(samples.iter().map(Ok)).take(3).collect();
    results[1].1 = Err("no figure");
    run.record_all(results).expect("record");
    assert_eq!(raw_directories(temp.path()).len(), 2);
    for cell in begun {
        let outputs =
            temp.path().join(run.outputs(cell).expect("its directory has its final name"));
        assert!(outputs.join("imported.txt").is_file());
    }
    assert_eq!(run.outputs(&cells[2]), None);
    let states: Vec<_> = run.cells().expect("cells").iter().take(3).map(|r| r.state).collect();
    assert_eq!(states, [CellState::Done, CellState::Failed, CellState::Done]);
}

#[test]
fn resuming_clears_what_was_cut_off_and_keeps_what_was_done() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    run.begin_cell(&cells[0]).expect("begin");
    run.record(&cells[0], &sample(1), 1.0).expect("record");
    run.begin_cell(&cells[1]).expect("begin");
    drop(run);
    assert_eq!(raw_directories(temp.path()).len(), 2);
    let run = Run::resume(temp.path()).expect("resume");
    assert_eq!(raw_directories(temp.path()).len(), 1);
    run.begin_session(&Session {
        began: "2026-01-02T03:04:05Z".parse().expect("time"),
        command: vec!["disklab".into()],
        disklab: "0.1.0".into(),
        kernel: "Linux".into(),
    })
    .expect("session");
    assert_eq!(run.sessions().expect("sessions").len(), 1);
}

#[test]
fn resuming_leaves_what_the_user_put_there() {
    use std::os::unix::fs::symlink;
    let temp = tempfile::tempdir().expect("temp");
    let (directory, outside) = (temp.path().join("run"), temp.path().join("outside"));
    let cells = cells();
    let run = Run::create(&directory, &info(), &cells).expect("create");
    let begun = run.begin_cell(&cells[1]).expect("begin");
    // Valid while the run is open.
    let begun = directory.join("raw").join(begun.file_name().expect("a name"));
    assert!(begun.exists());
    drop(run);
    std::fs::create_dir_all(directory.join("raw/holiday")).expect("make");
    std::fs::write(directory.join("raw/holiday/a.jpg"), "a").expect("write");
    std::fs::write(directory.join("raw/notes.part"), "notes").expect("write");
    drop(Run::resume(&directory).expect("resume"));
    assert!(!begun.exists(), "what was cut off is cleared");
    assert!(
        directory.join("raw/holiday/a.jpg").exists() && directory.join("raw/notes.part").exists()
    );

    // A link in the place of a directory of the run leads nowhere.
    std::fs::create_dir(&outside).expect("make");
    std::fs::write(outside.join("a.jpg"), "a").expect("write");
    symlink(&outside, &begun).expect("link");
    let error = Run::resume(&directory).expect_err("a link");
    assert!(matches!(error, StoreError::Unexpected { .. }), "{error}");
    std::fs::remove_file(&begun).expect("unlink");
    std::fs::rename(directory.join("raw"), directory.join("raw.old")).expect("rename");
    symlink(&outside, directory.join("raw")).expect("link");
    let error = Run::resume(&directory).expect_err("a link");
    assert!(matches!(error, StoreError::Unexpected { .. }), "{error}");
    assert_eq!(std::fs::read_dir(&outside).expect("read").count(), 1);
}

#[test]
fn run_does_not_begin_among_files_of_the_user() {
    let temp = tempfile::tempdir().expect("temp");
    std::fs::write(temp.path().join("report.html"), "mine").expect("write");
    let error = Run::create(temp.path(), &info(), &cells()).expect_err("not empty");
    assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
    assert_eq!(std::fs::read_dir(temp.path()).expect("read").count(), 1);
}

#[test]
fn run_notices_that_its_directory_is_gone() {
    let temp = tempfile::tempdir().expect("temp");
    let directory = temp.path().join("run");
    let run = Run::create(&directory, &info(), &cells()).expect("create");
    assert!(run.is_still_there());
    let [database, away] = ["run.sqlite", "away"].map(|name| directory.join(name));
    std::fs::rename(&database, &away).expect("move");
    assert!(!run.is_still_there(), "without its database it is none");
    std::fs::rename(&away, &database).expect("move");
    std::fs::rename(&directory, temp.path().join("elsewhere")).expect("move");
    assert!(!run.is_still_there());
    drop(Run::create(&directory, &info(), &cells()).expect("another"));
    assert!(!run.is_still_there(), "another run is not this one");
}

/// Another directory of the user's with the name of the run's, by a link, in the midst of a run.
#[test]
fn run_follows_no_link_that_replaces_its_directory() {
    let temp = tempfile::tempdir().expect("temp");
    let [directory, moved, theirs] = ["run", "moved", "theirs"].map(|name| temp.path().join(name));
    let cells = cells();
    let mut run = Run::create(&directory, &info(), &cells).expect("create");
    let raw = run.begin_cell(&cells[0]).expect("begin");
    run.begin_cell(&cells[1]).expect("begin");
    std::fs::create_dir_all(theirs.join("raw")).expect("make");
    let files = ["run.sqlite", "run.sqlite-journal", "lock", "raw/photo"];
    for name in files {
        std::fs::write(theirs.join(name), "the user's").expect("write");
    }
    std::fs::rename(&directory, &moved).expect("move");
    std::os::unix::fs::symlink(&theirs, &directory).expect("link");
    std::fs::write(raw.join("output.txt"), "of a program").expect("write");
    run.record(&cells[0], &sample(1), 1.0).expect("what was measured is kept");
    run.fail(&cells[1], "interrupted", &[], 1.0).expect("this, too");
    let error = run.begin_cell(&cells[2]).expect_err("it was moved");
    assert!(error.to_string().contains("nothing more is written"), "{error}");
    assert!(!run.is_still_there());
    drop(run);
    for name in files {
        let text = std::fs::read_to_string(theirs.join(name)).expect("still there");
        assert_eq!(text, "the user's", "{name}");
    }
    assert_eq!(std::fs::read_dir(&theirs).expect("read").count(), 4);
    assert_eq!(std::fs::read_dir(theirs.join("raw")).expect("read").count(), 1);
    let kept = Run::open(&moved).expect("whole");
    assert_eq!(kept.cells().expect("cells")[0].state, CellState::Done);
    let outputs = moved.join(kept.outputs(&cells[0]).expect("outputs"));
    assert!(outputs.join("output.txt").is_file());
}

#[test]
fn failed_cells_can_be_queued_again() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    run.fail(&cells[0], "no space", &[], 0.5).expect("fail");
    assert_eq!(run.retry_failed().expect("retry"), 1);
    run.record(&cells[0], &sample(1), 1.0).expect("record");
}

#[test]
fn one_writer_many_readers() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    let error = Run::resume(temp.path()).expect_err("locked").to_string();
    assert!(error.contains("is being written by another disklab"), "{error}");
    let reader = Run::open(temp.path()).expect("open");
    run.record(&cells[0], &sample(1), 1.0).expect("record");
    assert_eq!(reader.cells().expect("cells")[0].state, CellState::Done);
    let error = reader.begin_cell(&cells[1]).expect_err("reader").to_string();
    assert!(error.contains("reading only"), "{error}");
}

#[test]
fn a_second_run_does_not_go_into_the_same_directory() {
    let temp = tempfile::tempdir().expect("temp");
    drop(Run::create(temp.path(), &info(), &cells()).expect("create"));
    let error = Run::create(temp.path(), &info(), &cells()).expect_err("twice").to_string();
    assert!(error.contains("already contains a run"), "{error}");
}

#[test]
fn directories_that_are_not_runs_are_refused() {
    let temp = tempfile::tempdir().expect("temp");
    let error = Run::open(temp.path()).expect_err("empty").to_string();
    assert!(error.contains("not a run directory"), "{error}");
    std::fs::write(temp.path().join("run.sqlite"), "not a database at all").expect("write");
    assert!(Run::open(temp.path()).is_err());
}

#[test]
fn empty_files_and_other_databases_are_distinguished() {
    let temp = tempfile::tempdir().expect("temp");
    let path = temp.path().join("run.sqlite");
    std::fs::write(&path, "").expect("a file");
    for refused in [Run::open(temp.path()), Run::resume(temp.path())] {
        let error = refused.expect_err("no run").to_string();
        assert!(error.contains("run.sqlite is empty: the run was cut off"), "{error}");
        assert!(error.contains("remove it, and start the run anew"), "{error}");
    }
    let other = rusqlite::Connection::open(&path).expect("a database");
    other.execute_batch("CREATE TABLE film (title TEXT)").expect("a table");
    let error = Run::open(temp.path()).expect_err("no run").to_string();
    assert!(error.ends_with("is the database of another program, not a run of disklab"), "{error}");
}

#[test]
fn another_format_is_refused_with_advice() {
    let temp = tempfile::tempdir().expect("temp");
    drop(Run::create(temp.path(), &info(), &cells()).expect("create"));
    let connection = rusqlite::Connection::open(temp.path().join("run.sqlite")).expect("open");
    connection.pragma_update(None, "user_version", 99).expect("pragma");
    drop(connection);
    let error = Run::open(temp.path()).expect_err("version").to_string();
    assert!(error.contains("format 99"), "{error}");
}

#[test]
fn a_run_knows_what_kind_it_is() {
    let on = |bench: &str| RunInfo { bench: bench.parse().expect(bench), ..info() };
    let kinds = |bench| (on(bench).is_lab(), on(bench).is_import());
    assert_eq!(kinds("lab"), (true, false));
    assert_eq!(["dir:/lab", "loop", "disks:x", "dir:import"].map(kinds), [(false, false); 4]);
    assert_eq!(kinds("import"), (false, true));

    // The command line goes before the study.
    let charged = |bench, word: Option<&str>, of_study| {
        let options = RunSettings { processor: word.map(str::to_owned), ..RunSettings::default() };
        RunInfo { options, ..on(bench) }.charges_processor(of_study)
    };
    assert!(charged("lab", None, true) && !charged("lab", None, false));
    assert!(!charged("loop", None, true));
    assert!(!charged("lab", Some("none"), true) && charged("lab", Some("x"), false));
}

#[test]
fn a_run_knows_how_sure_its_claims_must_be() {
    let with = |options: RunSettings| RunInfo { options, ..info() };
    let looks = |looks| with(RunSettings { looks, ..RunSettings::default() }).looks();
    assert_eq!([None, Some(0), Some(12), Some(u32::MAX)].map(looks), [1, 1, 12, 1000]);
    let goal = Some(StudyGoal::Purposes);
    let for_precision = |precision, goal| {
        with(RunSettings { precision, goal, ..RunSettings::default() }).is_for_precision()
    };
    assert!(for_precision(Some(0.02), None));
    assert!(!for_precision(None, None) && !for_precision(Some(0.02), goal));
}

#[test]
fn a_study_is_read_as_it_was_run() {
    let study_text = r#"
        id = "s"
        title = "S"
        drives = [{ model = "m", name = "d", count = 1, size = "1 TB" }]
        layouts = { single = { drives = 1 } }
        file-systems = { ext4 = "ext4" }
        [[workloads]]
        id = "w"
        dd = { direction = "write", bs = "4k", count = 64 }
    "#;
    let with =
        |options: RunSettings| RunInfo { study_text: study_text.to_owned(), options, ..info() };
    let whole = with(RunSettings::default()).load_study().expect("valid");
    assert_eq!((whole.stacks.len(), whole.workloads.len(), whole.is_quick), (1, 1, false));
    let quick = with(RunSettings { quick: true, ..RunSettings::default() });
    let error = quick.load_study().expect_err("it has none").to_string();
    assert!(error.contains("the study 's' has no quick form"), "{error}");
}

/// A directory as a process leaves it that is killed.
fn as_killed(directory: &Path) -> TempDir {
    fn copy(from: &Path, to: &Path) {
        for entry in std::fs::read_dir(from).expect("read").flatten() {
            let to = to.join(entry.file_name());
            if entry.path().is_dir() {
                std::fs::create_dir(&to).expect("make");
                copy(&entry.path(), &to);
            } else {
                std::fs::copy(entry.path(), to).expect("copy");
            }
        }
    }
    let left = tempfile::tempdir().expect("temp");
    copy(directory, left.path());
    left
}

#[test]
fn run_made_as_a_whole_is_there_from_its_publication_on() {
    let temp = tempfile::tempdir().expect("temp");
    let directory = temp.path().join("run");
    let begun = || Run::prepare(&directory, &info(), &cells()).expect("prepare");
    let mut run = begun();
    let cells = cells();
    std::fs::write(run.begin_cell(&cells[0]).expect("begin").join("out"), "raw").expect("write");
    run.record(&cells[0], &sample(1), 1.0).expect("record");
    run.begin_cell(&cells[1]).expect("begin");
    assert_eq!(run.cells().expect("cells").len(), cells.len(), "its maker sees it");
    assert!(run.is_still_there());
    assert!(matches!(Run::open(&directory), Err(StoreError::NoRun(_))));
    assert!(matches!(Run::prepare(&directory, &info(), &cells), Err(StoreError::BeingWritten(_))));
    let killed = as_killed(&directory);
    drop(run);
    assert!(!directory.exists(), "an error leaves nothing");

    // Another run, with other cells: nothing of the killed one is in it.
    std::fs::write(killed.path().join("raw/note.txt"), "the user's").expect("write");
    assert!(matches!(Run::open(killed.path()), Err(StoreError::NoRun(_))));
    let mut run = Run::prepare(killed.path(), &info(), &cells[..1]).expect("again");
    assert_eq!(raw_directories(killed.path()), ["note.txt"]);
    run.begin_cell(&cells[0]).expect("begin");
    run.record(&cells[0], &sample(2), 1.0).expect("record");
    let run = run.publish().expect("publish");
    assert_eq!(run.cells().expect("cells").len(), 1);
    assert_eq!(Run::open(killed.path()).expect("open").cells().expect("cells").len(), 1);
    assert!(!killed.path().join("run.sqlite.new").exists());
    drop(run);
    assert!(matches!(Run::prepare(killed.path(), &info(), &cells), Err(StoreError::HoldsRun(_))));
}
