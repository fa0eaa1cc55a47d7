//! Runs of several machines: merged, compared, and brought home by Ansible.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command_support::disklab;

/// Runs a command, which must end with `code`; what it said.
fn said(home: &Path, args: &[&str], code: i32) -> String {
    let output = disklab(home).args(args).output().expect("starts");
    let text = [output.stdout, output.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}\n{}", text[0], text[1]);
    text.concat()
}

fn measured(home: &Path, name: &str, seed: &str) {
    let directory = home.join(format!("{name}-files"));
    std::fs::create_dir(&directory).expect("a directory");
    let on = format!("dir:{}", directory.display());
    let study = ["run", "first-look", "--only", "*:write-1m", "--scale", "1/64", "--repeats", "3"];
    let args = [&study[..], &["--on", &on, "--seed", seed, "--out", name]].concat();
    let output = disklab(home).args(args).output().expect("starts");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
}

#[test]
fn runs_of_machines_are_merged_reported_and_compared() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    measured(home, "a", "1");
    measured(home, "b", "1");
    measured(home, "other", "2");
    said(home, &["merge", "--machines", "nas1=a", "b", "--to", "both"], 0);
    let json = said(home, &["report", "both@machine=b", "--format", "json", "--out", "-"], 0);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let bench = json["run"]["bench"].as_str().expect("a bench");
    assert!(bench.ends_with("b-files"), "the other machine's: {bench}");
    let text = said(home, &["report", "both", "--format", "md", "--out", "-"], 0);
    assert!(text.contains("machine") && text.contains('b'), "{text}");
    let output =
        disklab(home).args(["compare", "both", "both@machine=b"]).output().expect("starts");
    assert!(matches!(output.status.code(), Some(0 | 10..=12)), "{output:?}");

    let text = said(home, &["merge", "--machines", "a", "other", "--to", "no"], 2);
    assert!(text.contains("the seed is '1' in the first and '2' in the second"), "{text}");
    let text = said(home, &["merge", "a", "b", "--to", "no"], 2);
    assert!(text.contains("merge --machines"), "{text}");
    assert!(!home.join("no").exists());
    // What waits, waits on its machine.
    let database = rusqlite::Connection::open(home.join("both/run.sqlite")).expect("opens");
    let undone = "UPDATE cell SET state = 'waiting' WHERE number = 5; \
                  DELETE FROM sample WHERE cell = 5; DELETE FROM figure WHERE cell = 5";
    database.execute_batch(undone).expect("undone");
    drop(database);
    let text = said(home, &["run", "--resume", "--out", "both"], 2);
    assert!(text.contains("several machines"), "{text}");
}

/// Where ansible-playbook is, installed or in the cache of `scripts/needs`.
fn ansible() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cache =
        std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache/disklab/ansible/bin"));
    let all = std::env::split_paths(&path).chain(cache);
    all.map(|directory| directory.join("ansible-playbook")).find(|program| program.is_file())
}

#[test]
fn a_fleet_of_two_is_measured_and_merged() {
    let Some(ansible) = ansible() else {
        println!("skipped: needs ansible-playbook (scripts/needs test)");
        return;
    };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ansible");
    std::fs::create_dir_all(home.join("collections/ansible_collections/disklab")).expect("made");
    symlink(sources, home.join("collections/ansible_collections/disklab/fleet")).expect("link");
    let program = assert_cmd::cargo::cargo_bin("disklab");
    std::fs::create_dir(home.join("unpacked")).expect("a directory");
    symlink(&program, home.join("unpacked/disklab")).expect("link");
    let program = program.to_str().expect("UTF-8");
    let mut inventory = String::new();
    for host in ["nas1", "nas2"] {
        let files = home.join(format!("{host}-files"));
        std::fs::create_dir(&files).expect("a directory");
        let (home, files) = (home.display(), files.display());
        inventory.push_str(&format!(
            "{host} ansible_connection=local disklab_on=dir:{files} disklab_directory={home}/{host}\n"
        ));
    }
    std::fs::write(home.join("fleet.ini"), inventory).expect("inventory");
    let variables = serde_json::json!({
        "disklab_study": "first-look",
        "disklab_repeats": 2,
        "disklab_arguments": ["--scale", "1/512", "--only", "*:write-1m"],
        "disklab_programs": { std::env::consts::ARCH: "unpacked/disklab" },
        "disklab_here": program,
        "disklab_runs": "runs",
    });
    let play = || {
        let output = std::process::Command::new(&ansible)
            .args(["-i", "fleet.ini", "disklab.fleet.measure", "-e", &variables.to_string()])
            .env("ANSIBLE_COLLECTIONS_PATH", home.join("collections"))
            .env("ANSIBLE_LOCAL_TEMP", home.join("ansible"))
            .env("ANSIBLE_HOME", home.join("ansible"))
            .env("XDG_STATE_HOME", home)
            .env("LC_ALL", "C.UTF-8")
            .env("PWD", home)
            .current_dir(home)
            .output()
            .expect("starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    play();
    let csv = |run: &str| said(home, &["report", run, "--format", "csv", "--out", "-"], 0);
    assert_eq!(csv("runs/all").lines().count(), 3, "two repeats, and the names");
    assert_eq!(csv("runs/all@machine=nas2").lines().count(), 3);
    // Again, it finds all done.
    let text = play();
    assert!(text.contains("nas1") && text.contains("failed=0"), "{text}");
    assert_eq!(csv("runs/nas1").lines().count(), 3);
}
