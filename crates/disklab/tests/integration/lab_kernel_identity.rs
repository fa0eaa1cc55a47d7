//! Which kernel the lab's guests ran is recorded, compared, and said in 'how to do it again'.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::command_support::disklab;
use crate::lab_support::kernel::kernel;
use assert_cmd::Command;
use disklab_lab_kernel::KERNEL_VARIABLE;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

const STUDY: &str = r#"
id = "kernels"
title = "Of kernels"
repeats = 2
[[drives]]
model = "hgst-10tb"
size = "10 TB"
[stacks]
ext4 = "partition/ext4"
[[workloads]]
id = "a"
dd = { direction = "write", bs = "64k", count = 4, flags = "dsync" }
[[workloads]]
id = "b"
dd = { direction = "write", bs = "64k", count = 4, flags = "dsync" }
"#;

/// A copy of the lab's kernel: the same code, but with these bytes behind it.
fn copied(kernel: &Path, to: &Path, more: &[u8]) -> PathBuf {
    std::fs::copy(kernel, to).expect("copied");
    let mut file = OpenOptions::new().append(true).open(to).expect("opened");
    file.write_all(more).expect("written");
    to.to_owned()
}

/// `disklab` in `home`, whatever kernel the test's environment names.
fn here(home: &Path) -> Command {
    let mut command = disklab(home);
    command.env_remove(KERNEL_VARIABLE);
    command
}

#[test]
fn two_kernels_are_distinguished_and_never_mixed() {
    let Some(kernel) = kernel() else { return };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    std::fs::write(home.join("study.toml"), STUDY).expect("written");
    copied(&kernel, &home.join("one"), b"");
    let other = copied(&kernel, &home.join("other"), b"another ext4");

    let run = |out: &str, only: &str, seed: &[&str]| {
        let mut command = here(home);
        command.args(["run", "study.toml", "--out", out, "--only", only]).args(seed);
        command
    };
    // Severe findings, about runs as short as these, give 1.
    run("a", "*:a", &["--seed", "7", "--kernel", "one"]).assert().code(vec![0, 1]);
    run("b", "*:b", &["--seed", "7"]).env(KERNEL_VARIABLE, &other).assert().code(vec![0, 1]);

    let mut again = run("again", "*:a", &["--seed", "7"]);
    again.env(KERNEL_VARIABLE, &other).assert().code(vec![0, 1]);
    here(home)
        .args(["compare", "a", "again"])
        .assert()
        .stdout(contains("lab kernel").and(contains("nothing that was recorded").not()));
    here(home)
        .args(["merge", "a", "b", "--to", "c"])
        .assert()
        .code(2)
        .stderr(contains("the lab's kernel is 'SHA-256 ").and(contains("run --kernel PATH")));
    assert!(!home.join("c").exists());
    here(home)
        .args(["report", "b", "--format", "md", "--out", "-"])
        .assert()
        .success()
        .stdout(contains("--seed 7").and(contains(format!("--kernel {}", other.display()))));

    // What is left of it would run on the other kernel.
    crate::lab_support::run::forget_first_cell(&home.join("a"));
    here(home)
        .args(["run", "--resume", "--out", "a", "--kernel", "other"])
        .assert()
        .code(2)
        .stderr(contains("the lab's kernel was 'SHA-256 ").and(contains("--kernel")));
    here(home).args(["run", "--resume", "--out", "a"]).assert().stderr(contains("1 of 2 cells"));
}

#[test]
fn wrong_kernel_is_a_usage_error_and_nothing_is_made() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    std::fs::write(home.join("study.toml"), STUDY).expect("written");
    for (words, expected) in [
        (&["run", "study.toml", "--out", "x", "--kernel", "/no/such"][..], "--kernel '/no/such'"),
        (&["plan", "study.toml", "--kernel", "/no/such"], "--kernel '/no/such'"),
        (&["sensitivity", "study.toml", "--out", "x", "--kernel", "/no/such"], "'/no/such'"),
        (&["lab", "bench", "--kernel", "study.toml"], "not executable"),
        (&["run", "study.toml", "--on", "loop", "--out", "x", "--kernel", "/bin/true"], "'loop'"),
        (&["run", "study.toml", "--out", "x", "--kernel", "/bin/true"], "is not a kernel of the"),
    ] {
        here(home).args(words).assert().code(2).stderr(contains(expected));
        assert!(!home.join("x").exists(), "{words:?}");
    }
    here(home)
        .args(["plan", "study.toml"])
        .env(KERNEL_VARIABLE, "/no/such")
        .assert()
        .code(2)
        .stderr(contains(format!("{KERNEL_VARIABLE} '/no/such'")));
}
