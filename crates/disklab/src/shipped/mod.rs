//! Runs that come with disklab: an answer before anything is measured here, and figures that
//! a run on this machine must give again.

mod causes;
mod differences;
mod study;
mod text;

use std::collections::BTreeSet;
use std::path::Path;

use disklab_bench::LoadedStudy;
use disklab_cell::Cell;
use disklab_sample::Sample;
use disklab_store::{Run, RunInfo};

pub use differences::ShippedDifferences;
pub use text::write;

use crate::exit::Failure;

/// A file of `runs/`.
struct ShippedFile {
    study: &'static str,
    /// The distribution whose programs it was made with.
    distribution: &'static str,
    text: &'static str,
}

/// The shipped runs: `make shipped-run` makes them. The first of a study is the one that is
/// shown; the others have the same seed, and other versions of mkfs and of the kernel.
const RUNS: &[ShippedFile] = &[
    ShippedFile {
        study: "first-look",
        distribution: "Debian 12",
        text: include_str!("../../../../runs/first-look.jsonl"),
    },
    ShippedFile {
        study: "first-look",
        distribution: "Debian 13",
        text: include_str!("../../../../runs/first-look-debian-13.jsonl"),
    },
];

/// A run that comes with disklab.
#[derive(Debug, Clone)]
pub struct ShippedRun {
    /// The distribution whose programs it was made with.
    pub distribution: &'static str,
    /// What it is.
    pub info: RunInfo,
    /// Its samples, in the order in which their cells ran.
    pub samples: Vec<(Cell, Sample)>,
}

impl ShippedRun {
    /// That of a study which is shown.
    ///
    /// # Errors
    /// A usage error if no run of this study comes with disklab.
    pub fn find(study: &str) -> Result<Self, Failure> {
        Ok(Self::all(study)?.remove(0))
    }

    /// That of a study which was made with the programs and the kernel that are most like
    /// those of `run`.
    ///
    /// # Errors
    /// [`Failure`] if there is none, or the run cannot be read.
    pub fn closest(study: &str, run: &Run) -> Result<Self, Failure> {
        let info = run.info().map_err(Failure::usage_error)?;
        let distance = |shipped: &Self| causes::causes(&shipped.info, &info).len();
        let closest = Self::all(study)?.into_iter().min_by_key(distance);
        closest.ok_or_else(|| unknown(study))
    }

    /// Those of a study, the one that is shown first; at least one.
    fn all(study: &str) -> Result<Vec<Self>, Failure> {
        let files = RUNS.iter().filter(|file| file.study == study);
        let all = files.map(ShippedFile::read).collect::<Result<Vec<_>, _>>()?;
        if all.is_empty() { Err(unknown(study)) } else { Ok(all) }
    }

    /// Its study, ready to be run.
    ///
    /// # Errors
    /// [`Failure`] if this version of disklab reads the study otherwise.
    pub fn campaign(&self) -> Result<LoadedStudy, Failure> {
        study::campaign(&self.info)
    }

    /// Makes it a run in a directory, which is there for others from [`Run::publish`] on.
    ///
    /// # Errors
    /// [`Failure`] if the directory cannot be written, or has something else in it.
    pub fn restore(&self, directory: &Path) -> Result<Run, Failure> {
        let cells: Vec<Cell> = self.samples.iter().map(|(cell, _)| cell.clone()).collect();
        let mut run = Run::prepare(directory, &self.info, &cells).map_err(Failure::usage_error)?;
        let samples = self.samples.iter().map(|(cell, sample)| (cell, Ok(sample)));
        run.record_all(samples).map_err(Failure::failed)?;
        Ok(run)
    }
}

impl ShippedFile {
    fn read(&self) -> Result<ShippedRun, Failure> {
        let &Self { study, distribution, text } = self;
        let (info, samples) = text::read(text).map_err(|why| {
            Failure::failed(format!("runs/: the run of '{study}' on {distribution}: {why}"))
        })?;
        Ok(ShippedRun { distribution, info, samples })
    }
}

/// No run of a study comes with disklab.
fn unknown(study: &str) -> Failure {
    let known: BTreeSet<_> = RUNS.iter().map(|file| file.study).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Failure::usage_error(format!(
        "no run of the study '{study}' comes with disklab; known: {known}"
    ))
}

#[cfg(test)]
mod tests;
