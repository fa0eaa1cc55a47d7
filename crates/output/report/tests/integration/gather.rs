//! From a run's directory to a report.

use disklab_cell::{Cell, Levels};
use disklab_report::{Report, ReportError, ReportFormat, TwoStacks, render};
use disklab_sample::{
    Direction, DriveState, DriveTraffic, Environment, Figure, Note, OperationKind, Overhead,
    Sample, Step,
};
use disklab_store::{CellState, Run, RunInfo};

use crate::{support, wellformed};

const STUDY: &str = r#"
id = "two"
title = "Two file systems"
repeats = 3
baseline = "single/ext4"
drives = { model = "hdn721010ale604", name = "d", size = "10 TB" }
layouts = { single = "" }
file-systems = { ext4 = "ext4", xfs = "xfs" }
workloads = { id = "w", fio = { rw = "read", bs = "1M", size = "64M" } }
"#;

fn sample(cell: &Cell) -> Sample {
    let speed = if cell.levels.stack == "single/ext4" { 200e6 } else { 100e6 };
    let speed = speed * (1.0 + 0.001 * f64::from(cell.block));
    let figure = Figure {
        direction: Direction::Read,
        bytes: 64 << 20,
        operations: Some(64),
        elapsed_ns: (64.0 * 1_048_576.0 / speed * 1e9) as u64,
        bytes_per_second: Some(speed),
        operations_per_second: Some(speed / 1_048_576.0),
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    };
    let traffic = DriveTraffic { drive: "d".into(), read_bytes: 80 << 20, ..Default::default() };
    // One drive tells what it does inside.
    let traffic = match cell.levels.stack.as_str() {
        "single/xfs" => {
            DriveTraffic { write_bytes: 10 << 20, medium_write_bytes: Some(15 << 20), ..traffic }
        }
        _ => traffic,
    };
    let step =
        Step { name: "w".into(), figures: vec![figure], drives: vec![traffic], ..Step::default() };
    let write_cache = Some(if cell.block == 0 { "write back" } else { "write through" }.to_owned());
    Sample {
        steps: vec![step],
        overhead: Overhead { make_seconds: 1.0 + f64::from(cell.block), ..Overhead::default() },
        environment: Environment {
            kernel: "Linux 6.1".into(),
            mounts: vec![format!("/dev/x /mnt {} rw", cell.levels.stack).parse().expect("a mount")],
            drives: vec![DriveState { drive: "d".into(), write_cache, ..DriveState::default() }],
            ..Environment::default()
        },
        notes: vec![Note { about: "fio".into(), text: "the same each time".into() }; 2],
        ..Sample::default()
    }
}

fn made(directory: &std::path::Path, study_text: &str) -> Run {
    let study = disklab_study::load("two.toml", STUDY).expect("the study");
    let info = RunInfo {
        study: study.id.to_string(),
        title: study.title.clone(),
        study_file: "two.toml".into(),
        study_text: study_text.to_owned(),
        ..support::made(1, 1, "loop", 1).info
    };
    let levels: Vec<Levels> = study.stacks.iter().map(|s| Levels::new(&s.id, "w")).collect();
    let cells = study.order(&levels, 3, 1);
    let mut run = Run::create(directory, &info, &cells).expect("a run");
    for cell in &cells {
        run.begin_cell(cell).expect("a directory");
        if cell.number == 4 {
            run.fail(cell, "it broke", &[], 0.5).expect("failed");
        } else if cell.number != 5 {
            run.record(cell, &sample(cell), 2.0).expect("recorded");
        }
    }
    run
}

#[test]
fn internal_writes_are_shown_next_to_host_writes() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = made(&directory.path().join("run"), STUDY);
    let report = Report::gather(&run).expect("a report");
    let [media] = report.facts.media.as_slice() else { panic!("{:?}", report.facts.media) };
    assert_eq!((media.stack.as_str(), media.step.as_str()), ("single/xfs", "w"));
    assert_eq!(media.amplification(), Some(1.5));
    let page = render(&report, ReportFormat::Html);
    assert!(page.contains("inside drives") && page.contains("1.50×"));
}

#[test]
fn a_run_that_is_still_running_has_a_report() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = made(&directory.path().join("run"), STUDY);
    let report = Report::gather(&run).expect("a report");
    let number = |state| report.cells.iter().filter(|c| c.state == state).count();
    assert_eq!([CellState::Done, CellState::Failed, CellState::Waiting].map(number), [4, 1, 1]);

    let facts = &report.facts;
    assert_eq!(facts.overheads.len(), 2);
    assert_eq!((facts.overheads[0].make.median, facts.overheads[0].make.worst), (1.5, 2.0));
    // Told twice by each cell, the note counts once for each.
    assert_eq!(facts.notes.iter().map(|n| n.cells).collect::<Vec<_>>(), [4]);
    // The same drive with its write cache on and off.
    let states = facts.drives.iter().filter(|d| d.drive == "d").count();
    assert_eq!(states, 2);
    assert_eq!(facts.traces.len(), 2);
    assert!(facts.kernels.contains(&"Linux 6.1".to_owned()));

    let html = render(&report, ReportFormat::Html);
    wellformed::check(&html);
    for part in ["200 MB/s", "100 MB/s", "it broke", "1 cell not run yet", "1.25×", "write through"]
    {
        assert!(html.contains(part), "{part}");
    }
    let csv = render(&report, ReportFormat::Csv);
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.contains("two,loop,single/ext4,single,ext4,w,w,read,0,200000000,"), "{csv}");
}

#[test]
fn an_invalid_study_is_an_error_with_its_location() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = made(&directory.path().join("run"), "id = 3\nx");
    let error = Report::gather(&run).expect_err("no study");
    assert!(matches!(error, ReportError::Study(_)));
    assert!(error.to_string().contains("two.toml:2"), "{error}");
}

#[test]
fn two_stacks_are_put_next_to_each_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = made(&directory.path().join("run"), STUDY);
    let two = TwoStacks::gather(&run, ["XFS", "one drive ext4"]).expect("both");
    let text = two.text(80);
    for part in [
        "One drive · XFS against One drive · ext4",
        "Of 1 figure, One drive · XFS is",
        "  One drive · XFS   100 MB/s",
        "  One drive · ext4  200 MB/s",
        "0.50×",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The other way round the ratio turns over.
    let other = TwoStacks::gather(&run, ["single/ext4", "single/xfs"]).expect("both");
    assert!((two.rows[0].numbers.0 * other.rows[0].numbers.0 - 1.0).abs() < 1e-9, "{other:?}");
    crate::markdown::check_tables(&two.markdown());
    let page = two.html();
    for part in ["<h1>One drive · XFS against One drive · ext4</h1>", &two.rows[0].ratio] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let json: serde_json::Value = serde_json::from_str(&two.json()).expect("JSON");
    assert_eq!(json["stacks"][0]["id"], "single/xfs");
    assert_eq!(json["figures"].as_array().map(Vec::len), Some(1));
    for (names, expected) in [
        (["single", "xfs"], "'single' may be single/ext4, single/xfs; name one of them"),
        (["xfs", "single/xfs"], "both names mean single/xfs"),
        (["raid5", "xfs"], "the run has no stack 'raid5'"),
    ] {
        let error = TwoStacks::gather(&run, names).expect_err("refused").to_string();
        assert!(error.starts_with("--versus") && error.contains(expected), "{error}");
    }
}
