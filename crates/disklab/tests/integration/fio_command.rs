//! `disklab fio`, as a user types it.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn disklab(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::cargo_bin("disklab").expect("built");
    command.current_dir(directory).arg("fio").args(words).output().expect("ran")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn options_are_run_as_fio_would() {
    let directory = tempfile::tempdir().expect("temp");
    let words = ["--name=x", "--rw=write", "--bs=4k", "--size", "64k", "--end_fsync=1"];
    let output = disklab(directory.path(), &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("x: psync, depth 1") && said.contains("write"), "{said}");
    assert_eq!(directory.path().join("x.0.0").metadata().expect("written").len(), 64 << 10);
}

#[test]
fn a_job_file_gives_fios_json() {
    let directory = tempfile::tempdir().expect("temp");
    let job = "[global]\nsize=64k\nbs=4k\n[a]\nrw=randread\n[b]\nstonewall\nrw=randrw\n";
    std::fs::write(directory.path().join("j.fio"), job).expect("job");
    std::fs::create_dir(directory.path().join("d")).expect("directory");
    let output = disklab(directory.path(), &["j.fio", "--dir=d", "--output-format=json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<_> = report["jobs"].as_array().expect("jobs").iter().collect();
    assert_eq!((&names[0]["jobname"], &names[1]["jobname"]), (&"a".into(), &"b".into()));
    assert_eq!(names[0]["read"]["total_ios"], 16);
    assert!(directory.path().join("d/a.0.0").exists());
    // Only one of its sections, into a file.
    let output = disklab(
        directory.path(),
        &["j.fio", "--section=b", "--output=o.json", "--output-format=json"],
    );
    assert!(output.status.success() && output.stdout.is_empty());
    let report = std::fs::read(directory.path().join("o.json")).expect("written");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["jobs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn bad_input_touches_nothing() {
    let directory = tempfile::tempdir().expect("temp");
    std::fs::write(directory.path().join("j.fio"), "[a]\nsize=1m\nblok_size=4k\n").expect("job");
    for (words, part) in [
        (&["j.fio"][..], "j.fio:3:1: "),
        (&["--name=x", "--size=1m", "--bs=4q"], "command line:3:4: `bs`"),
        (&["--name=x", "--size=1m", "--max_latency=1ms"], "max_latency"),
        (&["no.fio"], "cannot read the job file no.fio"),
        (&["j.fio", "--section=b"], ""),
        (&["--name=x", "--size=1m", "--dir=nowhere"], "--dir: cannot use nowhere"),
        (&[], "nothing to do"),
    ] {
        let output = disklab(directory.path(), words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 1);
}

/// As a user types it in a directory with these files, and with these variables.
fn with(
    files: &[(&str, &str)],
    variables: &[(&str, &str)],
    words: &[&str],
) -> (Output, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("temp");
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let mut command = Command::cargo_bin("disklab").expect("built");
    command.current_dir(directory.path()).env_remove("SIZE").envs(variables.iter().copied());
    (command.arg("fio").args(words).output().expect("ran"), directory)
}

#[test]
fn a_collection_runs_and_its_report_says_what_was_run() {
    let files = [
        ("jobs/read.fio", "[global]\ninclude common.inc\n[a]\nrw=read\nsize=${SIZE}\n"),
        ("jobs/common.inc", "bs=8k\nnumjobs=$ncpus*0+1\n"),
    ];
    let words = ["jobs/read.fio", "--output-format=json"];
    let (output, directory) = with(&files, &[("SIZE", "64k")], &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 8);
    assert_eq!(report["variables"]["SIZE"], "64k");
    let joined = report["job files"]["jobs/read.fio"].as_str().expect("its text").to_owned();
    assert_eq!(joined, "[global]\nbs=8k\nnumjobs=1\n[a]\nrw=read\nsize=64k\n");
    // That text needs nothing else.
    std::fs::write(directory.path().join("again.fio"), joined).expect("written");
    let again = disklab(directory.path(), &["again.fio", "--output-format=json"]);
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["jobs"][0]["job options"], report["jobs"][0]["job options"]);
    assert_eq!(again.get("variables"), None);
    // As in fio, a file of the working directory comes first.
    std::fs::write(directory.path().join("common.inc"), "bs=16k\n").expect("written");
    let mut command = Command::cargo_bin("disklab").expect("built");
    command.current_dir(directory.path()).arg("fio").args(words).env("SIZE", "64k");
    let report: Value =
        serde_json::from_slice(&command.output().expect("ran").stdout).expect("JSON");
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 4);
}

#[test]
fn what_a_collection_lacks_is_said_with_its_place() {
    let loops = [("a.fio", "[a]\nsize=1m\ninclude b.inc\n"), ("b.inc", "bs=4k\ninclude b.inc\n")];
    for (files, part) in [
        (&[("a.fio", "[a]\nrw=read\nsize=${SIZE}\n")][..], "a.fio:3:6: ${SIZE} has no value"),
        (&[("a.fio", "[a]\ninclude none.inc\n")], "a.fio:2:1: cannot include 'none.inc'"),
        (
            &[("a.fio", "[a]\ninclude /dev/zero\n")],
            "cannot include '/dev/zero': it is a character device, not a regular file",
        ),
        (
            &[("a.fio", "[a]\ninclude d\n"), ("d/x", "")],
            "cannot include 'd': it is a directory, not a regular file",
        ),
        (&loops, "b.inc:2:1: 'b.inc' includes itself: a.fio → b.inc"),
    ] {
        let (output, directory) = with(files, &[], &["a.fio"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(part), "{part}: {}", text(&output.stderr));
        assert!(!directory.path().join("a.0.0").exists());
    }
}

#[test]
fn the_command_line_is_fios() {
    let one = "[global]\nbs=8k\n[a]\nsize=64k\n";
    let files = [("one.fio", one), ("two.fio", "[b]\nsize=64k\n")];
    // Options before --name hold for the first file, too; the second begins behind the first.
    let ios = |words: &[&str]| -> Vec<(String, u64, u64)> {
        let (output, _directory) = with(&files, &[], words);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let of = |job: &Value| {
            let number = |value: &Value| value.as_u64().expect("a number");
            let name = job["jobname"].as_str().expect("a name").to_owned();
            (name, number(&job["groupid"]), number(&job["read"]["total_ios"]))
        };
        report["jobs"].as_array().expect("jobs").iter().map(of).collect()
    };
    let job = |name: &str, group, ios| (name.to_owned(), group, ios);
    let json = "--output-format=json";
    assert_eq!(ios(&["one.fio", "two.fio", json]), [job("a", 0, 8), job("b", 1, 16)]);
    assert_eq!(
        ios(&["-bs=16k", "two.fio", "-name=q", "-size=64k", json]),
        [job("q", 0, 4), job("b", 0, 4)]
    );
    let words = ["--minimal", "--eta-newline=1", "-name=a", "-size=64k", "--status-interval", "1"];
    let (output, _directory) = with(&[], &[], &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert_eq!(said.matches("no effect").count(), 1, "{said}");
    assert!(said.contains("--minimal, --eta-newline, --status-interval"), "{said}");
    let several = ["--name=a", "--size=64k", "--output-format=normal,json"];
    let (output, _directory) = with(&[], &[], &several);
    let said = text(&output.stdout);
    assert!(said.starts_with('{') && said.contains("\na: psync, depth 1"), "{said}");
    // A value is a value, whatever a job file makes of its letters.
    let (output, directory) =
        with(&[], &[], &["--name=a", "--size=4k", "--rw=write", "--filename=x;y#z"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(directory.path().join("x;y#z").exists());
}

#[test]
fn directories_in_names_are_made_as_fio_does() {
    for (words, names) in [
        (
            &["--nrfiles=2", "--filename_format=$jobname.$jobnum/$filenum"][..],
            &["w.0/0", "w.0/1"][..],
        ),
        (&["--filename=one/two/f:three/g"], &["one/two/f", "three/g"]),
        (&["--directory=there", "--filename=/below/f"], &["there/below/f"]),
        (&["--name=seq/write", "--rw=write", "--size=64k"], &["seq/write.0.0"]),
    ] {
        let files = [("there/is.txt", "")];
        let (output, directory) =
            with(&files, &[], &[&["--name=w", "--rw=write", "--size=64k"], words].concat());
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        for name in names {
            assert!(directory.path().join(name).is_file(), "{name}");
        }
    }
    // The directory that is named has to be there, as with fio.
    let words = ["--size=64k", "--rw=write", "--name=v", "--name=w", "--directory=none"];
    let (output, directory) = with(&[], &[], &words);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("none is not a directory"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 0);
}

#[test]
fn a_share_of_a_file_is_read_as_fio_does() {
    let whole = "x".repeat(1 << 20);
    for (words, bytes) in [
        (&["--size=50%"][..], 524_288),
        (&["--size=100%", "--offset=50%"], 524_288),
        (&["--offset=50%"], 524_288),
        (&["--size=25%", "--offset=30%"], 262_144),
        (&["--io_size=50%"], 524_288),
        (&["--size=64k", "--io_size=50%"], 32_768),
        (&["--size=64k", "--offset=50%"], 65_536),
        (&["--size=33%", "--bs=8k"], 344_064),
        (
            &["--offset=10%", "--numjobs=2", "--offset_increment=20%", "--group_reporting"],
            1_675_264,
        ),
    ] {
        let common = ["--name=r", "--rw=read", "--filename=f", "--output-format=json"];
        let (output, directory) = with(&[("f", &whole)], &[], &[&common, words].concat());
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["jobs"][0]["read"]["io_bytes"], bytes, "{words:?}");
        assert_eq!(directory.path().join("f").metadata().expect("there").len(), 1 << 20);
    }
    let (output, _directory) = with(&[], &[], &["--name=r", "--filename=none", "--size=50%"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("give `size`"), "{}", text(&output.stderr));
}

#[test]
fn readonly_changes_nothing() {
    let words =
        |options: &[&'static str]| [&["--readonly", "--name=a", "--size=4k"], options].concat();
    let there = [("f", "x".repeat(4096))];
    let there = there.each_ref().map(|(name, text)| (*name, text.as_str()));
    for options in [
        &["--rw=write", "--filename=f"][..],
        &["--rw=read", "--filename=none"],
        &["--rw=read", "--filename=f", "--unlink=1"],
        &["--rw=read", "--filename=f", "--size=8k"],
    ] {
        let (output, directory) = with(&there, &[], &words(options));
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains("nothing may be changed"),
            "{}",
            text(&output.stderr)
        );
        assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 1);
    }
    let (output, _directory) = with(&there, &[], &words(&["--rw=read", "--filename=f"]));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn an_io_error_exits_with_1_and_names_its_cause() {
    let directory = tempfile::tempdir().expect("temp");
    std::fs::create_dir(directory.path().join("f")).expect("directory");
    let words = ["--name=x", "--rw=write", "--size=64k", "--filename=f"];
    let output = disklab(directory.path(), &words);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("Is a directory"), "{}", text(&output.stderr));
}

#[test]
fn the_options_are_listed() {
    let directory = tempfile::tempdir().expect("temp");
    let output = disklab(directory.path(), &["--list-options"]);
    let said = text(&output.stdout);
    assert!(said.contains("rwmixread") && said.contains("iodepth_batch_complete_min"), "{said}");
    let parsed = disklab(directory.path(), &["--parse-only", "--name=x", "--size=1m"]);
    assert!(parsed.status.success() && parsed.stdout.is_empty());
    assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 0);
}

/// fio2gnuplot draws fio's logs, and comes with fio.
#[test]
fn logs_are_what_fio2gnuplot_reads() {
    let directory = tempfile::tempdir().expect("temp");
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
    let output = disklab(directory.path(), &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let logs = directory.path().join("logs");
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
