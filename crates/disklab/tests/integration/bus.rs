//! `--bus` and a study's own, as a user meets them.

use std::path::Path;

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::contains;

/// A study that says nothing of a bus, or what it is told to.
fn study(home: &Path, lab: &str) {
    let text = format!(
        "id = 's'\ntitle = 's'\n[lab]\nmemory = '1 GiB'\n{lab}\n[[drives]]\n\
         model = 'hgst-10tb'\nsize = '10 TB'\n[stacks]\na = {{ layers = 'ext4', drives = 1 }}\n\
         [[workloads]]\nid = 'w'\nhdparm = {{ device = true }}\n"
    );
    std::fs::write(home.join("s.toml"), text).expect("write");
}

#[test]
fn the_plan_says_what_the_drives_share() {
    let home = tempfile::tempdir().expect("temp");
    let plan = |more: &[&str]| {
        let command = ["plan", "s.toml"];
        disklab(home.path()).args(command.iter().chain(more)).assert().success()
    };
    study(home.path(), "");
    plan(&[]).stdout(contains("one bus").not());
    plan(&["--bus", "1.5 GiB/s"]).stdout(contains("10 TB on one bus of 1.61 GB/s, under"));
    study(home.path(), "bus = '415 MB/s'");
    plan(&[]).stdout(contains("on one bus of 415 MB/s"));
    plan(&["--bus", "200 MB/s"]).stdout(contains("on one bus of 200 MB/s"));
    plan(&["--bus", "none"]).stdout(contains("one bus").not());
}

#[test]
fn a_bus_that_cannot_be_is_refused() {
    let home = tempfile::tempdir().expect("temp");
    study(home.path(), "bus = '3 Gb/s'");
    disklab(home.path())
        .args(["plan", "s.toml"])
        .assert()
        .code(2)
        .stderr(contains("s.toml:5:7").and(contains("such as '415 MB/s'")));
    study(home.path(), "");
    for (arguments, expected) in [
        (["--bus", "fast"], "such as '415 MB/s'"),
        (["--bus", "1 kB/s"], "1 MB/s or more"),
        (["--bus=9 MB/s", "--on=loop"], "applies only to the lab"),
    ] {
        let command = ["plan", "s.toml"];
        disklab(home.path())
            .args(command.iter().chain(&arguments))
            .assert()
            .code(2)
            .stderr(contains(expected));
    }
}
