//! The benches that make stacks on drives of this machine: `loop` and `disks`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_exec::{ExecError, Executor};
use disklab_measure::{Environment, environment};
use disklab_stack::{Ledger, Machine};
use disklab_study::Cell;

use crate::cell::DeviceCell;
use crate::survey::survey_devices;
use crate::{
    Bench, BenchError, Campaign, CellError, CellOutcome, Drives, Medium, Phase, Sink, Survey,
};

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
        self.drives.warnings()
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
        for cell in cells {
            let (stack_index, work_index) = indices(campaign, cell)?;
            let raw = sink.begin(cell).map_err(BenchError::Sink)?;
            let executor = self.executor.with_raw(&raw);
            let device_cell = DeviceCell {
                study: &campaign.study,
                stack_index,
                stack: &campaign.stacks[stack_index],
                spec: &campaign.study.workloads[work_index],
                workload: campaign.workloads[work_index].as_ref(),
                cell,
                scratch: &self.scratch,
            };
            let began = Instant::now();
            let mark = self.ledger.mark();
            let mut result =
                device_cell.run(&mut self.drives, &mut self.ledger, &executor, &mut |phase| {
                    sink.phase(cell, phase)
                });
            sink.phase(cell, Phase::TakeDown);
            let take_down = Instant::now();
            let complaints = self.ledger.take_down_to(mark, &executor);
            if !complaints.is_empty() {
                let why: Vec<_> = complaints.iter().map(ToString::to_string).collect();
                return Err(BenchError::TakeDown { cell: cell.number, why: why.join("; ") });
            }
            if let Ok(sample) = &mut result {
                sample.overhead.take_down_seconds = take_down.elapsed().as_secs_f64();
            }
            hand_over(result, &executor, began, cell, sink)?;
        }
        Ok(())
    }
}

/// Gives a cell's outcome to the sink, or stops where the user asked to.
pub(crate) fn hand_over(
    mut result: Result<disklab_measure::Sample, CellError>,
    executor: &Executor,
    began: Instant,
    cell: &Cell,
    sink: &mut dyn Sink,
) -> Result<(), BenchError> {
    if result.as_ref().is_err_and(CellError::is_interrupt) || executor.interrupt.is_raised() {
        // A cell during whose measurement Ctrl-C arrived is run again later.
        return Err(ExecError::Interrupted.into());
    }
    let trace = executor.trace.take();
    if let Ok(sample) = &mut result {
        sample.trace.clone_from(&trace);
    }
    let seconds = began.elapsed().as_secs_f64();
    sink.end(cell, CellOutcome { result, trace, seconds }).map_err(BenchError::Sink)
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
