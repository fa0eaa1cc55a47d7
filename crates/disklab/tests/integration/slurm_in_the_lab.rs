//! A run on a cluster of Slurm, of which a node is lost: it is the run in one go.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

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
    // The parts are submitted before their jobs are remembered.
    while !fs::read_to_string(home.join("run/jobs.json")).is_ok_and(|jobs| !jobs.contains("null")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&submitted), Signal::INT).expect("a signal");
    let output = submitted.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(
        text.contains("disklab run --attach --out") && text.contains("scancel 1 2 3"),
        "{text}"
    );
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
