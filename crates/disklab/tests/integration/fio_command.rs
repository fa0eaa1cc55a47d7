//! `disklab fio`, as a user types it.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn disklab(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::cargo_bin("disklab").expect("built");
    command.current_dir(folder).arg("fio").args(words).output().expect("ran")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn options_are_run_as_fio_would() {
    let folder = tempfile::tempdir().expect("temp");
    let words = ["--name=x", "--rw=write", "--bs=4k", "--size", "64k", "--end_fsync=1"];
    let output = disklab(folder.path(), &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("x: psync, depth 1") && said.contains("write"), "{said}");
    assert_eq!(folder.path().join("x.0.0").metadata().expect("written").len(), 64 << 10);
}

#[test]
fn a_job_file_gives_fios_json() {
    let folder = tempfile::tempdir().expect("temp");
    let job = "[global]\nsize=64k\nbs=4k\n[a]\nrw=randread\n[b]\nstonewall\nrw=randrw\n";
    std::fs::write(folder.path().join("j.fio"), job).expect("job");
    std::fs::create_dir(folder.path().join("d")).expect("folder");
    let output = disklab(folder.path(), &["j.fio", "--dir=d", "--output-format=json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<_> = report["jobs"].as_array().expect("jobs").iter().collect();
    assert_eq!((&names[0]["jobname"], &names[1]["jobname"]), (&"a".into(), &"b".into()));
    assert_eq!(names[0]["read"]["total_ios"], 16);
    assert!(folder.path().join("d/a.0.0").exists());
    // Only one of its sections, into a file.
    let output = disklab(
        folder.path(),
        &["j.fio", "--section=b", "--output=o.json", "--output-format=json"],
    );
    assert!(output.status.success() && output.stdout.is_empty());
    let report = std::fs::read(folder.path().join("o.json")).expect("written");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["jobs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn bad_input_touches_nothing() {
    let folder = tempfile::tempdir().expect("temp");
    std::fs::write(folder.path().join("j.fio"), "[a]\nsize=1m\nblok_size=4k\n").expect("job");
    for (words, part) in [
        (&["j.fio"][..], "j.fio:3:1: "),
        (&["--name=x", "--size=1m", "--bs=4q"], "command line:3:4: `bs`"),
        (&["--name=x", "--size=1m", "--max_latency=1ms"], "max_latency"),
        (&["no.fio"], "cannot read the job file no.fio"),
        (&["j.fio", "--section=b"], ""),
        (&["--name=x", "--size=1m", "--dir=nowhere"], "--dir: cannot use nowhere"),
        (&[], "nothing to do"),
    ] {
        let output = disklab(folder.path(), words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1);
}

#[test]
fn an_io_error_exits_with_1_and_names_its_cause() {
    let folder = tempfile::tempdir().expect("temp");
    std::fs::create_dir(folder.path().join("f")).expect("folder");
    let words = ["--name=x", "--rw=write", "--size=64k", "--filename=f"];
    let output = disklab(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("Is a directory"), "{}", text(&output.stderr));
}

#[test]
fn the_options_are_listed() {
    let folder = tempfile::tempdir().expect("temp");
    let output = disklab(folder.path(), &["--list-options"]);
    let said = text(&output.stdout);
    assert!(said.contains("rwmixread") && said.contains("iodepth_batch_complete_min"), "{said}");
    let parsed = disklab(folder.path(), &["--parse-only", "--name=x", "--size=1m"]);
    assert!(parsed.status.success() && parsed.stdout.is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
}

/// fio2gnuplot draws fio's logs, and comes with fio.
#[test]
fn logs_are_what_fio2gnuplot_reads() {
    let folder = tempfile::tempdir().expect("temp");
    let words = [
        "--name=x",
        "--rw=randrw",
        "--bs=4k",
        "--size=1m",
        "--time_based",
        "--runtime=3",
        "--rate_iops=200",
        "--log_avg_msec=1000",
        "--logs=logs",
    ];
    let output = disklab(folder.path(), &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let logs = folder.path().join("logs");
    for kind in ["bw", "iops", "lat"] {
        let log = std::fs::read_to_string(logs.join(format!("x_{kind}.1.log"))).expect(kind);
        assert!(log.lines().count() >= 4, "{kind}: {log}");
    }
    // It is a Python program, and the package fio only recommends Python.
    let fio2gnuplot = |words: &[&str]| {
        std::process::Command::new("fio2gnuplot").args(words).current_dir(&logs).output()
    };
    // Its help ends with 1.
    if !fio2gnuplot(&["-h"]).is_ok_and(|said| text(&said.stdout).contains("--pattern")) {
        eprintln!("skipped: needs fio2gnuplot (packages fio and python3)");
        return;
    }
    let drawn = fio2gnuplot(&["-p", "x_iops.1.log", "-o", "drawn"]).expect("ran before");
    let said = text(&drawn.stdout) + &text(&drawn.stderr);
    assert!(drawn.status.success() && said.contains("1 files Selected"), "{said}");
    let log = std::fs::read_to_string(logs.join("x_iops.1.log")).expect("log");
    let values: Vec<f64> = log
        .lines()
        .map(|l| l.split(", ").nth(1).expect("value").parse().expect("number"))
        .collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let global = std::fs::read_to_string(logs.join("x_iops.1.global")).expect("what it computed");
    let of = |key: &str| global.lines().find_map(|l| l.strip_prefix(key)?.parse::<f64>().ok());
    assert_eq!(of("values_count="), Some(values.len() as f64), "{global}");
    assert!((of("avg=").expect("a mean") - mean).abs() < 0.01, "{global} and {mean}");
}
