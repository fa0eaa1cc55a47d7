//! The tables of a run.

/// Name of the database in a run's directory.
pub(crate) const DATABASE: &str = "run.sqlite";
/// Name of the file whose lock says that a run is being written.
pub(crate) const LOCK: &str = "lock";

/// `PRAGMA user_version` of the format that is written; raised with every change that
/// older programs cannot read.
pub(crate) const VERSION: i64 = 3;

/// The oldest format that is read. Its cells have no levels besides stack and workload, and it
/// has a table `outcome` only if there is one.
pub(crate) const OLDEST: i64 = 2;

/// The tables of a format, `outcome` apart. Samples are kept whole, as JSON; `figure` repeats
/// their main numbers for those who would rather ask SQL.
pub(crate) fn tables(version: i64) -> String {
    let (levels, unique) = match version {
        OLDEST => ("", "block, stack, workload"),
        _ => ("    levels TEXT NOT NULL,\n", "block, stack, workload, levels"),
    };
    format!(
        "
PRAGMA user_version = {version};
CREATE TABLE run (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    info TEXT NOT NULL
);
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    json TEXT NOT NULL
);
CREATE TABLE cell (
    number INTEGER PRIMARY KEY,
    block INTEGER NOT NULL,
    stack TEXT NOT NULL,
    workload TEXT NOT NULL,
{levels}    seed INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed')),
    error TEXT,
    ended TEXT,
    seconds REAL,
    UNIQUE ({unique})
);
CREATE TABLE sample (
    cell INTEGER PRIMARY KEY REFERENCES cell (number),
    json TEXT NOT NULL
);
CREATE TABLE figure (
    cell INTEGER NOT NULL REFERENCES cell (number),
    step TEXT NOT NULL,
    direction TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    operations INTEGER,
    elapsed_ns INTEGER NOT NULL,
    bytes_per_second REAL,
    operations_per_second REAL,
    latency_p50_ns INTEGER,
    latency_p99_ns INTEGER,
    latency_p999_ns INTEGER,
    drive_read_bytes INTEGER NOT NULL,
    drive_write_bytes INTEGER NOT NULL
);
CREATE INDEX figure_cell ON figure (cell);
"
    )
}

/// What came of a campaign that decided as it went.
pub(crate) const OUTCOME: &str = "CREATE TABLE IF NOT EXISTS outcome (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    json TEXT NOT NULL
)";
