//! A workload of a kind that no crate of the analysis has heard of gets its audits, purposes and
//! sentences by what it says of its steps.

use disklab_audits::Severity;
use disklab_cell::{Caches, Cell, Levels};
use disklab_decision::{Analyser, Analysis};
use disklab_exec::{Executor, Interrupt};
use disklab_sample::{
    ContentProfile, Direction, DriveTraffic, Durability, Environment, Figure, FileSet,
    OperationKind, Order, Requests, Sample, Step, StepProfile, SyncCall, TimeIn,
};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::load;
use disklab_workload::{Cost, StepOutcome, WorkContext, Workload, WorkloadError};
use jiff::Timestamp;

const STUDY: &str = r#"
id = "tapes"
title = "Tapes"
repeats = 6
baseline = "single/ext4"

[[drives]]
model = "m"
name = "d"
count = 1
size = "1 TB"

[layouts]
single = { drives = 1 }

[file-systems]
ext4 = "ext4"
btrfs = "btrfs[compress=zlib]"

[[workloads]]
id = "tape"
title = "a tape"
tape = { reels = 2 }
"#;

/// Records zeros past the page cache, then logs where they lie.
#[derive(Debug)]
struct Tape;

impl Workload for Tape {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        Cost::default()
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let (size, order) = match step {
            "record" => (1 << 20, Order::Sequential),
            _ => (4096, Order::Random),
        };
        let zeros = step == "record";
        let safe = Durability::EachWrite(SyncCall::OSync);
        Some(StepProfile {
            writes: Some(Requests::of_size(size, order)),
            read_share: Some(0.0),
            direct: Some(zeros),
            durability: Some(if zeros { Durability::Nothing } else { safe }),
            content: Some(if zeros { ContentProfile::Zeros } else { ContentProfile::Random }),
            files: Some(FileSet { files: 1, bytes: 64 << 20 }),
            time_in: Some(TimeIn::Writes),
            jobs: Some(1),
            depth: Some(1),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, _: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn run(&self, cell: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        for (name, bytes, operations) in [("record", 64 << 20, 64), ("log", 4 << 20, 1024)] {
            cell.step(name, |_| {
                let figures = vec![written(bytes, operations)];
                Ok(StepOutcome { figures, ..StepOutcome::default() })
            })?;
        }
        Ok(())
    }
}

fn written(bytes: u64, operations: u64) -> Figure {
    Figure {
        direction: Direction::Write,
        bytes,
        operations: Some(operations),
        elapsed_ns: 10_000_000_000,
        bytes_per_second: None,
        operations_per_second: None,
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    }
}

/// What the workload leaves, with so many bytes written to the drive in each step.
fn steps(drive_bytes: u64) -> Vec<Step> {
    let executor = Executor::new(Interrupt::new());
    let temp = tempfile::tempdir().expect("temp");
    let mut cell = WorkContext {
        executor: &executor,
        directory: temp.path(),
        device: None,
        device_is_ata: false,
        watched: Vec::new(),
        seed: 1,
        caches: Caches::Keep,
        remount: None,
        caretaker: None,
        emptied: false,
        spread: None,
        spread_over: None,
        events: &[],
        steps: Vec::new(),
        files_read: Vec::new(),
        notes: Vec::new(),
        caches_seconds: 0.0,
        background_bytes: None,
    };
    Tape.run(&mut cell).expect("runs");
    cell.describe_steps(|step| Tape.profile(step));
    let drive = DriveTraffic { write_bytes: drive_bytes, ..DriveTraffic::default() };
    cell.steps.iter_mut().for_each(|step| step.drives = vec![drive.clone()]);
    cell.steps
}

fn analysed() -> Analysis {
    let study = load("tapes.toml", STUDY).expect("valid");
    let info = RunInfo {
        disklab: "0".to_owned(),
        study: study.id.to_string(),
        title: study.title.clone(),
        study_file: "tapes.toml".to_owned(),
        study_text: STUDY.to_owned(),
        bench: disklab_options::BenchKind::Loop.into(),
        bench_about: String::new(),
        options: disklab_options::RunSettings::default(),
        scale: 1.0,
        repeats: 6,
        seed: 1,
        created: Timestamp::UNIX_EPOCH,
        stacks: Vec::new(),
        left_out: Vec::new(),
        reference: None,
        machines: Default::default(),
        environment: Environment::default(),
    };
    let mut analyser = Analyser::new(study, info);
    for block in 0..6 {
        for (place, (stack, drive_bytes)) in
            [("single/ext4", 64 << 20), ("single/btrfs", 1 << 20)].into_iter().enumerate()
        {
            let cell = Cell {
                number: block * 2 + place as u32,
                block,
                levels: Levels::new(stack, "tape"),
                seed: 1,
            };
            let record = CellRecord::new(cell, CellState::Done);
            analyser.add(&record, Sample { steps: steps(drive_bytes), ..Sample::default() });
        }
    }
    analyser.finish()
}

#[test]
fn a_workload_of_a_new_kind_gets_audits_sentences_and_purposes() {
    let analysis = analysed();
    let found = analysis.findings.iter().find(|f| f.audit == "zeros-compressed");
    let found = found.unwrap_or_else(|| panic!("{:?}", analysis.findings));
    assert_eq!(found.severity, Severity::Severe);
    assert!(found.text.starts_with("tape:record with single/btrfs"), "{}", found.text);
    let asks: Vec<&str> = analysis.answers.iter().map(|a| a.question.ask.as_str()).collect();
    assert!(asks.iter().any(|ask| ask.contains("4 KiB synchronous random writes")), "{asks:?}");
    assert!(asks.iter().any(|ask| ask.contains("1 MiB writes")), "{asks:?}");
    let all = &analysis.recommendations;
    let lacks = |word: &str, aspect: &str| {
        let purpose = all.iter().find(|r| r.purpose.word == word).expect(word);
        purpose.lacking.contains(&aspect)
    };
    let safe = all
        .iter()
        .flat_map(|r| r.purpose.aspects.iter().map(move |aspect| (r.purpose.word, aspect)))
        .find(|(_, aspect)| {
            aspect.work.iter().any(|of| of.contains(&disklab_sample::Task::DurableWrite))
        })
        .expect("a purpose asks for safe writes");
    assert!(!lacks(safe.0, safe.1.name), "what it logs shows '{}'", safe.1.name);
    assert!(lacks("media", "reading large files"), "it reads nothing");
}
