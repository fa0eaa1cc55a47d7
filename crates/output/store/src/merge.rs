//! One run of several parts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use disklab_cell::{Cell, Levels};

use crate::run::DATABASE;
use crate::{
    CellRecord, CellState, LeftOut, NoPart, PlannedStack, Run, RunInfo, Session, StoreError, raw,
    rows,
};

/// A cell of a part, which part, and the cell that it becomes.
struct Chosen {
    part: usize,
    record: CellRecord,
    new: Cell,
}

impl Run {
    /// Makes one run in `folder` of parts of one study that were run in the lab, each with
    /// other cells: what one run of all these cells with the same seed would be. In the lab
    /// a cell's figures do not depend on when and where it runs, nor on what runs at the same time.
    ///
    /// Cells keep the order of their blocks, and within a block that of the parts. Where
    /// two parts have the same cell, the one that is done is taken. The raw outputs are
    /// copied, and every start of the program on a part is remembered. The run is there for others
    /// from [`Run::publish`] on: half of a merged run would pass for a whole one.
    ///
    /// # Errors
    /// Where the parts are not parts of one run, such as of two seeds, kernels or settings;
    /// where two of them have measured the same cell; or the folder cannot be written. Then
    /// there is no run in it.
    pub fn merge(parts: &[Self], folder: &Path) -> Result<Self, StoreError> {
        let infos: Vec<RunInfo> = parts.iter().map(Self::info).collect::<Result<_, _>>()?;
        let Some((first, rest)) = infos.split_first() else {
            return Err(StoreError::NoParts);
        };
        for (part, info) in parts.iter().zip(&infos) {
            part.can_be_part(info)?;
        }
        for (part, info) in parts.iter().zip(&infos).skip(1) {
            let differences = first.differences(info);
            if !differences.is_empty() {
                let (one, other) = (parts[0].folder.clone(), part.folder.clone());
                return Err(StoreError::NotOneRun { one, other, differences });
            }
        }
        let chosen = choose(parts)?;
        let cells: Vec<Cell> = chosen.iter().map(|chosen| chosen.new.clone()).collect();
        let run = Self::prepare(folder, &merged_info(first, rest), &cells)?;
        run.fill(parts, &chosen)?;
        Ok(run)
    }

    /// Whether a run can be part of another at all.
    fn can_be_part(&self, info: &RunInfo) -> Result<(), StoreError> {
        let refuse = |why| Err(StoreError::NoPart { path: self.folder.clone(), why });
        if !info.is_lab() {
            return refuse(NoPart::NotInTheLab);
        }
        let options = &info.options;
        let decides =
            options.looks.is_some() || options.goal.is_some() || options.precision.is_some();
        if decides || self.outcome()?.is_some() {
            return refuse(NoPart::Adaptive);
        }
        Ok(())
    }

    /// Takes over sessions, samples, failures and raw outputs.
    fn fill(&self, parts: &[Self], chosen: &[Chosen]) -> Result<(), StoreError> {
        let sessions: Vec<Vec<Session>> =
            parts.iter().map(Self::sessions).collect::<Result<_, _>>()?;
        let mut sessions: Vec<Session> = sessions.into_iter().flatten().collect();
        sessions.sort_by_key(|session| session.began);
        for session in &sessions {
            self.begin_session(session)?;
        }
        for (index, part) in parts.iter().enumerate() {
            let of_part = || chosen.iter().filter(|chosen| chosen.part == index);
            for chosen in of_part() {
                raw::adopt(&part.folder, &chosen.record.cell, &self.directory.at(""), &chosen.new)?;
            }
            let numbers: Vec<(u32, u32)> =
                of_part().map(|chosen| (chosen.record.cell.number, chosen.new.number)).collect();
            rows::adopt(&self.connection, &part.folder.join(DATABASE), &numbers)
                .map_err(self.sqlite())?;
        }
        Ok(())
    }
}

/// The cells of all parts, in order; of two that are the same, the one that is done.
fn choose(parts: &[Run]) -> Result<Vec<Chosen>, StoreError> {
    let mut all: BTreeMap<(u32, Levels), (usize, CellRecord)> = BTreeMap::new();
    for (part, run) in parts.iter().enumerate() {
        for record in run.cells()? {
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
                    one: parts[*other].folder.clone(),
                    other: run.folder.clone(),
                });
            }
            if known(record.state) > known(there.state) {
                entry.insert((part, record));
            }
        }
    }
    let mut all: Vec<(usize, CellRecord)> = all.into_values().collect();
    all.sort_by_key(|(part, record)| (record.cell.block, *part, record.cell.number));
    let chosen = (0..).zip(all).map(|(number, (part, record))| {
        let new = Cell { number, ..record.cell.clone() };
        Chosen { part, record, new }
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
fn merged_info(first: &RunInfo, rest: &[RunInfo]) -> RunInfo {
    let mut info = RunInfo { options: first.options.without_cells(), ..first.clone() };
    for part in rest {
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
