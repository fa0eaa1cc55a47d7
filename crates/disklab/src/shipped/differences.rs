//! Whether a run gave the figures of a shipped one.

use std::collections::BTreeMap;

use disklab_sample::{Figure, Sample};
use disklab_store::{Difference, Run};

use super::ShippedRun;
use super::causes::causes;
use crate::exit::Failure;

/// What differs between a run and a shipped run of the same study.
#[derive(Debug, Clone, PartialEq)]
pub struct ShippedDifferences {
    /// The distribution whose programs the shipped run was made with.
    pub distribution: &'static str,
    /// Cells of the shipped run.
    pub cells: usize,
    /// Cells that the other run has not measured.
    pub missing: usize,
    /// Cells with other figures, by their stack.
    pub by_stack: BTreeMap<String, usize>,
    /// The largest relative difference between the times of two figures.
    pub largest: f64,
    /// Program, kernel and tools that differ and that figures may depend on.
    pub causes: Vec<Difference>,
}

impl ShippedDifferences {
    /// Between a shipped run and a run on this machine.
    ///
    /// # Errors
    /// [`Failure`] if the run is of another study, seed or size, or cannot be read.
    pub fn between(shipped: &ShippedRun, run: &Run) -> Result<Self, Failure> {
        let info = run.info().map_err(Failure::usage_error)?;
        let same = [
            ("study", info.study_text == shipped.info.study_text),
            ("seed", info.seed == shipped.info.seed),
            ("scale", info.scale == shipped.info.scale),
            ("bench", info.bench == shipped.info.bench),
            ("drives or memory", info.bench_about == shipped.info.bench_about),
        ];
        if let Some((what, _)) = same.iter().find(|(_, same)| !same) {
            return Err(Failure::usage_error(format!(
                "{} has another {what} than the run of '{}' that comes with disklab, so that \
                 their figures cannot be the same; run `disklab run {2} --seed {3}`, and \
                 `make shipped-run` after a change of the study",
                run.path().display(),
                shipped.info.study,
                shipped.info.study,
                shipped.info.seed
            )));
        }
        let mut here: BTreeMap<u32, Sample> = BTreeMap::new();
        run.for_each_sample(|record, sample| {
            here.insert(record.cell.number, sample);
        })
        .map_err(Failure::usage_error)?;
        let mut found = Self {
            distribution: shipped.distribution,
            cells: shipped.samples.len(),
            missing: 0,
            by_stack: BTreeMap::new(),
            largest: 0.0,
            causes: causes(&shipped.info, &info),
        };
        for (cell, sample) in &shipped.samples {
            match here.get(&cell.number) {
                None => found.missing += 1,
                Some(other) => found.add(&cell.levels.stack, sample, other),
            }
        }
        Ok(found)
    }

    fn add(&mut self, stack: &str, one: &Sample, other: &Sample) {
        let (one, other) = (figures(one), figures(other));
        if one == other {
            return;
        }
        *self.by_stack.entry(stack.to_owned()).or_default() += 1;
        for ((_, one), (_, other)) in one.iter().zip(&other) {
            let (one, other) = (one.elapsed_ns as f64, other.elapsed_ns as f64);
            self.largest = self.largest.max((one - other).abs() / one.min(other).max(1.0));
        }
    }

    /// How many cells have other figures.
    pub fn differing(&self) -> usize {
        self.by_stack.values().sum()
    }

    /// Whether all was measured, and every figure is the same to the digit.
    pub fn none(&self) -> bool {
        self.missing == 0 && self.by_stack.is_empty()
    }

    /// Whether there is a difference that nothing explains.
    pub fn unexplained(&self) -> bool {
        !self.by_stack.is_empty() && self.causes.is_empty()
    }

    /// For the user, a sentence a line.
    pub fn lines(&self) -> Vec<String> {
        let Self { distribution, cells, missing, largest, .. } = self;
        let mut lines = Vec::new();
        if self.none() {
            lines.push(format!(
                "All {cells} measurements are the same to the digit as those that come with \
                 disklab, made with {distribution}'s programs."
            ));
        } else if self.by_stack.is_empty() {
            let measured = cells - missing;
            lines.push(format!(
                "All {measured} measurements so far are the same to the digit as those that come \
                 with disklab, made with {distribution}'s programs; {missing} are not measured yet."
            ));
        } else {
            let stacks: Vec<&str> = self.by_stack.keys().map(String::as_str).collect();
            lines.push(format!(
                "{} of {cells} measurements are the same to the digit as those that come with \
                 disklab, made with {distribution}'s programs; {} differ, by at most {} (of {}).",
                cells - missing - self.differing(),
                self.differing(),
                percent(*largest),
                stacks.join(", ")
            ));
        }
        let causes = self.causes.iter().map(|cause| {
            format!("{} here '{}' instead of '{}'", cause.what, cause.other, cause.one)
        });
        let causes = causes.collect::<Vec<_>>().join("; ");
        if self.unexplained() {
            lines.push(
                "Nothing that figures may depend on is known to differ: please report it."
                    .to_owned(),
            );
        } else if !self.by_stack.is_empty() {
            lines.push(format!("What differs between the two: {causes}."));
        } else if !causes.is_empty() {
            lines.push(format!("What differs between the two has no effect: {causes}."));
        }
        lines
    }
}

fn percent(share: f64) -> String {
    if share < 1e-4 { "less than 0.01 %".to_owned() } else { format!("{:.2} %", share * 100.0) }
}

fn figures(sample: &Sample) -> Vec<(&str, &Figure)> {
    let steps = sample.steps.iter();
    steps.flat_map(|step| step.figures.iter().map(|f| (step.name.as_str(), f))).collect()
}
