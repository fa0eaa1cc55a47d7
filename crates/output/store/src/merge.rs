//! One run of several parts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use disklab_cell::{Cell, Levels};
use disklab_options::RunPart;

use crate::schema::DATABASE;
use crate::{
    CellRecord, CellState, Difference, LeftOut, NoPart, PlannedStack, Run, RunAspect, RunInfo,
    Session, StoreError, raw, rows,
};

/// What a part says of itself.
pub(crate) struct MergedPart {
    pub(crate) directory: PathBuf,
    pub(crate) info: RunInfo,
    pub(crate) records: Vec<CellRecord>,
    sessions: Vec<Session>,
}

/// A cell of a part, which part, and the cell that it becomes.
pub(crate) struct ChosenCell {
    pub(crate) part: usize,
    pub(crate) record: CellRecord,
    pub(crate) new: Cell,
}

impl Run {
    /// Makes one run in `directory` of parts of one study that were run in the lab, each with
    /// other cells: what one run of all these cells with the same seed would be. In the lab
    /// a cell's figures do not depend on when and where it runs, nor on what runs at the same time.
    ///
    /// Cells of parts that a run was divided into keep their numbers, and each must be there and done.
    /// Other cells keep the order of their blocks, and within a block that of the parts. Where
    /// two parts have the same cell, the one that is done is taken. The raw outputs are
    /// copied, and every start of the program on a part is remembered. The run is there for others
    /// from [`Run::publish`] on: half of a merged run would pass for a whole one.
    ///
    /// # Errors
    /// Where the parts are not parts of one run, such as of two seeds, kernels or settings;
    /// where one of them is missing; where two of them have measured the same cell; or the directory
    /// cannot be written. Then there is no run in it.
    pub fn merge(parts: &[PathBuf], directory: &Path) -> Result<Self, StoreError> {
        let parts = checked(parts)?;
        let chosen = choose(&parts)?;
        let Some((first, rest)) = parts.split_first() else {
            return Err(StoreError::NoParts);
        };
        let cells: Vec<Cell> = chosen.iter().map(|chosen| chosen.new.clone()).collect();
        let run = Self::prepare(directory, &merged_info(first, rest), &cells)?;
        run.fill(&parts, &chosen)?;
        Ok(run)
    }

    /// Whether these parts can be merged. Nothing is made.
    ///
    /// # Errors
    /// As [`Run::merge`].
    pub fn check_parts(parts: &[PathBuf]) -> Result<(), StoreError> {
        choose(&checked(parts)?).map(|_| ())
    }

    /// Whether a run can be part of another at all.
    fn can_be_part(&self, info: &RunInfo) -> Result<(), StoreError> {
        let refuse = |why| Err(StoreError::NoPart { path: self.path().to_owned(), why });
        if !info.is_lab() {
            return refuse(NoPart::NotInTheLab);
        }
        let options = &info.options;
        let decides =
            options.looks.is_some() || options.goal.is_some() || options.precision.is_some();
        // What is divided has the cells up to a look.
        if self.outcome()?.is_some() || decides && options.part.is_none() {
            return refuse(NoPart::Adaptive);
        }
        Ok(())
    }

    /// Takes over sessions, samples, failures and raw outputs.
    pub(crate) fn fill(
        &self,
        parts: &[MergedPart],
        chosen: &[ChosenCell],
    ) -> Result<(), StoreError> {
        let mut sessions: Vec<&Session> = parts.iter().flat_map(|part| &part.sessions).collect();
        sessions.sort_by_key(|session| session.began);
        for session in sessions {
            self.begin_session(session)?;
        }
        let mut by_part: Vec<Vec<&ChosenCell>> = parts.iter().map(|_| Vec::new()).collect();
        chosen.iter().for_each(|chosen| by_part[chosen.part].push(chosen));
        for (part, chosen) in parts.iter().zip(by_part) {
            for chosen in &chosen {
                raw::adopt(
                    &part.directory,
                    &chosen.record.cell,
                    &self.directory.at(""),
                    &chosen.new,
                )?;
            }
            let numbers = |chosen: &&ChosenCell| (chosen.record.cell.number, chosen.new.number);
            let numbers: Vec<(u32, u32)> = chosen.iter().map(numbers).collect();
            rows::adopt(&self.connection, &part.directory.join(DATABASE), &numbers)
                .map_err(self.sqlite())?;
        }
        Ok(())
    }
}

impl MergedPart {
    /// Opens the part, asks whether it can be one, and closes it again: there may be thousands.
    pub(crate) fn read(
        directory: &Path,
        check: impl Fn(&Run, &RunInfo) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let run = Run::open(directory)?;
        let info = run.info()?;
        check(&run, &info)?;
        let (records, sessions) = (run.cells()?, run.sessions()?);
        Ok(Self { directory: directory.to_owned(), info, records, sessions })
    }
}

/// Parts that are of one run, and all of it.
fn checked(parts: &[PathBuf]) -> Result<Vec<MergedPart>, StoreError> {
    let parts = parts.iter().map(|part| MergedPart::read(part, Run::can_be_part));
    let parts: Vec<MergedPart> = parts.collect::<Result<_, _>>()?;
    let (first, rest) = parts.split_first().ok_or(StoreError::NoParts)?;
    for part in rest {
        let differences = first.info.differences(&part.info);
        if !differences.is_empty() {
            let (one, other) = (first.directory.clone(), part.directory.clone());
            return Err(StoreError::NotOneRun { one, other, differences });
        }
    }
    all_there(&parts)?;
    Ok(parts)
}

/// The cells of all parts, in order; of two that are the same, the one that is done.
fn choose(parts: &[MergedPart]) -> Result<Vec<ChosenCell>, StoreError> {
    let mut all: BTreeMap<(u32, Levels), (usize, CellRecord)> = BTreeMap::new();
    for (part, run) in parts.iter().enumerate() {
        for record in run.records.iter().cloned() {
            let cell = &record.cell;
            let name = (cell.block, cell.levels.clone());
            let mut entry = match all.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert((part, record));
                    continue;
                }
                Entry::Occupied(entry) => entry,
            };
            let (other, there) = entry.get();
            if there.state == CellState::Done && record.state == CellState::Done {
                return Err(StoreError::MeasuredTwice {
                    stack: cell.levels.stack.clone(),
                    workload: cell.levels.workload.clone(),
                    one: parts[*other].directory.clone(),
                    other: run.directory.clone(),
                });
            }
            if known(record.state) > known(there.state) {
                entry.insert((part, record));
            }
        }
    }
    let mut all: Vec<(usize, CellRecord)> = all.into_values().collect();
    let is_divided = parts.iter().all(|part| part.info.options.part.is_some());
    all.sort_by_key(|(part, record)| {
        let Cell { block, number, .. } = record.cell;
        if is_divided { (0, 0, number) } else { (block, *part, number) }
    });
    let chosen = (0..).zip(all).map(|(number, (part, record))| {
        let new = Cell { number, ..record.cell.clone() };
        ChosenCell { part, record, new }
    });
    Ok(chosen.collect())
}

/// How much is known of a cell in this state.
fn known(state: CellState) -> u8 {
    match state {
        CellState::Waiting => 0,
        CellState::Failed => 1,
        CellState::Done => 2,
    }
}

/// What the run of all parts is.
fn merged_info(first: &MergedPart, rest: &[MergedPart]) -> RunInfo {
    let first = &first.info;
    // Those of a divided run have its options.
    let options = match first.options.part {
        Some(_) => first.options.of_whole(),
        None => first.options.without_cells(),
    };
    let mut info = RunInfo { options, ..first.clone() };
    for part in rest.iter().map(|part| &part.info) {
        info.created = info.created.min(part.created);
        for stack in &part.stacks {
            if !info.stacks.iter().any(|known: &PlannedStack| known.id == stack.id) {
                info.stacks.push(stack.clone());
            }
        }
        // What one machine could not do, another may have done.
        info.left_out.retain(|left: &LeftOut| part.left_out.contains(left));
    }
    info
}

/// Refuses parts of a divided run of which some are missing, or not done, and parts of two plans.
/// Those that are written after a look are counted on from the ones before it.
fn all_there(parts: &[MergedPart]) -> Result<(), StoreError> {
    let part_of = |part: &MergedPart| part.info.options.part;
    let counts: BTreeSet<u32> = parts.iter().filter_map(part_of).map(|part| part.of).collect();
    let Some(of) = counts.last().copied() else { return Ok(()) };
    for part in parts {
        let Some(RunPart { number, of }) = part_of(part) else { continue };
        let planned = counts.range(number..).next().copied().unwrap_or(of);
        if of != planned {
            let what = RunAspect::Option("parts".to_owned());
            let is_planned = |part: &&MergedPart| part_of(part).is_some_and(|p| p.of == planned);
            let one = parts.iter().find(is_planned).unwrap_or(part).directory.clone();
            let (planned, of) = (planned.to_string(), of.to_string());
            let differences = vec![Difference { what, one: planned, other: of }];
            return Err(StoreError::NotOneRun { one, other: part.directory.clone(), differences });
        }
    }
    let is_done =
        |part: &&MergedPart| part.records.iter().all(|record| record.state != CellState::Waiting);
    let done = parts.iter().filter(is_done).filter_map(part_of);
    let done: BTreeSet<u32> = done.map(|part| part.number).collect();
    let missing: Vec<u32> = (1..=of).filter(|number| !done.contains(number)).collect();
    if missing.is_empty() { Ok(()) } else { Err(StoreError::PartsMissing { of, missing }) }
}
