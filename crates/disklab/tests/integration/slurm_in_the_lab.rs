//! A run on a cluster of Slurm, of which a node is lost: it is the run in one go.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use disklab_store::RunInfo;
use rustix::process::{Pid, Signal, kill_process};

use crate::lab_support::cluster::Cluster;
use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::disklab as program;
use crate::parts_in_the_lab::{contents, ends, home};
use crate::parts_of_commands_in_the_lab::{home as small, same};

fn on(cluster: &Cluster, home: &Path, words: &[&str]) -> Command {
    let mut command = program(home);
    let (name, value) = cluster.variable();
    command.args(words).env(name, value);
    command
}

/// Waits until all jobs of the run are remembered: the parts are submitted before.
fn wait_for_jobs(home: &Path) {
    while !fs::read_to_string(home.join("run/jobs.json")).is_ok_and(|jobs| !jobs.contains("null")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Ctrl-C, while the program waits for jobs, whose numbers it names.
fn left(home: &Path, waiting: Child) {
    kill_process(Pid::from_child(&waiting), Signal::INT).expect("a signal");
    let output = waiting.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{text}");
    let jobs = fs::read(home.join("run/jobs.json")).expect("jobs");
    let jobs: serde_json::Value = serde_json::from_slice(&jobs).expect("JSON");
    // The array of a lost node is split, and its parts have numbers, too.
    let cancel = format!("scancel {} {} {}", jobs["plan"], jobs["parts"], jobs["merge"]);
    let ways = ["the jobs continue", "disklab run --attach --out", &cancel];
    assert!(ways.iter().all(|way| text.contains(way)), "{text}");
}

/// Its exit code, and what it says on standard error.
fn said(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().expect("it starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_run_survives_a_lost_node_and_the_one_who_submitted_it() {
    let (Some(_), Some(mut cluster)) = (kernel(), Cluster::start()) else { return };
    let home = home();
    let home = home.path();
    let study = ["run", "divided.toml", "--seed", "7"];
    ends(home, &[&study[..], &["--out", "whole"]].concat(), 1);
    let words = [&study[..], &["--submit", "slurm:time=30", "--parts", "5", "--out", "run"]];
    let mut submitted = on(&cluster, home, &words.concat());
    let submitted = submitted.stderr(Stdio::piped()).spawn().expect("it starts");
    let node = cluster.node_with("--part");
    cluster.lose(node);
    wait_for_jobs(home);
    left(home, submitted);
    let (code, text) = said(on(&cluster, home, &["run", "--attach", "--out", "run"]));
    assert_eq!(code, Some(1), "as the run in one go: {text}");
    assert!(text.contains("/8] "), "{text}");
    let (whole, run) = (contents(&home.join("whole")), contents(&home.join("run")));
    assert_eq!(whole.0, RunInfo { created: whole.0.created, ..run.0 });
    assert_eq!(whole.1, run.1);
    assert!(whole.2 == run.2, "{:?}", whole.2.keys());
    cluster.wait_for_rest();
    for part in fs::read_dir(home.join("run/parts")).expect("parts").flatten() {
        let left = fs::read_dir(part.path()).expect("a part").flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        left.sort();
        let lock = left.iter().position(|name| name == "lock");
        lock.map(|at| left.remove(at));
        assert_eq!(left, [".disklab-directory", "raw", "run.sqlite"], "{:?}", part.path());
    }
}

#[test]
fn a_run_that_was_left_twice_and_cancelled_is_resumed() {
    let (Some(_), Some(cluster)) = (kernel(), Cluster::start()) else { return };
    let home = home();
    let home = home.path();
    let study = ["run", "divided.toml", "--seed", "7"];
    ends(home, &[&study[..], &["--out", "whole"]].concat(), 1);
    let attach = ["run", "--attach", "--out", "run"];
    let words = [&study[..], &["--submit", "slurm", "--parts", "3", "--out", "run"]].concat();
    for words in [&words[..], &attach] {
        let waiting = on(&cluster, home, words).stderr(Stdio::piped()).spawn();
        let mut waiting = waiting.expect("it starts");
        // What it says first, it says when it can be left.
        let mut first = [0];
        std::io::Read::read_exact(waiting.stderr.as_mut().expect("a pipe"), &mut first)
            .expect("a word");
        wait_for_jobs(home);
        left(home, waiting);
    }
    cluster.node_with("--part");
    cluster.ask("scancel", &["2"]);
    // If it comes before the job that merges has ended, it waits for it, and says what is missing.
    let (mut code, mut text) = said(on(&cluster, home, &attach));
    if !home.join("run/run.sqlite").exists() {
        let reasons = ["of 3 parts missing, or not done", "the job with the parts, 2, "];
        assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
        assert!(text.contains("To submit what is left again: disklab run --attach"), "{text}");
        (code, text) = said(on(&cluster, home, &attach));
    }
    assert_eq!(code, Some(1), "as the run in one go: {text}");
    same(home, "whole", "run");
    cluster.wait_for_rest();
}

#[test]
fn a_run_whose_samples_decide_continues_after_each_look() {
    let (Some(_), Some(cluster)) = (kernel(), Cluster::start()) else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let home = small();
    let home = home.path();
    let study = ["run", "s.toml", "--seed", "7", "--precision", "9%"];
    ends(home, &[&study[..], &["--out", "whole"]].concat(), 1);
    let words = [&study[..], &["--submit", "slurm", "--parts", "2", "--out", "run"]].concat();
    let (code, text) = said(on(&cluster, home, &words));
    assert_eq!(code, Some(1), "as the run in one go: {text}");
    assert!(text.matches("  merge         job ").count() > 1, "{text}");
    same(home, "whole", "run");
    cluster.wait_for_rest();
}

#[test]
fn an_analysis_is_carried_out_on_a_cluster() {
    let (Some(_), Some(cluster)) = (kernel(), Cluster::start()) else { return };
    let home = tempfile::tempdir().expect("temp");
    let home = home.path();
    let words = ["sensitivity", "btrfs-raid1", "--repeats", "1", "--seed", "1"];
    let field = ["--only", "*off*:dd-write-512", "--field", "interface.write-overhead"];
    let words = [&words[..], &field].concat();
    ends(home, &[&words[..], &["--out", "whole"]].concat(), 0);
    let submit = [&words[..], &["--submit", "slurm", "--parts", "3", "--out", "run"]].concat();
    let (code, text) = said(on(&cluster, home, &submit));
    assert_eq!(code, Some(0), "{text}");
    let read = |of: &str| fs::read_to_string(home.join(of).join("sensitivity.md")).expect("a page");
    assert_eq!(read("whole"), read("run"));
}

#[test]
fn what_is_wrong_with_a_cluster_is_said() {
    let (Some(_), Some(cluster)) = (kernel(), Cluster::start()) else { return };
    let home = home();
    let home = home.path();
    let submit = |more: &[&str]| {
        let words = ["run", "divided.toml", "--seed", "7", "--out", "run"];
        said(on(&cluster, home, &[&words[..], more].concat()))
    };
    let (code, text) = submit(&["--submit=slurm", "--budget", "1h"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("fix the number with --repeats") && !home.join("run").exists(), "{text}");
    let (code, text) = submit(&["--submit=slurm:partition=none"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("Slurm does not take the job"), "{text}");
    assert!(!home.join("run").exists());
    // What only the node can say.
    let (code, text) = submit(&["--submit=slurm", "--parts", "9"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the job that plans, 1, failed"), "{text}");
    assert!(text.contains("--parts 9: the run has 8 cells"), "{text}");
    let (code, text) = said(on(&cluster, home, &["run", "--attach", "--out", "whole"]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("name the directory of a run that --submit began"), "{text}");
}
