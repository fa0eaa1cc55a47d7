//! Root, and directories in which another user may put links.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use crate::command_support::{TINY_STUDY, disklab};
use predicates::prelude::*;
use predicates::str::contains;

const MALLORY: u32 = 65_534;

/// A study and a run of it, and mallory's directory with links of his and of root's, which he
/// could exchange at any moment. `None` without root.
fn home() -> Option<tempfile::TempDir> {
    let home = tempfile::tempdir().expect("temp");
    let at = |name: &str| home.path().join(name);
    std::fs::write(at("tiny.toml"), TINY_STUDY).expect("study");
    for name in ["dir", "target", "o", "o/x"] {
        std::fs::create_dir(at(name)).expect("made");
    }
    std::fs::write(at("target/precious"), "root's").expect("written");
    symlink(at("target/precious"), at("o/file")).expect("link");
    symlink(at("target"), at("o/link")).expect("link");
    for name in ["o", "o/x"] {
        if chown(at(name), Some(MALLORY), None).is_err() {
            eprintln!("skipped: needs root");
            return None;
        }
    }
    std::os::unix::fs::lchown(at("o/link"), Some(MALLORY), None).expect("owner");
    disklab(home.path())
        .args(["run", "tiny.toml", "--on", "dir:dir", "--out", "run"])
        .assert()
        .code(predicate::in_iter([0, 1]));
    Some(home)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("directory").flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn root_refuses_directories_that_another_user_can_replace() {
    let Some(home) = home() else { return };
    for (on, more) in [
        ("dir:dir", &["--out", "o/x"][..]),
        ("dir:dir", &["--out", "o/x/new/run"]),
        ("dir:dir", &["--out", "o/new"]),
        ("dir:dir", &["--out", "o/link/run"]),
        ("dir:dir", &["--out", "new", "--scratch", "o/x"]),
        ("dir:dir", &["--out", "new", "--scratch", "o/new"]),
        ("dir:o/x", &["--out", "new"]),
    ] {
        disklab(home.path())
            .args(["run", "tiny.toml", "--on", on])
            .args(more)
            .assert()
            .code(2)
            .stderr(contains("belongs to user 65534").or(contains("that another user made")));
    }
    for more in [&["import", "dd.txt", "--to", "o/new"][..], &["merge", "run", "--out", "o/new"]] {
        disklab(home.path()).args(more).assert().code(2);
    }
    assert_eq!(names(&home.path().join("o")), ["file", "link", "x"]);
    assert_eq!(names(&home.path().join("o/x")).len(), 0);
    assert_eq!(names(&home.path().join("target")), ["precious"]);
    assert!(!home.path().join("new").exists());
}

#[test]
fn root_runs_no_kernel_of_another_user() {
    let Some(home) = home() else { return };
    let at = |name: &str| home.path().join(name);
    // As mallory would have it found: with the recipe of one that is kept, if there is any.
    let kernel = disklab_lab_kernel::find(
        &disklab_lab_kernel::cache_directory(),
        disklab_lab_kernel::Parts::ALL,
    );
    for cache in ["o/disklab/kernel", "o/.cache/disklab/kernel"] {
        std::fs::create_dir_all(at(cache).join("key")).expect("made");
        let harm = format!("#!/bin/sh\ntouch {}\necho CONFIG_UML=y\n", at("harmed").display());
        std::fs::write(at(cache).join("key/linux"), harm).expect("written");
        set_permissions(at(cache).join("key/linux"), Permissions::from_mode(0o755)).expect("mode");
        let recipe = kernel.as_ref().map(|kernel| kernel.with_file_name("recipe"));
        if let Some(recipe) = recipe.filter(|recipe| recipe.exists()) {
            std::fs::copy(recipe, at(cache).join("key/recipe")).expect("copied");
        }
    }
    for arguments in [
        &["plan", "first-look"][..],
        &["run", "first-look", "--out", "new"],
        &["run", "first-look", "--linux", "7.3", "--out", "new"],
        &["lab", "build"],
        &["lab", "shell", "-c", "true"],
    ] {
        for variable in ["XDG_CACHE_HOME", "HOME"] {
            disklab(home.path())
                .env_remove("DISKLAB_LAB_KERNEL")
                .env_remove("XDG_CACHE_HOME")
                .env(variable, at("o"))
                .args(arguments)
                .assert()
                .code(2)
                .stderr(contains("belongs to user 65534").and(contains("XDG_CACHE_HOME")));
        }
    }
    assert!(!at("harmed").exists() && !at("new").exists());
}

#[test]
fn roots_report_follows_no_link_of_another_user() {
    let Some(home) = home() else { return };
    for out in ["o/link", "o/link/new", "o/file"] {
        disklab(home.path()).args(["report", "run", "--out", out]).assert().code(2);
    }
    assert_eq!(names(&home.path().join("target")), ["precious"]);
    let precious = std::fs::read_to_string(home.path().join("target/precious"));
    assert_eq!(precious.expect("read"), "root's");
    // A plain file is only a file.
    disklab(home.path()).args(["report", "run", "--out", "o/report.html"]).assert().success();
}

#[test]
fn the_user_behind_sudo_is_trusted() {
    let Some(home) = home() else { return };
    let run = ["run", "tiny.toml", "--on", "dir:o/x", "--scratch", "o/x", "--out", "o/x/run"];
    disklab(home.path())
        .env("SUDO_UID", MALLORY.to_string())
        .args(run)
        .assert()
        .code(predicate::in_iter([0, 1]));
    assert!(home.path().join("o/x/run/report.html").is_file());
}

#[test]
fn the_demo_refuses_before_it_builds_anything() {
    let Some(home) = home() else { return };
    let at = |name: &str| home.path().join(name);
    for (name, mode) in [("o/x/roots", 0o755), ("open", 0o777), ("open/roots", 0o755)] {
        std::fs::create_dir(at(name)).expect("made");
        set_permissions(at(name), Permissions::from_mode(mode)).expect("mode");
    }
    for (out, cause) in [
        ("o/new/demo", "o belongs to another user"),
        // Root's, in a directory in which it may be replaced.
        ("o/x/roots/demo", "o/x belongs to another user"),
        ("open/roots/demo", "open can be written to by everybody"),
    ] {
        // The program refuses what the script refuses.
        let run = ["run", "tiny.toml", "--on", "dir:dir", "--out", out];
        disklab(home.path()).args(run).assert().code(2);
        let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/demo");
        let mut shell = std::process::Command::new("sh");
        let ended = shell.arg(demo).arg(at(out)).env_remove("SUDO_UID").output().expect("run");
        let error = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{error}");
        assert!(error.contains(cause) && error.contains("OUT="), "{error}");
    }
    assert_eq!(names(&at("o")), ["file", "link", "x"]);
    for name in ["o/x/roots", "open/roots"] {
        assert_eq!(names(&at(name)).len(), 0, "{name}");
    }
}
