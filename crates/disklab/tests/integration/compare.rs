//! `disklab compare --published`, as a user meets it.

use std::path::Path;

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::contains;

/// A study that was published, in small, so that it runs in any directory.
const STUDY: &str = r#"
id = "btrfs-raid1"
title = "In small"
repeats = 1
[[drives]]
model = "m"
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
[[workloads]]
id = "dd-write-512"
dd = { direction = "write", bs = "512", count = 8 }
"#;

fn run(home: &Path, study: &str, out: &str) {
    std::fs::write(home.join("study.toml"), study).expect("write");
    std::fs::create_dir_all(home.join("dir")).expect("a directory");
    disklab(home).args(["run", "study.toml", "--on", "dir:dir", "--out", out]).assert().code(
        // A finding may be severe on a machine's own directory; a failed cell may not be.
        predicate::in_iter([0, 1]),
    );
}

#[test]
fn a_run_is_next_to_what_was_published_about_its_study() {
    let temp = tempfile::tempdir().expect("temp");
    run(temp.path(), STUDY, "one");
    disklab(temp.path())
        .args(["compare", "one", "--published"])
        .assert()
        .code(0)
        .stdout(contains(
            "15 rows published, 15 counted: 0 reproduced (0 %), 0 not reproduced, 15 not run.",
        ))
        .stdout(contains("has no stack"));
    let output = disklab(temp.path())
        .args(["compare", "one", "--published", "--json"])
        .output()
        .expect("it runs");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["schema"], "disklab-published");
    assert_eq!(value["tally"]["rows"], 15);
    assert_eq!(value["studies"][0]["rows"][0]["status"], "not-run");
    disklab(temp.path())
        .args(["compare", "one", "--published", "--out", "page.md"])
        .assert()
        .code(0)
        .stdout(predicate::str::is_empty());
    let page = std::fs::read_to_string(temp.path().join("page.md")).expect("written");
    assert!(page.contains("## Published and measured results: btrfs-raid1"));
    disklab(temp.path())
        .args(["compare", "one", "--published", "--out", "rows.csv"])
        .assert()
        .code(0);
    let rows = std::fs::read_to_string(temp.path().join("rows.csv")).expect("written");
    assert_eq!(rows.lines().count(), 16);
    assert!(rows.starts_with("study,row,") && rows.contains(",not-run,"), "{rows}");
    let report = std::fs::read_to_string(temp.path().join("one/report.html")).expect("a report");
    assert!(report.contains("Published and measured results"));
}

#[test]
fn incomparable_runs_are_refused() {
    let temp = tempfile::tempdir().expect("temp");
    run(temp.path(), STUDY, "one");
    run(temp.path(), &STUDY.replace("btrfs-raid1", "mine"), "mine");
    let cases: &[(&[&str], &str)] = &[
        (&["compare"], "RUN"),
        (&["compare", "one"], "--published"),
        (&["compare", "nowhere", "--published"], "not a run directory"),
        (&["compare", "mine", "--published"], "nothing was published about 'mine'"),
        (&["compare", "one", "one", "--published"], "a second run of 'btrfs-raid1'"),
    ];
    for (args, expected) in cases {
        disklab(temp.path()).args(*args).assert().code(2).stderr(contains(*expected));
    }
}
