//! The study of a directory: what it lies on, and one verdict in all forms of the report.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::command_support::disklab;

fn report(home: &Path, format: &str) -> String {
    let args = ["report", "run", "--format", format, "--out", "-"];
    let output = disklab(home).args(args).output().expect("starts");
    String::from_utf8(output.stdout).expect("text")
}

/// In one line, as the terminal breaks sentences.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_directory_in_memory_has_one_verdict_in_all_forms() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: needs a tmpfs at /dev/shm");
        return;
    };
    let on = format!("dir:{}", memory.path().display());
    let args = ["run", "share", "--on", &on, "--scale", "1/64", "--repeats", "1", "--out", "run"];
    let shown = disklab(home).args(args).output().expect("starts");
    let json: Value = serde_json::from_str(&report(home, "json")).expect("json");
    let verdict = json["summary"][0].as_str().expect("a sentence");
    let why = "There is nothing to compare it with: its files are in memory. Here: large reads";
    assert!(verdict.starts_with(why), "{verdict}");
    assert_eq!(json["run"]["reference"]["lab"]["unknown"], "its files are in memory");
    let title = format!("Is {} as fast as it should be?", memory.path().display());
    let screen = joined(&String::from_utf8_lossy(&shown.stdout));
    for text in [&screen, &joined(&report(home, "md")), &joined(&report(home, "html"))] {
        let text = text.replace('\\', "");
        assert!(text.contains(&title) && text.contains(verdict), "{verdict}\n\n{text}");
    }
    assert_eq!(memory.path().read_dir().expect("there").count(), 0, "nothing is left");
}

#[test]
fn a_study_of_a_directory_needs_one() {
    let temp = tempfile::tempdir().expect("temp");
    let run = |args: &[&str]| {
        let output = disklab(temp.path()).args(args).output().expect("starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run(&["plan", "share"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("'share' is about a directory: name it with --on dir:PATH"), "{text}");
    let on = format!("dir:{}", temp.path().display());
    let (code, text) = run(&["plan", "nas", "--on", &on, "--drives", "wd-red-pro-22tb"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--drives applies only to the lab"), "{text}");
}

/// A directory of this machine, mounted by sshfs as that of a server called `nas`.
struct Share {
    temp: TempDir,
    at: PathBuf,
}

impl Share {
    /// Of the server's directory, which is there.
    const SERVED: &str = "served";

    /// None, and a word on it, where this machine cannot mount one.
    fn mounted() -> Option<Self> {
        let sftp_server = "/usr/lib/openssh/sftp-server";
        let temp = tempfile::tempdir().expect("temp");
        let (at, ssh) = (temp.path().join("share"), temp.path().join("ssh"));
        fs::create_dir(&at).expect("made");
        fs::create_dir(temp.path().join(Self::SERVED)).expect("made");
        // In place of a connection to another machine.
        let pid = temp.path().join("pid");
        let script = format!("#!/bin/sh\necho $$ >'{}'\nexec {sftp_server}\n", pid.display());
        fs::write(&ssh, script).expect("written");
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o700)).expect("runnable");
        let source = format!("nas:{}", temp.path().join(Self::SERVED).display());
        let mut sshfs = Command::new("sshfs");
        sshfs.arg("-o").arg(format!("ssh_command={}", ssh.display())).arg(source).arg(&at);
        let mounted = sshfs.stdin(Stdio::null()).status().is_ok_and(|status| status.success());
        if !mounted || !Path::new(sftp_server).exists() {
            println!("skipped: needs sshfs, sftp-server and FUSE");
            return None;
        }
        Some(Self { temp, at })
    }

    fn on(&self) -> String {
        format!("dir:{}", self.at.display())
    }

    /// Names of what the server has.
    fn files(&self) -> Vec<String> {
        let served = fs::read_dir(self.temp.path().join(Self::SERVED)).expect("there").flatten();
        served.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// As if the other machine were switched off.
    fn kill_server(&self) {
        let pid = fs::read_to_string(self.temp.path().join("pid")).expect("written");
        let killed = Command::new("kill").args(["-9", pid.trim()]).status().expect("starts");
        assert!(killed.success());
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let _ = Command::new("fusermount3").arg("-uqz").arg(&self.at).status();
    }
}

#[test]
fn a_report_on_a_share_says_what_the_network_takes() {
    let Some(share) = Share::mounted() else { return };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let on = share.on();
    let args = ["run", "share", "--on", &on, "--scale", "1/16", "--repeats", "1", "--out", "run"];
    disklab(home).args(args).assert().success();
    let json: Value = serde_json::from_str(&report(home, "json")).expect("json");
    let reference = &json["run"]["reference"]["share"];
    assert_eq!((&reference["protocol"], &reference["server"]), (&"sshfs".into(), &"nas".into()));
    assert!(reference["round_trip_ns"].as_u64().is_some_and(|ns| ns > 1000), "{reference}");
    let verdict = json["summary"][0].as_str().expect("a sentence");
    assert!(
        verdict.contains("of a random read the network and the server's answer take"),
        "{verdict}"
    );
    assert!(share.files().is_empty(), "{:?}", share.files());
}

#[test]
fn a_run_on_a_share_that_is_lost_ends_and_measures_nothing_else() {
    let Some(share) = Share::mounted() else { return };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let mut run = Command::new(assert_cmd::cargo::cargo_bin("disklab"))
        .args(["run", "share", "--on", &share.on(), "--scale", "1/4", "--out", "run"])
        .env("XDG_STATE_HOME", home)
        .current_dir(home)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // The third cell has its directory.
    let end = Instant::now() + Duration::from_secs(200);
    while !share.files().iter().any(|name| name.ends_with("x2")) {
        assert!(Instant::now() < end && run.try_wait().expect("a child").is_none());
        sleep(Duration::from_millis(5));
    }
    share.kill_server();
    let output = run.wait_with_output().expect("ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    let lost = error.contains("is not what it was when the run began: it was on nas:");
    assert!(lost || error.contains("could not tear down what cell 2 created"), "{error}");
    assert_eq!(share.at.read_dir().map_or(0, Iterator::count), 0, "nothing lies in its place");
    let json: Value = serde_json::from_str(&report(home, "json")).expect("json");
    let states: Vec<&Value> =
        json["cells"].as_array().expect("cells").iter().map(|c| &c["state"]).collect();
    let done = states.iter().filter(|state| **state == "done").count();
    assert!(done == 2 && states.len() > 2, "{states:?}");
}
