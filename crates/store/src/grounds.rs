//! What a run's figures stand on besides drives and study.

use disklab_sample::Environment;

use crate::RunInfo;

/// The program, the bench and the machine of a run. Samples of two of them, put into one
/// run, would be compared with each other as if they were of one.
#[derive(Debug, Clone, Copy)]
pub struct Grounds<'a> {
    /// disklab's version.
    pub disklab: &'a str,
    /// The bench as on the command line.
    pub bench: &'a str,
    /// The bench in a sentence.
    pub bench_about: &'a str,
    /// Machine and programs.
    pub environment: &'a Environment,
}

/// Something in which two grounds differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is, such as `the kernel` or `mkfs.ext4`.
    pub what: String,
    /// On the one side.
    pub one: String,
    /// On the other.
    pub other: String,
}

/// What a [`Difference`] between two kernels of the lab is called.
pub const LAB_KERNEL: &str = "the lab's kernel";

/// The kernel of the lab's guests in a phrase.
fn lab_kernel_words(environment: &Environment) -> String {
    environment.lab_kernel.as_ref().map_or_else(|| "not recorded".to_owned(), ToString::to_string)
}

impl RunInfo {
    /// What the run's figures stand on.
    pub fn grounds(&self) -> Grounds<'_> {
        Grounds {
            disklab: &self.disklab,
            bench: &self.bench,
            bench_about: &self.bench_about,
            environment: &self.environment,
        }
    }
}

impl Grounds<'_> {
    /// In what `other` differs, as far as figures may depend on it. Of the programs, those
    /// that are known here are looked at.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut compare = |what: &str, one: String, other: String| {
            if one != other {
                found.push(Difference { what: what.to_owned(), one, other });
            }
        };
        let (one, two) = (self.environment, other.environment);
        compare("disklab", self.disklab.to_owned(), other.disklab.to_owned());
        compare("the bench", self.bench.to_owned(), other.bench.to_owned());
        compare("the bench", self.bench_about.to_owned(), other.bench_about.to_owned());
        compare("the kernel", one.kernel.clone(), two.kernel.clone());
        let digest = |environment: &Environment| {
            environment.lab_kernel.as_ref().map(|kernel| kernel.digest.clone())
        };
        if digest(one) != digest(two) {
            compare(LAB_KERNEL, lab_kernel_words(one), lab_kernel_words(two));
        }
        let processor = |environment: &Environment| {
            let name = environment.processor.as_deref().unwrap_or_default();
            format!("{} × {name}", environment.processors)
        };
        compare("the processor", processor(one), processor(two));
        compare("memory", one.memory_bytes.to_string(), two.memory_bytes.to_string());
        for tool in &one.tools {
            let known = two.tools.iter().find(|t| t.name == tool.name);
            let version = known.map_or("missing", |t| without_host(&t.version));
            compare(&tool.name, without_host(&tool.version).to_owned(), version.to_owned());
        }
        found
    }
}

/// A version without the running kernel's, which smartctl adds to its own in brackets
/// (`smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-18-amd64] (local build)`). The
/// kernel is looked at by itself where it matters; below the lab it does not.
fn without_host(version: &str) -> &str {
    version.split_once(" [").map_or(version, |(before, _)| before)
}
