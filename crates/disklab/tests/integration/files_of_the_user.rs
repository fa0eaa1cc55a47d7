//! What the user has in the directories that he names stays as it is.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::command_support::{TINY_STUDY, disklab};
use crate::lab_support::run::forget_first_cell;
use predicates::prelude::*;
use predicates::str::contains;

/// A directory with a study in it, and one to measure.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("tiny.toml"), TINY_STUDY).expect("study");
    std::fs::create_dir(home.path().join("dir")).expect("dir");
    home
}

/// Every path below a directory, with what a file contains and a link names.
fn tree(directory: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("directory").flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("kind");
        let content = if kind.is_symlink() {
            path.read_link().expect("link").display().to_string()
        } else if kind.is_dir() {
            found.extend(tree(&path));
            "a directory".to_owned()
        } else {
            std::fs::read_to_string(&path).expect("file")
        };
        found.push((path.display().to_string(), content));
    }
    found.sort();
    found
}

fn run_in_dir(home: &Path, out: &str) -> assert_cmd::assert::Assert {
    disklab(home).args(["run", "tiny.toml", "--on", "dir:dir", "--out", out]).assert()
}

#[test]
fn outputs_go_only_into_new_empty_or_own_directories() {
    let home = home();
    let mine = home.path().join("mine");
    std::fs::create_dir_all(mine.join("scratch")).expect("make");
    std::fs::create_dir_all(mine.join("raw/holiday")).expect("make");
    std::fs::write(mine.join("report.html"), "my report").expect("write");
    std::fs::write(mine.join("raw/holiday/a.jpg"), "a").expect("write");
    run_in_dir(home.path(), "run").code(predicate::in_iter([0, 1]));
    let before = tree(&mine);
    let dd = "4+0 records in\n4+0 records out\n16384 bytes (16 kB, 16 KiB) copied, 1 s, 16 kB/s\n";
    std::fs::write(home.path().join("dd.txt"), dd).expect("write");
    for arguments in [
        &["run", "tiny.toml", "--on", "dir:dir", "--out", "mine"][..],
        &["run", "tiny.toml", "--out", "mine"],
        &["import", "dd.txt", "--to", "mine"],
        &["sensitivity", "first-look", "--out", "mine"],
    ] {
        disklab(home.path())
            .args(arguments)
            .assert()
            .code(2)
            .stderr(contains("choose a new or empty directory"));
        assert_eq!(tree(&mine), before, "{arguments:?}");
    }
    // Its own directory already contains a run, or held one.
    run_in_dir(home.path(), "run").code(2).stderr(contains("already contains a run"));
    std::fs::remove_file(home.path().join("run/run.sqlite")).expect("remove");
    run_in_dir(home.path(), "run").code(predicate::in_iter([0, 1]));
    std::fs::create_dir(home.path().join("empty")).expect("make");
    run_in_dir(home.path(), "empty").code(predicate::in_iter([0, 1]));
}

#[test]
fn resuming_removes_nothing_that_the_run_did_not_make() {
    let home = home();
    run_in_dir(home.path(), "run").code(predicate::in_iter([0, 1]));
    let run = home.path().join("run");
    std::fs::create_dir(run.join("scratch")).expect("make");
    std::fs::create_dir_all(run.join("raw/holiday")).expect("make");
    std::fs::write(run.join("raw/holiday/a.jpg"), "a").expect("write");
    forget_first_cell(&run);
    disklab(home.path())
        .args(["run", "--resume", "--out", "run"])
        .assert()
        .code(predicate::in_iter([0, 1]));
    assert!(run.join("raw/holiday/a.jpg").exists() && run.join("scratch").exists());

    // A report of the user's own is not replaced.
    std::fs::write(run.join("report.html"), "my report").expect("write");
    disklab(home.path()).args(["report", "run"]).assert().code(2).stderr(contains("left as it is"));
    assert_eq!(std::fs::read_to_string(run.join("report.html")).expect("read"), "my report");
    std::fs::remove_file(run.join("report.html")).expect("remove");
    for _ in 0..2 {
        disklab(home.path()).args(["report", "run"]).assert().success();
        for format in ["md", "json", "csv"] {
            disklab(home.path()).args(["report", "run", "--format", format]).assert().success();
        }
    }
}

#[test]
fn places_that_cannot_be_written_are_usage_errors_found_before_a_kernel_is_built() {
    let home = home();
    run_in_dir(home.path(), "run").code(predicate::in_iter([0, 1]));
    std::fs::write(home.path().join("file"), "mine").expect("write");
    let before = tree(&home.path().join("dir"));
    let cases: &[(&[&str], &str)] = &[
        // Nobody makes directories in /proc, not even root.
        (&["run", "tiny.toml", "--on", "dir:dir", "--out", "/proc/nope/run"], "/proc/nope"),
        (&["run", "first-look", "--out", "/proc/nope/run"], "/proc/nope"),
        (&["run", "first-look", "--out", "file/run"], "cannot use file/run"),
        (&["run", "first-look", "--out", "file"], "cannot make file"),
        (&["run", "first-look", "--scratch", "file"], "/file: it is not a directory"),
        (&["report", "run", "--out", "/nope/x.html"], "cannot write /nope/x.html"),
        (&["report", "run", "--out", "file/x.html"], "cannot write file/x.html"),
        (&["compare", "run", "run", "--out", "/nope/x.md"], "cannot write /nope/x.md"),
        (&["man", "/nope"], "cannot write /nope/"),
        (&["drive", "generic-3tb", "--pages", "file"], "'file'"),
    ];
    for (arguments, expected) in cases {
        disklab(home.path())
            .args(*arguments)
            // A kernel would be built here.
            .env("XDG_CACHE_HOME", "/proc/cache")
            .env_remove("DISKLAB_LAB_KERNEL")
            .assert()
            .code(2)
            .stderr(contains(*expected))
            .stderr(contains("/proc/cache/disklab: ").not())
            .stderr(contains("building").not())
            .stderr(contains("panicked").not());
    }
    // What is remembered has no place.
    disklab(home.path())
        .args(["run", "tiny.toml", "--on", "dir:dir", "--out", "never"])
        .env_remove("XDG_STATE_HOME")
        .env("HOME", "/proc")
        .assert()
        .code(2)
        .stderr(contains("/proc/.local/state"));
    assert!(!home.path().join("never").exists());
    assert_eq!(tree(&home.path().join("dir")), before);
    assert_eq!(std::fs::read_to_string(home.path().join("file")).expect("read"), "mine");
}

#[test]
fn writers_follow_no_link_and_replace_no_page_of_the_user() {
    let home = home();
    let (pages, photos) = (home.path().join("pages"), home.path().join("photos"));
    std::fs::create_dir(&pages).expect("make");
    std::fs::write(&photos, "photos").expect("write");
    symlink(&photos, pages.join("disklab-run.1")).expect("link");
    disklab(home.path()).args(["man", "pages"]).assert().code(2).stderr(contains("left as it is"));
    assert_eq!(std::fs::read_to_string(&photos).expect("read"), "photos");
    std::fs::remove_file(pages.join("disklab-run.1")).expect("remove");
    std::fs::write(pages.join("disklab-run.1"), "my notes").expect("write");
    disklab(home.path()).args(["man", "pages"]).assert().code(2).stderr(contains("left as it is"));
    std::fs::remove_file(pages.join("disklab-run.1")).expect("remove");
    for _ in 0..2 {
        disklab(home.path()).args(["man", "pages"]).assert().success();
    }
    // A drive's id becomes the name of its page.
    let shipped = include_str!("../../../../drives/generic-3tb.toml");
    let id = shipped.lines().find(|line| line.starts_with("id = ")).expect("id");
    let hostile = shipped.replacen(id, "id = \"../photos\"", 1);
    std::fs::write(home.path().join("hostile.toml"), hostile).expect("write");
    disklab(home.path())
        .args(["drive", "./hostile.toml", "--pages", "pages"])
        .assert()
        .code(2)
        .stderr(contains("a name cannot contain '/'"));
    assert_eq!(std::fs::read_to_string(&photos).expect("read"), "photos");
}

#[test]
fn names_in_a_study_never_lead_out_of_its_directories() {
    let home = home();
    let precious = home.path().join("escape");
    std::fs::create_dir(&precious).expect("make");
    std::fs::write(precious.join("precious.img"), "precious").expect("write");
    let before = tree(&precious);
    for (from, to) in [
        ("name = \"drive\"", "name = \"../../../escape/precious\""),
        ("name = \"drive\"", "name = \"..\""),
        ("name = \"drive\"", "name = \"a\\u001b[2Jb\""),
        ("name = \"drive\"", "name = \"\""),
        ("id = \"tiny\"", "id = \"../escape\""),
        ("id = \"dd\"", "id = \"../escape/precious\""),
        ("single =", "\"../escape\" ="),
        ("ext4 = \"ext4\"", "\"..\" = \"ext4\""),
        (
            "dd = { direction = \"write\", bs = \"4k\", count = 4 }",
            "fio = \"[../escape/precious]\\nrw=write\\nsize=4k\"",
        ),
        (
            "dd = { direction = \"write\", bs = \"4k\", count = 4 }",
            "fio = \"[x]\\nfilename=../escape/precious.img\\nrw=write\\nsize=4k\"",
        ),
        (
            "dd = { direction = \"write\", bs = \"4k\", count = 4 }",
            "filebench = { text = \"define file name=../escape/precious.img,path=/t,size=4k\" }",
        ),
    ] {
        assert!(TINY_STUDY.contains(from), "{from}");
        std::fs::write(home.path().join("bad.toml"), TINY_STUDY.replacen(from, to, 1))
            .expect("write");
        for command in ["plan", "run"] {
            disklab(home.path())
                .args([command, "bad.toml", "--on", "dir:dir"])
                .assert()
                .code(2)
                .stderr(contains("bad.toml:"))
                .stderr(contains("\u{1b}").not());
        }
        assert_eq!(tree(&precious), before, "{to}");
    }
    assert!(!home.path().join("disklab-runs").exists());
}

#[test]
fn deleted_run_is_not_said_to_be_kept() {
    let home = home();
    // Long enough to be deleted meanwhile.
    let long = TINY_STUDY.replace("repeats = 1", "repeats = 400");
    std::fs::write(home.path().join("long.toml"), long).expect("write");
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    let child = command
        .args(["run", "long.toml", "--on", "dir:dir", "--out", "run"])
        .env("XDG_STATE_HOME", home.path())
        .current_dir(home.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("start");
    let run = home.path().join("run");
    let began = std::time::Instant::now();
    while !run.join("raw").exists() {
        assert!(began.elapsed().as_secs() < 60, "it never began");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::fs::rename(&run, home.path().join("gone")).expect("move");
    std::fs::remove_dir_all(home.path().join("gone")).ok();
    let output = child.wait_with_output().expect("wait");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("was deleted or moved during the run"), "{said}");
    assert!(!said.contains("is kept") && !said.contains("--resume"), "{said}");
}

#[test]
fn empty_scratch_of_the_user_stays() {
    let home = home();
    let scratch = home.path().join("scratch");
    std::fs::create_dir(&scratch).expect("make");
    // Also where nothing is put into it.
    disklab(home.path())
        .args(["run", "tiny.toml", "--on", "dir:dir", "--out", "run", "--scratch", "scratch"])
        .assert()
        .code(predicate::in_iter([0, 1]));
    assert!(scratch.exists());
    let loops = disklab(home.path())
        .args(["run", "tiny.toml", "--on", "loop", "--out", "loops", "--scratch", "scratch"])
        .assert();
    let output = loops.get_output();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) && said.contains("needs") {
        eprintln!("skipped: needs loop devices: {said}");
        return;
    }
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    assert!(scratch.exists());
    assert_eq!(tree(&scratch), []);
}

#[test]
fn demo_leaves_a_directory_of_the_user_alone() {
    let temp = tempfile::tempdir().expect("temp");
    let user = temp.path().join("user");
    std::fs::create_dir(&user).expect("made");
    std::fs::write(user.join("file"), "precious").expect("written");
    std::os::unix::fs::symlink(&user, temp.path().join("link")).expect("linked");
    // What stands where the shipped run would be unpacked counts, too.
    std::fs::create_dir(temp.path().join("out-shipped")).expect("made");
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/demo");
    for name in ["user", "link", "out"] {
        let out = temp.path().join(name);
        let ended = std::process::Command::new("sh").arg(demo).arg(&out).output().expect("run");
        let error = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{error}");
        assert!(error.contains("disklab did not make it"), "{error}");
    }
    let kept = std::fs::read_to_string(user.join("file")).expect("still there");
    assert_eq!(kept, "precious");
    assert!(temp.path().join("out-shipped").is_dir() && !temp.path().join("out").exists());
}
