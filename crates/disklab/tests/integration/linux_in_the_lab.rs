//! The lab's newer kernel: how it catches what programs do changes no figure, and is recorded.

use std::path::{Path, PathBuf};

use crate::command_support::disklab;
use crate::lab_support::run::samples_in;
use assert_cmd::Command;
use disklab_lab_kernel::{KERNEL_VARIABLE, LinuxVersion, Parts, cache_directory, find_version};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

fn newer_kernel() -> Option<PathBuf> {
    let kernel = find_version(&cache_directory(), LinuxVersion::V7_3, Parts::ALL);
    if kernel.is_none() {
        eprintln!("skipped: needs the lab's kernel of Linux 7.3 (disklab lab build --linux 7.3)");
    }
    kernel
}

fn here(home: &Path) -> Command {
    let mut command = disklab(home);
    // An explicit choice goes before it.
    command.env(KERNEL_VARIABLE, "/no/such");
    command
}

/// The samples of one drive's cells of `first-look`, as texts.
fn first_look(home: &Path, linux: &str) -> Vec<String> {
    here(home)
        .args(["run", "first-look", "--seed", "1", "--only", "single/*", "--repeats", "1"])
        .args(["--out", linux, "--linux", linux])
        .assert()
        .code(vec![0, 1]);
    let text = |sample| serde_json::to_string(&sample).expect("json");
    samples_in(&home.join(linux)).into_iter().map(|(cell, sample)| cell + &text(sample)).collect()
}

#[test]
fn programs_by_seccomp_and_by_ptrace_take_the_same_times() {
    let Some(_) = newer_kernel() else { return };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let [seccomp, ptrace] = ["7.3", "7.3-ptrace"].map(|linux| first_look(home, linux));
    assert_eq!(seccomp.len(), 18);
    for (one, other) in seccomp.iter().zip(&ptrace) {
        assert_eq!(one, other);
    }
    here(home)
        .args(["compare", "7.3", "7.3-ptrace"])
        .assert()
        .stdout(contains("programs by seccomp").and(contains("programs by ptrace")));
    here(home)
        .args(["merge", "7.3", "7.3-ptrace", "--to", "both"])
        .assert()
        .code(2)
        .stderr(contains("programs by seccomp' in the first"));
    assert!(!home.join("both").exists());
    here(home)
        .args(["report", "7.3-ptrace", "--format", "md", "--out", "-"])
        .assert()
        .success()
        .stdout(contains("--linux 7.3-ptrace"));
    crate::lab_support::run::forget_first_cell(&home.join("7.3"));
    // What is left would run in another way than the rest.
    here(home)
        .args(["run", "--resume", "--out", "7.3", "--linux", "7.3-ptrace"])
        .assert()
        .code(2)
        .stderr(contains("programs by ptrace"));
}

#[test]
fn kernel_that_cannot_be_chosen_is_a_usage_error() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    for (words, expected) in [
        (&["run", "first-look", "--out", "x", "--linux", "5.10"][..], "it has 6.12, 7.3"),
        (&["plan", "first-look", "--linux", "7.3\n"], "the lab has no kernel"),
        (&["lab", "build", "--linux", "../7.3"], "the lab has no kernel"),
        (&["lab", "build", "--linux", "7.3", "--zfs"], "cannot be used with"),
        (&["lab", "build", "--linux", "7.3", "--source", "."], "cannot be used with"),
        (&["lab", "shell", "--linux", "7.3", "--kernel", "/bin/true"], "cannot be used with"),
        (&["run", "first-look", "--out", "x", "--linux", "7.3", "--kernel", "k"], "cannot be"),
        (&["run", "first-look", "--out", "x", "--linux", "7.3", "--on", "loop"], "'loop'"),
    ] {
        here(home).args(words).assert().code(2).stderr(contains(expected));
        assert!(!home.join("x").exists(), "{words:?}");
    }
}
