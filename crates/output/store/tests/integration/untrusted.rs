//! Databases that somebody prepared: none hangs, none changes anything.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use crate::support::{cells, info, raw_directories, sample};
use disklab_store::{Run, StoreError};
use proptest::prelude::*;
use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

/// A run with one sample, that is then changed as an attacker would.
fn changed(change: impl FnOnce(&Connection)) -> TempDir {
    let temp = tempfile::tempdir().expect("temp");
    let cells = cells();
    let mut run = Run::create(temp.path(), &info(), &cells).expect("create");
    run.begin_cell(&cells[0]).expect("begin");
    run.record(&cells[0], &sample(7), 1.0).expect("record");
    drop(run);
    let connection = Connection::open(temp.path().join("run.sqlite")).expect("open");
    connection.pragma_update(None, "foreign_keys", false).expect("pragma");
    change(&connection);
    temp
}

/// What a call gives within a time; fails if that is over.
fn in_time<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(call()));
    receive.recv_timeout(Duration::from_secs(60)).expect("it hangs")
}

/// All that reading a run can say.
fn read_all(directory: &Path) -> Result<usize, StoreError> {
    let directory = directory.to_owned();
    in_time(move || {
        let run = Run::open(&directory)?;
        let mut samples = 0;
        run.info()?;
        run.sessions()?;
        run.outcome()?;
        run.cells()?;
        run.for_each_sample(|_, _| samples += 1)?;
        Ok(samples)
    })
}

const ENDLESS: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";

#[test]
fn views_and_triggers_are_refused_before_they_run() {
    let view = |table: &str, columns: &str| {
        format!("DROP TABLE {table}; CREATE VIEW {table} AS {ENDLESS} SELECT {columns} FROM n;")
    };
    for (said, statements) in [
        ("'cell'", view("cell", "x AS number, 0 AS block, 's' AS stack, 'w' AS workload, 0 AS seed, 'waiting' AS state, '' AS error, '' AS ended, 0.0 AS seconds")),
        ("'run'", view("run", "x AS only, 'x' AS info")),
        ("'session'", view("session", "x AS number, '{}' AS json")),
        ("'outcome'", format!("CREATE VIEW outcome AS {ENDLESS} SELECT 'x' AS json FROM n WHERE x < 0;")),
        ("'other'", format!("CREATE VIEW other AS {ENDLESS} SELECT x FROM n;")),
        ("'t'", format!("CREATE TRIGGER t AFTER UPDATE ON cell BEGIN INSERT INTO session (json) {ENDLESS} SELECT x FROM n; END;")),
        ("'i'", "CREATE INDEX i ON cell (abs(seconds));".to_owned()),
        ("'sample'", "DROP TABLE sample; CREATE TABLE sample (cell INTEGER PRIMARY KEY, json TEXT AS (zeroblob(1000000000)));".to_owned()),
        ("'figure'", "DROP TABLE figure;".to_owned()),
    ] {
        let run = changed(|c| c.execute_batch(&statements).unwrap_or_else(|e| panic!("{said}: {e}")));
        for error in [read_all(run.path()).expect_err(said), Run::resume(run.path()).expect_err(said)] {
            let text = error.to_string();
            assert!(matches!(error, StoreError::UnknownSchema { .. }), "{said}: {text}");
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

#[test]
fn giant_texts_and_too_many_rows_are_errors() {
    let fill = "WITH RECURSIVE n(x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n WHERE x < 1001000)
        INSERT INTO cell (number, block, stack, workload, levels, seed)
        SELECT x, x, 's', 'w', '{}', 0 FROM n;";
    let many = changed(|c| c.execute_batch(fill).expect("rows"));
    let error = read_all(many.path()).expect_err("too many cells").to_string();
    assert!(error.contains("more than 1000000 cells"), "{error}");
    for (starts, too_many) in [(10_000, false), (10_001, true)] {
        let fill = format!(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {starts})
             INSERT INTO session (json) SELECT '[]' FROM n;"
        );
        let run = changed(|c| c.execute_batch(&fill).expect("rows"));
        // The first of them is no start, which is said if they are not too many.
        match read_all(run.path()).expect_err("no run's starts") {
            StoreError::TooManyRows { most, .. } => assert!(too_many && most == 10_000, "{starts}"),
            error => assert!(!too_many, "{starts}: {error}"),
        }
    }
    for statement in [
        "UPDATE sample SET json = CAST(zeroblob(100000000) AS TEXT)",
        "UPDATE run SET info = CAST(zeroblob(100000000) AS TEXT)",
    ] {
        let giant = changed(|c| c.execute_batch(statement).expect("a giant"));
        assert!(read_all(giant.path()).is_err(), "{statement}");
    }
    let nested = "[".repeat(5_000_000);
    let deep = changed(|c| {
        c.execute("UPDATE sample SET json = ?1", [&nested]).expect("nested");
    });
    let error = read_all(deep.path()).expect_err("nested too deeply").to_string();
    assert!(error.contains("cell 0"), "{error}");
}

#[test]
fn a_journal_that_names_another_file_is_not_used() {
    let run = changed(|_| {});
    let victim = run.path().join("precious");
    std::fs::write(&victim, "precious").expect("write");
    // Page count, number, sizes, then the name as SQLite writes it at the end.
    let name = victim.to_str().expect("a path").as_bytes();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 16, 0]);
    journal.resize(512, 0);
    journal.extend([0, 0, 0, 1]);
    journal.extend(name);
    journal.extend(u32::try_from(name.len()).expect("short").to_be_bytes());
    journal.extend(name.iter().map(|b| u32::from(*b)).sum::<u32>().to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    std::fs::write(run.path().join("run.sqlite-journal"), journal).expect("write");
    let error = read_all(run.path()).expect_err("a foreign journal");
    assert!(matches!(error, StoreError::UnknownJournal { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&victim).expect("it is there"), "precious");
}

/// Puts something into a run's directory that is not a regular file.
fn put(kind: &str, path: &Path) {
    let _ = std::fs::remove_file(path);
    match kind {
        "FIFO" => mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).map_err(Into::into),
        "socket" => UnixListener::bind(path).map(drop),
        "directory" => std::fs::create_dir(path),
        _ => symlink("/dev/zero", path),
    }
    .expect(kind);
}

#[test]
fn what_is_not_a_regular_file_is_neither_waited_for_nor_read() {
    for kind in ["FIFO", "socket", "directory", "link"] {
        for name in ["-journal", "-wal", "-shm", ""].map(|ending| format!("run.sqlite{ending}")) {
            let run = changed(|_| {});
            put(kind, &run.path().join(&name));
            let directory = run.path().to_owned();
            let resumed = in_time(move || Run::resume(&directory).map(drop));
            for error in [read_all(run.path()).map(drop), resumed] {
                let error = error.expect_err(kind).to_string();
                assert!(error.contains("regular file") || error.contains("not a run"), "{error}");
            }
        }
        let run = changed(|_| {});
        put(kind, &run.path().join("lock"));
        assert_eq!(read_all(run.path()).expect(kind), 1, "readers need no lock");
        let directory = run.path().to_owned();
        let error = in_time(move || Run::resume(&directory)).expect_err(kind).to_string();
        assert!(error.contains("lock is not a regular file"), "{kind}: {error}");
        let new = tempfile::tempdir().expect("temp");
        drop(Run::create(new.path(), &info(), &cells()).expect("create"));
        std::fs::remove_file(new.path().join("run.sqlite")).expect("removed");
        put(kind, &new.path().join("run.sqlite.new"));
        let directory = new.path().to_owned();
        let error = in_time(move || Run::create(&directory, &info(), &cells())).expect_err(kind);
        assert!(matches!(error, StoreError::Unexpected { .. }), "{kind}: {error}");
    }
}

#[test]
fn opened_run_cannot_be_written() {
    let run = changed(|_| {});
    let before = std::fs::read(run.path().join("run.sqlite")).expect("read");
    assert_eq!(read_all(run.path()).expect("sound"), 1);
    assert_eq!(raw_directories(run.path()).len(), 1);
    assert!(Run::open(run.path()).expect("open").keep_outcome("{}").is_err());
    assert_eq!(std::fs::read(run.path().join("run.sqlite")).expect("read"), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A file with bytes changed anywhere gives samples or an error, in time.
    #[test]
    fn changed_bytes_neither_hang_nor_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let run = changed(|_| {});
        let path = run.path().join("run.sqlite");
        let mut bytes = std::fs::read(&path).expect("read");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&path, bytes).expect("write");
        if let Ok(samples) = read_all(run.path()) {
            prop_assert!(samples <= 6);
        }
    }
}

#[test]
fn values_that_disklab_does_not_write_are_errors() {
    let checks_off = "PRAGMA ignore_check_constraints = 1;";
    for (column, value) in [
        ("ended", "yesterday"),
        ("ended", ""),
        ("ended", "2026-01-02"),
        ("state", "Done"),
        ("state", "\u{1b}[2J"),
    ] {
        let run = changed(|c| {
            c.execute_batch(checks_off).expect("pragma");
            let update = format!("UPDATE cell SET {column} = ?1 WHERE number = 0");
            assert_eq!(c.execute(&update, [value]).expect("update"), 1);
        });
        for error in [read_all(run.path()).err(), Run::resume(run.path()).err()] {
            let error = error.unwrap_or_else(|| panic!("{column} = {value:?}"));
            let shown = error.to_string();
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
            let StoreError::BadCell { cell: 0, column: bad, value: found, .. } = error else {
                panic!("{shown}")
            };
            assert_eq!((bad, &*found), (column, value));
        }
    }
    let run = changed(|c| {
        let texts = "INSERT INTO session (json) VALUES ('{\"started\": 1}')";
        c.execute(texts, []).expect("insert");
    });
    let error = read_all(run.path()).expect_err("a session without its fields");
    assert!(matches!(error, StoreError::BadSession { number: 1, .. }), "{error}");
}
