//! Campaigns on machines that are made up: from the order of cells to the analysis.

use std::error::Error;

use disklab_cell::{Cell, Levels, SeedSharing, order};
use disklab_decision::{Analyser, Analysis};
use disklab_options::{BenchKind, RunSettings};
use disklab_sample::{
    Cpu, Direction, DriveTraffic, Environment, Figure, OperationKind, Sample, Step, StepProfile,
    Task,
};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::Study;
use jiff::Timestamp;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::noise_models::NoiseModel;

const HEAD: &str = r#"
id = "calibration"
title = "Calibration"

[[drives]]
model = "m"
name = "d"
count = 4
size = "1 TB"

[layouts]
single = { drives = 1 }
raid0 = "md-raid0"
raid1 = "md-raid1"
raid5 = "md-raid5"

[file-systems]
ext4 = "ext4"
xfs = "xfs"
btrfs = "btrfs"
"#;

/// A study of some stacks and questions.
#[derive(Debug)]
pub struct RunFixture {
    study: Study,
    info: RunInfo,
    stacks: Vec<String>,
    workloads: Vec<String>,
}

impl RunFixture {
    /// Up to 12 stacks, each question of one workload.
    ///
    /// # Errors
    /// Where the study is not understood.
    pub fn new(stacks: usize, questions: usize) -> Result<Self, Box<dyn Error>> {
        let workloads: Vec<String> = (0..questions).map(|n| format!("w{n}")).collect();
        let mut text = HEAD.to_owned();
        for id in &workloads {
            text += &format!(
                "[[workloads]]\nid = \"{id}\"\nfio = {{ rw = \"write\", bs = \"1M\", direct = 1 }}\n"
            );
        }
        for id in &workloads {
            text += &format!(
                "[[questions]]\nask = \"{id}?\"\nworkloads = \"{id}\"\nmeasure = \"throughput\"\n"
            );
        }
        let study = disklab_study::load("calibration.toml", &text)?;
        let info = RunInfo {
            disklab: String::new(),
            study: "calibration".to_owned(),
            title: "Calibration".to_owned(),
            study_file: "calibration.toml".to_owned(),
            study_text: text,
            bench: BenchKind::Disks(Vec::new()).into(),
            bench_about: String::new(),
            options: RunSettings::default(),
            scale: 1.0,
            repeats: 1,
            seed: 1,
            created: Timestamp::UNIX_EPOCH,
            stacks: Vec::new(),
            left_out: Vec::new(),
            reference: None,
            machines: Default::default(),
            environment: Environment::default(),
        };
        let stacks = study.stacks.iter().take(stacks).map(|s| s.id.clone()).collect();
        Ok(Self { study, info, stacks, workloads })
    }

    /// What a campaign of so many blocks under a noise model gives: its cells in the order of time,
    /// each with its rate. `truth` has one rate per stack.
    pub fn campaign(
        &self,
        noise_model: &NoiseModel,
        truth: &[f64],
        blocks: u32,
        random: &mut ChaCha8Rng,
    ) -> Vec<(Cell, f64)> {
        let levels: Vec<Levels> = self
            .stacks
            .iter()
            .flat_map(|s| self.workloads.iter().map(move |w| Levels::new(s, w)))
            .collect();
        let cells = order(&levels, blocks, random.random(), SeedSharing::Shared);
        let disturbances = noise_model.disturbances(random, cells.len(), levels.len());
        let rate = |cell: &Cell, disturbance: f64| truth[self.stack(cell)] * disturbance.exp();
        cells.into_iter().zip(disturbances).map(|(c, d)| (c.clone(), rate(&c, d))).collect()
    }

    /// Which stack a cell is of.
    pub fn stack(&self, cell: &Cell) -> usize {
        self.stack_of(&cell.levels.stack)
    }

    /// Which stack has this id.
    pub fn stack_of(&self, id: &str) -> usize {
        self.stacks.iter().position(|stack| stack == id).unwrap_or_default()
    }

    /// Has claims stand so many looks.
    pub fn look_so_often(&mut self, looks: u32) {
        self.info.options.looks = Some(looks);
    }

    /// The rates of the first workload, by stack and block.
    pub fn by_stack(&self, campaign: &[(Cell, f64)]) -> Vec<Vec<Option<f64>>> {
        let blocks = campaign.iter().map(|(c, _)| c.block as usize + 1).max().unwrap_or_default();
        let mut all = vec![vec![None; blocks]; self.stacks.len()];
        for (cell, rate) in campaign.iter().filter(|(c, _)| c.levels.workload == self.workloads[0])
        {
            all[self.stack(cell)][cell.block as usize] = Some(*rate);
        }
        all
    }

    /// The study and what its runs are.
    // Only the test of two runs against each other needs them.
    #[allow(dead_code)]
    pub fn run(&self) -> (&Study, &RunInfo) {
        (&self.study, &self.info)
    }

    /// What disklab makes of it.
    pub fn analyse(&self, campaign: Vec<(Cell, f64)>) -> Analysis {
        let mut analyser = Analyser::new(self.study.clone(), self.info.clone());
        for (cell, rate) in campaign {
            let sample = sample(&cell.levels.workload, rate);
            let record = CellRecord::new(cell, CellState::Done);
            analyser.add(&record, sample);
        }
        analyser.finish()
    }
}

/// A minute of writing at this rate (bytes per second).
fn sample(step: &str, rate: f64) -> Sample {
    let elapsed_ns = 60_000_000_000;
    let bytes = (rate * 60.0) as u64;
    let figure = Figure {
        direction: Direction::Write,
        bytes,
        operations: Some(bytes >> 20),
        elapsed_ns,
        bytes_per_second: Some(rate),
        operations_per_second: None,
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    };
    let drive =
        DriveTraffic { drive: "d-1".to_owned(), write_bytes: bytes, ..DriveTraffic::default() };
    let step = Step {
        name: step.to_owned(),
        figures: vec![figure],
        elapsed_ns,
        cpu: Cpu { processors: 4, ..Cpu::default() },
        drives: vec![drive],
        profile: Some(StepProfile { task: Some(Task::LargeWrite), ..StepProfile::default() }),
        ..Step::default()
    };
    Sample { steps: vec![step], ..Sample::default() }
}
