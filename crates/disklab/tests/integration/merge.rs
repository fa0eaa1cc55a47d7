//! `disklab merge`: a study run in parts is the run that it would have been in one go.

use std::path::Path;

use crate::command_support::disklab;
use crate::lab_support::kernel::kernel;
use disklab_sample::Sample;
use disklab_store::Run;
use predicates::str::contains;

/// Two stacks and two workloads, of which one has random offsets.
const STUDY: &str = r#"
id = "parts"
title = "Of parts"
repeats = 2
[[drives]]
model = "hgst-10tb"
size = "10 TB"
[stacks]
ext4 = "partition/ext4"
xfs = "partition/xfs"
[[workloads]]
id = "dd"
dd = { direction = "write", bs = "64k", count = 16, flags = "dsync" }
[[workloads]]
id = "fio"
fio = { job = """
[global]
filename=test
direct=1
[randread]
rw=randread
bs=4k
size=4m
""" }
"#;

/// Runs the study into the directory `run` of a home of its own.
fn run(home: &Path, name: &str, more: &[&str]) {
    let home = home.join(name);
    std::fs::create_dir(&home).expect("a directory");
    crate::lab_support::run::samples(&home, STUDY, &[&["--seed", "7"], more].concat());
}

/// Each cell by its name, with its whole sample.
fn samples(directory: &Path) -> Vec<(String, Sample)> {
    let mut all = Vec::new();
    Run::open(directory)
        .expect("a run")
        .for_each_sample(|record, sample| {
            let cell = &record.cell;
            all.push((
                format!("{} {} {}", cell.block, cell.levels.stack, cell.levels.workload),
                sample,
            ));
        })
        .expect("samples");
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn parts_give_the_figures_of_the_whole() {
    let Some(_) = kernel() else { return };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    run(home, "whole", &[]);
    run(home, "a", &["--only", "ext4:*"]);
    run(home, "b", &["--without", "ext4:*", "--at-once", "1"]);
    let output =
        disklab(home).args(["merge", "b/run", "a/run", "--to", "merged"]).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    assert!(said.contains("merged/report.html"), "{said}");
    // Its own recipe, parts split by stack, is no confounding: no cell meets another here.
    assert!(!said.contains("ran before those of the next"), "{said}");

    let (whole, merged) = (samples(&home.join("whole/run")), samples(&home.join("merged")));
    assert_eq!(whole.len(), 8);
    let json = |samples: &[(String, Sample)]| serde_json::to_string(samples).expect("json");
    assert_eq!(json(&whole), json(&merged), "to the nanosecond");
    disklab(home)
        .args(["compare", "whole/run", "merged"])
        .assert()
        .code(0)
        .stdout(contains("identical"));
    disklab(home)
        .args(["run", "--resume", "--out", "merged"])
        .assert()
        .stderr(contains("all cells of this run are done"));
    disklab(home)
        .args(["merge", "whole/run", "a/run", "--to", "twice"])
        .assert()
        .code(2)
        .stderr(contains("was measured in whole/run and in a/run"));
    assert!(!home.join("twice").exists());
}

#[test]
fn usage_errors_are_reported_before_anything_is_made() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    for name in ["x", "y"] {
        let to = ["import", "--published", "btrfs-raid1", "--to", name];
        disklab(home).args(to).assert().success();
    }
    for (words, expected) in [
        (&["merge", "--to", "z"][..], "<RUN>..."),
        (&["merge", "x", "--to", "z"], "only what was run in the lab"),
        (&["merge", "x", "y"], "--to <DIR>"),
        (&["merge", "nothing", "x", "--to", "z"], "nothing: not a run directory"),
        (&["merge", "x", "y", "--to", "z"], "only what was run in the lab"),
    ] {
        disklab(home).args(words).assert().code(2).stderr(contains(expected));
        assert!(!home.join("z").exists());
    }
}
