//! Under a name that a command reads there may be a FIFO, a device or a socket: it is refused,
//! and nobody waits for it.

use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use crate::command_support::{TINY_STUDY, disklab};
use predicates::str::contains;
use rustix::fs::{CWD, FileType, Mode, mknodat};

fn fifo(path: &Path) {
    let _ = std::fs::remove_file(path);
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("a FIFO");
}

/// A command that reads such a file ends with a usage error, before it makes anything.
fn refuses(home: &Path, words: &[&str], said: &str) {
    let mut command = disklab(home);
    let assert = command.args(words).timeout(Duration::from_secs(120)).assert();
    assert.code(2).stderr(contains(said));
    assert!(!home.join("made").exists(), "{words:?}");
}

#[test]
fn files_that_the_user_names_are_regular() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    fifo(&home.join("fifo"));
    fifo(&home.join("fifo.toml"));
    let _socket = UnixListener::bind(home.join("socket")).expect("a socket");
    let job = "[[workloads]]\nid = \"dd\"\ncaches = \"keep\"\n\
               dd = { direction = \"write\", bs = \"4k\", count = 4 }\n";
    assert!(TINY_STUDY.contains(job));
    let with = |workload: &str| {
        TINY_STUDY.replace(job, &format!("[[workloads]]\nid = \"w\"\n{workload}\n"))
    };
    for (name, text) in [
        ("job.toml", with("fio = { job-file = \"fifo\" }")),
        ("script.toml", with("filebench = { file = \"fifo\" }")),
        ("model.toml", TINY_STUDY.replace("model = \"m\"", "model = \"fifo.toml\"")),
    ] {
        std::fs::write(home.join(name), text).expect("written");
    }
    for (special, what) in [
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
        (".", "a directory"),
        ("/dev/zero", "a character device"),
    ] {
        for words in [
            &["plan", special][..],
            &["run", special, "--out", "made"],
            &["fio", "--parse-only", special],
            &["filebench", special],
            &["import", special, "--as", "ext4", "--to", "made"],
        ] {
            refuses(home, words, what);
        }
    }
    refuses(home, &["drive", "check", "fifo.toml", "/dev/null"], "a FIFO");
    for study in ["job.toml", "script.toml", "model.toml"] {
        refuses(home, &["plan", study], "a FIFO");
        refuses(home, &["run", study, "--out", "made"], "a FIFO");
    }
}

#[test]
fn files_in_a_run_are_regular() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    for name in ["run", "other"] {
        let words = ["import", "--published", "btrfs-raid1", "--to", name];
        disklab(home).args(words).assert().success();
    }
    for name in ["run.sqlite-journal", "run.sqlite-wal", "run.sqlite-shm"] {
        let path = home.join("run").join(name);
        fifo(&path);
        for words in [
            &["report", "run"][..],
            &["compare", "run", "other"],
            &["compare", "other", "run"],
            &["merge", "run", "other", "--to", "made"],
            &["plan", "btrfs-raid1", "--from", "run"],
            &["run", "--resume", "--out", "run"],
        ] {
            refuses(home, words, "is not a regular file");
        }
        std::fs::remove_file(path).expect("removed");
    }
    fifo(&home.join("run/lock"));
    refuses(home, &["run", "--resume", "--out", "run"], "lock is not a regular file");
    disklab(home).args(["report", "run"]).assert().success();
    fifo(&home.join("run/report.html"));
    refuses(home, &["report", "run"], "report.html was not written by disklab");
    fifo(&home.join("page"));
    refuses(home, &["report", "run", "--out", "page"], "no program reads from it");
}

#[test]
fn arguments_that_are_not_utf_8_are_refused() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let name = std::ffi::OsString::from_vec(b"made\xff".to_vec());
    for words in [
        &["run", "first-look", "--out"][..],
        &["import", "--published", "btrfs-raid1", "--to"],
        &["report"],
        &["fio", "--name=x", "--rw=read", "--size=4k", "--dir"],
        &[],
    ] {
        disklab(home)
            .args(words)
            .arg(&name)
            .timeout(Duration::from_secs(120))
            .assert()
            .code(2)
            .stderr(contains("is not UTF-8"));
        assert_eq!(std::fs::read_dir(home).expect("read").count(), 0, "{words:?}");
    }
}
