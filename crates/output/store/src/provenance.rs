//! Provenance of a run's results: in what two runs differ that should be one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use disklab_options::RunOrigin;
use disklab_sample::Environment;

use crate::RunInfo;

/// The program, the bench and the machine of a run. Samples of two of them, put into one
/// run, would be compared with each other as if they were of one.
#[derive(Debug, Clone, Copy)]
pub struct Provenance<'a> {
    /// disklab's version.
    pub disklab: &'a str,
    /// Where the figures come from.
    pub bench: &'a RunOrigin,
    /// The bench in a sentence.
    pub bench_about: &'a str,
    /// Machine and programs.
    pub environment: &'a Environment,
}

/// Something that two runs may differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunAspect {
    /// The study's id.
    Study,
    /// The study's text, where the id is the same.
    StudyText,
    /// Of everything random, the order of cells included.
    Seed,
    /// The number of repeats.
    Repeats,
    /// The scale of sizes.
    Scale,
    /// An option of `disklab run`.
    Option(String),
    /// disklab's version.
    Disklab,
    /// What it ran on: the lab, loop devices, a directory, disks.
    Bench,
    /// The kernel of the machine.
    Kernel,
    /// The kernel of the lab's guests.
    LabKernel,
    /// The model of the machine's CPU.
    Processor,
    /// The machine's memory.
    Memory,
    /// The version of a program.
    Program(String),
}

impl fmt::Display for RunAspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Study => "the study",
            Self::StudyText => "the study's text",
            Self::Seed => "the seed",
            Self::Repeats => "the number of repeats",
            Self::Scale => "the scale",
            Self::Option(name) => return write!(f, "--{name}"),
            Self::Disklab => "disklab",
            Self::Bench => "the bench",
            Self::Kernel => "the kernel",
            Self::LabKernel => "the lab's kernel",
            Self::Processor => "the processor",
            Self::Memory => "memory",
            Self::Program(name) => name,
        })
    }
}

/// Something in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is.
    pub what: RunAspect,
    /// In the one.
    pub one: String,
    /// The same aspect of the run that it is compared with.
    pub other: String,
}

/// Differences in the order in which they are looked for.
#[derive(Debug, Default)]
struct Found(Vec<Difference>);

impl Found {
    fn compare(&mut self, what: RunAspect, one: impl ToString, other: impl ToString) {
        let (one, other) = (one.to_string(), other.to_string());
        if one != other {
            self.0.push(Difference { what, one, other });
        }
    }

    fn provenance(&mut self, a: &Provenance<'_>, b: &Provenance<'_>) {
        let (one, other) = (a.environment, b.environment);
        self.compare(RunAspect::Disklab, a.disklab, b.disklab);
        self.compare(RunAspect::Bench, a.bench, b.bench);
        self.compare(RunAspect::Bench, a.bench_about, b.bench_about);
        self.compare(RunAspect::Kernel, &one.kernel, &other.kernel);
        let digest = |environment: &Environment| {
            environment.lab_kernel.as_ref().map(|kernel| kernel.digest.clone())
        };
        if digest(one) != digest(other) {
            self.compare(RunAspect::LabKernel, lab_kernel_words(one), lab_kernel_words(other));
        }
        let processor = |environment: &Environment| {
            let name = environment.processor.as_deref().unwrap_or_default();
            format!("{} × {name}", environment.processors)
        };
        self.compare(RunAspect::Processor, processor(one), processor(other));
        self.compare(RunAspect::Memory, one.memory_bytes, other.memory_bytes);
        for tool in &one.tools {
            let known = other.tools.iter().find(|t| t.name == tool.name);
            let version = known.map_or("missing", |t| without_host(&t.version));
            let what = RunAspect::Program(tool.name.clone());
            self.compare(what, without_host(&tool.version), version);
        }
    }
}

/// The kernel of the lab's guests in a phrase.
fn lab_kernel_words(environment: &Environment) -> String {
    environment.lab_kernel.as_ref().map_or_else(|| "not recorded".to_owned(), ToString::to_string)
}

impl RunInfo {
    /// Provenance of the run's results.
    pub fn provenance(&self) -> Provenance<'_> {
        Provenance {
            disklab: &self.disklab,
            bench: &self.bench,
            bench_about: &self.bench_about,
            environment: &self.environment,
        }
    }

    /// In what `other` differs, besides its cells and where files lie; in nothing where both
    /// are parts of one run.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut found = Found::default();
        found.compare(RunAspect::Study, &self.study, &other.study);
        if self.study == other.study && self.study_text != other.study_text {
            let (one, other) = ("one".to_owned(), "another".to_owned());
            found.0.push(Difference { what: RunAspect::StudyText, one, other });
        }
        found.compare(RunAspect::Seed, self.seed, other.seed);
        found.compare(RunAspect::Repeats, self.repeats, other.repeats);
        found.compare(RunAspect::Scale, self.scale, other.scale);
        found.provenance(&self.provenance(), &other.provenance());
        // Those of a later look are counted on, so that there are more of them.
        let parts = |info: &Self| match info.options.part {
            None => "not given".to_owned(),
            Some(_) if info.options.looks.is_some() => "of a look".to_owned(),
            Some(part) => part.of.to_string(),
        };
        found.compare(RunAspect::Option("parts".to_owned()), parts(self), parts(other));
        let options = [self, other].map(|info| BTreeMap::from_iter(info.options.of_figures()));
        let [left, right] = &options;
        for name in left.keys().chain(right.keys()).collect::<BTreeSet<_>>() {
            let of = |all: &BTreeMap<String, String>| {
                all.get(name).cloned().unwrap_or_else(|| "not given".to_owned())
            };
            found.compare(RunAspect::Option(name.clone()), of(left), of(right));
        }
        found.0
    }
}

impl Provenance<'_> {
    /// In what `other` differs, as far as figures may depend on it. Of the programs, those
    /// that are known here are looked at.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut found = Found::default();
        found.provenance(self, other);
        found.0
    }
}

/// A version without the running kernel's, which smartctl adds to its own in brackets
/// (`smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-18-amd64] (local build)`). The
/// kernel is looked at by itself where it matters; below the lab it does not.
fn without_host(version: &str) -> &str {
    version.split_once(" [").map_or(version, |(before, _)| before)
}
