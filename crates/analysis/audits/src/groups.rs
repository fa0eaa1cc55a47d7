//! Samples in groups: all observations of one figure on one stack.

use std::collections::HashMap;
use std::sync::LazyLock;

use disklab_cell::Levels;
use disklab_sample::{Direction, LatencyHistogram, OperationKind, Requests, StepProfile};
use disklab_study::{Measure, Part, Percentile};

use crate::floors::{LEAST_FILE_SECONDS, counts_files};

/// What a group's samples have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// What was measured.
    pub levels: Levels,
    /// Step name.
    pub step: String,
    /// Kind of work.
    pub direction: Direction,
    /// Part of the step that the figures are of.
    pub part: Part,
}

/// All observations of one figure.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// One per finished cell, in block order.
    pub observations: Vec<Observation>,
    /// All latencies, merged; absent where none were measured.
    pub latency: Option<LatencyHistogram>,
    /// The unit of operations per second: requests, commits, files.
    pub operation: OperationKind,
    /// Whether its latencies are those of commits: until a write was durable.
    pub committed: bool,
    /// What its step does, as the workload said; `None` in earlier runs.
    pub profile: Option<StepProfile>,
}

impl Group {
    /// What its step does; nothing is claimed of a step that does not say it.
    pub fn profile(&self) -> &StepProfile {
        static UNKNOWN: LazyLock<StepProfile> = LazyLock::new(StepProfile::default);
        self.profile.as_ref().unwrap_or(&UNKNOWN)
    }

    /// What its repeats show in this measure, those that have it.
    pub fn values(&self, measure: Measure) -> impl Iterator<Item = f64> {
        self.observations.iter().filter_map(move |o| o.value(measure))
    }

    /// Its values and another's in the blocks that both have.
    pub fn in_blocks_with(&self, other: &Self, measure: Measure) -> Vec<(f64, f64)> {
        let others: HashMap<u32, f64> =
            other.observations.iter().filter_map(|o| Some((o.block, o.value(measure)?))).collect();
        let own = self.observations.iter();
        own.filter_map(|o| Some((o.value(measure)?, *others.get(&o.block)?))).collect()
    }

    /// The value by which it is decided whether more repeats are worth their time: a time of work
    /// on files is at least [`LEAST_FILE_SECONDS`], so that no repeats are spent on less.
    pub fn floored(&self, observation: &Observation, measure: Measure) -> Option<f64> {
        let value = observation.value(measure)?;
        Some(self.least(measure).map_or(value, |least| value.max(least)))
    }

    /// Below this, a figure rests on a few requests, and two of them are not compared.
    pub fn least(&self, measure: Measure) -> Option<f64> {
        (measure == Measure::Elapsed && counts_files(self.profile())).then_some(LEAST_FILE_SECONDS)
    }

    /// Its requests, if they are known.
    pub fn requests(&self) -> Option<&Requests> {
        self.profile().requests(self.key.direction)
    }
}

/// One figure of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The cell's number.
    pub cell: u32,
    /// Number of the repeat, from 0.
    pub block: u32,
    /// Bytes per second.
    pub throughput: Option<f64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Seconds.
    pub elapsed: f64,
    /// Whether latencies are those of write and sync together, where a sync of its own
    /// follows each write.
    pub committed: bool,
    /// Latencies, where they were measured.
    pub latency: Option<LatencySummary>,
    /// Operations, where they are counted.
    pub operations: Option<u64>,
    /// Deadlines missed, where the work has deadlines.
    pub missed: Option<u64>,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes that all drives together read during the step, whatever the part.
    pub drive_read: u64,
    /// Bytes that all drives together wrote during the step.
    pub drive_write: u64,
    /// What each drive moved during the step.
    pub drives: Vec<DriveBytes>,
    /// Reads of the step that the drives answered from their own memory, if that is known.
    pub memory_reads: Option<MemoryReadShare>,
    /// Processor seconds of the whole machine during the step.
    pub cpu_seconds: f64,
}

/// What a drive moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveBytes {
    /// Its name in the study.
    pub drive: String,
    /// Bytes read from it.
    pub read: u64,
    /// Bytes written to it.
    pub written: u64,
}

/// Latencies in short, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencySummary {
    /// Arithmetic mean, which a few slow requests move.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// The 99.9th percentile.
    pub p999_ns: f64,
    /// The largest.
    pub worst_ns: f64,
}

impl LatencySummary {
    /// Of a distribution.
    pub fn new(histogram: &LatencyHistogram) -> Self {
        let quantile = |share| histogram.quantile(share) as f64;
        Self {
            mean_ns: histogram.mean(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            worst_ns: quantile(1.0),
        }
    }

    /// One of the percentiles.
    pub fn at(self, percentile: Percentile) -> f64 {
        match percentile {
            Percentile::P50 => self.p50_ns,
            Percentile::P99 => self.p99_ns,
            Percentile::P999 => self.p999_ns,
        }
    }
}

/// What all drives of a step answered from their own memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryReadShare {
    /// The share of their reads, 0 to 1.
    pub of_reads: f64,
    /// What those reads moved.
    pub bytes: u64,
}

impl Observation {
    /// The value of a measure, if it was measured. Latencies are in nanoseconds.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Throughput => self.throughput,
            Measure::Iops => self.iops,
            // Imported figures may be rates without times.
            Measure::Elapsed => Some(self.elapsed).filter(|seconds| *seconds > 0.0),
            Measure::Missed => self.missed.map(|n| n as f64),
            Measure::Latency(percentile) => self.latency.map(|l| l.at(percentile)),
        }
    }
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, StepProfile, Task};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    #[test]
    fn values_are_paired_where_both_groups_have_them() {
        let mut fixture = RunFixture::new("");
        for (block, rate) in [(0, 1e6), (1, 2e6), (3, 4e6)] {
            fixture.measured("single/ext4", "dd-4k", block, rate);
        }
        fixture.measured("raid1/ext4", "dd-4k", 3, 8e6);
        fixture.measured("raid1/ext4", "dd-4k", 1, 5e6);
        let groups = fixture.audited().groups;
        let pairs = groups[0].in_blocks_with(&groups[1], Measure::Throughput);
        assert_eq!(pairs, [(2e6, 5e6), (4e6, 8e6)]);
        assert_eq!(groups[0].in_blocks_with(&groups[1], Measure::Missed), []);
    }

    #[test]
    fn a_short_time_of_work_on_files_counts_as_the_least_one() {
        let mut fixture = RunFixture::new("");
        for (block, seconds) in [(0, 0.1), (1, 3.0)] {
            let mut one = step("rm", vec![figure(Direction::Remove, 0, seconds)]);
            let task = Some(Task::Delete);
            one.profile = Some(StepProfile { task, ..StepProfile::default() });
            fixture.sample("single/ext4", "copy", block, vec![one]);
        }
        let group = fixture.audited().groups.remove(0);
        let floored = |measure| {
            let all = group.observations.iter().map(|o| group.floored(o, measure));
            all.collect::<Vec<_>>()
        };
        assert_eq!(floored(Measure::Elapsed), [Some(0.25), Some(3.0)]);
        assert_eq!(floored(Measure::Missed), [None; 2]);
    }

    #[test]
    fn a_summary_has_the_percentiles_of_its_distribution() {
        let mut histogram = LatencyHistogram::new();
        for (milliseconds, count) in [(1, 900), (10, 95), (100, 4), (1000, 1)] {
            histogram.record(milliseconds * 1_000_000, count);
        }
        let summary = LatencySummary::new(&histogram);
        for (percentile, milliseconds) in
            [(Percentile::P50, 1.0), (Percentile::P99, 10.0), (Percentile::P999, 100.0)]
        {
            let found = summary.at(percentile) / 1e6;
            assert!((found / milliseconds - 1.0).abs() < 0.05, "{percentile:?}: {found} ms");
        }
    }
}
