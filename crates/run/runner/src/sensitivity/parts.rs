//! An analysis in parts: those of all its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use disklab_cell::Levels;
use disklab_store::{Run, RunInfo};
use disklab_study::load;

use super::{
    Begun, SHIPPED, SensitivityError, SensitivityPlan, SensitivityRequest, SensitivityRun,
};
use crate::parts::write_parts_of_runs;
use crate::places::holds_run;
use crate::setup::{Caller, PlannedRun};
use crate::studies::study_directory;
use crate::{FoundStudy, RunOptions, RunnerError, WrittenPart};

/// A run of an analysis: what it is called, how and where it runs, and its cells.
type OwnRun<'a> = (String, RunOptions, PathBuf, &'a BTreeSet<Levels>);

impl SensitivityRun {
    fn runs(&self) -> Vec<OwnRun<'_>> {
        let shipped = (
            "as shipped".to_owned(),
            self.options.clone(),
            self.directory.join(SHIPPED),
            &self.cells,
        );
        let moved = self.cases.iter().map(|(case, cells)| {
            let options = case.options(&self.options);
            (case.words.clone(), options, self.directory.join(&case.directory), cells)
        });
        [shipped].into_iter().chain(moved).collect()
    }

    /// Divides its runs into parts, and writes them into a new directory.
    ///
    /// # Errors
    /// As [`crate::write_parts`].
    pub fn write_parts(
        &self,
        parts: Option<u32>,
        directory: &Path,
        caller: &Caller,
    ) -> Result<Vec<WrittenPart>, RunnerError> {
        let checked = self.runs().into_iter().map(|(_, options, directory, cells)| {
            let mut planned = PlannedRun::new(self.study.clone(), &options, &directory, caller)?;
            planned.keep(cells);
            planned.check()
        });
        let checked = checked.collect::<Result<Vec<_>, _>>()?;
        write_parts_of_runs(checked, parts, Some(&self.moved), directory)
    }
}

/// Merges the runs of an analysis in `directory`, if these are its parts. What an earlier call merged
/// stays.
///
/// # Errors
/// [`RunnerError`] if they are not of one analysis, or not all of it; and as [`Run::merge`].
pub fn merge_analysis(
    parts: &[PathBuf],
    directory: &Path,
    caller: &Caller,
) -> Result<Option<SensitivityRun>, RunnerError> {
    let Some((info, mut by_run)) = by_run(parts)? else { return Ok(None) };
    let mut analysis = SensitivityRun::new(request(info, directory)?, caller)?;
    let mut all = Vec::new();
    for (words, options, directory, _) in analysis.runs() {
        let parts = by_run.remove(&options.settings.set_drive);
        let parts = parts.ok_or(SensitivityError::NoPartOf(words))?;
        Run::check_parts(&parts).map_err(RunnerError::Open)?;
        all.push((parts, directory));
    }
    if let Some(other) = by_run.into_values().flatten().next() {
        return Err(SensitivityError::OtherPart(other).into());
    }
    analysis.begin()?;
    for (parts, directory) in all {
        if !holds_run(&directory) {
            let merged = Run::merge(&parts, &directory).and_then(Run::publish);
            merged.map_err(RunnerError::Open)?;
        }
    }
    Ok(Some(analysis))
}

/// Parts by the parameters that are set in their run, and what those say of themselves that set
/// the fewest: that as shipped. `None` if they are not of an analysis.
type PartsByRun = (RunInfo, BTreeMap<Vec<String>, Vec<PathBuf>>);

fn by_run(parts: &[PathBuf]) -> Result<Option<PartsByRun>, RunnerError> {
    let mut by_run: BTreeMap<Vec<String>, Vec<PathBuf>> = BTreeMap::new();
    let mut shipped: Option<RunInfo> = None;
    for part in parts {
        let info = Run::open(part).and_then(|run| run.info()).map_err(RunnerError::Open)?;
        let set = info.options.set_drive.clone();
        let is_fewest =
            shipped.as_ref().is_none_or(|known| set.len() < known.options.set_drive.len());
        if info.options.sensitivity.is_none() {
            // A run's own parts are no analysis; among those of one, it is not known.
            return match shipped {
                None => Ok(None),
                Some(_) => Err(SensitivityError::OtherPart(part.clone()).into()),
            };
        }
        if is_fewest {
            shipped = Some(info);
        }
        by_run.entry(set).or_default().push(part.clone());
    }
    Ok(shipped.map(|info| (info, by_run)))
}

/// The analysis again, as its run as shipped was planned.
fn request(info: RunInfo, directory: &Path) -> Result<SensitivityRequest, RunnerError> {
    let mut options = RunOptions::default().as_begun(&info)?;
    let moved = options.settings.sensitivity.take().unwrap_or_default();
    if !holds_run(&directory.join(SHIPPED)) {
        options.settings.only.clone_from(&info.options.only);
        options.settings.without.clone_from(&info.options.without);
    }
    options.settings.part = None;
    let study = load(&info.study_file, &info.study_text)?;
    let study = FoundStudy { study, directory: study_directory(&info.study_file) };
    let plan = SensitivityPlan::open(directory).ok();
    let begun = Begun { study, directory: directory.to_owned(), plan };
    Ok(SensitivityRequest { begun, options, moved })
}
