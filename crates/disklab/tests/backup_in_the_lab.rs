//! Backups in the lab: with Borg's random ids and its locks, and a pipe between two
//! programs, they are the same again.
#![allow(missing_docs)]

use std::path::Path;

use disklab_lab::kernel;
use disklab_store::Run;

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
id = "beside"
backup = { size = "1 MB", source = "beside", restore = "discard", encryption = "repokey" }
[[workloads]]
id = "rsync"
rsync = { size = "1 MB", files = 50 }
"#;

/// The samples of a run of the study, each as its workload and its text.
fn samples(home: &Path, arguments: &[&str]) -> Vec<(String, String)> {
    std::fs::write(home.join("study.toml"), STUDY).expect("a file");
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.args(["run", "study.toml", "--seed", "3", "--out", "run"]).args(arguments);
    command.env("XDG_STATE_HOME", home).env_remove("DISKLAB_LOG").current_dir(home);
    if let Some(kernel) = kernel::find(&kernel::cache_folder()) {
        command.env(kernel::KERNEL_VARIABLE, kernel);
    }
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    // Severe findings, about runs as short as these, give 1.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    assert!(!said.contains("FAILED"), "{said}");
    let mut samples = Vec::new();
    Run::open(&home.join("run"))
        .expect("a run")
        .for_each_sample(|record, sample| {
            let text = serde_json::to_string_pretty(&sample).expect("json");
            samples.push((record.cell.workload.clone(), text));
        })
        .expect("samples");
    samples.sort();
    samples
}

#[test]
fn backups_are_the_same_again() {
    for program in ["borg", "rsync"] {
        if disklab_exec::find_program(program).is_none() {
            eprintln!("skipped: needs {program}");
            return;
        }
    }
    if kernel::find(&kernel::cache_folder()).is_none() {
        eprintln!("skipped: needs the lab's kernel (disklab lab build)");
        return;
    }
    let (one, two) = (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
    let first = samples(one.path(), &["--at-once", "1"]);
    let second = samples(two.path(), &[]);
    let names: Vec<_> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["beside", "rsync", "stream"]);
    for ((name, first), (_, second)) in first.iter().zip(&second) {
        let differs = first.lines().zip(second.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}");
        assert!(first == second, "{name}");
    }
}
