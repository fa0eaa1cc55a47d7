//! Rows in and out.

use std::path::Path;

use disklab_cell::{Cell, Levels};
use disklab_sample::Sample;
use disklab_study::MOST_CELLS;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::schema::{OLDEST, OUTCOME};
use crate::{CellRecord, CellState, RunInfo, Session};

pub(crate) fn insert_info(connection: &Connection, info: &RunInfo) -> Result<()> {
    connection.execute("INSERT INTO run (only, info) VALUES (1, ?1)", [to_json(info)?])?;
    Ok(())
}

pub(crate) fn insert_session(connection: &Connection, session: &Session) -> Result<()> {
    connection.execute("INSERT INTO session (json) VALUES (?1)", [to_json(session)?])?;
    Ok(())
}

pub(crate) fn insert_cell(connection: &Connection, cell: &Cell) -> Result<()> {
    // SQLite's integers are signed: the seed keeps its bits, not its sign.
    connection.execute(
        "INSERT INTO cell (number, block, stack, workload, levels, seed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            cell.number,
            cell.block,
            cell.levels.stack,
            cell.levels.workload,
            to_json(&cell.levels.further)?,
            cell.seed as i64
        ],
    )?;
    Ok(())
}

pub(crate) fn keep_outcome(connection: &Connection, json: &str) -> Result<()> {
    connection.execute(OUTCOME, [])?;
    connection.execute("INSERT OR REPLACE INTO outcome (only, json) VALUES (1, ?1)", [json])?;
    Ok(())
}

pub(crate) fn outcome(connection: &Connection) -> Result<Option<String>> {
    let there = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'outcome'";
    if connection.query_row(there, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(None);
    }
    connection.query_row("SELECT json FROM outcome", [], |row| row.get(0)).optional()
}

/// Ends a cell that waits; any other is an error, so that none is ever done twice.
pub(crate) fn end_cell(
    connection: &Connection,
    cell: &Cell,
    error: Option<&str>,
    seconds: f64,
) -> Result<()> {
    let state = if error.is_some() { "failed" } else { "done" };
    let mut update = connection.prepare_cached(
        "UPDATE cell SET state = ?1, error = ?2, ended = ?3, seconds = ?4
         WHERE number = ?5 AND stack = ?6 AND workload = ?7 AND levels = ?8 AND state = 'waiting'",
    )?;
    let changed = update.execute(params![
        state,
        error,
        crate::now().to_string(),
        seconds,
        cell.number,
        cell.levels.stack,
        cell.levels.workload,
        to_json(&cell.levels.further)?
    ])?;
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}

pub(crate) fn insert_sample(
    connection: &Connection,
    cell: &Cell,
    sample: &Sample,
    json: &str,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO sample (cell, json) VALUES (?1, ?2)")?
        .execute(params![cell.number, json])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO figure VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for step in &sample.steps {
        let drive_read: u64 = step.drives.iter().map(|d| d.read_bytes).sum();
        let drive_write: u64 = step.drives.iter().map(|d| d.write_bytes).sum();
        for figure in &step.figures {
            // An empty histogram has no percentiles: only mean and extremes were told.
            let reported = figure.latency.as_ref().map(|l| &l.histogram).filter(|h| h.count() > 0);
            let quantile = |q| reported.map(|histogram| signed(histogram.quantile(q)));
            insert.execute(params![
                cell.number,
                step.name,
                figure.direction.word(),
                signed(figure.bytes),
                figure.operations.map(signed),
                signed(figure.elapsed_ns),
                figure.bytes_per_second,
                figure.operations_per_second,
                quantile(0.5),
                quantile(0.99),
                quantile(0.999),
                signed(drive_read),
                signed(drive_write),
            ])?;
        }
    }
    Ok(())
}

pub(crate) fn retry_failed(connection: &Connection) -> Result<usize> {
    connection.execute(
        "UPDATE cell SET state = 'waiting', error = NULL, ended = NULL, seconds = NULL
         WHERE state = 'failed'",
        [],
    )
}

/// Takes over how cells of the run whose database is `part` ended, with their samples:
/// `(number there, number here)`. All of them, or none.
pub(crate) fn adopt(connection: &Connection, part: &Path, numbers: &[(u32, u32)]) -> Result<()> {
    connection.execute("ATTACH DATABASE ?1 AS part", [part.to_string_lossy()])?;
    let result = (|| {
        let transaction = connection.unchecked_transaction()?;
        for numbers in numbers {
            for statement in ADOPT {
                transaction.execute(statement, [numbers.0, numbers.1])?;
            }
        }
        transaction.commit()
    })();
    connection.execute("DETACH DATABASE part", [])?;
    result
}

/// For a cell that is ?1 in the attached database and ?2 here.
const ADOPT: [&str; 3] = [
    "UPDATE cell SET (state, error, ended, seconds) =
        (SELECT state, error, ended, seconds FROM part.cell WHERE number = ?1)
     WHERE number = ?2",
    "INSERT INTO sample (cell, json) SELECT ?2, json FROM part.sample WHERE cell = ?1",
    "INSERT INTO figure SELECT ?2, step, direction, bytes, operations, elapsed_ns,
        bytes_per_second, operations_per_second, latency_p50_ns, latency_p99_ns,
        latency_p999_ns, drive_read_bytes, drive_write_bytes
     FROM part.figure WHERE cell = ?1 ORDER BY rowid",
];

/// Starts of the program on a run that are looked at; nobody starts it as often.
pub(crate) const MOST_SESSIONS: usize = 10_000;

/// A value that disklab does not write.
pub(crate) struct BadValue {
    pub(crate) cell: u32,
    pub(crate) column: &'static str,
    pub(crate) value: String,
}

/// The cells, and one more at most than a run may have; of one that cannot be read, why.
pub(crate) fn cells(
    connection: &Connection,
) -> Result<std::result::Result<Vec<CellRecord>, BadValue>> {
    let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let levels = if format == OLDEST { "'{}'" } else { "levels" };
    connection
        .prepare(&format!(
            "SELECT number, block, stack, workload, seed, state, error, ended, seconds, {levels}
             FROM cell ORDER BY number"
        ))?
        .query_map([], cell)?
        .take(MOST_CELLS as usize + 1)
        .collect()
}

/// The starts of the program as they are written, and one more at most than a run may have.
pub(crate) fn sessions(connection: &Connection) -> Result<Vec<String>> {
    connection
        .prepare("SELECT json FROM session ORDER BY number")?
        .query_map([], |row| row.get(0))?
        .take(MOST_SESSIONS + 1)
        .collect()
}

fn cell(row: &Row<'_>) -> Result<std::result::Result<CellRecord, BadValue>> {
    let number = row.get(0)?;
    let bad = |column, value: &str| {
        let value = value.chars().take(40).collect();
        Ok(Err(BadValue { cell: number, column, value }))
    };
    let state: String = row.get(5)?;
    let state = match state.as_str() {
        "waiting" => CellState::Waiting,
        "done" => CellState::Done,
        "failed" => CellState::Failed,
        _ => return bad("state", &state),
    };
    let ended: Option<String> = row.get(7)?;
    let ended = match ended.map(|text| text.parse::<Timestamp>().map_err(|_| text)).transpose() {
        Ok(ended) => ended,
        Err(text) => return bad("ended", &text),
    };
    let levels: String = row.get(9)?;
    let Ok(further) = serde_json::from_str(&levels) else { return bad("levels", &levels) };
    Ok(Ok(CellRecord {
        cell: Cell {
            number,
            block: row.get(1)?,
            levels: Levels { stack: row.get(2)?, workload: row.get(3)?, further },
            seed: row.get::<_, i64>(4)? as u64,
        },
        state,
        error: row.get(6)?,
        ended,
        seconds: row.get(8)?,
    }))
}

fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

/// SQLite has no unsigned 64-bit integers; no count here comes near the limit.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
