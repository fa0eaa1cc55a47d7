//! What a study is made of.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use disklab_cell::{
    Axes, AxesError, Caches, Cell, LayerSpec, Levels, SeedSharing, StudyAxis, WorkloadPlan,
    making_seed, order,
};
use disklab_source::{FileName, Location, Source};
use disklab_units::{Bytes, BytesPerSecond};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::drive_request::DriveRequests;
use crate::faults::StudyFault;
use crate::machine::MachineProfile;
use crate::{DriveSpec, LeftOut};
use disklab_config::Node;

/// A study: stacks × workloads, the repeats, the questions.
#[derive(Debug, Clone)]
pub struct Study {
    /// Short name, such as `synology-2018`.
    pub id: FileName,
    /// One line.
    pub title: String,
    /// What it is about, where it comes from, how it differs from its source.
    pub about: String,
    /// How often each cell runs.
    pub repeats: u32,
    /// What it runs for instead, unless the command line says how often or what for.
    pub goal: Option<StudyGoal>,
    /// Stacks that differ by less are equivalent for that goal, if the study says so.
    pub precision: Option<f64>,
    /// How often a cell runs at most for that goal, if the study says so.
    pub most_repeats: Option<u32>,
    /// Whether the stacks of a block are given the same drives and the same work.
    pub draws: SeedSharing,
    /// Whether directories and files are made before a workload's own, drawn for each repeat.
    pub has_earlier_files: bool,
    /// Whether it is about a directory, whose figures are compared with the lab's.
    pub has_reference: bool,
    /// The share of a file system over which large files are laid out; as they come where absent.
    pub spread: Option<f64>,
    /// What its stacks and workloads are crossed with.
    pub axes: Axes,
    /// The levels of the axis `fault` besides none.
    pub faults: Vec<StudyFault>,
    /// Stack that others are compared with, by default.
    pub baseline: Option<String>,
    /// The drives below it.
    pub drives: Vec<DriveSpec>,
    /// What names them, if they are others than its file says.
    pub named_drives: Option<DriveRequests>,
    /// The processor whose work the lab charges for: a name, or a table with its
    /// figures; none where work is free.
    pub processor: Option<Node>,
    /// Size of a drive on the loop bench; computed from the workloads where absent.
    pub loop_drive_size: Option<Bytes>,
    /// The machine whose settings a guest in the lab has.
    pub lab_machine: &'static MachineProfile,
    /// Memory of a guest in the lab, which is that of the machine that the study was
    /// made on; the bench's own default where absent.
    pub lab_memory: Option<Bytes>,
    /// Throughput of a bus that all drives share in the lab, as behind a port
    /// multiplier or a slow chipset; none where each has its own.
    pub lab_bus: Option<BytesPerSecond>,
    /// Seconds after which the lab's kernel gives up a command of its drives, which are SCSI disks
    /// then.
    pub lab_scsi_timeout: Option<u64>,
    /// The host below the guest in the lab, a table; `None` if the guest is directly on the
    /// drives themselves.
    pub lab_host: Option<Node>,
    /// The stacks, in the order of the file.
    pub stacks: Vec<StackSpec>,
    /// The workloads, expanded, in the order of the file.
    pub workloads: Vec<WorkloadSpec>,
    /// Pairs (stack, workload) that the study leaves out on purpose, sorted.
    pub excluded: Vec<(usize, usize)>,
    /// Stacks that it would have on its own drives, and not on those of this run.
    pub left_out: Vec<LeftOut>,
    /// What the report answers; one question per figure where empty.
    pub questions: Vec<Question>,
    /// The files that its workloads name, where its own text has them.
    pub files: Option<Arc<BTreeMap<String, String>>>,
    /// The file it came from.
    pub source: Arc<Source>,
    /// SHA-256 of the file's text, in hexadecimal.
    pub digest: String,
    /// Whether this is its quick form.
    pub is_quick: bool,
    /// What it is when time is short.
    pub(crate) quick: Option<QuickForm>,
    /// Where each id is in `stacks` and `workloads`.
    pub(crate) positions: Positions,
}

/// What a study is when time is short: the same questions, with less work for each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuickForm {
    /// How often each cell runs.
    pub repeats: u32,
    /// Stacks that differ by less are equivalent for its goal.
    pub precision: Option<f64>,
    /// How often a cell runs at most for its goal.
    pub most_repeats: Option<u32>,
    /// All workloads, by the same index.
    pub workloads: Vec<WorkloadSpec>,
}

/// Where each stack and workload is, by its id: looked up once per cell, so never searched.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    stacks: HashMap<String, usize>,
    workloads: HashMap<String, usize>,
}

impl Positions {
    pub(crate) fn new(stacks: &[StackSpec], workloads: &[WorkloadSpec]) -> Self {
        let stacks = stacks.iter().enumerate().map(|(at, spec)| (spec.id.clone(), at));
        let workloads = workloads.iter().enumerate().map(|(at, spec)| (spec.id.clone(), at));
        Self { stacks: stacks.collect(), workloads: workloads.collect() }
    }
}

/// One stack: the layers, bottom-up, that turn drives into a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackSpec {
    /// Such as `raid5/btrfs[csum]`.
    pub id: String,
    /// The part before the file system, such as `raid5`.
    pub layout: String,
    /// The file system's part, such as `btrfs[csum]`; empty for whole stacks.
    pub file_system: String,
    /// Layers, bottom-up.
    pub layers: Vec<LayerSpec>,
    /// Which of the study's drives it uses, by index.
    pub drives: Vec<usize>,
    /// Whether the drives' write cache must be on or off; as it is where absent.
    pub write_cache: Option<bool>,
    /// The cache mode of its virtual disks, where it is another than the host's.
    pub host_cache: Option<String>,
    /// Where it is defined.
    pub place: Location,
}

/// What a run is to find out, if the samples decide how long it runs: the study says, or the
/// user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyGoal {
    /// The best stack of each question, and those that are equivalent.
    Best,
    /// All stacks in order.
    Rank,
    /// The stack to take for each purpose.
    Purposes,
}

impl StudyGoal {
    /// Its words in a study file, on the command line and in a run.
    pub const WORDS: [(&'static str, Self); 3] =
        [("best", Self::Best), ("rank", Self::Rank), ("purposes", Self::Purposes)];

    /// As on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Rank => "rank",
            Self::Purposes => "purposes",
        }
    }
}

/// One workload, with its parameters filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadSpec {
    /// Such as `dd-write-4k`.
    pub id: String,
    /// For people, such as `dd write bs=4k oflag=dsync`.
    pub title: String,
    /// The program: `fio`, `dd`, …; a word of the workload crate's table.
    pub kind: String,
    /// The kind's own fields.
    pub body: Node,
    /// What `each` and `matrix` set, such as `bs = 4k`.
    pub parameters: IndexMap<String, String>,
    /// When the page cache is emptied.
    pub caches: Caches,
    /// What happens besides the work, and when.
    pub events: Option<Node>,
    /// Where it is defined.
    pub place: Location,
}

impl WorkloadSpec {
    /// What a cell needs to know of it.
    pub fn plan(&self) -> WorkloadPlan {
        let Self { id, kind, body, caches, events, .. } = self.clone();
        WorkloadPlan { id, kind, body, caches, events }
    }
}

/// Which measure a question looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Bytes per second.
    Throughput,
    /// Operations per second.
    Iops,
    /// Time from submission to completion that so many operations did not exceed.
    Latency(Percentile),
    /// Seconds.
    Elapsed,
    /// Deadlines missed, counted. 0 is the best there is, and has no ratio to others.
    Missed,
}

/// The percentiles of latency that disklab keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Percentile {
    /// The median.
    P50,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    P999,
}

impl Percentile {
    /// The share of values above it.
    pub fn above(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P99 => 0.01,
            Self::P999 => 0.001,
        }
    }
}

impl Measure {
    /// Its words in a study file.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("throughput", Self::Throughput),
        ("iops", Self::Iops),
        ("latency-p50", Self::Latency(Percentile::P50)),
        ("latency-p99", Self::Latency(Percentile::P99)),
        ("latency-p999", Self::Latency(Percentile::P999)),
        ("elapsed", Self::Elapsed),
        ("missed", Self::Missed),
    ];

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Iops)
    }
}

/// Which part of a step a question looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Part {
    /// All that was measured.
    #[default]
    Whole,
    /// From where it was the same until the end.
    Steady,
}

impl Part {
    /// Its words in a study file.
    pub const WORDS: [(&'static str, Self); 2] = [("whole", Self::Whole), ("steady", Self::Steady)];

    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Steady => "steady",
        }
    }
}

/// How a question is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ChartKind {
    /// Grouped bars: layouts × file systems.
    #[default]
    Bars,
    /// One line per stack over a parameter, such as `bs`.
    LinesOver(String),
    /// Latency distributions.
    Distribution,
}

/// What a report answers with one chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, in words.
    pub ask: String,
    /// Patterns over workload ids, or `workload:step`.
    pub workloads: Vec<String>,
    /// Patterns over stack ids; all where empty.
    pub stacks: Vec<String>,
    /// What is compared; chosen from the samples where absent.
    pub measure: Option<Measure>,
    /// Which part of each step is looked at.
    pub part: Part,
    /// How it is drawn.
    pub chart: ChartKind,
    /// The stack that others are compared with; the study's where absent.
    pub baseline: Option<String>,
}

impl Study {
    /// The same with stacks and workloads alone.
    pub fn without_axes(self) -> Self {
        Self { axes: Axes::default(), ..self }
    }

    /// The same with these axes in place of its own of the same names.
    ///
    /// # Errors
    /// [`AxesError`] if they have too many combinations, or one is there twice.
    pub fn crossed_with(self, axes: &[StudyAxis]) -> Result<Self, AxesError> {
        Ok(Self { axes: self.axes.with(axes)?, ..self })
    }

    /// The cells with these levels, laid out by [`order()`] and seeded as the study says.
    pub fn order(&self, levels: &[Levels], repeats: u32, seed: u64) -> Vec<Cell> {
        order(levels, repeats, seed, self.draws)
    }

    /// The seed of what the cell's stack is made with.
    pub fn making_seed(&self, cell: &Cell, seed: u64) -> u64 {
        making_seed(seed, cell, self.draws)
    }

    /// Position of a stack.
    pub fn stack_index(&self, id: &str) -> Option<usize> {
        self.positions.stacks.get(id).copied()
    }

    /// Position of a workload.
    pub fn workload_index(&self, id: &str) -> Option<usize> {
        self.positions.workloads.get(id).copied()
    }

    /// The workloads that no question covers, where there are questions: a report shows
    /// their figures behind all answers.
    pub fn unasked_workloads(&self) -> impl Iterator<Item = &WorkloadSpec> {
        let covers = |pattern: &String, id: &str| {
            crate::matches(pattern.split_once(':').map_or(pattern.as_str(), |(w, _)| w), id)
        };
        self.workloads.iter().filter(move |workload| {
            !self.questions.is_empty()
                && !self.questions.iter().any(|question| {
                    question.workloads.iter().any(|pattern| covers(pattern, &workload.id))
                })
        })
    }

    /// Whether the study leaves this pair out on purpose.
    pub fn is_excluded(&self, stack: usize, workload: usize) -> bool {
        self.excluded.binary_search(&(stack, workload)).is_ok()
    }
}
