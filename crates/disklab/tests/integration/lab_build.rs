//! `disklab lab build`, without waiting for a whole kernel.

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
fn invalid_sources_exit_with_2_and_create_nothing() {
    let place = tempfile::tempdir().expect("temp");
    let directory = place.path().join("no kernel");
    std::fs::create_dir(&directory).expect("made");
    let cache = place.path().join("cache");
    for (arguments, expected) in [
        (vec!["--source", "/no/such/source"], "'/no/such/source' is not a kernel source"),
        (vec!["--source", directory.to_str().expect("text")], "cannot read 'Makefile'"),
        (vec!["--zfs-source", "/no/such/source"], "--zfs"),
    ] {
        build(&cache).args(arguments).assert().code(2).stderr(contains(expected));
    }
    assert!(!cache.exists());
}

/// What is said of a directory that is no whole source of a kernel, and that it makes
/// nothing.
fn refusal(directory: &Path) -> String {
    let cache = directory.join("the cache");
    let output = build(&cache).arg("--source").arg(directory).output().expect("it ran");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("is not a kernel source"), "{said}");
    assert!(said.contains(&format!("'{}'", directory.display())), "{said}");
    assert!(!cache.exists(), "{said}");
    said
}

#[test]
fn incomplete_kernels_and_other_projects_are_refused() {
    let place = tempfile::tempdir().expect("temp");
    let write = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        std::fs::write(path, text).expect("file");
    };
    // Another project's.
    write("Makefile", "all:\n\tcc main.c\n");
    assert!(refusal(place.path()).contains("Makefile"));
    // A kernel's, of which the rest is missing: a broken download.
    write("Makefile", "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n");
    assert!(refusal(place.path()).contains("cannot read 'arch/um/Kconfig'"));
    write("arch/um/Kconfig", "config UML\n");
    assert!(refusal(place.path()).contains("Linux 6.12.117 has no time travel"));
    write("arch/um/Kconfig", "config UML_TIME_TRAVEL_SUPPORT\n");
    write("include/uapi/linux/um_timetravel.h", "struct um_timetravel_schedshm {\n");
    assert!(refusal(place.path()).contains("of Linux 6.12.117 is missing"));
    // A file is no directory.
    let file = place.path().join("Makefile");
    let cache = place.path().join("the cache");
    build(&cache)
        .arg("--source")
        .arg(&file)
        .assert()
        .code(2)
        .stderr(contains("is not a kernel source"));
}

#[test]
fn a_directory_that_may_not_be_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs an ordinary user, root reads everything");
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let directory = place.path().join("linux");
    std::fs::create_dir(&directory).expect("directory");
    std::fs::write(directory.join("Makefile"), "VERSION = 6\n").expect("file");
    let allow = |mode| {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).expect("mode");
    };
    allow(0);
    let output = build(&place.path().join("cache")).arg("--source").arg(&directory).output();
    allow(0o700);
    let output = output.expect("it ran");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
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
fn control_c_ends_with_130_and_keeps_what_is_compiled() {
    let place = tempfile::tempdir().expect("temp");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("disklab"))
        .args(["lab", "build"])
        .env("XDG_CACHE_HOME", place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    // It says first that it builds, how long that takes and where; then each step.
    let mut before = String::new();
    loop {
        let from = before.len();
        let got = said.read_line(&mut before).expect("read");
        let line = &before[from..];
        if line.starts_with("disklab: ") {
            eprintln!("skipped: needs what a kernel is built of: {line}");
            assert_eq!(child.wait().expect("ended").code(), Some(2));
            return;
        }
        if line.ends_with("the kernel's source\n") {
            break;
        }
        if got == 0 || before.lines().count() > 5 {
            let _ = child.kill();
            panic!("it does not say what it does: {before}");
        }
    }
    assert!(before.contains("is built now"), "{before}");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("pid");
    kill_process(pid, Signal::INT).expect("interrupted");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("read");
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    assert!(rest.contains("what is compiled is kept"), "{rest}");
    let left: Vec<_> = std::fs::read_dir(place.path().join("disklab/kernel"))
        .expect("cache")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    // What is compiled, for the next build; and no kernel.
    assert!(left.iter().all(|name| name == "lock" || name == "tree"), "{left:?}");
}
