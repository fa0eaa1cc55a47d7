//! The page about the tables has what the database has.

use std::collections::BTreeSet;

use disklab_archive::Archive;
use rusqlite::Connection;

/// Names in the tables of the page, as `table.column`.
fn documented() -> BTreeSet<String> {
    let mut table = None;
    let mut names = BTreeSet::new();
    for line in include_str!("../../../../../docs/reference/archive.md").lines() {
        if line.starts_with('#') {
            table = line.strip_prefix("### Table `").and_then(|rest| rest.strip_suffix('`'));
        }
        if let (Some(table), Some(row)) = (table, line.strip_prefix("| `")) {
            let columns = row.split(" |").next().expect("a cell").split(", ");
            names.extend(columns.map(|column| format!("{table}.{}", column.trim_matches('`'))));
        }
    }
    names
}

#[test]
fn tables_are_documented() {
    let temp = tempfile::tempdir().expect("temp");
    let path = temp.path().join("archive.sqlite");
    drop(Archive::open(path.to_str().expect("UTF-8")).expect("new"));
    let connection = Connection::open(&path).expect("opens");
    let names = "SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c
                 WHERE m.type = 'table' AND m.name NOT LIKE 'refinery%'";
    let mut names = connection.prepare(names).expect("a question");
    let real: Result<BTreeSet<String>, _> =
        names.query_map([], |row| row.get(0)).expect("rows").collect();
    assert_eq!(documented(), real.expect("names"));
}
