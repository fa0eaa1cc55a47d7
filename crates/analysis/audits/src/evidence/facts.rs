//! What is kept of steps and cells for audits.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use disklab_cell::Levels;
use disklab_sample::{
    Conditions, DriveSeries, DriveState, DriveTraffic, Environment, FileData, Sample, Series,
    Steadiness, Step,
};
use disklab_stats::{SeriesTrend, steadiness};
use disklab_store::CellRecord;

/// What an observation does not carry, of its step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Detail {
    /// Seconds of CPU time of the step's programs, kernel included.
    pub program_seconds: f64,
    /// Wall-clock seconds of the step.
    pub step_seconds: f64,
    /// Processors of the machine; 0 where unknown.
    pub processors: u32,
    /// Seconds of CPU time that a hypervisor gave to others.
    pub stolen_seconds: f64,
    /// Flushes that all drives completed.
    pub flushes: u64,
    /// Read requests that the drive with most of them completed.
    pub most_reads: u64,
    /// Bytes that the drive with most of them moved, read and written.
    pub most_moved: u64,
    /// How steady the work was by its own count.
    pub steadiness: Option<Steadiness>,
    /// Operations of the whole step.
    pub operations: u64,
    /// Requests that each job had in flight on average, by its own count.
    pub in_flight: Option<f64>,
    /// Requests of the step that the drives had in their queues on average, whatever each became
    /// on its way to them; none without a figure of operations.
    pub queued: Option<f64>,
    /// What is in the files that the step reads, where that is known.
    pub files_read: Option<FileData>,
    /// How steady the drives' work was by theirs, second by second.
    pub drives_trend: Option<RateChange>,
}

/// How a rate changed within a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateChange {
    /// Share of the step after which it was steady; 1 where it was not.
    pub from: f64,
    /// Mean rate before, and after, in bytes per second.
    pub rates: (f64, f64),
}

impl Detail {
    /// What is kept of a step.
    pub fn of(step: &Step) -> Self {
        let most = |of: fn(&DriveTraffic) -> u64| step.drives.iter().map(of).max().unwrap_or(0);
        Self {
            program_seconds: seconds(step.cpu.user_ns.saturating_add(step.cpu.system_ns)),
            step_seconds: seconds(step.elapsed_ns),
            processors: step.cpu.processors,
            stolen_seconds: seconds(step.cpu.machine_steal_ns),
            flushes: step.drives.iter().fold(0, |sum, d| sum.saturating_add(d.flushes)),
            most_reads: most(|d| d.reads),
            most_moved: most(|d| d.read_bytes.saturating_add(d.write_bytes)),
            operations: operations(step),
            in_flight: step.in_flight,
            queued: queued(step),
            steadiness: step.steadiness,
            files_read: step.files_read,
            drives_trend: change(&step.series),
        }
    }
}

fn operations(step: &Step) -> u64 {
    step.figures.iter().filter_map(|figure| figure.operations).fold(0, u64::saturating_add)
}

/// What the drives' queues held on average, in requests of the step.
fn queued(step: &Step) -> Option<f64> {
    let sum = |of: fn(&DriveTraffic) -> u64| step.drives.iter().map(|d| of(d) as f64).sum::<f64>();
    let (waited, requests) = (sum(|d| d.queue_ns), sum(|d| d.reads.saturating_add(d.writes)));
    let operations = operations(step) as f64;
    if step.elapsed_ns == 0 || operations == 0.0 {
        return None;
    }
    Some(waited / step.elapsed_ns as f64 / (requests / operations).max(1.0))
}

/// The change within the drives' series, all of them together; none where it is flat or
/// too short to say.
fn change(series: &Series) -> Option<RateChange> {
    let interval = seconds(series.interval_ns);
    // The last interval is shorter than the others.
    let length = series.drives.iter().map(|d| d.read_bytes.len().min(d.write_bytes.len())).min()?;
    let whole = length.checked_sub(1).filter(|_| interval > 0.0)?;
    let rates: Vec<f64> = (0..whole)
        .map(|i| {
            let moved = |d: &DriveSeries| d.read_bytes[i] as f64 + d.write_bytes[i] as f64;
            series.drives.iter().map(moved).sum::<f64>() / interval
        })
        .collect();
    let steadiness = steadiness(&rates)?;
    let mean = |part: &[f64]| part.iter().map(|r| r / part.len() as f64).sum::<f64>();
    let from = match steadiness.trend {
        SeriesTrend::Flat => return None,
        SeriesTrend::NotSteady => {
            return Some(RateChange { from: 1.0, rates: (mean(&rates), mean(&rates)) });
        }
        SeriesTrend::Warmup | SeriesTrend::Slowdown => steadiness.part.start,
    };
    let rates = (mean(&rates[..from]), mean(&rates[from..]));
    Some(RateChange { from: from as f64 / whole as f64, rates })
}

pub(crate) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// A finished cell as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellFacts {
    /// Its number in the run.
    pub number: u32,
    /// What was measured.
    pub levels: Levels,
    /// When it ended, in milliseconds since 1970, where that was recorded.
    pub ended_ms: Option<i64>,
    /// Bytes that block devices outside the stack moved meanwhile.
    pub background_bytes: Option<u64>,
    /// Bytes that the stack's own drives moved in all steps.
    pub own_bytes: u64,
    /// Bytes written to the drive that was written most, in all steps.
    pub most_written: u64,
    /// Bytes written to each drive since the stack was made, its making included, where
    /// that was counted.
    pub written: BTreeMap<String, u64>,
    /// The surroundings, without what is the whole run's.
    pub environment: Environment,
    /// Whether a drive was failed and rebuilt on purpose.
    pub is_rebuild: bool,
    /// Programs of the workload that ended with an error, as `fio: exit code 1`.
    pub failed_programs: Vec<String>,
}

/// Programs whose exit status says whether the work was done. Others are asked for
/// things that they may not know.
const WORKERS: [&str; 17] = [
    "fio",
    "dd",
    "cp",
    "rm",
    "tar",
    "rsync",
    "hdparm",
    "filebench",
    "elbencho",
    "sysbench",
    "bonnie++",
    "iozone",
    "borg",
    "restic",
    "pgbench",
    "sqlite3",
    "diskspd",
];

impl CellFacts {
    /// What is kept of a cell.
    pub fn of(record: &CellRecord, sample: &Sample) -> Self {
        let drives = || sample.steps.iter().flat_map(|step| &step.drives);
        let own = drives().flat_map(|d| [d.read_bytes, d.write_bytes]);
        let mut written: BTreeMap<String, u64> = BTreeMap::new();
        for drive in drives() {
            let sum = written.entry(drive.drive.clone()).or_default();
            *sum = sum.saturating_add(drive.write_bytes);
        }
        let most_written = written.values().copied().max().unwrap_or(0);
        for drive in &sample.whole {
            let sum = written.entry(drive.drive.clone()).or_default();
            *sum = drive.write_bytes.max(*sum);
        }
        let failed = sample.trace.iter().filter_map(|entry| {
            let program = entry.argv.first()?.rsplit('/').next()?;
            // What disklab asks drives through hdparm is no work.
            let asks = program == "hdparm" && entry.argv.iter().any(|a| a == "-I" || a == "-W");
            let fails = entry.status != "0" && WORKERS.contains(&program) && !asks;
            fails.then(|| format!("{program}: {}", entry.status))
        });
        let cell = &record.cell;
        Self {
            number: cell.number,
            levels: cell.levels.clone(),
            ended_ms: record.ended.map(|ended| ended.as_millisecond()),
            background_bytes: sample.environment.background_bytes,
            own_bytes: own.fold(0, u64::saturating_add),
            most_written,
            written,
            environment: sample.environment.clone(),
            is_rebuild: sample.steps.iter().any(|step| step.rebuild.is_some()),
            failed_programs: failed.collect(),
        }
    }

    /// The share of its size that was written to the SSD that was written least; none
    /// where a drive rotates, or is not known.
    pub fn written_share_of_ssds(&self) -> Option<f64> {
        let share = |drive: &DriveState| {
            let known = drive.rotational == Some(false) && drive.size_bytes > 0;
            let written = self.written.get(&drive.drive).filter(|_| known)?;
            Some(*written as f64 / drive.size_bytes as f64)
        };
        let shares: Option<Vec<f64>> = self.environment.drives.iter().map(share).collect();
        shares?.into_iter().reduce(f64::min)
    }

    /// The smallest of the drives' memories; none where one is unknown.
    pub fn smallest_memory(&self) -> Option<u64> {
        let drives = self.conditions().drives.iter();
        let sizes: Option<Vec<u64>> = drives.map(|drive| drive.cache_bytes).collect();
        sizes?.into_iter().min().filter(|size| *size > 0)
    }

    /// What held around it; nothing is known of runs of before.
    pub fn conditions(&self) -> &Conditions {
        static NONE: LazyLock<Conditions> = LazyLock::new(Conditions::default);
        self.environment.conditions.as_ref().unwrap_or(&NONE)
    }

    /// The type and the options of the file system that the workload's directory is on.
    pub fn mount(&self) -> Option<(&str, Vec<&str>)> {
        let mount = self.environment.mounts.first()?;
        Some((&mount.kind, mount.options.iter().map(String::as_str).collect()))
    }
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{figure, on_drives, step, trace};

    fn of(sample: &Sample) -> CellFacts {
        let levels = Levels::new("s", "w");
        let cell = disklab_cell::Cell { number: 0, block: 0, levels, seed: 1 };
        let state = disklab_store::CellState::Done;
        CellFacts::of(&CellRecord::new(cell, state), sample)
    }

    #[test]
    fn queues_are_counted_in_requests_of_the_step() {
        let queued = |operations, requests: u64| {
            let mut read = figure(Direction::Read, 1, 1.0);
            read.operations = operations;
            let mut one = on_drives(step("fio", vec![read]), &[(1, 0), (1, 0)]);
            for drive in &mut one.drives {
                // Half a second each of a request that waits, twice.
                (drive.queue_ns, drive.reads, drive.writes) = (1_000_000_000, requests, requests);
            }
            Detail::of(&one).queued
        };
        assert_eq!(queued(Some(100), 25), Some(2.0));
        // Each became four on its way.
        assert_eq!(queued(Some(100), 100), Some(0.5));
        // Several became one: no more than two are in two queues.
        assert_eq!(queued(Some(100), 1), Some(2.0));
        assert_eq!([queued(None, 25), queued(Some(0), 25)], [None; 2]);
    }

    /// The last second is shorter than the others, and is left out.
    #[test]
    fn rates_before_and_after_a_change_are_means() {
        let of = |second: u64| (if second < 20 { 3_000 } else { 1_000 }) + second % 2;
        let drive = || DriveSeries {
            read_bytes: vec![500; 61],
            write_bytes: (0..61).map(of).collect(),
            ..DriveSeries::default()
        };
        let series = Series { interval_ns: 500_000_000, drives: vec![drive(), drive()] };
        let change = change(&series).expect("a change");
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-9;
        assert!(near(change.from, 20.0 / 60.0), "{change:?}");
        assert!(near(change.rates.0, 14_002.0), "{change:?}");
        assert!(near(change.rates.1, 6_002.0), "{change:?}");
    }

    #[test]
    fn the_drive_with_most_of_it_counts() {
        let mut one = on_drives(step("fio", Vec::new()), &[(10, 5), (1, 40)]);
        (one.drives[0].reads, one.drives[1].reads) = (7, 3);
        (one.drives[0].flushes, one.drives[1].flushes) = (2, 4);
        let detail = Detail::of(&one);
        assert_eq!((detail.most_reads, detail.most_moved, detail.flushes), (7, 41, 6));
        let mut sample = Sample { steps: vec![one.clone(), one], ..Sample::default() };
        // Counted from the making of the stack on; of the other drive that was not.
        sample.whole =
            vec![DriveTraffic { write_bytes: 1000, ..sample.steps[0].drives[0].clone() }];
        let facts = of(&sample);
        assert_eq!((facts.own_bytes, facts.most_written), (112, 80));
        assert_eq!(facts.written, [("d-1".to_owned(), 1000), ("d-2".to_owned(), 80)].into());
    }

    #[test]
    fn programs_that_do_the_work_must_end_well() {
        let entries = [
            trace(&["/usr/bin/fio", "job"], "exit code 1"),
            trace(&["dd", "if=x"], "0"),
            trace(&["blkid", "/dev/x"], "exit code 2"),
            trace(&["hdparm", "-I", "/dev/x"], "exit code 5"),
            trace(&["hdparm", "-W", "/dev/x"], "exit code 5"),
            trace(&["hdparm", "-t", "/dev/x"], "exit code 5"),
        ];
        let facts = of(&Sample { trace: entries.to_vec(), ..Sample::default() });
        assert_eq!(facts.failed_programs, ["fio: exit code 1", "hdparm: exit code 5"]);
    }

    #[test]
    fn an_ssd_is_as_fresh_as_the_least_written_one() {
        let share = |drives: &[(Option<bool>, u64)]| {
            let state = |(at, (rotational, size)): (usize, &(Option<bool>, u64))| DriveState {
                drive: format!("d-{}", at + 1),
                rotational: *rotational,
                size_bytes: *size,
                ..DriveState::default()
            };
            let drives = drives.iter().enumerate().map(state).collect();
            let environment = Environment { drives, ..Environment::default() };
            let steps = vec![on_drives(step("fio", Vec::new()), &[(0, 50), (0, 200)])];
            of(&Sample { steps, environment, ..Sample::default() }).written_share_of_ssds()
        };
        let ssd = (Some(false), 100);
        assert_eq!(share(&[ssd, ssd]), Some(0.5));
        assert_eq!(share(&[ssd, (Some(true), 100)]), None);
        assert_eq!(share(&[ssd, (None, 100)]), None);
        assert_eq!([share(&[ssd, (Some(false), 0)]), share(&[])], [None; 2]);
    }
}
