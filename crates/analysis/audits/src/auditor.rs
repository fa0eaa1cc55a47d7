//! Gathers samples into groups.

use std::collections::{BTreeMap, HashMap};

use disklab_sample::{
    Direction, DriveTraffic, Figure, LatencyHistogram, OperationKind, Sample, Step,
};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::{Part, Study};

use crate::audits::audit;
use crate::evidence::{CellFacts, Detail, Evidence, Unfinished, seconds};
use crate::finding::Finding;
use crate::groups::{DriveBytes, Group, GroupKey, LatencySummary, MemoryReadShare, Observation};
use crate::unsteady::Unsteady;

/// What a run's samples are, before anything is compared.
#[derive(Debug, Clone)]
pub struct Audited {
    /// One per stack, workload, step and direction, in the study's order; behind them,
    /// where a question asks for steady parts, the same again of these.
    pub groups: Vec<Group>,
    /// What makes samples or comparisons suspect, most severe first.
    pub findings: Vec<Finding>,
    /// The cells without a sample.
    pub unfinished: Vec<Unfinished>,
    /// Which cells have no steady part, where a question asks for it.
    pub unsteady: Unsteady,
}

/// Takes samples one by one, keeps what figures and findings need of them, and audits them.
#[derive(Debug, Clone)]
pub struct Auditor {
    study: Study,
    info: RunInfo,
    groups: Vec<Group>,
    details: Vec<Vec<Detail>>,
    by_key: HashMap<GroupKey, usize>,
    /// Step names per workload, in the order in which they first appeared.
    steps: HashMap<String, Vec<String>>,
    cells: Vec<CellFacts>,
    unfinished: Vec<Unfinished>,
    /// The levels of the study's axes whose cells it takes.
    at: BTreeMap<String, String>,
    /// Whether a question asks for steady parts.
    wants_steady: bool,
    unsteady: Unsteady,
}

impl Auditor {
    /// Knows no samples yet.
    pub fn new(study: Study, info: RunInfo) -> Self {
        let wants_steady = study.questions.iter().any(|q| q.part == Part::Steady);
        let at = study.axes.ordinary();
        Self {
            study,
            info,
            groups: Vec::new(),
            details: Vec::new(),
            by_key: HashMap::new(),
            steps: HashMap::new(),
            cells: Vec::new(),
            unfinished: Vec::new(),
            at,
            wants_steady,
            unsteady: Unsteady::default(),
        }
    }

    /// The study whose samples these are.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// The run whose samples these are.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The groups so far, in the order in which their first cells came.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The same of cells at other levels of the study's axes than the first.
    #[must_use]
    pub fn at(mut self, levels: BTreeMap<String, String>) -> Self {
        self.at = levels;
        self
    }

    /// Adds a finished cell. Cells may come in any order. One at other levels of the study's axes is
    /// ignored.
    pub fn add(&mut self, record: &CellRecord, sample: Sample) {
        if record.cell.levels.further != self.at {
            return;
        }
        self.cells.push(CellFacts::of(record, &sample));
        for step in sample.steps {
            let observed = Observed::of(&step);
            let detail = Detail::of(&step);
            if self.wants_steady {
                self.add_steady(record, &step, &observed, detail);
            }
            for figure in &step.figures {
                let index = self.group(record, &step, figure, Part::Whole);
                self.observe(index, observed.observation(record, figure.clone()), detail);
            }
        }
    }

    /// Adds the figures of a step's steady part, or notes that it has none.
    fn add_steady(
        &mut self,
        record: &CellRecord,
        step: &Step,
        observed: &Observed,
        detail: Detail,
    ) {
        match step.steady_figures() {
            Ok(figures) => {
                for figure in figures {
                    let index = self.group(record, step, figure, Part::Steady);
                    self.observe(index, observed.observation(record, figure.clone()), detail);
                }
            }
            Err(why) => {
                for figure in &step.figures {
                    let index = self.group(record, step, figure, Part::Steady);
                    self.unsteady.note(&self.groups[index].key, why);
                }
            }
        }
    }

    fn observe(
        &mut self,
        index: usize,
        (observation, latency): (Observation, Option<LatencyHistogram>),
        detail: Detail,
    ) {
        let group = &mut self.groups[index];
        group.observations.push(observation);
        self.details[index].push(detail);
        match (&mut group.latency, latency) {
            (Some(merged), Some(latency)) => merged.merge(&latency),
            (none @ None, latency) => *none = latency,
            (Some(_), None) => {}
        }
    }

    /// Adds a cell that failed or has not run. Finished ones are ignored here.
    pub fn add_unfinished(&mut self, record: &CellRecord) {
        if record.state == CellState::Done || record.cell.levels.further != self.at {
            return;
        }
        let error = (record.state == CellState::Failed)
            .then(|| record.error.clone().unwrap_or_else(|| "no reason was recorded".to_owned()));
        self.unfinished.push(Unfinished { levels: record.cell.levels.clone(), error });
    }

    /// The group of a figure. Where a cell gives a step and direction twice, the
    /// second belongs to a step `name#2`: two results of one cell are no repeats.
    fn group(&mut self, record: &CellRecord, step: &Step, figure: &Figure, part: Part) -> usize {
        let cell = &record.cell;
        for time in 1_u32.. {
            let name = if time == 1 { step.name.clone() } else { format!("{}#{time}", step.name) };
            let key = GroupKey {
                levels: cell.levels.clone(),
                step: name,
                direction: figure.direction,
                part,
            };
            let Some(&index) = self.by_key.get(&key) else {
                let steps = self.steps.entry(cell.levels.workload.clone()).or_default();
                if !steps.contains(&key.step) {
                    steps.push(key.step.clone());
                }
                self.by_key.insert(key.clone(), self.groups.len());
                let operation = match (figure.direction, figure.operation) {
                    // Earlier runs and other programs do not say it.
                    (Direction::Mixed, OperationKind::Io) => OperationKind::Operation,
                    (Direction::Copy | Direction::Remove, OperationKind::Io) => OperationKind::File,
                    // A write and the sync of its own that follows are two requests or more.
                    (_, OperationKind::Io) if figure.commit.is_some() => OperationKind::Commit,
                    (_, operation) => operation,
                };
                self.groups.push(Group {
                    key,
                    observations: Vec::new(),
                    latency: None,
                    operation,
                    committed: operation == OperationKind::Commit || figure.commit.is_some(),
                    profile: step.profile.clone(),
                });
                self.details.push(Vec::new());
                return self.groups.len() - 1;
            };
            // A cell's figures come together: the last observation tells.
            if self.groups[index].observations.last().is_none_or(|o| o.cell != cell.number) {
                return index;
            }
        }
        unreachable!("a cell has fewer figures than there are numbers")
    }

    /// What [`Self::finish`] would give now, while cells still come. `records` are all cells of
    /// the run: those that are not done yet, and when the others ended.
    pub fn so_far(&self, records: &[CellRecord]) -> Audited {
        let mut now = self.clone();
        let ended: HashMap<u32, _> = records.iter().map(|r| (r.cell.number, r.ended)).collect();
        for cell in &mut now.cells {
            let ended = ended.get(&cell.number).copied().flatten();
            cell.ended_ms = ended.map(|ended| ended.as_millisecond()).or(cell.ended_ms);
        }
        records.iter().for_each(|record| now.add_unfinished(record));
        now.finish()
    }

    /// Works everything out.
    pub fn finish(self) -> Audited {
        let Self { study, info, groups, details, steps, mut cells, unfinished, unsteady, .. } =
            self;
        cells.sort_by_key(|cell| cell.number);
        let (groups, details) = in_study_order(&study, &steps, groups, details);
        // What is suspect of a whole is so of its parts, which follow all wholes.
        let wholes = groups.iter().take_while(|g| g.key.part == Part::Whole).count();
        let evidence = Evidence {
            study: &study,
            info: &info,
            groups: &groups[..wholes],
            details: &details[..wholes],
            cells: &cells,
            unfinished: &unfinished,
        };
        let mut findings = audit(&evidence);
        for finding in &mut findings {
            let parts = (wholes..groups.len()).filter(|part| {
                let whole = GroupKey { part: Part::Whole, ..groups[*part].key.clone() };
                finding.groups.iter().any(|group| groups[*group].key == whole)
            });
            let parts: Vec<usize> = parts.collect();
            finding.groups.extend(parts);
        }
        Audited { groups, findings, unfinished, unsteady }
    }
}

/// Sorts groups by stack, workload, step and direction, and each group's
/// observations by block.
fn in_study_order(
    study: &Study,
    steps: &HashMap<String, Vec<String>>,
    groups: Vec<Group>,
    details: Vec<Vec<Detail>>,
) -> (Vec<Group>, Vec<Vec<Detail>>) {
    let stacks: HashMap<&str, usize> =
        study.stacks.iter().enumerate().map(|(i, s)| (s.id.as_str(), i)).collect();
    let workloads: HashMap<&str, usize> =
        study.workloads.iter().enumerate().map(|(i, w)| (w.id.as_str(), i)).collect();
    let position = |group: &Group| {
        let key = &group.key;
        let of = |map: &HashMap<&str, usize>, id: &str| map.get(id).copied().unwrap_or(usize::MAX);
        let step =
            steps.get(&key.levels.workload).and_then(|s| s.iter().position(|s| *s == key.step));
        (
            key.part,
            of(&stacks, &key.levels.stack),
            of(&workloads, &key.levels.workload),
            step,
            key.direction,
        )
    };
    let mut both: Vec<_> = groups.into_iter().zip(details).collect();
    both.sort_by_cached_key(|(group, _)| position(group));
    both.into_iter()
        .map(|(mut group, details)| {
            let mut pairs: Vec<_> = group.observations.drain(..).zip(details).collect();
            pairs.sort_by_key(|(o, _)| (o.block, o.cell));
            let (observations, details): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            group.observations = observations;
            (group, details)
        })
        .unzip()
}

/// What all figures of a step share.
struct Observed {
    drives: Vec<DriveBytes>,
    read: u64,
    write: u64,
    memory_reads: Option<MemoryReadShare>,
    cpu_seconds: f64,
}

impl Observed {
    fn of(step: &Step) -> Self {
        let drive = |d: &DriveTraffic| DriveBytes {
            drive: d.drive.clone(),
            read: d.read_bytes,
            written: d.write_bytes,
        };
        let drives: Vec<DriveBytes> = step.drives.iter().map(drive).collect();
        Self {
            read: drives.iter().fold(0, |sum, d| sum.saturating_add(d.read)),
            write: drives.iter().fold(0, |sum, d| sum.saturating_add(d.written)),
            drives,
            memory_reads: memory_reads(step),
            cpu_seconds: seconds(step.cpu.machine_busy_ns),
        }
    }

    fn observation(
        &self,
        record: &CellRecord,
        figure: Figure,
    ) -> (Observation, Option<LatencyHistogram>) {
        let elapsed = seconds(figure.elapsed_ns);
        let usable = |rate: &f64| rate.is_finite() && *rate >= 0.0;
        let per_second = |count: u64| (elapsed > 0.0 && count > 0).then(|| count as f64 / elapsed);
        let missed = figure.missed;
        // A write that a sync of its own follows is done when that has ended.
        let committed = figure.commit.is_some();
        let histogram =
            figure.commit.or(figure.latency).map(|l| l.histogram).filter(|h| h.count() > 0);
        let observation = Observation {
            cell: record.cell.number,
            block: record.cell.block,
            throughput: figure.bytes_per_second.filter(usable).or_else(|| per_second(figure.bytes)),
            iops: figure
                .operations_per_second
                .filter(usable)
                .or_else(|| figure.operations.and_then(per_second)),
            elapsed,
            committed,
            latency: histogram.as_ref().map(LatencySummary::new),
            operations: figure.operations,
            missed,
            bytes: figure.bytes,
            drive_read: self.read,
            drive_write: self.write,
            drives: self.drives.clone(),
            memory_reads: self.memory_reads,
            cpu_seconds: self.cpu_seconds,
        };
        (observation, histogram)
    }
}

/// What the drives of a step answered from memory, if that is known of each and there were reads.
fn memory_reads(step: &Step) -> Option<MemoryReadShare> {
    let counts: Option<Vec<_>> = step.drives.iter().map(|drive| drive.memory_reads).collect();
    let counts = counts?;
    let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, u64::saturating_add);
    let reads = sum(&mut step.drives.iter().map(|drive| drive.reads));
    let of_reads = sum(&mut counts.iter().map(|c| c.reads)) as f64 / reads as f64;
    let bytes = sum(&mut counts.iter().map(|c| c.bytes));
    (reads > 0).then(|| MemoryReadShare { of_reads: of_reads.min(1.0), bytes })
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Latency, MemoryReads, Steadiness, Trend};
    use disklab_study::Measure;

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    #[test]
    fn groups_keep_the_studys_order() {
        let mut fixture = RunFixture::new("");
        for (stack, block) in [("raid1/ext4", 1), ("single/ext4", 0), ("raid1/ext4", 0)] {
            fixture.sample(
                stack,
                "copy",
                block,
                vec![
                    step("cp", vec![figure(Direction::Copy, 1 << 20, 1.0)]),
                    step("rm", vec![figure(Direction::Remove, 0, 0.1)]),
                ],
            );
        }
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        let analysis = fixture.audited();
        let keys: Vec<_> = analysis
            .groups
            .iter()
            .map(|g| {
                (g.key.levels.stack.as_str(), g.key.levels.workload.as_str(), g.key.step.as_str())
            })
            .collect();
        assert_eq!(
            keys,
            [
                ("single/ext4", "dd-4k", "dd-4k"),
                ("single/ext4", "copy", "cp"),
                ("single/ext4", "copy", "rm"),
                ("raid1/ext4", "copy", "cp"),
                ("raid1/ext4", "copy", "rm"),
            ]
        );
        let blocks: Vec<_> = analysis.groups[3].observations.iter().map(|o| o.block).collect();
        assert_eq!(blocks, [0, 1]);
    }

    #[test]
    fn two_results_of_one_cell_are_no_repeats() {
        let mut fixture = RunFixture::new("");
        for block in 0..2 {
            let twice = || step("cp", vec![figure(Direction::Copy, 1 << 20, 1.0)]);
            fixture.sample("single/ext4", "copy", block, vec![twice(), twice()]);
        }
        let analysis = fixture.audited();
        let steps: Vec<_> = analysis.groups.iter().map(|g| g.key.step.as_str()).collect();
        assert_eq!(steps, ["cp", "cp#2"]);
        assert!(analysis.groups.iter().all(|g| g.observations.len() == 2));
    }

    #[test]
    fn latencies_are_merged_and_rates_worked_out() {
        let mut fixture = RunFixture::new("");
        for (block, ns) in [(0, 1_000_000), (1, 3_000_000)] {
            let mut histogram = LatencyHistogram::new();
            histogram.record(ns, 100);
            let mut read = figure(Direction::Read, 409_600, 2.0);
            read.operations = Some(100);
            read.latency = Some(Latency::from_histogram(histogram));
            fixture.sample("single/ext4", "fio", block, vec![step("fio", vec![read])]);
        }
        let analysis = fixture.audited();
        let group = &analysis.groups[0];
        assert_eq!(group.latency.as_ref().map(LatencyHistogram::count), Some(200));
        let first = &group.observations[0];
        assert_eq!((first.throughput, first.iops), (Some(204_800.0), Some(50.0)));
        let latency = first.latency.expect("measured");
        assert!((latency.p50_ns / 1e6 - 1.0).abs() < 0.001, "{latency:?}");
        assert!((latency.mean_ns / 1e6 - 1.0).abs() < 0.001, "{latency:?}");
        assert!(latency.worst_ns >= latency.mean_ns * 0.999, "{latency:?}");
        assert_eq!(first.operations, Some(100));
    }

    /// The only group of one cell with this figure.
    fn group_of(figure: Figure) -> Group {
        let mut fixture = RunFixture::new("");
        fixture.sample("single/ext4", "fio", 0, vec![step("fio", vec![figure])]);
        fixture.audited().groups.remove(0)
    }

    #[test]
    fn operations_are_what_was_waited_for() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(1_000_000, 100);
        let latency = Some(Latency::from_histogram(histogram));
        for (direction, commit, operation) in [
            (Direction::Write, None, OperationKind::Io),
            (Direction::Write, latency.clone(), OperationKind::Commit),
            (Direction::Copy, None, OperationKind::File),
            (Direction::Remove, None, OperationKind::File),
            (Direction::Mixed, latency, OperationKind::Operation),
        ] {
            let committed = commit.is_some();
            let group = group_of(Figure { commit, ..figure(direction, 1, 1.0) });
            assert_eq!((group.operation, group.committed), (operation, committed), "{direction:?}");
            assert_eq!(group.observations[0].committed, committed);
            assert_eq!(group.observations[0].latency.is_some(), committed, "that of the commit");
        }
        let said = OperationKind::Commit;
        let named = group_of(Figure { operation: said, ..figure(Direction::Write, 1, 1.0) });
        assert_eq!((named.operation, named.committed), (said, true));
    }

    #[test]
    fn rates_of_other_programs_count_if_they_can_be_rates() {
        let rates = |bytes_per_second, seconds| {
            let operations = Some(20);
            let one = figure(Direction::Read, 100, seconds);
            let one = Figure {
                bytes_per_second,
                operations_per_second: bytes_per_second,
                operations,
                ..one
            };
            let observation = group_of(one).observations.remove(0);
            (observation.throughput, observation.iops)
        };
        assert_eq!(rates(Some(7.0), 2.0), (Some(7.0), Some(7.0)));
        assert_eq!(rates(Some(0.0), 2.0), (Some(0.0), Some(0.0)));
        for none in [None, Some(f64::NAN), Some(f64::INFINITY), Some(-1.0)] {
            assert_eq!(rates(none, 2.0), (Some(50.0), Some(10.0)), "{none:?}");
            assert_eq!(rates(none, 0.0), (None, None), "{none:?}");
        }
        let nothing = group_of(figure(Direction::Read, 0, 2.0));
        assert_eq!(nothing.observations[0].throughput, None);
    }

    #[test]
    fn cells_at_other_levels_are_of_another_analysis() {
        let mut fixture = RunFixture::new("");
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        fixture.measured("single/ext4", "dd-4k", 1, 2e6);
        fixture.unfinished("raid1/ext4", "dd-4k", 0, CellState::Failed);
        fixture.unfinished("raid1/ext4", "dd-4k", 1, CellState::Waiting);
        for cell in [1, 3] {
            let levels = &mut fixture.cells[cell].0.cell.levels;
            levels.further.insert("memory".to_owned(), "8GiB".to_owned());
        }
        let shown = |audited: Audited| {
            let rates = audited.groups.iter().flat_map(|g| g.values(Measure::Throughput));
            let errors = audited.unfinished.into_iter().map(|cell| cell.error);
            (rates.map(f64::round).collect::<Vec<_>>(), errors.collect::<Vec<_>>())
        };
        let failed = Some("no space left".to_owned());
        assert_eq!(shown(fixture.audited()), (vec![1e6], vec![failed]));
        let at = fixture.cells[1].0.cell.levels.further.clone();
        let other = Auditor::new(fixture.study.clone(), fixture.info.clone()).at(at);
        let other = fixture.added(other, Auditor::add, Auditor::add_unfinished);
        assert_eq!(shown(other.clone().finish()), (vec![2e6], vec![None]));
        // While cells come, those that are done do not wait.
        let records: Vec<_> = fixture.cells.iter().map(|(record, _)| record.clone()).collect();
        let so_far = fixture.auditor().so_far(&records[..3]);
        assert_eq!(so_far.unfinished.len(), 2, "the failed one, and the same again");
        let error = |audited: Audited| audited.unfinished[0].error.clone();
        let mut unsaid = fixture.clone();
        unsaid.cells[2].0.error = None;
        assert_eq!(error(unsaid.audited()).as_deref(), Some("no reason was recorded"));
    }

    #[test]
    fn reads_from_memory_are_known_if_each_drive_counts_them() {
        let share = |counts: [Option<(u64, u64)>; 2], reads: u64| {
            let read = figure(Direction::Read, 1 << 20, 1.0);
            let mut one = on_drives(step("fio", vec![read]), &[(1, 0), (1, 0)]);
            for (drive, count) in one.drives.iter_mut().zip(counts) {
                drive.reads = reads;
                drive.memory_reads = count.map(|(reads, bytes)| MemoryReads { reads, bytes });
            }
            memory_reads(&one).map(|share| (share.of_reads, share.bytes))
        };
        assert_eq!(share([Some((1, 512)), Some((4, 1024))], 10), Some((0.25, 1536)));
        assert_eq!(share([Some((1, 512)), None], 10), None);
        assert_eq!(share([Some((0, 0)); 2], 0), None, "nothing was read");
        assert_eq!(share([Some((9, 9)); 2], 1), Some((1.0, 18)), "no more than all");
    }

    #[test]
    fn what_is_suspect_of_a_whole_is_so_of_its_steady_part() {
        let ask = "[[questions]]\nask = \"?\"\nworkloads = \"fio\"\npart = \"steady\"";
        let mut fixture = RunFixture::new(ask);
        let steadiness = Steadiness {
            interval_ns: 1_000_000_000,
            intervals: 60,
            trend: Trend::Flat,
            steady_from_ns: 0,
            snia_from_ns: None,
            used_from_ns: 0,
        };
        let mut one = step("fio", vec![figure(Direction::Read, 1 << 20, 1.0)]);
        // Nothing was read from any drive.
        one = on_drives(one, &[(0, 0), (0, 0)]);
        one.steadiness = Some(steadiness);
        fixture.sample("single/ext4", "fio", 0, vec![one]);
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        let audited = fixture.audited();
        let parts: Vec<Part> = audited.groups.iter().map(|g| g.key.part).collect();
        let workloads = audited.groups.iter().map(|g| g.key.levels.workload.as_str());
        assert_eq!(workloads.collect::<Vec<_>>(), ["dd-4k", "fio", "dd-4k", "fio"][..parts.len()]);
        let about: Vec<_> = audited.findings.iter().filter(|f| f.groups.contains(&1)).collect();
        assert!(!about.is_empty() && about.iter().all(|f| f.groups.contains(&3)), "{about:?}");
        assert!(about.iter().all(|f| f.groups.contains(&0) == f.groups.contains(&2)), "{about:?}");
    }
}
