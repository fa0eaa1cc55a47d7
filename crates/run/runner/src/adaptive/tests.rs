//! Whole campaigns on values that are made up, with the run's own order and analysis.

use disklab_campaign::{CampaignOutcome, Goal, Rules, Stop};
use disklab_cell::{Cell, Levels, SeedSharing, order};
use disklab_decision::Analyser;
use disklab_options::{BenchKind, RunSettings};
use disklab_sample::{Direction, Environment, Figure, OperationKind, Sample, Step};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::Study;
use jiff::Timestamp;

use super::{look, next_cells};

const STUDY: &str = r#"
id = "made-up"
title = "Made up"
baseline = "single/xfs"
[[drives]]
model = "m"
size = "1 TB"
count = 2
[layouts]
single = { drives = 1 }
raid1 = "md-raid1"
[file-systems]
ext4 = "ext4"
xfs = "xfs"
[[workloads]]
id = "a"
fio = { rw = "write", bs = "1M" }
[[workloads]]
id = "b"
fio = { rw = "read", bs = "1M" }
[[workloads]]
id = "unasked"
fio = { rw = "read", bs = "4k" }
[[questions]]
ask = "A?"
workloads = "a"
measure = "throughput"
[[questions]]
ask = "B?"
workloads = "b"
measure = "elapsed"
[[questions]]
ask = "B of mirrors?"
workloads = "b"
stacks = "raid1/*"
measure = "throughput"
[[questions]]
ask = "B of one?"
workloads = "b"
stacks = "raid1/xfs"
baseline = "raid1/xfs"
measure = "throughput"
"#;

struct Machine {
    study: Study,
    info: RunInfo,
    levels: Vec<Levels>,
}

impl Machine {
    fn new() -> Self {
        let study = disklab_study::load("made-up.toml", STUDY).expect("valid");
        let levels = study
            .stacks
            .iter()
            .flat_map(|s| study.workloads.iter().map(|w| Levels::new(&s.id, &w.id)))
            .collect();
        let info = RunInfo {
            disklab: String::new(),
            study: "made-up".to_owned(),
            title: String::new(),
            study_file: "made-up.toml".to_owned(),
            study_text: STUDY.to_owned(),
            bench: BenchKind::Loop.into(),
            bench_about: String::new(),
            options: RunSettings::default(),
            scale: 1.0,
            repeats: 30,
            seed: 5,
            created: Timestamp::UNIX_EPOCH,
            stacks: Vec::new(),
            left_out: Vec::new(),
            reference: None,
            machines: Default::default(),
            environment: Environment::default(),
        };
        Self { study, info, levels }
    }

    /// Seconds of a cell: of 'a' the second stack is the best by far; of 'b' two are the
    /// same and the others far behind.
    fn seconds(&self, cell: &Cell) -> f64 {
        let stack = self.study.stack_index(&cell.levels.stack).expect("a stack");
        let level = match cell.levels.workload.as_str() {
            "a" => [2.0, 1.0, 3.0, 4.0][stack],
            _ => [1.0, 1.0, 3.0, 5.0][stack],
        };
        // A noise of half a per cent that is the same whenever the cell runs.
        let wobble = (cell.seed ^ (stack as u64 * 0x9e37_79b9)) % 1000;
        level * (1.0 + wobble as f64 / 1e5)
    }

    fn sample(&self, cell: &Cell) -> Sample {
        let elapsed_ns = (self.seconds(cell) * 1e9) as u64;
        let figure = Figure {
            direction: Direction::Write,
            bytes: 1 << 30,
            operations: Some(1024),
            elapsed_ns,
            bytes_per_second: None,
            operations_per_second: None,
            latency: None,
            missed: None,
            operation: OperationKind::Io,
            commit: None,
        };
        let name = cell.levels.workload.clone();
        let step = Step { name, figures: vec![figure], elapsed_ns, ..Step::default() };
        Sample { steps: vec![step], ..Sample::default() }
    }

    fn look(
        &self,
        rules: &Rules,
        records: &[CellRecord],
    ) -> (Vec<super::ContestState>, super::blocks::Targets) {
        let mut analyser = Analyser::new(self.study.clone(), self.info.clone());
        for record in records.iter().filter(|r| r.state == CellState::Done) {
            analyser.add(record, self.sample(&record.cell));
        }
        look(&self.study, &self.levels, rules, records, &analyser.finish())
    }

    /// Runs until nothing more is needed. It is killed whenever so many cells are done, and
    /// begins each time with nothing but the records.
    fn run(&self, rules: &Rules, killed_after: usize, fails: &str) -> Vec<CellRecord> {
        let all =
            order(&self.levels, rules.most_blocks as u32, self.info.seed, SeedSharing::Shared);
        let mut records: Vec<CellRecord> = Vec::new();
        loop {
            let mut done = 0;
            while let Some(at) = records.iter().position(|r| r.state == CellState::Waiting) {
                if done == killed_after {
                    break;
                }
                let record = &mut records[at];
                let is_failed = record.cell.levels.stack == fails;
                record.state = if is_failed { CellState::Failed } else { CellState::Done };
                done += 1;
            }
            if records.iter().any(|r| r.state == CellState::Waiting) {
                continue;
            }
            let (_, targets) = self.look(rules, &records);
            let next = next_cells(&targets, &all, &records, killed_after.is_multiple_of(2));
            if next.is_empty() {
                return records;
            }
            records.extend(next.into_iter().map(|cell| CellRecord::new(cell, CellState::Waiting)));
        }
    }

    fn outcome(&self, rules: &Rules, records: &[CellRecord]) -> CampaignOutcome {
        let (known, _) = self.look(rules, records);
        CampaignOutcome {
            goal: String::new(),
            stopped: Stop::Decided,
            cells: records.len(),
            most_cells: 0,
            blocks: 0,
            figures: known.iter().map(|known| known.outcome(Stop::Budget)).collect(),
        }
    }
}

fn cells_of(records: &[CellRecord], stack: &str, workload: &str) -> Vec<u32> {
    let of = |r: &&CellRecord| r.cell.levels.stack == stack && r.cell.levels.workload == workload;
    records.iter().filter(of).map(|r| r.cell.block).collect()
}

#[test]
fn the_best_is_found_and_what_is_decided_is_not_run_again() {
    let machine = Machine::new();
    let rules = Rules::new(Goal::Best);
    let records = machine.run(&rules, 1000, "");
    let outcome = machine.outcome(&rules, &records);
    let [a, b, mirrors, one] = outcome.figures.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(a.groups, [["single/xfs"]]);
    assert!(mirrors.groups == [["raid1/ext4"]] && mirrors.blocks.len() == 2, "{mirrors:?}");
    // The best of one is no question.
    assert!(!one.is_known && one.open == 0 && one.groups.is_empty(), "{one:?}");
    let mut best = b.groups[0].clone();
    best.sort();
    assert_eq!(best, ["single/ext4", "single/xfs"]);
    // Nothing asks for it after the first look.
    assert_eq!(cells_of(&records, "single/xfs", "unasked"), [0, 1, 2]);
    // The worst was dropped early, and those that are alike continued.
    assert!(cells_of(&records, "raid1/xfs", "b").len() < 8);
    assert!(records.len() < 30 * 12 / 3, "{}", records.len());
    // Numbers are those of the order in which cells ran.
    assert!(records.iter().enumerate().all(|(n, r)| r.cell.number as usize == n));
}

#[test]
fn a_campaign_that_is_killed_comes_to_the_same() {
    let machine = Machine::new();
    for goal in [Goal::Best, Goal::Rank, Goal::Precision(0.01)] {
        let rules = Rules::new(goal);
        let whole = machine.run(&rules, 1000, "");
        for killed_after in [1, 2, 7, 30] {
            let pieces = machine.run(&rules, killed_after, "");
            let key = |r: &CellRecord| {
                (r.cell.block, r.cell.levels.stack.clone(), r.cell.levels.workload.clone())
            };
            let sorted = |records: &[CellRecord]| {
                let mut all: Vec<_> = records.iter().map(key).collect();
                all.sort();
                all
            };
            assert_eq!(sorted(&pieces), sorted(&whole), "{goal:?} {killed_after}");
            let outcomes = [&pieces, &whole].map(|r| machine.outcome(&rules, r).figures);
            assert_eq!(outcomes[0], outcomes[1], "{goal:?} {killed_after}");
        }
    }
}

#[test]
fn a_stack_whose_cells_all_fail_is_given_up() {
    let machine = Machine::new();
    let rules = Rules::new(Goal::Best);
    let records = machine.run(&rules, 1000, "raid1/ext4");
    assert_eq!(cells_of(&records, "raid1/ext4", "a"), [0, 1, 2]);
    let outcome = machine.outcome(&rules, &records);
    assert_eq!(outcome.figures[0].groups, [["single/xfs"]]);
}

#[test]
fn the_baseline_is_what_ratios_are_taken_to() {
    let machine = Machine::new();
    let rules = Rules::new(Goal::Precision(0.05));
    let records = machine.run(&rules, 1000, "");
    let outcome = machine.outcome(&rules, &records);
    assert_eq!(outcome.figures[0].blocks[0].0, "single/xfs");
    assert!(outcome.figures.iter().all(|f| f.is_known), "{outcome:?}");
    // Of one that stands alone it is the figure, as the report tells it.
    let one = outcome.figures[3].sentence();
    assert!(one.starts_with("B of one? raid1/xfs reaches 214 MB/s ["), "{one}");
    assert!(one.contains("], which is known within ±"), "{one}");
    let ratios = outcome.figures[0].sentence();
    assert!(ratios.contains("every ratio is known within ±"), "{ratios}");
}

#[test]
fn a_figure_alone_continues_until_it_is_known() {
    let machine = Machine::new();
    let one = |share: f64| {
        let records = machine.run(&Rules::new(Goal::Precision(share)), 1000, "");
        let outcome = machine.outcome(&Rules::new(Goal::Precision(share)), &records);
        (cells_of(&records, "raid1/xfs", "b").len(), outcome.figures[3].clone())
    };
    let (loose, strict) = (one(0.05), one(0.0001));
    assert!(loose.0 < 6 && loose.1.is_known, "{loose:?}");
    assert!(strict.0 == 30 && !strict.1.is_known && strict.1.open == 1, "{strict:?}");
    let sentence = strict.1.sentence();
    assert!(sentence.contains(", and not within ±0.01 % (30 blocks; "), "{sentence}");
}
