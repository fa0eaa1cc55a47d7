//! One run of the runs of several machines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use disklab_cell::{Cell, StudyAxis};

use crate::merge::{ChosenCell, MergedPart};
use crate::{Difference, NoPart, Run, RunAspect, RunInfo, StoreError};

/// The axis whose levels they become.
const AXIS: &str = "machine";

impl Run {
    /// Makes one run in `directory` of runs of one study on several real machines, each with its name:
    /// its cells are those at the level of that name of the axis `machine`. The first machine is the
    /// ordinary case. The raw outputs are copied. The run is there for others from [`Run::publish`] on.
    ///
    /// # Errors
    /// If one of them was run in the lab or is of several machines already, if they are not of one
    /// study with the same seed, repeats, scale and options, or if the directory cannot be written.
    /// Then there is no run in it.
    pub fn merge_machines(
        machines: &[(String, PathBuf)],
        directory: &Path,
    ) -> Result<Self, StoreError> {
        let names = machines.iter().map(|(name, _)| name);
        let axis = StudyAxis::new(AXIS, names).map_err(StoreError::MachineNames)?;
        let parts: Vec<MergedPart> = machines
            .iter()
            .map(|(_, run)| MergedPart::read(run, can_be_machine))
            .collect::<Result<_, _>>()?;
        let Some((first, rest)) = parts.split_first() else {
            return Err(StoreError::NoParts);
        };
        for part in rest {
            let mut differences = first.info.differences(&part.info);
            differences.retain(|difference| !is_of_machine(&difference.what));
            let [one, other] = [&first.info, &part.info].map(kind);
            if one != other {
                differences.push(Difference { what: RunAspect::Bench, one, other });
            }
            if !differences.is_empty() {
                let (one, other) = (first.directory.clone(), part.directory.clone());
                return Err(StoreError::NotOneRun { one, other, differences });
            }
        }
        let mut info = first.info.clone();
        info.options.axis.push(axis);
        let infos = machines.iter().zip(&parts);
        info.machines = infos.map(|((name, _), part)| (name.clone(), part.info.clone())).collect();
        let chosen = all_cells(machines, &parts);
        let cells: Vec<Cell> = chosen.iter().map(|chosen| chosen.new.clone()).collect();
        let run = Self::prepare(directory, &info, &cells)?;
        run.fill(&parts, &chosen)?;
        Ok(run)
    }
}

impl RunInfo {
    /// What the run at these levels of its axes is: of a run of several machines, that of the machine.
    #[must_use]
    pub fn at(&self, levels: &BTreeMap<String, String>) -> Self {
        levels.get(AXIS).and_then(|name| self.machines.get(name)).unwrap_or(self).clone()
    }
}

/// `dir`, `loop` or `disks`: which directory and which disks, each machine has its own.
fn kind(info: &RunInfo) -> String {
    info.bench.to_string().split(':').next().unwrap_or_default().to_owned()
}

/// What machines differ in, and is not a reason to keep their runs apart.
fn is_of_machine(aspect: &RunAspect) -> bool {
    match aspect {
        RunAspect::Bench
        | RunAspect::Kernel
        | RunAspect::Processor
        | RunAspect::Memory
        | RunAspect::Program(_) => true,
        RunAspect::Study
        | RunAspect::StudyText
        | RunAspect::Seed
        | RunAspect::Repeats
        | RunAspect::Scale
        | RunAspect::Option(_)
        | RunAspect::Disklab
        | RunAspect::LabKernel => false,
    }
}

fn can_be_machine(run: &Run, info: &RunInfo) -> Result<(), StoreError> {
    let why = if info.is_lab() {
        NoPart::InTheLab
    } else if info.is_import() {
        NoPart::Imported
    } else if !info.machines.is_empty() {
        NoPart::OfMachines
    } else {
        return Ok(());
    };
    Err(StoreError::NoPart { path: run.path().to_owned(), why })
}

/// The cells of all machines, one machine after the other.
fn all_cells(machines: &[(String, PathBuf)], parts: &[MergedPart]) -> Vec<ChosenCell> {
    let mut chosen = Vec::new();
    for (part, (name, _)) in machines.iter().enumerate() {
        for record in &parts[part].records {
            let mut new = record.cell.clone();
            new.number = chosen.len() as u32;
            new.levels.further.insert(AXIS.to_owned(), name.clone());
            chosen.push(ChosenCell { part, record: record.clone(), new });
        }
    }
    chosen
}
