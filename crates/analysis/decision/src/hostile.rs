//! Samples as no machine gives them, or only a broken one.

use disklab_sample::{Direction, Latency, LatencyHistogram};
use proptest::prelude::*;

use crate::testing::{RunFixture, figure, on_drives, step};

/// Numbers as broken counters and programs give them.
fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 1_u64..1_000_000]
}

fn any_cell() -> impl Strategy<Value = (usize, usize, u32, [u64; 6], Option<f64>, usize)> {
    (
        0_usize..5,
        0_usize..9,
        0_u32..4,
        proptest::array::uniform6(any_number()),
        proptest::option::of(proptest::num::f64::ANY),
        0_usize..5,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever samples hold, the analysis is consistent, and its sentences
    /// hold numbers.
    #[test]
    fn any_samples_are_analysed(cells in proptest::collection::vec(any_cell(), 0..24)) {
        let mut fixture = RunFixture::new("");
        let directions = [
            Direction::Read, Direction::Write, Direction::Trim, Direction::Copy, Direction::Remove,
            Direction::Mixed,
        ];
        for (stack, workload, block, numbers, rate, direction) in cells {
            let stacks = ["single/ext4", "single/btrfs", "raid1/ext4", "raid1/btrfs", "gone"];
            let workload = fixture.study.workloads.get(workload).map_or("gone", |w| &w.id).to_owned();
            let [bytes, elapsed, operations, read, write, cpu] = numbers;
            let mut one = figure(directions[direction], bytes, 0.0);
            one.elapsed_ns = elapsed;
            one.operations = (operations > 1).then_some(operations);
            one.bytes_per_second = rate;
            let mut histogram = LatencyHistogram::new();
            histogram.record(operations, cpu);
            one.latency = rate.map(|_| Latency::from_histogram(histogram));
            let mut step = on_drives(
                step("s", vec![one.clone(), one]), &[(read, write), (write, read)]
            );
            step.elapsed_ns = elapsed;
            step.cpu.user_ns = cpu;
            step.cpu.machine_busy_ns = cpu;
            fixture.sample(stacks[stack], &workload, block, vec![step]);
        }
        let analysis = fixture.analyse();
        let groups = analysis.groups.len();
        for answer in &analysis.answers {
            prop_assert!(answer.points.iter().all(|p| p.group < groups));
            for c in &answer.comparisons {
                prop_assert!(c.ratio.is_finite() && c.ratio > 0.0);
                prop_assert!(answer.points.iter().any(|p| p.group == c.group));
                prop_assert!(answer.points.iter().any(|p| p.group == c.baseline_group));
                prop_assert!(c.interval.is_none_or(|i| i.contains(c.ratio)));
            }
        }
        let texts = analysis.findings.iter().flat_map(|f| [&f.text, &f.advice]);
        let sentences = analysis.sentences.iter().flatten();
        for text in texts.chain(sentences).chain(&analysis.summary) {
            let broken = ["NaN", "inf ", "inf,", "inf]"].iter().any(|bad| text.contains(bad));
            prop_assert!(!broken, "{}", text);
        }
    }
}
