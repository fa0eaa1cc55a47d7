//! Runs made up for unit tests of the crates that make an analysis; those behind this one include
//! the file.
#![allow(dead_code, reason = "each crate needs a part")]

use disklab_audits::{Audited, Auditor, Finding};
use disklab_cell::{Cell, Levels};
use disklab_sample::{
    Conditions, Cpu, Direction, DriveTraffic, Environment, Figure, OperationKind, Sample, Step,
    StepProfile,
};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::Study;
use disklab_workload::Context;
use jiff::Timestamp;

/// Two drives; four stacks; dd at three block sizes, fio, copy.
pub(crate) const STUDY: &str = r#"
id = "test"
title = "Test"

[[drives]]
model = "m"
name = "d"
count = 2
size = "1 TB"

[layouts]
single = { drives = 1 }
raid1 = "md-raid1"

[file-systems]
ext4 = "ext4"
btrfs = "btrfs[compress=zlib]"

[[workloads]]
id = "dd-{bs}"
each = [{ bs = "4k", count = 64 }, { bs = "64k", count = 16 }, { bs = "1M", count = 16 }]
dd = { direction = "write", bs = "{bs}", count = "{count}", flags = "dsync" }

[[workloads]]
id = "fio"
fio = { size = "1G", rw = "randread", bs = "4k", direct = 1 }

[[workloads]]
id = "buffered"
title = "write a large file"
fio = { size = "1G", rw = "write", bs = "1M" }

[[workloads]]
id = "copy"
title = "copy a tree"
copy = { size = "1G" }

[[workloads]]
id = "kept"
caches = "keep"
fio = { size = "1G", rw = "read", bs = "1M" }

[[workloads]]
id = "hdparm"
hdparm = { cached = true }
"#;

/// A run in the making.
#[derive(Debug, Clone)]
pub(crate) struct RunFixture {
    pub study: Study,
    pub info: RunInfo,
    pub cells: Vec<(CellRecord, Option<Sample>)>,
}

impl RunFixture {
    /// [`STUDY`] with more text (questions) at its end.
    pub fn new(more: &str) -> Self {
        let text = format!("{STUDY}\n{more}");
        let study = disklab_study::load("test.toml", &text).expect("valid");
        let info = RunInfo {
            disklab: "0".to_owned(),
            study: "test".to_owned(),
            title: "Test".to_owned(),
            study_file: "test.toml".to_owned(),
            study_text: text,
            bench: disklab_options::BenchKind::Lab.into(),
            bench_about: "modelled drives".to_owned(),
            options: disklab_options::RunSettings::default(),
            scale: 1.0,
            repeats: 3,
            seed: 1,
            created: Timestamp::UNIX_EPOCH,
            stacks: Vec::new(),
            left_out: Vec::new(),
            reference: None,
            machines: Default::default(),
            environment: Environment::default(),
        };
        Self { study, info, cells: Vec::new() }
    }

    fn record(&self, stack: &str, workload: &str, block: u32, state: CellState) -> CellRecord {
        CellRecord {
            cell: Cell {
                number: self.cells.len() as u32,
                block,
                levels: Levels::new(stack, workload),
                seed: 1,
            },
            state,
            error: (state == CellState::Failed).then(|| "no space left".to_owned()),
            ended: None,
            seconds: None,
        }
    }

    /// Adds a finished cell.
    pub fn sample(&mut self, stack: &str, workload: &str, block: u32, steps: Vec<Step>) {
        self.full_sample(stack, workload, block, Sample { steps, ..Sample::default() });
    }

    /// Adds a finished cell with everything. Steps that do not say what they do get the
    /// profile that the workload itself gives them.
    pub fn full_sample(&mut self, stack: &str, workload: &str, block: u32, mut sample: Sample) {
        for step in sample.steps.iter_mut().filter(|step| step.profile.is_none()) {
            step.profile = self.profile(workload, &step.name);
        }
        let record = self.record(stack, workload, block, CellState::Done);
        self.cells.push((record, Some(sample)));
    }

    fn profile(&self, workload: &str, step: &str) -> Option<StepProfile> {
        let spec = self.study.workloads.iter().find(|spec| spec.id == workload)?;
        let context = Context::new(1.0, "/nowhere");
        let workload = disklab_workload::read_workload(&spec.plan(), &context);
        workload.unwrap_or_else(|e| panic!("{e}")).profile(step)
    }

    /// Adds a cell without a sample.
    pub fn unfinished(&mut self, stack: &str, workload: &str, block: u32, state: CellState) {
        let record = self.record(stack, workload, block, state);
        self.cells.push((record, None));
    }

    /// Adds a cell of one write of 1 MiB whose throughput is this (bytes per
    /// second), with operations of 4 KiB and without anything suspicious.
    pub fn measured(&mut self, stack: &str, workload: &str, block: u32, rate: f64) {
        let bytes = 1 << 20;
        let mut write = figure(Direction::Write, bytes, bytes as f64 / rate);
        write.operations = Some(bytes / 4096);
        let step = on_drives(step(workload, vec![write]), &[(0, bytes)]);
        self.sample(stack, workload, block, vec![step]);
    }

    /// Adds a cell like that of [`RunFixture::measured`] in these surroundings.
    pub fn around(&mut self, stack: &str, workload: &str, block: u32, environment: Environment) {
        self.measured(stack, workload, block, 1e6);
        if let Some((_, Some(sample))) = self.cells.last_mut() {
            sample.environment = environment;
        }
    }

    /// Adds a cell like that of [`RunFixture::measured`] under these conditions.
    pub fn under(&mut self, stack: &str, workload: &str, block: u32, conditions: Conditions) {
        let conditions = Some(conditions);
        self.around(stack, workload, block, Environment { conditions, ..Environment::default() });
    }

    /// Adds one cell per rate, in blocks from 0.
    pub fn repeats(&mut self, stack: &str, workload: &str, rates: &[f64]) {
        for (block, rate) in rates.iter().enumerate() {
            self.measured(stack, workload, block as u32, *rate);
        }
    }

    /// Groups and findings.
    pub fn audited(&self) -> Audited {
        self.auditor().finish()
    }

    /// All cells, before anything is worked out.
    pub fn auditor(&self) -> Auditor {
        let auditor = Auditor::new(self.study.clone(), self.info.clone());
        self.added(auditor, Auditor::add, Auditor::add_unfinished)
    }

    /// All cells, added to what takes them as an auditor does.
    pub fn added<T>(
        &self,
        mut to: T,
        add: fn(&mut T, &CellRecord, Sample),
        add_unfinished: fn(&mut T, &CellRecord),
    ) -> T {
        for (record, sample) in &self.cells {
            match sample {
                Some(sample) => add(&mut to, record, sample.clone()),
                None => add_unfinished(&mut to, record),
            }
        }
        to
    }

    /// The texts of one audit's findings.
    pub fn texts(&self, audit: &str) -> Vec<String> {
        self.findings(audit).into_iter().map(|finding| finding.text).collect()
    }

    pub fn findings(&self, audit: &str) -> Vec<Finding> {
        self.audited().findings.into_iter().filter(|f| f.audit == audit).collect()
    }
}

/// A step of one second on a machine with four idle processors.
pub(crate) fn step(name: &str, figures: Vec<Figure>) -> Step {
    let cpu = Cpu { processors: 4, ..Cpu::default() };
    Step { name: name.to_owned(), figures, elapsed_ns: 1_000_000_000, cpu, ..Step::default() }
}

/// A figure without operations or latency.
pub(crate) fn figure(direction: Direction, bytes: u64, seconds: f64) -> Figure {
    Figure {
        direction,
        bytes,
        operations: None,
        elapsed_ns: (seconds * 1e9) as u64,
        bytes_per_second: None,
        operations_per_second: None,
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    }
}

/// Puts traffic of (bytes read, bytes written) on drives d-1, d-2, …
pub(crate) fn on_drives(mut step: Step, traffic: &[(u64, u64)]) -> Step {
    step.drives = traffic
        .iter()
        .enumerate()
        .map(|(index, (read, write))| DriveTraffic {
            drive: format!("d-{}", index + 1),
            read_bytes: *read,
            write_bytes: *write,
            ..DriveTraffic::default()
        })
        .collect();
    step
}

/// A program that ran.
pub(crate) fn trace(argv: &[&str], status: &str) -> disklab_sample::TraceEntry {
    disklab_sample::TraceEntry {
        at_seconds: 0.0,
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        cwd: None,
        status: status.to_owned(),
        elapsed_seconds: 0.0,
    }
}

/// Large reads and small durable writes, by which a purpose is decided.
pub(crate) const DECIDING_WORK: &str = r#"
[[workloads]]
id = "stream"
fio = { size = "1G", rw = "read", bs = "1M", direct = 1 }

[[workloads]]
id = "safe"
fio = { size = "1G", rw = "randwrite", bs = "8k", fdatasync = 1 }
"#;

/// Questions for [`RunFixture::drawn`], each for some of the runs.
const DRAWN_QUESTIONS: [&str; 6] = [
    "ask = \"By block size?\"\nworkloads = \"dd-*\"\nover = \"bs\"",
    "ask = \"How long do copying and deleting take?\"\nworkloads = \"copy\"\nmeasure = \"elapsed\"",
    "ask = \"How slow are the slowest reads?\"\nworkloads = \"fio\"\nmeasure = \"latency-p99\"",
    "ask = \"Who misses deadlines?\"\nworkloads = \"fio\"\nmeasure = \"missed\"",
    "ask = \"And safe writes?\"\nworkloads = [\"safe\", \"stream\"]\nbaseline = \"raid1/ext4\"",
    "ask = \"Mirrors?\"\nworkloads = [\"dd-4k\", \"buffered\"]\nstacks = \"raid1/*\"",
];

impl RunFixture {
    /// A run with something of everything: stacks that differ by nothing, a little or much, in
    /// few and many repeats with little and much noise, some of which are missing. The same for
    /// the same number.
    pub fn drawn(number: u32) -> Self {
        let mut random = RandomNumbers(u64::from(number) + 1);
        let asked = (0..6).filter(|question| (number >> (question % 3)) & 1 == question / 3);
        let questions: Vec<String> =
            asked.map(|q| format!("[[questions]]\n{}\n", DRAWN_QUESTIONS[q as usize])).collect();
        let mut fixture = Self::new(&format!("{DECIDING_WORK}{}", questions.concat()));
        let repeats = [4, 3, 14, 2, 6, 1, 5, 3][number as usize % 8];
        let noise = [0.01, 0.05, 0.002, 0.1][number as usize / 2 % 4];
        fixture.info.repeats = repeats;
        fixture.info.options.looks = (number % 4 == 2).then_some(12);
        let stacks = [
            ("single/ext4", 0, 8),
            ("single/btrfs", 0, 9),
            ("raid1/ext4", 1, 4),
            ("raid1/btrfs", 1, 4),
        ];
        for (id, tolerates, terabytes) in stacks {
            fixture.info.stacks.push(disklab_study::PlannedStack {
                id: id.to_owned(),
                layers: Vec::new(),
                drives: vec!["d".to_owned(); 1 + tolerates as usize],
                capacity: terabytes * 1_000_000_000_000,
                tolerates,
                loss: None,
                copies: tolerates > 0,
            });
        }
        let works =
            ["dd-4k", "dd-64k", "dd-1M", "fio", "copy", "buffered", "stream", "safe", "kept"];
        let speeds: Vec<(&str, &str, f64)> = works
            .into_iter()
            .flat_map(|work| stacks.map(|(stack, ..)| (stack, work)))
            .map(|(stack, work)| {
                (stack, work, [1.0, 1.0, 1.001, 1.03, 1.2, 2.5, 12.0][random.below(7)])
            })
            .collect();
        for block in 0..repeats {
            for &(stack, work, speed) in &speeds {
                let factor = speed * (1.0 + noise * random.around_0());
                match random.below(40) {
                    0 => fixture.unfinished(stack, work, block, CellState::Failed),
                    1 => {}
                    _ => fixture.drawn_cell(stack, work, block, factor, &mut random),
                }
            }
        }
        fixture
    }

    fn drawn_cell(
        &mut self,
        stack: &str,
        work: &str,
        block: u32,
        speed: f64,
        random: &mut RandomNumbers,
    ) {
        let request = match work {
            "fio" | "dd-4k" => 4096,
            "safe" => 8192,
            "dd-64k" => 1 << 16,
            _ => 1 << 20,
        };
        let moved = |direction: Direction, rate: f64| {
            let bytes = (rate * speed * 60.0) as u64;
            let mut one = figure(direction, bytes, 60.0);
            one.operations = Some(bytes / request);
            let traffic = if direction == Direction::Read { (bytes, 0) } else { (0, bytes) };
            (one, traffic)
        };
        let (mut one, traffic) = match work {
            "copy" => {
                let times = [Direction::Copy, Direction::Remove]
                    .map(|direction| figure(direction, 1 << 30, 20.0 / speed));
                let [copy, remove] = times.map(|time| vec![time]);
                self.sample(stack, work, block, vec![step("cp", copy), step("rm", remove)]);
                return;
            }
            "fio" => moved(Direction::Read, 1e6),
            "stream" | "kept" => moved(Direction::Read, 1e8),
            "safe" => moved(Direction::Write, 4e6),
            _ => moved(Direction::Write, 2e7),
        };
        // Programs that do not tell latencies, in some of the runs.
        let tells = !(self.info.repeats == 3 && stack == "single/ext4");
        if work == "fio" && tells {
            let mut histogram = disklab_sample::LatencyHistogram::new();
            for _ in 0..200 {
                let ns = 4e6 / speed * (1.0 + random.around_0() / 4.0);
                histogram.record(ns as u64, 10);
            }
            one.latency = Some(disklab_sample::Latency::from_histogram(histogram));
            one.missed = Some((60.0 / speed) as u64 + random.below(9) as u64);
        }
        self.sample(stack, work, block, vec![on_drives(step(work, vec![one]), &[traffic])]);
    }
}

/// Numbers that look like chance, and are always the same (Knuth's MMIX generator).
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, limit: u64) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit) as usize
    }

    /// From -1 to 1, mostly near 0.
    fn around_0(&mut self) -> f64 {
        (0..4).map(|_| self.below(1001) as f64 / 500.0 - 1.0).sum::<f64>() / 4.0
    }
}
