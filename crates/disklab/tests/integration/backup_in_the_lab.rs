//! Backups in the lab: with Borg's random ids and its locks, and a pipe between two
//! programs, they are the same again.

use std::path::Path;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples;

const STUDY: &str = r#"
id = "backups"
title = "Backups"
repeats = 1
[[drives]]
model = "hgst-10tb"
size = "10 TB"
[stacks]
"single/ext4" = "ext4"
[[workloads]]
id = "stream"
backup = { size = "3 MB", compressed = "2 MB", deduplicated = "1.5 MB", copies = 2, changed = 5 }
[[workloads]]
id = "same-stack"
backup = { size = "1 MB", source = "same-stack", restore = "discard", encryption = "repokey" }
[[workloads]]
id = "rsync"
rsync = { size = "1 MB", files = 50 }
"#;

/// The samples of a run of the study, each as its workload and its text.
fn texts(home: &Path, arguments: &[&str]) -> Vec<(String, String)> {
    let text = |sample| serde_json::to_string_pretty(&sample).expect("json");
    let arguments = [&["--seed", "3"], arguments].concat();
    let samples = samples(home, STUDY, &arguments);
    samples.into_iter().map(|(workload, sample)| (workload, text(sample))).collect()
}

#[test]
fn backups_are_the_same_again() {
    if !has_programs(&["borg", "rsync"]) {
        return;
    }
    let Some(_) = kernel() else { return };
    let (one, two) = (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
    let first = texts(one.path(), &["--at-once", "1"]);
    let second = texts(two.path(), &[]);
    let names: Vec<_> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["rsync", "same-stack", "stream"]);
    for ((name, first), (_, second)) in first.iter().zip(&second) {
        let differs = first.lines().zip(second.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}");
        assert!(first == second, "{name}");
    }
}
