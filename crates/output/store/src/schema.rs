//! The tables of a run.

/// `PRAGMA user_version` of the format below; raised with every change that
/// older programs cannot read.
pub(crate) const VERSION: i64 = 2;

/// Samples are kept whole, as JSON; `figure` repeats their main numbers for
/// those who would rather ask SQL.
pub(crate) const SCHEMA: &str = "
PRAGMA user_version = 2;
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
    seed INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed')),
    error TEXT,
    ended TEXT,
    seconds REAL,
    UNIQUE (block, stack, workload)
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
";
