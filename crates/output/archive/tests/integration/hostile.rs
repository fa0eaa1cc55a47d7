//! Archives that are none, or somebody else's, and runs that are none.

use std::os::unix::fs::symlink;
use std::path::Path;

use disklab_archive::{ArchiveError, ArchivedRun, RunArchive};
use rusqlite::Connection;

use crate::support::Night;

fn night() -> Night {
    Night { day: 1, bytes_per_second: 1e8, kernel: "Linux", done: 6 }
}

fn refused(path: &Path) -> ArchiveError {
    let name = path.to_str().expect("UTF-8");
    RunArchive::open_existing(name).expect_err("refused to read");
    RunArchive::open(name).expect_err("refused to write")
}

#[test]
fn no_other_file_is_written() {
    let temp = tempfile::tempdir().expect("temp");
    let run = night().run(&temp.path().join("run"));
    let mine = temp.path().join("mine.sqlite");
    let own = Connection::open(&mine).expect("own");
    own.execute_batch("CREATE TABLE photos (name TEXT)").expect("a table");
    drop(own);
    let text = temp.path().join("text");
    std::fs::write(&text, "not a database, but long enough to be one".repeat(100)).expect("text");
    for path in [run.join("run.sqlite"), mine, text, temp.path().to_owned()] {
        let before = std::fs::read(&path).ok();
        let error = refused(&path);
        assert!(matches!(error, ArchiveError::Other(_)), "{error}");
        assert_eq!(std::fs::read(&path).ok(), before, "{}", path.display());
    }
    let files = std::fs::read_dir(temp.path()).expect("there").count();
    assert_eq!(files, 3, "nothing is left next to them");
}

#[test]
fn links_are_not_followed() {
    let temp = tempfile::tempdir().expect("temp");
    let (link, target) = (temp.path().join("archive.sqlite"), temp.path().join("target"));
    symlink(&target, &link).expect("link");
    refused(&link);
    assert!(!target.exists());
    let side = temp.path().join("other.sqlite-journal");
    symlink(&target, &side).expect("link");
    refused(&temp.path().join("other.sqlite"));
    assert!(!target.exists());
}

#[test]
fn what_others_wrote_into_an_archive_is_an_error() {
    let temp = tempfile::tempdir().expect("temp");
    let path = temp.path().join("archive.sqlite");
    let name = path.to_str().expect("UTF-8");
    let run = night().run(&temp.path().join("run"));
    RunArchive::open(name)
        .expect("new")
        .add(&[ArchivedRun::read(&run).expect("a run")])
        .expect("in");
    for damage in [
        "UPDATE run SET began = 'yesterday'",
        "UPDATE run SET began = '2026-03-01T02:00:00.000Z', done = 'many'",
        "UPDATE run SET done = 6; UPDATE stack SET drives = x'00'",
    ] {
        let connection = Connection::open(&path).expect("opens");
        connection.execute_batch(damage).expect(damage);
        drop(connection);
        let error = RunArchive::open_existing(name).expect("opens").runs().expect_err(damage);
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn a_history_of_migrations_that_others_wrote_is_an_error() {
    let temp = tempfile::tempdir().expect("temp");
    for (number, damage) in [
        "version = 'one'",
        "version = 99",
        "name = 'x'",
        "name = NULL",
        "applied_on = 'yesterday'",
        "applied_on = '2026-03-01 12:00:00Z'",
        "applied_on = NULL",
        "checksum = 'x'",
        "checksum = '-1'",
        "checksum = NULL",
    ]
    .into_iter()
    .enumerate()
    {
        let path = temp.path().join(format!("{number}.sqlite"));
        drop(RunArchive::open(path.to_str().expect("UTF-8")).expect("new"));
        let connection = Connection::open(&path).expect("opens");
        let change = format!("UPDATE refinery_schema_history SET {damage}");
        connection.execute_batch(&change).expect(damage);
        drop(connection);
        let error = refused(&path);
        assert!(error.is_usage_error(), "{damage}: {error}");
    }
}

#[test]
fn a_run_that_is_none_adds_nothing() {
    let temp = tempfile::tempdir().expect("temp");
    let run = night().run(&temp.path().join("run"));
    ArchivedRun::read(&temp.path().join("nothing")).expect_err("nothing there");
    // Another version's, cut off in the middle of the file, and one with another's study.
    for (name, damage) in [
        ("version", "PRAGMA user_version = 99"),
        ("setting", "UPDATE run SET info = json_set(info, '$.options.warp', '9')"),
        ("study", "UPDATE run SET info = json_set(info, '$.study_text', 'id = 1')"),
        ("state", "PRAGMA ignore_check_constraints = ON; UPDATE cell SET state = 'asleep'"),
        ("sample", "UPDATE sample SET json = '{'"),
    ] {
        let copy = temp.path().join(name);
        std::fs::create_dir(&copy).expect("a directory");
        std::fs::copy(run.join("run.sqlite"), copy.join("run.sqlite")).expect("copied");
        Connection::open(copy.join("run.sqlite"))
            .expect("opens")
            .execute_batch(damage)
            .expect(name);
        let error = ArchivedRun::read(&copy).expect_err(name);
        assert!(error.is_usage_error(), "{error}");
    }
    let cut = temp.path().join("cut");
    std::fs::create_dir(&cut).expect("a directory");
    let whole = std::fs::read(run.join("run.sqlite")).expect("read");
    std::fs::write(cut.join("run.sqlite"), &whole[..whole.len() / 2]).expect("written");
    ArchivedRun::read(&cut).expect_err("half a database");
}
