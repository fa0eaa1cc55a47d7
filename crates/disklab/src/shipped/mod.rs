//! Runs that come with disklab: an answer before anything is measured here, and figures that
//! a run on this machine must give again.

mod delta;
mod differences;
mod text;

use std::collections::BTreeSet;
use std::path::Path;

use disklab_bench::Campaign;
use disklab_sample::Sample;
use disklab_stack::Need;
use disklab_store::{Run, RunInfo};
use disklab_study::{Cell, load};
use disklab_workload::Context;

pub use differences::ShippedDifferences;
pub use text::write;

use crate::exit::Failure;

/// The shipped runs, by their studies: `make shipped-run` makes them.
const RUNS: &[(&str, &str)] = &[("first-look", include_str!("../../../../runs/first-look.jsonl"))];

/// A run that comes with disklab.
#[derive(Debug, Clone)]
pub struct ShippedRun {
    /// What it is.
    pub info: RunInfo,
    /// Its samples, in the order in which their cells ran.
    pub samples: Vec<(Cell, Sample)>,
}

impl ShippedRun {
    /// That of a study.
    ///
    /// # Errors
    /// [`Failure`] if there is none.
    pub fn find(study: &str) -> Result<Self, Failure> {
        let found = RUNS.iter().find(|(id, _)| *id == study);
        let (id, text) = found.ok_or_else(|| {
            let known: Vec<_> = RUNS.iter().map(|(id, _)| *id).collect();
            Failure::usage_error(format!(
                "no run of the study '{study}' comes with disklab; known: {}",
                known.join(", ")
            ))
        })?;
        text::read(text).map_err(|why| Failure::failed(format!("runs/{id}.jsonl: {why}")))
    }

    /// Its study, ready to be run.
    ///
    /// # Errors
    /// [`Failure`] if this version of disklab reads the study otherwise.
    pub fn campaign(&self) -> Result<Campaign, Failure> {
        campaign(&self.info)
    }

    /// Makes it a run in a folder.
    ///
    /// # Errors
    /// [`Failure`] if the folder cannot be written, or has something else in it.
    pub fn restore(&self, folder: &Path) -> Result<Run, Failure> {
        let cells: Vec<Cell> = self.samples.iter().map(|(cell, _)| cell.clone()).collect();
        let mut run = Run::create(folder, &self.info, &cells).map_err(Failure::usage_error)?;
        let samples = self.samples.iter().map(|(cell, sample)| (cell, Ok(sample)));
        run.record_all(samples).map_err(Failure::failed)?;
        Ok(run)
    }
}

/// A run's study, ready to be run.
fn campaign(info: &RunInfo) -> Result<Campaign, Failure> {
    let study = load(&info.study_file, &info.study_text).map_err(Failure::failed)?;
    let context = Context { scale: info.scale, folder: ".".into() };
    Campaign::new(study, &context).map_err(Failure::failed)
}

/// The programs that the stacks and workloads of a run's study need.
fn programs(info: &RunInfo) -> Result<BTreeSet<&'static str>, Failure> {
    let campaign = campaign(info)?;
    let of_stacks = campaign.stacks.iter().flat_map(|stack| stack.needs());
    let mut names: BTreeSet<&'static str> = of_stacks
        .filter_map(|need| match need {
            Need::Program { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    names.extend(campaign.workloads.iter().flat_map(|w| w.programs()).map(|(name, _)| name));
    Ok(names)
}

#[cfg(test)]
mod tests;
