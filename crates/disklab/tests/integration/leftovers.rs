//! What killed runs left, as a user meets it: what `disklab doctor` removes, what it
//! leaves alone and how that is decided, and whose ledgers it does not trust.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::contains;

/// A study that writes for long.
const STUDY: &str = "id = 's'\ntitle = 's'\nrepeats = 1\n[[drives]]\nname = 'a'\n\
    model = 'generic-3tb'\nsize = '3 TB'\n[stacks]\na = { layers = 'ext4', drives = 1 }\n[[workloads]]\nid = 'w'\n\
    fio = { ioengine = 'psync', rw = 'write', bs = '4k', size = '4M', runtime = 60, \
    time_based = 1 }\n";

/// A run in a directory that was killed while it measured, and the tree that it left.
struct Killed {
    home: tempfile::TempDir,
    tree: PathBuf,
}

impl Killed {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("temp");
        fs::write(home.path().join("s.toml"), STUDY).expect("study");
        let data = home.path().join("data");
        fs::create_dir(&data).expect("directory");
        let mut run = Command::new(assert_cmd::cargo::cargo_bin("disklab"))
            .args(["run", "s.toml", "--out", "run", "--on"])
            .arg(format!("dir:{}", data.display()))
            .env("XDG_STATE_HOME", home.path())
            .current_dir(home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let began = Instant::now();
        let tree = loop {
            let trees = || fs::read_dir(&data).into_iter().flatten().flatten();
            let written = |tree: &PathBuf| fs::read_dir(tree).is_ok_and(|mut e| e.next().is_some());
            if let Some(tree) = trees().map(|entry| entry.path()).find(written) {
                break tree;
            }
            let ended = run.try_wait().expect("asked");
            assert!(ended.is_none() && began.elapsed() < Duration::from_secs(120), "{ended:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        run.kill().expect("kill -9");
        run.wait().expect("dead");
        Self { home, tree }
    }

    fn doctor(&self) -> assert_cmd::Command {
        let mut doctor = disklab(self.home.path());
        doctor.arg("doctor");
        doctor
    }

    fn state(&self) -> PathBuf {
        self.home.path().join("disklab/ledger")
    }

    /// The ID of what was left.
    fn id(&self) -> String {
        let name = fs::read_dir(self.state()).expect("state").flatten().next().expect("a ledger");
        let name = name.file_name().into_string().expect("text");
        name.trim_start_matches("ledger-").trim_end_matches(".jsonl").to_owned()
    }
}

#[test]
fn an_untouched_leftover_is_removed() {
    let killed = Killed::new();
    killed.doctor().assert().success().stdout(contains("left by a killed run: tore down"));
    assert!(!killed.tree.exists());
    assert_eq!(fs::read_dir(killed.state()).expect("state").count(), 0);
    killed.doctor().assert().success().stdout(contains("killed run").not());
}

#[test]
fn user_files_in_a_leftover_stay_until_discarded() {
    let killed = Killed::new();
    let precious = killed.tree.join("precious");
    fs::write(&precious, "the user's").expect("write");
    let discard = format!("disklab doctor --discard {}", killed.id());
    let said = contains(precious.display().to_string()).and(contains(discard));
    killed.doctor().assert().success().stdout(said);
    // Nor does a next start remove it, or refuse to run.
    let start = ["run", "s.toml", "--out", "next", "--only", "none:none"];
    let start = disklab(killed.home.path()).args(start).assert().code(2);
    start.stderr(contains("precious").and(contains("--keep")));
    assert_eq!(fs::read_to_string(&precious).expect("still there"), "the user's");

    let json = killed.doctor().arg("--json").assert().success();
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(json["left"][0]["id"], killed.id());

    killed.doctor().args(["--discard", "1-0"]).assert().code(2).stderr(contains(killed.id()));
    killed.doctor().args(["--discard", "../x"]).assert().code(2).stderr(contains("invalid ID"));
    let both = ["--discard", "1-0", "--keep", "1-0"];
    killed.doctor().args(both).assert().code(2);
    assert!(precious.exists());
    killed.doctor().args(["--discard", &killed.id()]).assert().success();
    assert!(!killed.tree.exists());
}

#[test]
fn kept_leftovers_are_forgotten() {
    let killed = Killed::new();
    fs::write(killed.tree.join("precious"), "the user's").expect("write");
    killed.doctor().args(["--keep", &killed.id()]).assert().success().stdout(contains("forgot"));
    killed.doctor().assert().success().stdout(contains("killed run").not());
    assert!(killed.tree.join("precious").exists());
}

#[test]
fn a_state_directory_that_others_write_to_is_refused() {
    let killed = Killed::new();
    let mode = |mode| fs::set_permissions(killed.state(), Permissions::from_mode(mode));
    mode(0o777).expect("mode");
    let run = ["run", "s.toml", "--out", "next", "--on", "dir:data"];
    for arguments in [&["doctor"][..], &run] {
        let refused = disklab(killed.home.path()).args(arguments).assert().code(2);
        refused.stderr(contains("not trusted").and(contains("chmod go-w")));
    }
    assert!(killed.tree.exists() && !killed.home.path().join("next").exists());
    mode(0o700).expect("mode");
    killed.doctor().assert().success();
    assert!(!killed.tree.exists());
}

#[test]
fn root_does_not_trust_the_state_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let killed = Killed::new();
    let give = |path: &Path, uid| std::os::unix::fs::chown(path, Some(uid), None).expect("chown");
    give(&killed.state(), 1000);
    killed.doctor().assert().code(2).stderr(contains("user 1000").and(contains("sudo -H")));
    assert!(killed.tree.exists());
    give(&killed.state(), 0);
    killed.doctor().assert().success();
    assert!(!killed.tree.exists());
}

// A container that shares the directory must not make the machine forget; nor may
// the machine's runs stop the container's.
#[test]
fn a_container_that_shares_the_state_leaves_it_alone() {
    let killed = Killed::new();
    let here = ["--mount", "--"];
    if !Command::new("unshare").args(here).arg("true").status().is_ok_and(|s| s.success()) {
        eprintln!("skipped: needs root and unshare");
        return;
    }
    let container = |arguments: &[&str]| {
        assert_cmd::Command::new("unshare")
            .args(here)
            .arg(assert_cmd::cargo::cargo_bin("disklab"))
            .args(arguments)
            .env("XDG_STATE_HOME", killed.home.path())
            .current_dir(killed.home.path())
            .assert()
    };
    let id = killed.id();
    container(&["doctor"]).success().stdout(contains("another container").and(contains(&id)));
    // It does what it was asked, which is wrong here.
    container(&["run", "s.toml", "--out", "next", "--only", "none:none"])
        .code(2)
        .stderr(contains("another container"));
    assert!(killed.tree.exists());
    container(&["doctor", "--discard", &id]).code(2).stderr(contains("cannot decide"));
    assert_eq!(killed.id(), id, "the machine has not forgotten");
    killed.doctor().assert().success().stdout(contains("tore down"));
    assert!(!killed.tree.exists());
}
