//! From a run's directory to an analysis, on samples made up from a simple model
//! of disks.

use std::path::Path;

use disklab_audits::Severity;
use disklab_cell::{Cell, Levels};
use disklab_comparisons::ComparisonOutcome;
use disklab_decision::{AnalyseError, analyse};
use disklab_sample::{
    Cpu, Direction, DriveTraffic, Environment, Figure, Latency, LatencyHistogram, OperationKind,
    Sample, Step, StepProfile,
};
use disklab_store::{Run, RunInfo};
use disklab_study::{ChartKind, Measure, Percentile, Study, load};
use disklab_workload::{Context, read_workload};
use jiff::Timestamp;

const STUDY: &str = r#"
id = "nas"
title = "A small NAS"
repeats = 4
baseline = "single/ext4"

[[drives]]
model = "m"
name = "d"
count = 4
size = "1 TB"

[layouts]
single = { drives = 1 }
raid5 = "md-raid5"

[file-systems]
ext4 = "ext4"
xfs = "xfs"
btrfs = "btrfs"

[[workloads]]
id = "read-1m"
title = "read a large file"
fio = { rw = "read", bs = "1M", size = "64M", direct = 1 }

[[workloads]]
id = "randread-4k"
title = "read at random places"
fio = { rw = "randread", bs = "4k", size = "64M", direct = 1 }

[[workloads]]
id = "sync-write-{bs}"
title = "write {bs} at a time, each made safe before the next"
matrix = { bs = ["4k", "64k", "1M"] }
dd = { direction = "write", bs = "{bs}", count = 16, flags = "dsync", source = "random" }

[[workloads]]
id = "tree"
title = "copy a tree"
copy = { files = 1000, size = "64M", sync = true }

[[questions]]
ask = "How fast are large files read?"
workloads = "read-1m"

[[questions]]
ask = "How many small blocks can be read at random places?"
workloads = "randread-4k"

[[questions]]
ask = "How long do small random reads take?"
workloads = "randread-4k"
chart = "distribution"

[[questions]]
ask = "What do writes cost that must be safe before the next one?"
workloads = "sync-write-*"
over = "bs"

[[questions]]
ask = "How long does a tree take?"
workloads = "tree"
"#;

fn info(study: &Study) -> RunInfo {
    RunInfo {
        disklab: "0".to_owned(),
        study: study.id.to_string(),
        title: study.title.clone(),
        study_file: "nas.toml".to_owned(),
        study_text: study.source.text.clone(),
        bench: disklab_options::BenchKind::Loop.into(),
        bench_about: "files of this machine as disks".to_owned(),
        options: disklab_options::RunSettings::default(),
        scale: 0.0625,
        repeats: study.repeats,
        seed: 1,
        created: Timestamp::UNIX_EPOCH,
        stacks: Vec::new(),
        left_out: Vec::new(),
        reference: None,
        machines: Default::default(),
        environment: Environment::default(),
    }
}

/// A factor near 1 that depends on nothing but its arguments.
fn noise(cell: &Cell, salt: u64, amount: f64) -> f64 {
    let mut hash = cell.seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in cell.levels.stack.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 29;
    1.0 + amount * ((hash % 2001) as f64 / 1000.0 - 1.0)
}

/// What the model says of one cell: (step, direction, bytes, size of an
/// operation, seconds).
fn model(cell: &Cell) -> Vec<(&'static str, Direction, u64, u64, f64)> {
    let raid = cell.levels.stack.starts_with("raid5");
    let btrfs = cell.levels.stack.ends_with("btrfs");
    // Each block is slower than the last, for all stacks alike.
    let drift = 1.0 + 0.3 * f64::from(cell.block);
    let n = |salt| drift * noise(cell, salt, 0.02);
    let size: u64 = 64 << 20;
    match cell.levels.workload.as_str() {
        "read-1m" => {
            let rate = if raid { 420e6 } else { 180e6 };
            vec![("read-1m", Direction::Read, size, 1 << 20, size as f64 / rate * n(1))]
        }
        "randread-4k" => {
            let iops = if btrfs { 95.0 } else { 120.0 };
            vec![("randread-4k", Direction::Read, 4 << 20, 4096, 1024.0 / iops * n(2))]
        }
        "tree" => {
            let slow = if btrfs { 1.1 } else { 1.0 };
            vec![
                ("cp", Direction::Copy, size, 0, 2.0 * slow * n(3)),
                ("rm", Direction::Remove, 0, 0, 0.2 * noise(cell, 4, 0.5)),
            ]
        }
        sync => {
            let bs: u64 = match sync.rsplit('-').next() {
                Some("4k") => 4096,
                Some("64k") => 65536,
                _ => 1 << 20,
            };
            let each = if raid && btrfs {
                0.070
            } else if btrfs {
                0.020
            } else {
                0.017
            };
            let seconds = 16.0 * (each + bs as f64 / 180e6);
            vec![("dd", Direction::Write, 16 * bs, bs, seconds * n(5))]
        }
    }
}

/// What a workload of the study says of a step.
fn profile(study: &Study, cell: &Cell, step: &str) -> Option<StepProfile> {
    let spec = study.workloads.iter().find(|spec| spec.id == cell.levels.workload)?;
    let context = Context::new(1.0, "/nowhere");
    read_workload(&spec.plan(), &context).expect("valid").profile(step)
}

fn sample(study: &Study, cell: &Cell) -> Sample {
    let drives: u64 = if cell.levels.stack.starts_with("raid5") { 4 } else { 1 };
    let steps = model(cell)
        .into_iter()
        .map(|(name, direction, bytes, operation, seconds)| {
            let operations = bytes.checked_div(operation);
            let latency = operations.filter(|_| direction == Direction::Read).map(|n| {
                let mut histogram = LatencyHistogram::new();
                for i in 0..n {
                    let spread = 0.5 + (i % 101) as f64 / 100.0;
                    histogram.record((seconds / n as f64 * spread * 1e9) as u64, 1);
                }
                Latency::from_histogram(histogram)
            });
            let elapsed_ns = (seconds * 1e9) as u64;
            let reads = matches!(direction, Direction::Read | Direction::Copy);
            let traffic = |drive| DriveTraffic {
                drive: format!("d-{drive}"),
                read_bytes: if reads { bytes / drives } else { 0 },
                write_bytes: if direction == Direction::Read { 0 } else { bytes * 4 / 3 / drives },
                ..DriveTraffic::default()
            };
            Step {
                name: name.to_owned(),
                figures: vec![Figure {
                    direction,
                    bytes,
                    operations,
                    elapsed_ns,
                    bytes_per_second: None,
                    operations_per_second: None,
                    latency,
                    missed: None,
                    operation: OperationKind::Io,
                    commit: None,
                }],
                elapsed_ns,
                cpu: Cpu { processors: 2, machine_busy_ns: elapsed_ns / 10, ..Cpu::default() },
                drives: (1..=drives).map(traffic).collect(),
                profile: profile(study, cell, name),
                ..Step::default()
            }
        })
        .collect();
    Sample { steps, ..Sample::default() }
}

fn recorded(directory: &Path, study: &Study, repeats: u32) -> Run {
    let levels: Vec<Levels> = study
        .stacks
        .iter()
        .flat_map(|s| study.workloads.iter().map(|w| Levels::new(&s.id, &w.id)))
        .collect();
    let cells = study.order(&levels, repeats, 1);
    let mut run = Run::create(directory, &info(study), &cells).expect("create");
    for cell in &cells {
        run.record(cell, &sample(study, cell), 1.0).expect("record");
    }
    run
}

#[test]
fn a_run_is_analysed_as_its_model_was_made() {
    let directory = tempfile::tempdir().expect("a directory");
    let study = load("nas.toml", STUDY).expect("valid");
    let run = recorded(&directory.path().join("run"), &study, study.repeats);
    let analysis = analyse(&run).expect("analyse");

    // 6 stacks × (1 + 1 + 3 workloads of one step + 1 of two).
    assert_eq!(analysis.groups.len(), 6 * 7);
    assert!(analysis.groups.iter().all(|g| g.observations.len() == 4));
    let measures: Vec<_> = analysis.answers.iter().map(|a| a.measure).collect();
    assert_eq!(
        measures,
        [
            Measure::Throughput,
            Measure::Iops,
            Measure::Latency(Percentile::P99),
            Measure::Throughput,
            Measure::Elapsed
        ]
    );
    let outcome = |answer: usize, stack: &str, x: Option<&str>| {
        let answer = &analysis.answers[answer];
        let found = answer.comparisons.iter().find(|c| c.stack == stack && c.x.as_deref() == x);
        found.map(|c| (c.outcome, c.ratio))
    };
    // The blocks drift by a factor of 1.9, which pairing takes out.
    let (better, ratio) = outcome(0, "raid5/ext4", None).expect("compared");
    assert_eq!(better, ComparisonOutcome::Better);
    assert!((ratio / (420.0 / 180.0) - 1.0).abs() < 0.03, "{ratio}");
    assert_eq!(outcome(0, "single/xfs", None).map(|o| o.0), Some(ComparisonOutcome::Equivalent));
    let (worse, ratio) = outcome(1, "single/btrfs", None).expect("compared");
    assert_eq!(worse, ComparisonOutcome::Worse);
    assert!((ratio / (95.0 / 120.0) - 1.0).abs() < 0.03, "{ratio}");
    assert_eq!(outcome(2, "single/btrfs", None).map(|o| o.0), Some(ComparisonOutcome::Worse));
    assert_eq!(outcome(3, "raid5/btrfs", Some("4k")).map(|o| o.0), Some(ComparisonOutcome::Worse));
    assert_eq!(analysis.answers[3].question.chart, ChartKind::LinesOver("bs".to_owned()));
    assert_eq!(analysis.answers[3].points.len(), 18);

    let audits: Vec<_> = analysis.findings.iter().map(|f| f.audit).collect();
    assert!(audits.contains(&"shared-spindle") && audits.contains(&"scaled"), "{audits:?}");
    assert!(audits.contains(&"wide-interval"), "{audits:?}");
    assert!(analysis.findings.iter().all(|f| f.severity != Severity::Severe), "{audits:?}");
    let strongest = &analysis.summary[0];
    assert!(
        strongest.starts_with("For ") && strongest.contains(" synchronous writes (sync-write-")
    );
    assert!(strongest.contains("times [") && strongest.ends_with("as fast as raid5/btrfs."));
}

/// What a report needs of an answer: every comparison leads to its points.
#[test]
fn comparisons_name_groups_that_are_points() {
    let directory = tempfile::tempdir().expect("a directory");
    let study = load("nas.toml", STUDY).expect("valid");
    let run = recorded(&directory.path().join("run"), &study, 1);
    let analysis = analyse(&run).expect("analyse");
    assert!(!analysis.answers.is_empty());
    let sentences = &analysis.sentences;
    assert!(sentences.iter().flatten().all(|s| !s.contains("fastest")), "{sentences:?}");
    for answer in &analysis.answers {
        for comparison in &answer.comparisons {
            for group in [comparison.group, comparison.baseline_group] {
                let point = answer.points.iter().find(|p| p.group == group).expect("a point");
                assert_eq!((&point.figure, &point.x), (&comparison.figure, &comparison.x));
            }
            assert_eq!((comparison.outcome, comparison.pairs), (ComparisonOutcome::Once, 1));
            assert_eq!(comparison.stack, analysis.groups[comparison.group].key.levels.stack);
        }
    }
}

#[test]
fn a_study_that_is_not_understood_is_an_error_with_its_place() {
    let directory = tempfile::tempdir().expect("a directory");
    let study = load("nas.toml", STUDY).expect("valid");
    let mut info = info(&study);
    info.study_text = info.study_text.replace("[layouts]", "[layout]");
    let run = Run::create(&directory.path().join("run"), &info, &[]).expect("create");
    let error = analyse(&run).expect_err("not understood");
    assert!(matches!(error, AnalyseError::Study(_)));
    assert!(error.to_string().contains("nas.toml:"), "{error}");
}
