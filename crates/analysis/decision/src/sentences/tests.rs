use disklab_sample::{Direction, Latency, LatencyHistogram, OperationKind};
use disklab_store::CellState;

use crate::testing::{RunFixture, figure, on_drives, step};

const STACKS: [&str; 3] = ["single/ext4", "single/btrfs", "raid1/ext4"];

fn ask(measure: &str) -> RunFixture {
    RunFixture::new(&format!(
        "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"\nmeasure = \"{measure}\""
    ))
}

/// The sentences on stacks whose operations take these times in three blocks.
fn sentences_of(measure: &str, seconds: &[[f64; 3]]) -> Vec<String> {
    let mut fixture = ask(measure);
    for (stack, seconds) in STACKS.iter().zip(seconds) {
        for (block, seconds) in seconds.iter().enumerate() {
            let bytes = 256 * 4096;
            let mut write = figure(Direction::Write, bytes, *seconds);
            write.operations = Some(256);
            let mut histogram = LatencyHistogram::new();
            histogram.record((seconds / 256.0 * 1e9) as u64, 256);
            write.latency = Some(Latency::from_histogram(histogram));
            let step = on_drives(step("write", vec![write]), &[(0, bytes)]);
            fixture.sample(stack, "dd-4k", block as u32, vec![step]);
        }
    }
    fixture.analyse().sentences.remove(0)
}

const BASE: [f64; 3] = [1.0, 1.01, 1.02];
const FAR: [f64; 3] = [4.0, 4.05, 4.1];
const NEAR: [f64; 3] = [1.2, 1.215, 1.223];

/// (measure, baseline against one far behind, baseline against one near behind)
const WORDS: &[(&str, &str, &str)] = &[
    (
        "throughput",
        "single/ext4 reaches 1.04 MB/s [1.01, 1.06], 4.01 times [3.99, 4.03] as fast as \
         single/btrfs.",
        "single/btrfs reaches 865 kB/s [844, 886], 16.7 % [16.4, 17.1] slower than single/ext4.",
    ),
    (
        "iops",
        "single/ext4 reaches 253 IOPS [247, 260], 4.01 times [3.99, 4.03] as many as single/btrfs.",
        "single/btrfs reaches 211 IOPS [206, 216], 16.7 % [16.4, 17.1] fewer than single/ext4.",
    ),
    (
        "elapsed",
        "single/ext4 takes 1.01 s [0.985, 1.04], 4.01 times [3.99, 4.03] as fast as single/btrfs.",
        "single/btrfs takes 1.21 s [1.18, 1.24], 20.1 % [19.6, 20.6] longer than single/ext4.",
    ),
    (
        "latency-p99",
        "single/ext4 has a 99th-percentile latency of 3.95 ms [3.85, 4.04], shorter by a factor of \
         4.01 [3.98, 4.04] than single/btrfs.",
        "single/btrfs has a 99th-percentile latency of 4.74 ms [4.63, 4.85], 20.1 % [19.6, 20.5] longer \
         than single/ext4.",
    ),
];

#[test]
fn each_measure_has_its_words() {
    const PREFIX: &str = "For 4 KiB synchronous writes (dd-4k), ";
    for (measure, far, near) in WORDS {
        assert_eq!(sentences_of(measure, &[BASE, FAR]), [format!("{PREFIX}{far}")]);
        assert_eq!(sentences_of(measure, &[BASE, NEAR]), [format!("{PREFIX}{near}")]);
    }
}

#[test]
fn the_clearly_better_stack_is_the_subject() {
    let sentences = sentences_of("elapsed", &[FAR, BASE]);
    assert!(sentences[0].contains("single/btrfs takes 1.01 s"), "{sentences:?}");
    assert!(sentences[0].ends_with("as fast as single/ext4."), "{sentences:?}");
}

#[test]
fn equivalent_and_inconclusive_stacks_are_listed() {
    let level = [1.001, 1.009, 1.021];
    let open = [0.9, 1.4, 0.8];
    let sentences = sentences_of("elapsed", &[BASE, level, open]);
    assert_eq!(sentences.len(), 3, "{sentences:#?}");
    assert!(sentences[0].contains("its lead over"), "{sentences:#?}");
    assert_eq!(sentences[1], "Equivalent to single/ext4, within 5 %: single/btrfs.");
    assert!(
        sentences[2].starts_with("Inconclusive, as ratios to single/ext4: raid1/ext4 "),
        "{sentences:#?}"
    );
}

#[test]
fn a_lead_over_one_that_is_better_than_the_baseline_too_is_inconclusive() {
    let noisy = [0.9, 1.4, 0.8];
    let sentences = sentences_of("elapsed", &[FAR, BASE, noisy]);
    assert!(sentences[0].contains("its lead over "), "{sentences:#?}");
}

#[test]
fn an_inconclusive_interval_is_that_of_all_comparisons() {
    // Alone it would be significant; among two it is not.
    let apart = [1.05, 1.11, 1.09];
    let noisy = [0.9, 1.4, 0.8];
    let sentences = sentences_of("elapsed", &[BASE, apart, noisy]);
    let open = sentences.last().expect("a sentence");
    assert!(open.contains("adjusted for 2 comparisons"), "{sentences:#?}");
    let (low, high) = open
        .split_once("single/btrfs ")
        .and_then(|(_, rest)| {
            let (low, rest) = rest.split_once('[')?.1.split_once(", ")?;
            Some((low.parse::<f64>().ok()?, rest.split_once(']')?.0.parse::<f64>().ok()?))
        })
        .expect("an interval");
    assert!(low <= 1.0 && high >= 1.0, "{open}");
}

#[test]
fn one_stack_has_its_figure_reported() {
    let sentences = sentences_of("throughput", &[BASE]);
    assert_eq!(
        sentences,
        ["For 4 KiB synchronous writes (dd-4k), single/ext4 reaches 1.04 MB/s [1.01, 1.06]."]
    );
}

#[test]
fn operations_and_latencies_have_their_names() {
    for (kind, expected) in [
        (OperationKind::Commit, "reaches 9.99 commits/s ["),
        (OperationKind::Transaction, "reaches 9.99 transactions/s ["),
        (OperationKind::File, "reaches 9.99 files/s ["),
        (OperationKind::Io, "reaches 9.99 IOPS ["),
    ] {
        let mut fixture = ask("iops");
        for block in 0..3 {
            let mut one = figure(Direction::Write, 1 << 20, 10.0 + f64::from(block) / 100.0);
            one.operations = Some(100);
            one.operation = kind;
            fixture.sample("single/ext4", "dd-4k", block, vec![step("dd-4k", vec![one])]);
        }
        let sentences = fixture.analyse().sentences.remove(0);
        assert!(sentences[0].contains(expected), "{sentences:?}");
    }
    let mut fixture = ask("latency-p99");
    let mut histogram = LatencyHistogram::new();
    histogram.record(16_000_000, 100);
    let mut one = figure(Direction::Write, 1 << 20, 10.0);
    one.commit = Some(Latency::from_histogram(histogram));
    fixture.sample("single/ext4", "dd-4k", 0, vec![step("dd-4k", vec![one])]);
    let sentences = fixture.analyse().sentences.remove(0);
    assert!(sentences[0].contains("a 99th-percentile commit latency of 16.0 ms"), "{sentences:?}");
}

#[test]
fn a_question_about_several_kinds_has_the_unit_of_each() {
    let mut fixture = RunFixture::new(
        "[[questions]]\nask = \"?\"\nworkloads = [\"dd-4k\", \"buffered\"]\nmeasure = \"iops\"",
    );
    for (work, kind) in [("dd-4k", OperationKind::Commit), ("buffered", OperationKind::Transaction)]
    {
        for block in 0..3 {
            let mut one = figure(Direction::Write, 1 << 20, 10.0 + f64::from(block) / 100.0);
            (one.operations, one.operation) = (Some(100), kind);
            fixture.sample("single/ext4", work, block, vec![step(work, vec![one])]);
        }
    }
    let sentences = fixture.analyse().sentences.remove(0).concat();
    assert!(sentences.contains(" 9.99 commits/s ["), "{sentences}");
    assert!(sentences.contains(" 9.99 transactions/s ["), "{sentences}");
}

/// Each of these is a write and a sync: neither of them alone is what is counted.
#[test]
fn writes_that_a_sync_follows_are_counted_as_commits() {
    let mut histogram = LatencyHistogram::new();
    histogram.record(16_000_000, 100);
    let mut fixture = ask("iops");
    for block in 0..3 {
        let mut one = figure(Direction::Write, 1 << 20, 10.0 + f64::from(block) / 100.0);
        one.operations = Some(100);
        one.commit = Some(Latency::from_histogram(histogram.clone()));
        fixture.sample("single/ext4", "dd-4k", block, vec![step("dd-4k", vec![one])]);
    }
    let sentences = fixture.analyse().sentences.remove(0);
    assert!(sentences[0].contains("reaches 9.99 commits/s ["), "{sentences:?}");
}

#[test]
fn unmeasured_figures_are_mentioned() {
    let mut fixture = ask("latency-p99");
    fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6]);
    fixture.unfinished("single/btrfs", "dd-4k", 0, CellState::Failed);
    assert_eq!(
        fixture.analyse().sentences[0],
        ["Nothing was measured here that has a 99th-percentile latency."]
    );
}

#[test]
fn many_differences_are_counted() {
    let mut fixture =
        RunFixture::new("[[questions]]\nask = \"?\"\nworkloads = \"*\"\nmeasure = \"throughput\"");
    for workload in ["dd-4k", "dd-64k", "dd-1M", "buffered"] {
        for (factor, stack) in [1.0, 2.0, 4.0].into_iter().zip(STACKS) {
            let rates = [1e6, 1.001e6, 1.002e6].map(|rate| rate * factor);
            fixture.repeats(stack, workload, &rates);
        }
    }
    let sentences = fixture.analyse().sentences.remove(0);
    let last = sentences.last().expect("a sentence");
    assert_eq!(last, "2 more figures differ significantly from the baseline: see the table.");
}

#[test]
fn decided_comparisons_are_not_called_inconclusive() {
    let mut close = 0;
    // From a lead that all pairs show to one that nothing shows.
    for noise in 1..40 {
        let noise = f64::from(noise) / 100.0;
        let fast = [0.5 * (1.0 - noise), 0.5, 0.5 * (1.0 + noise)];
        let sentences = sentences_of("throughput", &[BASE, fast, [0.9, 0.91, 0.92]]);
        let decided = sentences
            .iter()
            .any(|s| s.starts_with("single/btrfs reaches") || s.contains(", single/btrfs reaches"));
        let lead = sentences.iter().find(|s| s.contains("single/btrfs leads with"));
        if let Some(lead) = lead.filter(|_| decided) {
            close += 1;
            assert!(!lead.contains("faster than single/ext4"), "{sentences:#?}");
            assert!(!lead.contains("and single/ext4 is inconclusive"), "{sentences:#?}");
        }
    }
    assert!(close > 0, "no noise separates the two");
}
