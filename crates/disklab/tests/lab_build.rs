//! `disklab lab build`, without waiting for a whole kernel.
#![allow(missing_docs)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};

fn build(cache: &Path) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::cargo_bin("disklab").expect("the program is built");
    command.args(["lab", "build"]).env("XDG_CACHE_HOME", cache);
    command
}

#[test]
fn what_cannot_be_built_from_ends_with_2_and_makes_nothing() {
    let place = tempfile::tempdir().expect("temp");
    let folder = place.path().join("no kernel");
    std::fs::create_dir(&folder).expect("made");
    let cache = place.path().join("cache");
    for (arguments, expected) in [
        (vec!["--source", "/no/such/source"], "'/no/such/source' is no kernel source"),
        (vec!["--source", folder.to_str().expect("text")], "cannot read 'Makefile'"),
        (vec!["--zfs-source", "/no/such/source"], "--zfs"),
    ] {
        build(&cache).args(arguments).assert().code(2).stderr(contains(expected));
    }
    assert!(!cache.exists());
}

#[test]
fn missing_tools_are_named_with_their_packages() {
    let place = tempfile::tempdir().expect("temp");
    let cache = place.path().join("cache");
    // A path without programs.
    build(&cache)
        .env("PATH", place.path())
        .assert()
        .code(2)
        .stderr(contains("apt-get install "))
        // Machines without any source of a kernel say that first.
        .stderr(contains("gcc").or(contains("linux-source")));
    assert!(!cache.exists());
}

#[test]
fn control_c_ends_with_130_and_leaves_nothing() {
    let place = tempfile::tempdir().expect("temp");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("disklab"))
        .args(["lab", "build"])
        .env("XDG_CACHE_HOME", place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("read");
    if line.starts_with("disklab: ") {
        eprintln!("skipped: needs what a kernel is built of: {line}");
        assert_eq!(child.wait().expect("ended").code(), Some(2));
        return;
    }
    assert!(line.ends_with("the kernel's source\n"), "it says what it does: {line}");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("pid");
    kill_process(pid, Signal::INT).expect("interrupted");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("read");
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    assert!(rest.contains("interrupted; nothing was kept"), "{rest}");
    let left: Vec<_> = std::fs::read_dir(place.path().join("disklab/kernel"))
        .expect("cache")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert_eq!(left, ["lock"]);
}
