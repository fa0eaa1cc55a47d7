//! Running a study in the lab, as a user does.

use std::path::Path;
use std::process::{Command, Output};

use disklab_lab_kernel::KERNEL_VARIABLE;
use disklab_sample::Sample;
use disklab_store::Run;

use super::kernel::kernel;

/// disklab in a home of its own, with the lab's kernel if it is there, whatever the home of the
/// test is.
pub fn disklab(home: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.env("XDG_STATE_HOME", home).env_remove("DISKLAB_LOG").current_dir(home);
    if let Some(kernel) = kernel() {
        command.env(KERNEL_VARIABLE, kernel);
    }
    command
}

/// What the program answers to these words.
pub fn answer(home: &Path, words: &[&str]) -> Output {
    disklab(home).args(words).output().expect("it starts")
}

/// What it says on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The samples of a run of `study` in a new home, each with its workload, in order of
/// these.
pub fn samples(home: &Path, study: &str, arguments: &[&str]) -> Vec<(String, Sample)> {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    if let Some(kernel) = kernel() {
        command.env(KERNEL_VARIABLE, kernel);
    }
    samples_by(command, home, study, arguments)
}

/// The same of a program and a kernel that `command` names.
pub fn samples_by(
    mut command: Command,
    home: &Path,
    study: &str,
    arguments: &[&str],
) -> Vec<(String, Sample)> {
    std::fs::write(home.join("study.toml"), study).expect("a file");
    command.args(["run", "study.toml", "--out", "run"]).args(arguments);
    command.env("XDG_STATE_HOME", home).env_remove("DISKLAB_LOG").current_dir(home);
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    // Severe findings, about runs as short as these, give 1.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    assert!(!said.contains("FAILED"), "{said}");
    let mut samples = Vec::new();
    Run::open(&home.join("run"))
        .expect("a run")
        .for_each_sample(|record, sample| {
            samples.push((record.cell.levels.workload.clone(), sample))
        })
        .expect("samples");
    samples.sort_by(|a, b| a.0.cmp(&b.0));
    samples
}

/// The samples in a run's directory, each with its stack and workload, in order of these.
pub fn samples_in(run: &Path) -> Vec<(String, Sample)> {
    let mut samples = Vec::new();
    Run::open(run)
        .expect("a run")
        .for_each_sample(|record, sample| {
            let cell = format!("{}:{} ", record.cell.levels.stack, record.cell.levels.workload);
            samples.push((cell, sample));
        })
        .expect("samples");
    samples.sort_by(|a, b| a.0.cmp(&b.0));
    samples
}

/// Has the run in `run` look as if its first cell had not been measured yet.
pub fn forget_first_cell(run: &Path) {
    let database = rusqlite::Connection::open(run.join("run.sqlite")).expect("opened");
    database
        .execute_batch(
            "DELETE FROM sample WHERE cell = 0; DELETE FROM figure WHERE cell = 0;
             UPDATE cell SET state = 'waiting' WHERE number = 0",
        )
        .expect("changed");
}
