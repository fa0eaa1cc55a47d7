//! The steady part of a step, asked for in a study and run in the lab.

use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples;
use disklab_sample::Trend;

/// Writes that a hard disk's cache takes as fast as its link, until it is full.
const STUDY: &str = r#"
id = "full-cache"
title = "What is left when the drive's cache is full"
repeats = 1
[[drives]]
model = "hdn721010ale604"
size = "10 TB"
[stacks]
"single/ext4" = "partition/ext4"
[[workloads]]
id = "writes"
fio = { rw = "write", bs = "256k", size = "384M", ioengine = "libaio", iodepth = 4, direct = 1 }
[[questions]]
ask = "How fast are they in all?"
workloads = "writes"
measure = "throughput"
[[questions]]
ask = "How fast are they in the end?"
workloads = "writes"
measure = "throughput"
part = "steady"
"#;

#[test]
fn the_steady_part_after_a_full_cache_is_found() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let (_, sample) = samples(home.path(), STUDY, &["--seed", "1"]).remove(0);
    let step = &sample.steps[0];
    assert_eq!(step.steadiness.expect("counted").trend, Trend::Slowdown);
    let (whole, steady) = (&step.figures[0], &step.steady_figures().expect("a part")[0]);
    // No faster than the platters' outermost zone, which gives some 240 MB/s.
    let rate = steady.bytes_per_second.expect("a rate") / 1e6;
    assert!((200.0..260.0).contains(&rate), "{rate}");
    assert!(whole.bytes_per_second.expect("a rate") / 1e6 > 1.2 * rate);
    let mean = |figure: &disklab_sample::Figure| {
        figure.latency.as_ref().map_or(0.0, |latency| latency.mean_ns)
    };
    // Little's law: 4 are in flight.
    let in_flight = steady.operations_per_second.expect("a rate") * mean(steady) / 1e9;
    assert!((3.9..4.1).contains(&in_flight), "{in_flight}");
    let report = std::fs::read_to_string(home.path().join("run/report.md")).expect("a report");
    assert!(report.contains("Figures of the steady part"), "{report}");
    assert!(report.contains("For the steady part of"), "{report}");
}
