//! A made-up study, a made-up run, and what follows.

use disklab_audits::{Group, GroupKey, Observation};
use disklab_cell::Levels;
use disklab_published::{
    Catalogue, CellEnd, CellFate, JudgedRow, MeasuredRun, RowComparison, RowStatus, compare,
};
use disklab_sample::Direction;
use disklab_source::Source;
use disklab_study::{LeftOut, Study, load};

const STUDY: &str = r#"
id = "s"
title = "t"
drives = { model = "m", name = "d", size = "1 TB" }
layouts = { single = "", raid5 = "" }
file-systems = { ext4 = "ext4", btrfs = "btrfs" }
[[workloads]]
id = "read"
fio = { rw = "read" }
[[workloads]]
id = "backup"
backup = { size = "1 GB" }
"#;

const ROWS: &str = "\
study,id,kind,subject,baseline,workload,metric,unit,value,low,high,cpu_bound,note
s,value,value,single/ext4,,read it,throughput,MB/s,100,,,no,
s,mib,value,single/ext4,,read MiB,throughput,MB/s,100,,,no,
s,mib-above,order,raid5/ext4,single/ext4,read MiB,throughput,,1,,,no,
s,ratio,ratio,raid5/ext4,single/ext4,read it,throughput,,2,,,no,
s,above,order,raid5/ext4,single/ext4,read it,throughput,,1,,,no,
s,cpu,order,raid5/ext4,single/ext4,read it,throughput,,-1,,,yes,
s,silent,value,raid5/ext4,,read it,throughput,MB/s,,,,no,not measurable
s,time,value,single/ext4,,backup,elapsed,s,100,,,no,
s,failed,value,single/btrfs,,read it,throughput,MB/s,100,,,no,
s,ends,order,single/btrfs,single/ext4,ends,completes,,-1,,,no,
s,never,value,raid5/btrfs,,read it,throughput,MB/s,100,,,no,
other,x,value,single/ext4,,read it,throughput,MB/s,100,,,no,
";

const MAPPING: &str = r#"
[[rule]]
study = "s"
workload = "ends"
figure = "read:*:*"
measure = "completes"
[[rule]]
study = "s"
workload = "read MiB"
figure = "read:read:read"
measure = "throughput"
unit = "MiB/s"
[[rule]]
study = "s"
workload = "read it"
figure = "read:read:read"
measure = "throughput"
[[rule]]
study = "s"
workload = "backup"
figure = "backup:*:*"
measure = "elapsed"
work = "10 GB"
"#;

const FINDINGS: &str = r#"
[[finding]]
study = "s"
rows = ["ratio", "valu?"]
why = """The bus
is narrow."""
cause = "drive-model"
evidence = "Half the drives, half the rate."
"#;

fn catalogue() -> Catalogue {
    let source = |name: &str, text: &str| Source { name: name.into(), text: text.into() };
    Catalogue::read(source("p.csv", ROWS), source("m.toml", MAPPING), source("f.toml", FINDINGS))
        .unwrap_or_else(|e| panic!("{e}"))
}

fn study() -> Study {
    load("s.toml", STUDY).unwrap_or_else(|e| panic!("{e}"))
}

fn group(stack: &str, workload: &str, per_second: &[f64]) -> Group {
    let observations = per_second.iter().enumerate().map(|(block, rate)| Observation {
        cell: block as u32,
        block: block as u32,
        throughput: Some(*rate),
        iops: None,
        elapsed: 1e9 / rate,
        latency: None,
        operations: None,
        missed: None,
        committed: false,
        bytes: 1_000_000_000,
        drive_read: 0,
        drive_write: 0,
        drives: Vec::new(),
        memory_reads: None,
        cpu_seconds: 0.0,
    });
    let key = GroupKey {
        levels: Levels::new(stack, workload),
        step: workload.into(),
        direction: Direction::Read,
        part: Default::default(),
    };
    let operation = disklab_sample::OperationKind::Io;
    Group {
        key,
        observations: observations.collect(),
        latency: None,
        operation,
        committed: false,
        profile: None,
    }
}

fn fate(stack: &str, end: CellEnd) -> CellFate {
    CellFate { stack: stack.into(), workload: "read".into(), block: 0, end: Some(end) }
}

fn judged(single: &[f64], raid5: &[f64]) -> RowComparison {
    let groups = [
        group("single/ext4", "read", single),
        group("single/ext4", "backup", single),
        group("raid5/ext4", "read", raid5),
    ];
    let cells = [
        fate("single/ext4", CellEnd::Done),
        fate("raid5/ext4", CellEnd::Done),
        fate("single/btrfs", CellEnd::Failed("no space left\nat all".into())),
    ];
    let left_out = [LeftOut {
        stack: Some("raid5/btrfs".into()),
        workload: None,
        why: "needs btrfs".into(),
        packages: vec![],
    }];
    let measured = MeasuredRun {
        study: &study(),
        groups: &groups,
        cells: &cells,
        left_out: &left_out,
        processor_charged: false,
        scale: 1.0,
    };
    compare(&catalogue(), &measured).expect("something was published")
}

fn row<'a>(comparison: &'a RowComparison, id: &str) -> &'a JudgedRow {
    comparison.rows.iter().find(|j| j.row.id == id).expect("a row")
}

#[test]
fn reproduced_rows_are_counted() {
    let comparison = judged(&[100e6], &[120e6]);
    let status = |id| row(&comparison, id).status;
    assert_eq!(status("value"), RowStatus::Reproduced);
    assert_eq!(status("ratio"), RowStatus::NotReproduced);
    assert_eq!(status("above"), RowStatus::Reproduced);
    assert_eq!(status("cpu"), RowStatus::NotReproduced);
    assert_eq!(status("silent"), RowStatus::NothingPublished);
    assert_eq!(status("failed"), RowStatus::NotRun);
    assert_eq!(status("ends"), RowStatus::Reproduced);
    let tally = comparison.tally;
    assert_eq!((tally.rows, tally.countable, tally.reproduced), (11, 9, 6));
    assert_eq!((tally.not_reproduced, tally.not_run, tally.uncertain), (1, 2, 0));
    assert_eq!((tally.cpu_bound, tally.cpu_bound_not_reproduced, tally.without_value), (1, 1, 1));
    assert_eq!(tally.unexplained, 0);
    assert_eq!(tally.share_met(), Some(6.0 / 9.0));
    assert_eq!(tally.plus(tally).countable, 18);
}

#[test]
fn a_miss_has_its_finding_and_a_hit_has_none() {
    let comparison = judged(&[100e6], &[120e6]);
    let finding = row(&comparison, "ratio").finding.as_ref().expect("known");
    assert_eq!(finding.why, "The bus is narrow.");
    assert_eq!(row(&comparison, "value").finding, None);
}

#[test]
fn unmeasured_rows_say_why() {
    let comparison = judged(&[100e6], &[120e6]);
    let note = |id| row(&comparison, id).measured_note.clone().unwrap_or_default();
    assert_eq!(note("failed"), "failed: no space left");
    assert_eq!(note("never"), "left out: needs btrfs");
}

#[test]
fn units_and_amounts_of_work_are_converted() {
    let comparison = judged(&[100e6], &[120e6]);
    let mib = row(&comparison, "mib");
    assert!((mib.measured.expect("measured").centre - 95.367).abs() < 0.001);
    assert_eq!((mib.read_unit.as_str(), mib.status), ("MiB/s", RowStatus::Reproduced));
    let above = row(&comparison, "mib-above");
    assert_eq!((above.read_unit.as_str(), above.status), ("", RowStatus::Reproduced));
    let time = row(&comparison, "time");
    // 1 GB in 10 s is 10 GB in 100 s.
    assert!((time.measured.expect("measured").centre - 100.0).abs() < 1e-6);
    assert!(
        time.measured_note.as_deref().is_some_and(|r| r.contains("1/10")),
        "{:?}",
        time.measured_note
    );
}

#[test]
fn an_interval_over_the_border_makes_a_row_uncertain() {
    let once = judged(&[100e6], &[160e6]);
    assert_eq!(row(&once, "ratio").is_certain, None);
    let steady = judged(&[100e6, 101e6, 100e6], &[200e6, 201e6, 199e6]);
    assert_eq!(row(&steady, "ratio").is_certain, Some(true));
    let loose = judged(&[100e6, 101e6, 100e6], &[160e6, 120e6, 210e6]);
    assert_eq!(row(&loose, "ratio").is_certain, Some(false));
    assert!(loose.tally.uncertain >= 1);
}

/// Ratios are of the same block: what slows a whole block down falls out.
#[test]
fn ratios_are_paired_over_blocks() {
    let comparison = judged(&[100e6, 50e6, 200e6], &[200e6, 100e6, 400e6]);
    let measured = row(&comparison, "ratio").measured.expect("measured");
    assert!((measured.centre - 2.0).abs() < 1e-9);
    assert_eq!(measured.n, 3);
    assert_eq!(row(&comparison, "ratio").is_certain, Some(true));
}

#[test]
fn a_study_of_which_nothing_was_published_has_no_comparison() {
    let study = load("x.toml", &STUDY.replace("id = \"s\"", "id = \"mine\"")).expect("valid");
    let measured = MeasuredRun {
        study: &study,
        groups: &[],
        cells: &[],
        left_out: &[],
        processor_charged: false,
        scale: 1.0,
    };
    assert_eq!(compare(&catalogue(), &measured), None);
}
