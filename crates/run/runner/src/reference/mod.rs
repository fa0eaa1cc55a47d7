//! What a directory's figures are compared with: those that the lab gives for a stack like the one
//! that the directory lies on.

mod alike;
mod study_text;
mod words;

use std::path::{Path, PathBuf};

use disklab_decision::{AnalyseError, analyse};
use disklab_measure::{SystemRoot, foundation, round_trip};
use disklab_sample::{LabOutcome, LabReference, Reference, ReferenceFigure};
use disklab_store::Run;
use disklab_study::{DriveRequests, load};

use crate::observer::Observer;
use crate::plan::Plan;
use crate::run::{RunRequest, run_until_done};
use crate::setup::{Caller, CheckedRun};
use crate::{BenchKind, FoundStudy, RunOptions, RunnerError};
use alike::{LikeStack, like_stack};
use study_text::study_text;

/// How often the lab runs each cell.
const REPEATS: u32 = 3;

impl CheckedRun {
    /// Finds out what the directory lies on, and runs the same study in the lab on a stack like
    /// that, in a directory next to `out`. Nothing if the study is not about a directory.
    /// `drives` are those that the user names.
    ///
    /// # Errors
    /// [`RunnerError::Interrupted`]; whatever else fails, the run has no reference, and says why.
    pub fn compare_with_lab(
        &mut self,
        drives: Option<&DriveRequests>,
        out: &Path,
        caller: &Caller,
        observer: &mut dyn Observer,
    ) -> Result<(), RunnerError> {
        let BenchKind::Dir(directory) = self.plan.kind.clone() else { return Ok(()) };
        if !self.plan.campaign.study.has_reference {
            return Ok(());
        }
        let Some(found) = foundation(&SystemRoot::here(), &directory) else { return Ok(()) };
        let mut reference = Reference { lies_on: words::lies_on(&found), ..Reference::default() };
        observer.note(&format!("  lies on       {}", reference.lies_on));
        if let Some(mut share) = found.share.clone() {
            share.round_trip_ns = round_trip(&directory, self.plan.seed);
            let why = format!("what {} has below it is not seen from here", share.server);
            reference.lab = LabOutcome::Unknown(why);
            reference.share = Some(share);
        } else {
            reference.lab = match like_stack(&found, drives) {
                Err(why) => LabOutcome::Unknown(why),
                Ok(like) => in_lab(&self.plan, &like, &reference_directory(out), caller, observer)?,
            };
        }
        if let LabOutcome::Unknown(why) = &reference.lab {
            observer.note(&format!("  no reference  {why}"));
        }
        self.plan.reference = Some(reference);
        Ok(())
    }
}

/// Next to the run's own directory.
fn reference_directory(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push("-reference");
    out.with_file_name(name)
}

/// What the lab gives, or why it gives nothing.
fn in_lab(
    plan: &Plan,
    like: &LikeStack,
    directory: &Path,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<LabOutcome, RunnerError> {
    let words = like.drives.words();
    observer.note(&format!("  reference     {} on {words}, in the lab", like.layers));
    let figures = match figures(plan, like, directory, caller, observer) {
        Ok(figures) => figures,
        Err(RunnerError::Interrupted) => return Err(RunnerError::Interrupted),
        Err(error) => return Ok(LabOutcome::Unknown(format!("the lab does not run it: {error}"))),
    };
    if figures.is_empty() {
        let why = format!("its cells failed in the lab; {} says why", directory.display());
        return Ok(LabOutcome::Unknown(why));
    }
    Ok(LabOutcome::Figures(LabReference {
        stack: like.layers.clone(),
        drives: words,
        by_class: like.by_class.clone(),
        figures,
    }))
}

fn figures(
    plan: &Plan,
    like: &LikeStack,
    directory: &Path,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<Vec<ReferenceFigure>, RunnerError> {
    let own = &plan.campaign.study;
    let text = study_text(own, &like.layers, &like.drives.0);
    let study = load("reference.toml", &text)?;
    let options = RunOptions {
        repeats: Some(REPEATS),
        seed: Some(plan.seed),
        scale: Some(plan.campaign.scale),
        drives: Some(like.drives.clone()),
        ..RunOptions::default()
    };
    let request = RunRequest {
        study: FoundStudy { study, directory: PathBuf::from(".") },
        options,
        directory: directory.to_owned(),
        cells: &plan.preflight.levels.iter().cloned().collect(),
    };
    let (run, _) = run_until_done(request, caller, observer)?;
    figures_of(&run)
}

/// The figures of a run of one stack.
fn figures_of(run: &Run) -> Result<Vec<ReferenceFigure>, RunnerError> {
    let analysis = analyse(run).map_err(|error| match error {
        AnalyseError::Store(error) => RunnerError::Record(error),
        AnalyseError::Study(error) => RunnerError::from(error),
    })?;
    let of_answer = analysis.answers.iter().flat_map(|answer| {
        answer.points.iter().map(|point| ReferenceFigure {
            ask: answer.question.ask.clone(),
            figure: point.figure.clone(),
            value: point.estimate.centre,
        })
    });
    Ok(of_answer.filter(|figure| figure.value.is_finite()).collect())
}
