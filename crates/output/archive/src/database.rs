//! The two databases, asked by the same statements.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use disklab_exec::{make_directories, refuse_others_directories};
use disklab_store::open_guarded;
use postgres::config::SslMode;
use postgres::types::Type;
use postgres::{Client, NoTls};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::ArchiveError;

refinery::embed_migrations!("migrations");

/// In the header of a SQLite file, which says whose it is: 'dlar'.
const APPLICATION: i32 = 0x646c_6172;
/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ColumnValue {
    Text(String),
    Number(Option<f64>),
    Count(i64),
}

impl From<&str> for ColumnValue {
    fn from(text: &str) -> Self {
        // PostgreSQL takes none, and no text of disklab's has one.
        Self::Text(text.replace('\0', "\u{fffd}"))
    }
}

impl From<String> for ColumnValue {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// An open archive.
pub(crate) enum Database {
    Sqlite(Connection),
    Postgres(Client),
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite(_) => "Sqlite",
            Self::Postgres(_) => "Postgres",
        })
    }
}

impl Database {
    /// Connects to a server.
    pub(crate) fn server(url: &str) -> Result<Self, ArchiveError> {
        let connection = |error: postgres::Error| ArchiveError::Connection(words(&error));
        let mut config: postgres::Config = url.parse().map_err(connection)?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(ArchiveError::Tls);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        config.application_name("disklab");
        let mut client = config.connect(NoTls).map_err(connection)?;
        migrations::runner().run(&mut client).map_err(migration)?;
        Ok(Self::Postgres(client))
    }

    /// Opens a file. Only if it is `new` it need not be there.
    pub(crate) fn file(path: &Path, new: bool) -> Result<Self, ArchiveError> {
        let unsafe_path = |source| ArchiveError::Path { path: path.to_owned(), source };
        refuse_others_directories(path).map_err(unsafe_path)?;
        let there = path.symlink_metadata();
        match &there {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(ArchiveError::Other(path.to_owned())),
            Err(_) if !new => return Err(ArchiveError::None(path.to_owned())),
            Err(_) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                parent.map_or(Ok(()), make_directories).map_err(unsafe_path)?;
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let flags = if new { flags | OpenFlags::SQLITE_OPEN_CREATE } else { flags };
        let mut connection = open_guarded(path, flags)?;
        connection.busy_timeout(PATIENCE).map_err(sqlite)?;
        let other = |_| ArchiveError::Other(path.to_owned());
        let ask = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let (application, pages) = (ask("application_id"), ask("page_count"));
        let is_empty = pages.map_err(other)? == 0;
        if application.map_err(other)? != APPLICATION && !is_empty {
            return Err(ArchiveError::Other(path.to_owned()));
        }
        if is_empty && !new {
            return Err(ArchiveError::None(path.to_owned()));
        }
        if is_empty {
            connection.pragma_update(None, "application_id", APPLICATION).map_err(sqlite)?;
        }
        connection.pragma_update(None, "foreign_keys", true).map_err(sqlite)?;
        check_history(&connection)?;
        migrations::runner().run(&mut connection).map_err(migration)?;
        Ok(Self::Sqlite(connection))
    }

    /// Begins a change that is all or nothing: without [`Self::commit`], nothing. One at a time.
    pub(crate) fn begin(&mut self) -> Result<(), ArchiveError> {
        self.run(match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN; LOCK TABLE run IN SHARE ROW EXCLUSIVE MODE",
        })
    }

    pub(crate) fn commit(&mut self) -> Result<(), ArchiveError> {
        self.run("COMMIT")
    }

    fn run(&mut self, statements: &str) -> Result<(), ArchiveError> {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(statements).map_err(sqlite),
            Self::Postgres(client) => client.batch_execute(statements).map_err(server),
        }
    }

    /// Carries out a statement for each of these rows.
    pub(crate) fn execute<'a>(
        &mut self,
        statement: &str,
        rows: impl IntoIterator<Item = &'a Vec<ColumnValue>>,
    ) -> Result<(), ArchiveError> {
        match self {
            Self::Sqlite(connection) => {
                let mut prepared = connection.prepare(statement).map_err(sqlite)?;
                for row in rows {
                    prepared.execute(params_from_iter(row)).map_err(sqlite)?;
                }
            }
            Self::Postgres(client) => {
                let prepared = client.prepare(statement).map_err(server)?;
                for row in rows {
                    client.execute(&prepared, &parameters(row)).map_err(server)?;
                }
            }
        }
        Ok(())
    }

    /// The rows that a question gives.
    pub(crate) fn query(
        &mut self,
        statement: &str,
        values: &[ColumnValue],
    ) -> Result<Vec<Vec<ColumnValue>>, ArchiveError> {
        match self {
            Self::Sqlite(connection) => {
                let mut prepared = connection.prepare(statement).map_err(sqlite)?;
                let columns = prepared.column_count();
                let read = |row: &rusqlite::Row<'_>| {
                    (0..columns).map(|column| of_sqlite(row.get_ref(column)?)).collect()
                };
                let rows = prepared.query_map(params_from_iter(values), read).map_err(sqlite)?;
                rows.collect::<Result<_, _>>().map_err(sqlite)
            }
            Self::Postgres(client) => {
                let rows = client.query(statement, &parameters(values)).map_err(server)?;
                let read = |row: &postgres::Row| {
                    (0..row.len()).map(|column| of_postgres(row, column)).collect()
                };
                rows.iter().map(read).collect::<Result<_, _>>().map_err(server)
            }
        }
    }
}

/// Where refinery keeps which migrations were made.
const HISTORY: &str = "refinery_schema_history";

/// Refuses a history of migrations that refinery did not write: it would panic.
fn check_history(connection: &Connection) -> Result<(), ArchiveError> {
    if !connection.table_exists(None, HISTORY).map_err(sqlite)? {
        return Ok(());
    }
    let mut history = connection
        .prepare(&format!("SELECT version, name, applied_on, checksum FROM {HISTORY}"))
        .map_err(|_| ArchiveError::Row { table: HISTORY })?;
    let mut rows = history.query([]).map_err(sqlite)?;
    while let Some(row) = rows.next().map_err(sqlite)? {
        let text = |column| row.get::<_, String>(column).ok();
        let is_own = row.get::<_, i32>(0).is_ok()
            && text(1).is_some()
            && text(2).is_some_and(|when| is_rfc3339(&when))
            && text(3).is_some_and(|sum| sum.parse::<u64>().is_ok());
        if !is_own {
            return Err(ArchiveError::Row { table: HISTORY });
        }
    }
    Ok(())
}

/// Whether a text is a time such as `2026-03-01T12:00:00.5Z`; other spellings are not refinery's.
fn is_rfc3339(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_digit() || "-:.TZ+".contains(c);
    text.as_bytes().get(10) == Some(&b'T')
        && text.get(17..19) != Some("60")
        && text.chars().all(is_plain)
        && text.parse::<jiff::Timestamp>().is_ok()
}

fn of_sqlite(value: ValueRef<'_>) -> rusqlite::Result<ColumnValue> {
    Ok(match value {
        ValueRef::Text(text) => ColumnValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Integer(count) => ColumnValue::Count(count),
        ValueRef::Real(number) => ColumnValue::Number(Some(number)),
        ValueRef::Null => ColumnValue::Number(None),
        ValueRef::Blob(_) => return Err(rusqlite::Error::InvalidQuery),
    })
}

fn of_postgres(row: &postgres::Row, column: usize) -> Result<ColumnValue, postgres::Error> {
    Ok(match *row.columns()[column].type_() {
        Type::INT8 => ColumnValue::Count(row.try_get(column)?),
        Type::FLOAT8 => ColumnValue::Number(row.try_get(column)?),
        _ => ColumnValue::Text(row.try_get(column)?),
    })
}

impl rusqlite::ToSql for ColumnValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Text(text) => text.to_sql(),
            Self::Number(number) => number.to_sql(),
            Self::Count(count) => count.to_sql(),
        }
    }
}

/// As `postgres` takes them.
fn parameters(row: &[ColumnValue]) -> Vec<&(dyn postgres::types::ToSql + Sync)> {
    row.iter().map(ColumnValue::parameter).collect()
}

impl ColumnValue {
    fn parameter(&self) -> &(dyn postgres::types::ToSql + Sync) {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number,
            Self::Count(count) => count,
        }
    }
}

fn sqlite(error: rusqlite::Error) -> ArchiveError {
    ArchiveError::Database(error.to_string())
}

fn server(error: postgres::Error) -> ArchiveError {
    ArchiveError::Database(words(&error))
}

fn migration(error: refinery::Error) -> ArchiveError {
    ArchiveError::Migration(Box::new(error))
}

/// What the server says, or why it was not reached; `postgres` itself says but 'db error'.
fn words(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}
