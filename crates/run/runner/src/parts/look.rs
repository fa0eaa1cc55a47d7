//! Parts of a run whose samples decide how long it is: those up to a look, then those up to the next.

use std::path::Path;

use disklab_cell::Cell;
use disklab_options::RunPart;
use disklab_store::{Run, RunDirectory, RunInfo};
use disklab_study::load;

use super::{
    DividedRun, Numbers, PartHead, PartProblem, WrittenPart, part_file, part_name, parts_in,
    written_parts,
};
use crate::adaptive::cells_of_next_look;
use crate::places::claim_outputs;
use crate::run::{make_ready, planned_again};
use crate::setup::{Caller, CheckedRun};
use crate::{Observer, RunOptions, RunnerError, StopOptions};

/// What a run needs up to its next look.
#[derive(Debug)]
pub struct NextParts {
    /// How many cells.
    pub cells: usize,
    /// The parts that were written with them.
    pub written: Vec<WrittenPart>,
}

/// Looks at the samples of a run of which the parts up to a look are merged. If they decide, keeps
/// with the run what came of it, and returns `None`; else writes the parts up to the next look into
/// `parts`, the directory that has the others.
///
/// # Errors
/// [`RunnerError::Part`] if the directory has parts of another run, or this machine would run other
/// stacks; and as [`crate::resume`].
pub fn after_look(
    run: &Run,
    parts: Option<&Path>,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<Option<NextParts>, RunnerError> {
    let info = run.info().map_err(RunnerError::Open)?;
    let options = RunOptions::default().as_begun(&info)?;
    let stop = StopOptions::default().as_begun(&info.options)?;
    let Some(rule) = stop.rule(None)? else { return Ok(None) };
    let study = load(&info.study_file, &info.study_text)?;
    let directory = run.path();
    let planned = planned_again(study, &info, options, Some(rule.clone()), directory, caller)?;
    let mut checked = planned.check()?;
    if checked.plan.preflight.stacks != info.stacks {
        return Err(PartProblem::OtherStacks.into());
    }
    let cells = cells_of_next_look(&checked.plan, &rule, run)?;
    if cells.is_empty() {
        return Ok(None);
    }
    let count = cells.len();
    let written = match parts {
        None => Vec::new(),
        Some(parts) => {
            checked.plan.cells = cells;
            write_next(checked, run, &info, parts, observer)?
        }
    };
    Ok(Some(NextParts { cells: count, written }))
}

/// Writes the parts of these cells behind those that the run was merged of, if they are not there.
fn write_next(
    checked: CheckedRun,
    run: &Run,
    info: &RunInfo,
    to: &Path,
    observer: &mut dyn Observer,
) -> Result<Vec<WrittenPart>, RunnerError> {
    let records = run.cells().map_err(RunnerError::Record)?;
    let begun: Vec<Cell> = records.into_iter().map(|record| record.cell).collect();
    let (first_look, merged) = merged_parts(to, info, begun.len())?;
    if parts_in(to)? > merged {
        return Ok(written_parts(to, merged)?);
    }
    let all: Vec<Cell> = begun.into_iter().chain(checked.plan.cells.clone()).collect();
    let needs = checked.plan.campaign.needs(&all);
    let (plan, _) = make_ready(checked, info, all, false, observer)?;
    let divided = DividedRun::new(&plan)?;
    let of = merged + divided.parts(Some(first_look.min(plan.cells.len() as u32)))?;
    let claim = claim_outputs(to)?;
    let directory = claim.keep();
    (merged + 1..=of).try_for_each(|number| clear(&directory, RunPart { number, of }))?;
    divided.write(info, &needs, merged + 1..=of, Numbers { behind: 0, of }, &directory)
}

/// Removes a part of a call that was cut off: its first part was not there.
fn clear(directory: &RunDirectory, part: RunPart) -> Result<(), PartProblem> {
    let path = directory.at(part_name(part));
    if !path.symlink_metadata().is_ok_and(|there| there.is_file()) {
        return Ok(());
    }
    std::fs::remove_file(&path).map_err(|source| PartProblem::Io {
        what: "cannot remove",
        path: directory.path().join(part_name(part)),
        source,
    })
}

/// How many parts there were up to the first look, and with how many the run has its cells.
fn merged_parts(directory: &Path, info: &RunInfo, cells: usize) -> Result<(u32, u32), PartProblem> {
    let other = || PartProblem::OtherParts(directory.to_owned());
    let (mut first_look, mut merged, mut seen) = (0, 0, 0);
    while seen < cells {
        let file = part_file(directory, merged + 1).ok_or_else(other)?;
        let head = PartHead::read(&file)?;
        if first_look == 0 {
            first_look = head.part().of;
            let whole = RunInfo { options: head.info.options.of_whole(), ..head.info.clone() };
            if !whole.differences(info).is_empty() {
                return Err(other());
            }
        }
        seen += head.cells;
        merged += 1;
    }
    if seen == cells { Ok((first_look, merged)) } else { Err(other()) }
}
