//! Text of strangers on a terminal, and signals while a run is planned.

use std::path::Path;
use std::time::Duration;

use crate::command_support::disklab;
use disklab_cell::{Levels, SeedSharing, order};
use disklab_options::RunSettings;
use disklab_sample::Environment;
use disklab_source::is_hidden;
use disklab_store::{Run, RunInfo};

/// Sets a terminal's title, moves its cursor, turns a line around, and hides itself.
const NASTY: &str = "a\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}txt\u{200b}\rb";

const STUDY: &str = "id = \"x\"\ntitle = \"x\"\n[[drives]]\nmodel = \"m\"\nsize = \"1 GiB\"\n\
    [stacks]\next4 = \"ext4\"\n[[workloads]]\nid = \"w\"\n\
    dd = { direction = \"write\", bs = \"4k\", count = 1 }\n";

/// A run that a stranger gives away.
fn prepared(directory: &Path) {
    let info = RunInfo {
        disklab: NASTY.to_owned(),
        study: NASTY.to_owned(),
        title: NASTY.to_owned(),
        study_file: NASTY.to_owned(),
        study_text: STUDY.to_owned(),
        bench: disklab_options::BenchKind::Loop.into(),
        bench_about: NASTY.to_owned(),
        options: RunSettings { processor: Some(NASTY.to_owned()), ..RunSettings::default() },
        scale: 1.0,
        repeats: 1,
        seed: 1,
        created: "2026-01-02T03:04:05Z".parse().expect("time"),
        stacks: Vec::new(),
        left_out: Vec::new(),
        reference: None,
        machines: Default::default(),
        environment: Environment { kernel: NASTY.to_owned(), ..Environment::default() },
    };
    let cells = order(&[Levels::new("ext4", "w")], 1, 1, SeedSharing::Shared);
    let mut run = Run::create(directory, &info, &cells).expect("create");
    run.begin_cell(&cells[0]).expect("begin");
    run.fail(&cells[0], NASTY, &[], 0.5).expect("fail");
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8").replace("\r\n", "\n")
}

#[test]
fn an_untrusted_run_cannot_control_the_terminal() {
    let temp = tempfile::tempdir().expect("temp");
    let run = temp.path().join("run");
    prepared(&run);
    for arguments in [
        vec!["report", "run", "--format", "md", "--out", "-"],
        vec!["report", "run", "--format", "html", "--out", "-"],
        vec!["report", "run", "--format", "json", "--out", "-"],
        vec!["report", "run", "--format", "csv", "--out", "-"],
        vec!["compare", "run", "run"],
        vec!["run", "--resume", "--out", "run"],
    ] {
        let output = disklab(temp.path()).args(&arguments).output().expect("runs");
        for text in [shown(&output.stdout), shown(&output.stderr)] {
            assert_eq!(text.chars().find(|c| is_hidden(*c)), None, "{arguments:?}: {text:?}");
        }
        if arguments[3..].contains(&"md") {
            assert!(shown(&output.stdout).contains("u{202e}"), "it is made visible");
        }
    }
}

#[test]
fn a_signal_ends_a_plan_at_once() {
    let temp = tempfile::tempdir().expect("temp");
    let numbers: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let many = STUDY.replace("\"w\"", "\"w-{a}-{b}\"")
        + &format!("matrix = {{ a = [{0}], b = [{0}] }}\n", numbers.join(","));
    std::fs::write(temp.path().join("many.toml"), many).expect("write");
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.args(["plan", "many.toml", "--on", "loop", "--repeats", "100"]);
    let mut plan = command
        .current_dir(temp.path())
        .env("HOME", temp.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    // The study is read by then, and a million cells are being laid out.
    std::thread::sleep(Duration::from_millis(1500));
    let pid = rustix::process::Pid::from_child(&plan);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let ended = plan.wait().expect("ends");
    assert_eq!(ended.code(), Some(130));
}
