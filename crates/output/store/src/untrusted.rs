//! A run's database may come from anybody: reading it must neither hang, nor fill the
//! memory, nor touch another file.
//!
//! What SQLite advises for such files (sqlite.org/security.html), and two things besides:
//! the schema must be exactly disklab's, and a journal must name no other file.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use disklab_exec::open_regular;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::StoreError;
use crate::schema::{OUTCOME, tables};

/// Bytes of a text in a database: the largest samples have a few MB.
const LONGEST_TEXT: i32 = 64 << 20;
/// Bytes of a statement; disklab's have less than 1 KiB.
const LONGEST_STATEMENT: i32 = 64 << 10;
/// Steps of SQLite's machine that one call may take: a million cells are read in some
/// 30 million.
const MOST_STEPS: u64 = 1_000_000_000;
/// After so many steps they are counted.
const STEPS_AT_ONCE: i32 = 10_000;
/// Names in a schema, far above disklab's.
const MOST_NAMES: usize = 100;

/// The steps that SQLite's machine has taken since [`Steps::restart`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps(Arc<AtomicU64>);

impl Steps {
    /// Begins another call.
    pub(crate) fn restart(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Ends statements that take more steps than any of disklab's.
    fn watch(&self, connection: &Connection) {
        let steps = Arc::clone(&self.0);
        let at_once = STEPS_AT_ONCE as u64;
        connection.progress_handler(
            STEPS_AT_ONCE,
            Some(move || steps.fetch_add(at_once, Ordering::Relaxed) > MOST_STEPS),
        );
    }
}

/// Opens another database of disklab's with the same bounds: it, too, may come from anybody.
///
/// # Errors
/// [`StoreError::Unexpected`] and [`StoreError::UnknownJournal`] if opening it could do more than that.
pub fn open_guarded(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    check_side_files(path)?;
    let connection = Connection::open_with_flags(path, flags).map_err(StoreError::sqlite(path))?;
    guard(&connection).map_err(StoreError::sqlite(path))?;
    Ok(connection)
}

/// Sets the bounds of a connection, before its first statement.
pub(crate) fn guard(connection: &Connection) -> rusqlite::Result<Steps> {
    let steps = Steps::default();
    steps.watch(connection);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_TEXT)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(steps)
}

/// Files next to a database that SQLite opens with it.
pub(crate) const SIDE_FILES: [&str; 3] = ["-journal", "-wal", "-shm"];

/// The file next to a database whose name ends so.
pub(crate) fn side_file(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Refuses what SQLite would open next to a database and must not: anything but a regular file,
/// as it would wait for a FIFO's writer, and a journal that names another file.
pub(crate) fn check_side_files(database: &Path) -> Result<(), StoreError> {
    for ending in SIDE_FILES {
        let path = side_file(database, ending);
        match path.symlink_metadata() {
            Ok(there) if there.is_file() => {}
            Ok(_) => return Err(StoreError::Unexpected { path, expected: "regular file" }),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("cannot look at", &path)(e)),
        }
    }
    check_journal(database)
}

/// Refuses a journal that names a file of its own, which SQLite would read and remove when
/// it rolls back. Only a transaction over several databases writes such a name, and disklab
/// has none.
fn check_journal(database: &Path) -> Result<(), StoreError> {
    /// With this a journal ends that names another (sqlite.org/fileformat2.html, 3).
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let path = side_file(database, "-journal");
    let mut end = [0; 8];
    let found = open_regular(&path).and_then(|mut file| {
        file.seek(SeekFrom::End(-8))?;
        file.read_exact(&mut end)
    });
    // Without one, or with a shorter one, SQLite has nothing to roll back.
    if found.is_ok() && end == MAGIC {
        return Err(StoreError::UnknownJournal { path });
    }
    Ok(())
}

/// One row of a schema: kind, name, table, and statement.
type Entry = (String, String, String, Option<String>);

fn entries(connection: &Connection) -> rusqlite::Result<BTreeSet<Entry>> {
    connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .take(MOST_NAMES)
        .collect()
}

/// Whether there is nothing at all in a database.
pub(crate) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    entries(connection).map(|all| all.is_empty())
}

/// Checks that a database has our tables and nothing else: no view, no trigger, nothing that
/// SQLite would compute while it reads.
pub(crate) fn check_schema(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let sqlite = StoreError::sqlite(path);
    let format = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    let format: i64 = format.map_err(&sqlite)?;
    let found = entries(connection).map_err(&sqlite)?;
    let expected = (|| {
        let own = Connection::open_in_memory_with_flags(OpenFlags::default())?;
        own.execute_batch(&tables(format))?;
        let without = entries(&own)?;
        own.execute_batch(OUTCOME)?;
        Ok((without, entries(&own)?))
    })();
    let (least, most) = expected.map_err(&sqlite)?;
    let other = found.difference(&most).next().map(|(kind, name, _, _)| (kind, name));
    // Tables last: what is amiss with an index is amiss with its table first.
    let missing = least.difference(&found).last().map(|(kind, name, _, _)| (kind, name));
    let what = match (other, missing) {
        (None, None) => return Ok(()),
        (Some((kind, name)), _) => format!("has a {kind} '{name}' that disklab did not create"),
        (None, Some((kind, name))) => format!("lacks the {kind} '{name}'"),
    };
    Err(StoreError::UnknownSchema { path: path.to_owned(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_takes_too_many_steps_is_ended_and_the_next_one_is_not() {
        let connection = Connection::open_in_memory().expect("memory");
        let steps = guard(&connection).expect("guarded");
        let count = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9999)
                     SELECT count(*) FROM n";
        let counted = || connection.query_row(count, [], |row| row.get::<_, i64>(0));
        assert_eq!(counted().expect("some ten thousand steps"), 9999);
        let taken = steps.0.load(Ordering::Relaxed);
        assert!((50_000..1_000_000).contains(&taken), "{taken}");
        steps.0.store(MOST_STEPS + 1, Ordering::Relaxed);
        let error = counted().expect_err("too many").to_string();
        assert!(error.contains("interrupted"), "{error}");
        steps.restart();
        assert_eq!(counted().expect("another call"), 9999);
    }

    #[test]
    fn a_side_file_that_cannot_be_looked_at_is_an_error() {
        let temp = tempfile::tempdir().expect("temp");
        check_side_files(&temp.path().join("run.sqlite")).expect("there is none");
        // Its own name is allowed, that with '-journal' is too long.
        let long = temp.path().join("r".repeat(250));
        let error = check_side_files(&long).expect_err("longer than 255 bytes").to_string();
        assert!(error.contains("cannot look at"), "{error}");
    }
}
