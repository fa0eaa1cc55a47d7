//! The benches that make stacks on drives of this machine: `loop` and `disks`.

use std::path::{Path, PathBuf};

use disklab_exec::Executor;
use disklab_measure::{Environment, environment};
use disklab_stack::{Ledger, Machine};
use disklab_study::Cell;

use crate::cell::{DeviceCell, run_one};
use crate::survey::survey_devices;
use crate::{Bench, BenchError, Campaign, Drives, Medium, Sink, Survey};

/// A bench whose stacks stand on drives.
#[derive(Debug)]
pub struct DeviceBench<D> {
    drives: D,
    machine: Machine,
    ledger: Ledger,
    executor: Executor,
    scratch: PathBuf,
}

impl<D: Drives> DeviceBench<D> {
    /// A bench over `drives`. Mount points are made in `scratch`; what is made
    /// is remembered in `ledger`.
    pub fn new(drives: D, ledger: Ledger, executor: Executor, scratch: &Path) -> Self {
        Self { drives, machine: Machine::here(), ledger, executor, scratch: scratch.to_owned() }
    }

    /// What the bench itself lacks, in words; nothing where it can run.
    pub fn missing(&self) -> Vec<String> {
        self.machine.missing(&self.drives.needs()).iter().map(ToString::to_string).collect()
    }
}

impl<D: Drives> Bench for DeviceBench<D> {
    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.drives.warnings();
        let missing = self.missing();
        if !missing.is_empty() {
            warnings.push(format!("a run needs {}", missing.join(", ")));
        }
        warnings
    }

    fn look(&mut self, campaign: &Campaign, cells: &[Cell]) -> Result<(), String> {
        let study = &campaign.study;
        let stacks = cells.iter().filter_map(|cell| study.stack_index(&cell.stack));
        let used = stacks.flat_map(|index| study.stacks[index].drives.iter().copied()).collect();
        self.drives.look(study, &used, &self.executor)
    }

    fn consents_left(&self) -> Vec<String> {
        self.drives.consents_left()
    }

    fn confirm(&self, yes: bool) -> Result<(), String> {
        self.drives.confirm(yes)
    }

    fn name(&self) -> String {
        self.drives.name()
    }

    fn about(&self) -> String {
        self.drives.about()
    }

    fn medium(&self) -> Medium {
        self.drives.medium()
    }

    fn survey(&self, campaign: &Campaign) -> Survey {
        survey_devices(campaign, &self.drives, &self.machine)
    }

    fn environment(&self) -> Environment {
        environment(&self.executor)
    }

    fn carry_out(
        &mut self,
        campaign: &Campaign,
        cells: &[&Cell],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        let indices =
            cells.iter().map(|cell| indices(campaign, cell)).collect::<Result<Vec<_>, _>>()?;
        for (cell, (stack_index, work_index)) in cells.iter().zip(indices) {
            let device_cell = DeviceCell {
                study: &campaign.study,
                stack_index,
                stack: &campaign.stacks[stack_index],
                spec: &campaign.study.workloads[work_index],
                workload: campaign.workloads[work_index].as_ref(),
                cell,
                scratch: &self.scratch,
            };
            let drives = &mut self.drives;
            run_one(&mut self.ledger, &self.executor, cell, sink, |ledger, executor, phase| {
                device_cell.run(drives, ledger, executor, phase)
            })?;
        }
        Ok(())
    }
}

/// Positions of a cell's stack and workload in its study.
pub(crate) fn indices(campaign: &Campaign, cell: &Cell) -> Result<(usize, usize), BenchError> {
    let study = &campaign.study;
    study.stack_index(&cell.stack).zip(study.workload_index(&cell.workload)).ok_or_else(|| {
        BenchError::Other(format!(
            "cell {} ({} on {}) is not of study '{}'",
            cell.number, cell.workload, cell.stack, study.id
        ))
    })
}
