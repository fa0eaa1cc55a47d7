//! The study of a directory: what it lies on, and one verdict in all forms of the report.

use std::path::Path;

use serde_json::Value;

use crate::command_support::disklab;

fn report(home: &Path, format: &str) -> String {
    let args = ["report", "run", "--format", format, "--out", "-"];
    let output = disklab(home).args(args).output().expect("starts");
    String::from_utf8(output.stdout).expect("text")
}

/// In one line, as the terminal breaks sentences.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_directory_in_memory_has_one_verdict_in_all_forms() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: needs a tmpfs at /dev/shm");
        return;
    };
    let on = format!("dir:{}", memory.path().display());
    let args = ["run", "share", "--on", &on, "--scale", "1/64", "--repeats", "1", "--out", "run"];
    let shown = disklab(home).args(args).output().expect("starts");
    let json: Value = serde_json::from_str(&report(home, "json")).expect("json");
    let verdict = json["summary"][0].as_str().expect("a sentence");
    let why = "There is nothing to compare it with: its files are in memory. Here: large reads";
    assert!(verdict.starts_with(why), "{verdict}");
    assert_eq!(json["run"]["reference"]["lab"]["unknown"], "its files are in memory");
    let title = format!("Is {} as fast as it should be?", memory.path().display());
    let screen = joined(&String::from_utf8_lossy(&shown.stdout));
    for text in [&screen, &joined(&report(home, "md")), &joined(&report(home, "html"))] {
        let text = text.replace('\\', "");
        assert!(text.contains(&title) && text.contains(verdict), "{verdict}\n\n{text}");
    }
    assert_eq!(memory.path().read_dir().expect("there").count(), 0, "nothing is left");
}

#[test]
fn a_study_of_a_directory_needs_one() {
    let temp = tempfile::tempdir().expect("temp");
    let run = |args: &[&str]| {
        let output = disklab(temp.path()).args(args).output().expect("starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run(&["plan", "share"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("'share' is about a directory: name it with --on dir:PATH"), "{text}");
    let on = format!("dir:{}", temp.path().display());
    let (code, text) = run(&["plan", "nas", "--on", &on, "--drives", "wd-red-pro-22tb"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--drives applies only to the lab"), "{text}");
}
