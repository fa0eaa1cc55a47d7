//! `disklab lab bench`, with a real kernel.

#![allow(clippy::unwrap_used)]

use crate::lab_support::kernel::kernel;
use assert_cmd::Command;

#[test]
fn the_labs_speed_is_reported_as_json() {
    let Some(_) = kernel() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::cargo_bin("disklab").unwrap();
    let output = command
        .env("TMPDIR", directory.path())
        .args(["lab", "bench", "--repeats", "1", "--json"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = report["figures"].as_array().unwrap();
    let median = |key: &str| {
        let figure = figures.iter().find(|f| f["key"] == key);
        figure.and_then(|f| f["median"].as_f64()).unwrap_or_else(|| panic!("no {key} in {report}"))
    };
    for key in
        ["round_trip", "read", "engine_read", "array", "write_share", "read_share", "zeros", "boot"]
    {
        assert!(median(key) > 0.0, "{key}");
    }
    // What two processors are worth is told where there are two.
    let processors = disklab_lab::processors().unwrap().len();
    for key in ["side_by_side", "pairs_side_by_side", "loops_side_by_side"] {
        assert_eq!(figures.iter().any(|f| f["key"] == key), processors > 1, "{key}");
    }
    // Virtual time runs ahead even where the machine is slow.
    assert!(median("times_real_time") > 1.0);
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "something was left");
}

#[test]
fn a_processor_that_is_not_there_is_refused() {
    let mut command = Command::cargo_bin("disklab").unwrap();
    let output = command.args(["lab", "bench", "--core", "1000000"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1000000"), "{said}");
}
