//! A run to try things with.

use std::path::Path;

use disklab_cell::{Cell, Levels, SeedSharing, order};
use disklab_options::{BenchKind, RunSettings};
use disklab_sample::{
    Direction, DriveTraffic, Environment, Figure, Latency, LatencyHistogram, OperationKind, Sample,
    Step,
};
use disklab_store::RunInfo;
use disklab_units::Bytes;

pub fn info() -> RunInfo {
    RunInfo {
        disklab: "0.1.0".into(),
        study: "s".into(),
        title: "S".into(),
        study_file: "s.toml".into(),
        study_text: String::new(),
        bench: BenchKind::Dir("/x".into()).into(),
        bench_about: "a directory".into(),
        options: RunSettings { drive_size: Some(Bytes::gib(1)), ..RunSettings::default() },
        scale: 0.5,
        repeats: 2,
        seed: u64::MAX,
        created: "2026-01-02T03:04:05Z".parse().expect("time"),
        stacks: Vec::new(),
        left_out: Vec::new(),
        reference: None,
        machines: Default::default(),
        environment: Environment::default(),
    }
}

pub fn cells() -> Vec<Cell> {
    let pairs = [("a/ext4", "w1"), ("a/ext4", "w2"), ("b[x,y=1]/xfs", "w1")];
    order(&pairs.map(|(s, w)| Levels::new(s, w)), 2, u64::MAX, SeedSharing::Shared)
}

pub fn sample(bytes: u64) -> Sample {
    let mut histogram = LatencyHistogram::new();
    histogram.record(1_000_000, 5);
    Sample {
        steps: vec![Step {
            name: "only".into(),
            figures: vec![Figure {
                direction: Direction::Write,
                bytes,
                operations: Some(5),
                elapsed_ns: 5_000_000,
                bytes_per_second: Some(1e6),
                operations_per_second: None,
                latency: Some(Latency::from_histogram(histogram)),
                missed: None,
                operation: OperationKind::Io,
                commit: None,
            }],
            drives: vec![DriveTraffic { write_bytes: 2 * bytes, ..DriveTraffic::default() }],
            ..Step::default()
        }],
        ..Sample::default()
    }
}

pub fn raw_directories(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(directory.join("raw"))
        .map(|entries| {
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}
