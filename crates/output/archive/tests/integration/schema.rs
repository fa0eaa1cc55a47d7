//! docs/generated/archive.md has the tables that the database has.

use std::collections::BTreeMap;
use std::path::Path;

use disklab_archive::RunArchive;
use rusqlite::Connection;

/// What each column means, as `table.column`, in the order of the page.
const COLUMNS: &[(&str, &str)] = &[
    ("run.id", "what tells it from others: SHA-256 of what was fixed when it began"),
    ("run.content", "SHA-256 of its rows: whether anything has come since"),
    ("run.path", "where it lay when it was added"),
    ("run.study", "the study's id"),
    ("run.study_digest", "SHA-256 of the study's text"),
    (
        "run.setting",
        "what runs of a series have in common: bench, scale, the options on which figures depend; of a \
         real machine its processor and memory",
    ),
    ("run.disklab", "the version"),
    ("run.kernel", "on which its cells ran; of the lab's the digest of its file, too"),
    ("run.began", "when, by the clock of its machine"),
    ("run.added", "when"),
    ("run.cells", "how many it has"),
    ("run.done", "how many of them have samples"),
    ("stack.run", "the run's `id`"),
    ("stack.stack", "the stack's id"),
    ("stack.drives", "models of its drives, each once, separated by `; `"),
    ("figure.run", "the run's `id`"),
    ("figure.stack", "the stack's id"),
    ("figure.workload", "the workload's id"),
    ("figure.levels", "levels of the study's further axes, as `memory=8GiB linux=7.3`"),
    ("figure.step", "the workload's step"),
    ("figure.direction", "`read`, `write`, …"),
    ("figure.part", "`whole` or `steady`"),
    (
        "figure.measure",
        "`throughput`, `iops`, `latency-p50`, `latency-p99`, `latency-p999`, `elapsed` or `missed`",
    ),
    (
        "figure.operation",
        "what `iops` counts: `io`, `commit`, `transaction`, `look-up`, `file`, `entry` or `operation`",
    ),
    ("figure.value", "in bytes or operations per second, nanoseconds, seconds, or deadlines"),
    ("figure.low", "lower end of its 95 % interval; null if it was measured once"),
    ("figure.high", "the upper end"),
    ("figure.repeats", "from how many samples"),
    ("figure.suspect", "audits that doubt it, by their ids, separated by spaces; empty if none"),
];

const INTRO: &str = "\
<!-- Written by `UPDATE=1 cargo test -p disklab-archive --test integration schema`. -->

# The archive

`disklab archive` ([commands](commands.md)) keeps the figures of runs in these tables, the same in SQLite and \
in PostgreSQL. `crates/output/archive/migrations` has them; the table `refinery_schema_history` says which \
migrations are applied. Times are text, RFC 3339 in UTC with milliseconds, so that they sort. Read by name: later \
versions add columns.
";

fn page() -> String {
    let mut page = INTRO.to_owned();
    let mut last = "";
    for (name, meaning) in COLUMNS {
        let (table, column) = name.split_once('.').expect("table.column");
        if table != last {
            page.push_str(&format!("\n## Table `{table}`\n\n| column | meaning |\n|---|---|\n"));
            last = table;
        }
        page.push_str(&format!("| `{column}` | {meaning} |\n"));
    }
    page
}

#[test]
fn schema_is_that_of_the_page() {
    let temp = tempfile::tempdir().expect("temp");
    let path = temp.path().join("archive.sqlite");
    drop(RunArchive::open(path.to_str().expect("UTF-8")).expect("new"));
    let connection = Connection::open(&path).expect("opens");
    let names = "SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c
                 WHERE m.type = 'table' AND m.name NOT LIKE 'refinery%'";
    let mut names = connection.prepare(names).expect("a question");
    let names = names.query_map([], |row| row.get(0)).expect("rows");
    let mut real: Vec<String> = names.collect::<Result<_, _>>().expect("names");
    let known: BTreeMap<_, _> = COLUMNS.iter().copied().collect();
    real.sort_unstable();
    assert_eq!(real, known.into_keys().collect::<Vec<_>>());

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/generated/archive.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, page()).expect("written");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page(), "{} is old: UPDATE=1 renews it", file.display());
}
