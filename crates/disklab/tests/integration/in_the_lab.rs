//! Studies in the lab, as its users run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::disklab as command;
use assert_cmd::Command;
use disklab_cell::Cell;
use disklab_sample::Sample;
use disklab_store::{CellState, Run};

/// Three kinds of work on four stacks, small.
const SMALL: &str = r#"
id = "small"
title = "Small"
repeats = 1
[[drives]]
model = "hgst-10tb"
count = 2
size = "10 TB"
[layouts]
single = { drives = 1 }
mirror = { layers = "md-raid1", drives = 2 }
[file-systems]
ext4 = "ext4"
btrfs = "btrfs"
[[workloads]]
id = "dd"
dd = { direction = "write", bs = "4k", count = 8, flags = "dsync" }
[[workloads]]
id = "copy"
copy = { files = 10, size = "1 MB" }
[[workloads]]
id = "fio"
fio = { ioengine = "psync", direct = 1, rw = "randread", bs = "4k", size = "8M", io_size = "256k" }
"#;

fn run(home: &Path, arguments: &[&str], out: &str) -> Output {
    command(home).arg("run").args(arguments).args(["--out", out]).output().expect("it starts")
}

/// A run whose cells are all done may still have severe findings: exit code 1.
fn assert_ran(output: &Output) {
    let code = output.status.code();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(code == Some(0) || code == Some(1), "{code:?}: {said}");
    assert!(!said.contains("FAILED"), "{said}");
}

fn write(home: &Path, name: &str, text: &str) {
    std::fs::write(home.join(name), text).expect("a file");
}

/// All samples by stack, workload and block, and the errors of cells that failed.
fn samples(directory: &Path) -> (BTreeMap<String, Sample>, Vec<String>) {
    let run = Run::open(directory).expect("a run");
    let name =
        |cell: &Cell| format!("{}:{}:{}", cell.levels.stack, cell.levels.workload, cell.block);
    let mut samples = BTreeMap::new();
    run.for_each_sample(|record, sample| {
        samples.insert(name(&record.cell), sample);
    })
    .expect("samples");
    let cells = run.cells().expect("cells").into_iter();
    let errors = cells
        .filter(|record| record.state != CellState::Done)
        .map(|record| format!("{}: {}", name(&record.cell), record.error.unwrap_or_default()))
        .collect();
    (samples, errors)
}

#[test]
fn a_study_gives_the_same_results_anywhere() {
    let Some(_) = kernel() else { return };
    // Another directory, one lab at a time or several, another environment: nothing of
    // it may reach the guests.
    let (one, two) = (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
    let deep = two.path().join("a directory/with a longer path");
    std::fs::create_dir_all(&deep).expect("directory");
    write(one.path(), "small.toml", SMALL);
    write(&deep, "small.toml", SMALL);
    assert_ran(&run(one.path(), &["small.toml", "--seed", "11", "--at-once", "1"], "run"));
    let mut again = command(&deep);
    again.args(["run", "small.toml", "--seed", "11", "--out", "elsewhere"]).env("HOME", &deep);
    again.env("TZ", "Asia/Tokyo").env("LANG", "de_DE.UTF-8");
    assert_ran(&again.output().expect("it starts"));
    let (first, errors) = samples(&one.path().join("run"));
    assert_eq!((first.len(), errors.as_slice()), (12, [].as_slice()));
    let (second, errors) = samples(&deep.join("elsewhere"));
    assert_eq!((second.len(), errors.as_slice()), (12, [].as_slice()));
    for (name, sample) in &first {
        let json = |sample: &Sample| serde_json::to_string_pretty(sample).expect("json");
        let (one, two) = (json(sample), json(&second[name]));
        let differs = one.lines().zip(two.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}");
        assert_eq!(one, two, "{name}");
    }
    // Another seed is another run.
    let other = ["small.toml", "--seed", "12", "--only", "single/ext4:fio"];
    assert_ran(&run(one.path(), &other, "other"));
    let (third, _) = samples(&one.path().join("other"));
    let name = "single/ext4:fio:0";
    assert_ne!(third[name].steps[0].elapsed_ns, first[name].steps[0].elapsed_ns);
}

#[test]
fn a_guest_that_fails_is_a_failed_cell_and_the_run_continues() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let more = r#"
[[workloads]]
id = "greedy"
fio = { ioengine = "psync", rw = "write", bs = "48M", size = "48M", numjobs = 8, prewrite = "none" }
[[workloads]]
id = "endless"
fio = { ioengine = "psync", direct = 1, rw = "randread", bs = "4k", size = "1M", runtime = 3600, time_based = 1 }
"#;
    write(home.path(), "study.toml", &format!("{SMALL}{more}"));
    let limits = ["--memory", "192M", "--cell-limit", "100s", "--only", "single/ext4:*"];
    let output = run(home.path(), &[&["study.toml", "--seed", "1"], &limits[..]].concat(), "run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let (samples, errors) = samples(&home.path().join("run"));
    assert_eq!((samples.len(), errors.len()), (3, 2), "{said}");
    let error = |name: &str| {
        errors.iter().find(|e| e.contains(name)).unwrap_or_else(|| panic!("{name}: {errors:?}"))
    };
    assert!(error("endless").contains("stopped after 100 s of virtual time"), "{errors:?}");
    assert!(error("greedy").contains("memory"), "{errors:?}");
    // The report shows them, and the consoles lie with the raw outputs.
    let report = std::fs::read_to_string(home.path().join("run/report.md")).expect("report");
    assert!(report.contains("100 s of virtual time"), "{report}");
    for directory in std::fs::read_dir(home.path().join("run/raw")).expect("raw") {
        let console = directory.expect("entry").path().join("console");
        let text = std::fs::read_to_string(&console).expect("console");
        assert!(text.contains("Linux version"), "{}:\n{text}", console.display());
    }
}

#[test]
fn a_killed_run_leaves_nothing_and_continues_to_the_same_end() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    write(home.path(), "small.toml", SMALL);
    assert_ran(&run(home.path(), &["small.toml", "--seed", "3"], "whole"));
    let mut child = command(home.path())
        .args(["run", "small.toml", "--seed", "3", "--out", "killed"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    // As soon as a few cells are done, and others run.
    let some_are_done = || {
        let done = |run: Run| {
            let cells = run.cells().unwrap_or_default();
            cells.iter().filter(|cell| cell.state == CellState::Done).count()
        };
        Run::open(&home.path().join("killed")).is_ok_and(|run| done(run) > 2)
    };
    while !some_are_done() && child.try_wait().expect("wait").is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("kill");
    child.wait().expect("wait");
    assert_ran(&run(home.path(), &["--resume"], "killed"));
    let names = std::fs::read_dir(home.path().join("killed")).expect("the run").flatten();
    let own =
        names.map(|entry| entry.file_name()).find(|n| n.to_string_lossy().starts_with("disklab"));
    assert_eq!(own, None, "its labs' directories are left");
    assert_eq!(samples(&home.path().join("killed")), samples(&home.path().join("whole")));
}

#[test]
fn every_layer_works() {
    let programs = ["mdadm", "lvm", "cryptsetup", "integritysetup", "mkfs.nilfs2", "mkfs.f2fs"];
    let (Some(_), true) = (kernel(), has_programs(&programs)) else { return };
    let home = tempfile::tempdir().expect("temp");
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/studies/layers.toml");
    let output = run(home.path(), &[file.to_str().expect("text"), "--seed", "5"], "run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (samples, errors) = samples(&home.path().join("run"));
    assert!(errors.is_empty(), "{}\n{said}", errors.join("\n"));
    assert_eq!(samples.len(), 36, "{said}");
    assert!(!said.contains("left out"), "{said}");
    for (name, sample) in &samples {
        let written: u64 =
            sample.steps.iter().flat_map(|s| &s.drives).map(|drive| drive.write_bytes).sum();
        assert!(written > 2_000_000, "{name}: {written} bytes reached the drives");
        // A hard disk needs some time for 20 files; nothing here takes a day.
        let virtual_seconds = sample.lab.as_ref().expect("the lab's").virtual_ns as f64 / 1e9;
        assert!((0.05..86_400.0).contains(&virtual_seconds), "{name}: {virtual_seconds}");
    }
    // What a stack does when it is made or assembled is over before it is measured.
    let report = std::fs::read_to_string(home.path().join("run/report.md")).expect("report");
    assert!(!report.contains("Background maintenance"), "{report}");
    // The write cache is as the study wants it, and a drive is what it is.
    let drives = |name: &str| &samples[&format!("{name}:copy:0")].environment.drives;
    assert_eq!(drives("no-cache")[0].write_cache.as_deref(), Some("write through"));
    assert_eq!(drives("ext4")[0].write_cache.as_deref(), Some("write back"));
    assert_eq!(drives("ext4")[0].size_bytes, 10_000_831_348_736);
    assert_eq!(drives("raid6").len(), 4);
}

#[test]
fn studies_that_cannot_be_modelled_are_refused() {
    let home = tempfile::tempdir().expect("temp");
    let (_, text) = disklab_drive::SHIPPED[0];
    let fast = |line: &str| if line.starts_with("rpm") { "rpm = 9000000" } else { line }.to_owned();
    write(home.path(), "mine.toml", &text.lines().map(fast).collect::<Vec<_>>().join("\n"));
    let plan = |study: &str, arguments: &[&str]| -> (Option<i32>, String) {
        write(home.path(), "study.toml", study);
        let mut plan = Command::from_std(command(home.path()));
        let output = plan.args(["plan", "study.toml"]).args(arguments).output().expect("it ran");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (from, to, arguments, expected) in [
        ("hgst-10tb", "hgst-20tb", &[][..], "did you mean 'hgst-10tb'"),
        ("\"10 TB\"", "\"20 TB\"", &[], "is not available of the model"),
        ("hgst-10tb", "./no-such.toml", &[], "cannot read the drive file"),
        ("hgst-10tb", "./mine.toml", &[], "mine.toml:"),
        ("SMALL", "", &["--memory", "1 MiB"], "--memory"),
        ("SMALL", "", &["--memory", "900 TiB"], "--memory"),
        ("SMALL", "", &["--at-once", "0"], "--at-once"),
        ("SMALL", "", &["--cell-limit", "soon"], "--cell-limit"),
        ("8M", "4T", &[], "is free there"),
    ] {
        let (code, said) = plan(&SMALL.replace(from, to), arguments);
        assert_eq!(code, Some(2), "{from} {to} {arguments:?}: {said}");
        assert!(said.contains(expected), "{from} {to} {arguments:?}: {said}");
    }
    let (code, said) = plan(SMALL, &[]);
    assert_eq!(code, Some(0), "{said}");
}
