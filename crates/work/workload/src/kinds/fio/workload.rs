//! A fio workload, read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use disklab_jobfile::{Policy, Runner};

use super::layout::Prewrite;
use super::part::FioPart;
use super::steps::FioStep;

/// Who runs the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FioEngine {
    #[default]
    Native,
    Fio,
}

impl FioEngine {
    pub(super) const WORDS: [(&'static str, Self); 2] =
        [("native", Self::Native), ("fio", Self::Fio)];

    /// The stack gives the directory; files lie right in it.
    pub(super) const fn policy(self) -> Policy {
        let runner = match self {
            Self::Native => Runner::Native,
            Self::Fio => Runner::Fio,
        };
        Policy { runner, directory: false }
    }
}

/// A fio workload.
#[derive(Debug)]
pub(in crate::kinds) struct Fio {
    pub(super) engine: FioEngine,
    pub(super) parts: Vec<FioPart>,
    pub(super) steps: Vec<FioStep>,
    pub(super) prewrite: Prewrite,
    /// What scaling changed.
    pub(super) scaled: Vec<String>,
    /// Whether fio has been asked whether it understands the jobs.
    pub(super) checked: AtomicBool,
}

impl Fio {
    /// The files that a step reads, by its name; none where it reads nothing.
    pub(super) fn files_read(
        &self,
        step: &FioStep,
        directory: &Path,
    ) -> Option<(String, Vec<PathBuf>)> {
        let parts = step.sections().map(|index| &self.parts[index]);
        let reading = parts.filter(|part| part.job.pattern.access.reads);
        let names: BTreeSet<&str> =
            reading.flat_map(|part| &part.work.files).map(|(name, _)| name.as_str()).collect();
        let files: Vec<PathBuf> = names.into_iter().map(|name| directory.join(name)).collect();
        (!files.is_empty()).then(|| (step.name.clone(), files))
    }

    /// The names of the parts that `fits`, or nothing.
    pub(super) fn named(&self, fits: impl Fn(&FioPart) -> bool) -> String {
        let fitting = self.parts.iter().filter(|part| fits(part));
        fitting.map(|part| part.section.name()).collect::<Vec<_>>().join(", ")
    }
}
