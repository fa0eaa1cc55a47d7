//! The benches that make stacks on drives of this machine: `loop` and `disks`.

use std::path::{Path, PathBuf};

use disklab_cell::Cell;
use disklab_exec::Executor;
use disklab_measure::environment;
use disklab_sample::Environment;
use disklab_stack::{Ledger, Machine};

use crate::bench::{BenchProfile, BenchSteps, CellRunner};
use crate::cell::{DeviceCell, run_one};
use crate::own_directory::OwnDirectory;
use crate::preflight::preflight_devices;
use crate::{Bench, BenchError, Campaign, CellToRun, Drives, Preflight, Sink};

/// A bench whose stacks are built on drives.
#[derive(Debug)]
pub struct DeviceBench<D> {
    drives: D,
    machine: Machine,
    ledger: Ledger,
    executor: Executor,
    scratch: Scratch,
}

/// Where a bench's files and mount points go.
#[derive(Debug)]
enum Scratch {
    /// Into a directory of the run's own below this one, which others use too.
    Shared(PathBuf),
    /// Into this directory itself: nobody else is there.
    Own(PathBuf),
}

impl<D: Drives> DeviceBench<D> {
    /// A bench over `drives`. Files and mount points are made in a directory of the run's
    /// own below `scratch`, which must exist; what is made is remembered in `ledger`.
    pub fn new(drives: D, ledger: Ledger, executor: Executor, scratch: &Path) -> Self {
        Self::with(drives, ledger, executor, Scratch::Shared(scratch.to_owned()))
    }

    /// A bench in the lab's guest, which has `scratch` for itself.
    pub(crate) fn in_guest(drives: D, ledger: Ledger, executor: Executor, scratch: &Path) -> Self {
        Self::with(drives, ledger, executor, Scratch::Own(scratch.to_owned()))
    }

    fn with(drives: D, ledger: Ledger, executor: Executor, scratch: Scratch) -> Self {
        Self { drives, machine: Machine::here(), ledger, executor, scratch }
    }
}

impl<D: Drives + 'static> From<DeviceBench<D>> for Bench {
    fn from(bench: DeviceBench<D>) -> Self {
        Self::of(bench)
    }
}

impl<D: Drives + 'static> BenchSteps for DeviceBench<D> {
    fn profile(&self) -> BenchProfile {
        BenchProfile {
            name: self.drives.name(),
            about: self.drives.about(),
            medium: self.drives.medium(),
            at_once: 1,
            is_simulated: false,
        }
    }

    fn preflight(&self, campaign: &Campaign) -> Preflight {
        preflight_devices(campaign, &self.drives, &self.machine)
    }

    fn missing(&self) -> Vec<String> {
        self.machine.missing(&self.drives.needs()).iter().map(ToString::to_string).collect()
    }

    fn check(&mut self, campaign: &Campaign, cells: &[Cell]) -> Result<(), BenchError> {
        let study = &campaign.study;
        let stacks = cells.iter().filter_map(|cell| study.stack_index(&cell.levels.stack));
        let used = stacks.flat_map(|index| study.stacks[index].drives.iter().copied()).collect();
        self.drives.check(study, &used, &self.executor)
    }

    fn warnings(&self, _campaign: &Campaign, _cells: &[Cell]) -> Vec<String> {
        let mut warnings = self.drives.warnings();
        let missing = self.missing();
        if !missing.is_empty() {
            warnings.push(format!("a run needs {}", missing.join(", ")));
        }
        warnings
    }

    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        self.drives.confirm(yes)
    }

    fn prepare(
        mut self: Box<Self>,
        _campaign: &Campaign,
        _cells: &[Cell],
    ) -> Result<Box<dyn CellRunner>, BenchError> {
        self.ledger.make()?;
        Ok(self)
    }
}

impl<D: Drives> CellRunner for DeviceBench<D> {
    fn environment(&self) -> Environment {
        environment(&self.executor)
    }

    fn consents_left(&self) -> Vec<String> {
        self.drives.consents_left()
    }

    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        self.drives.confirm(yes)
    }

    fn run_cells(
        &mut self,
        campaign: &Campaign,
        cells: &[CellToRun<'_>],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        let parent = match &self.scratch {
            Scratch::Own(directory) => {
                let directory = directory.clone();
                return self.run_cells_in(campaign, cells, &directory, sink);
            }
            Scratch::Shared(parent) => parent,
        };
        let mark = self.ledger.mark();
        let own = OwnDirectory::create(parent, &mut self.ledger)?;
        let result = self.run_cells_in(campaign, cells, own.path(), sink);
        drop(own);
        for complaint in self.ledger.tear_down_to(mark, &self.executor) {
            tracing::warn!("{complaint}");
        }
        result
    }
}

impl<D: Drives> DeviceBench<D> {
    /// Runs the cells one after the other, each in a directory of its own in `scratch`.
    fn run_cells_in(
        &mut self,
        campaign: &Campaign,
        cells: &[CellToRun<'_>],
        scratch: &Path,
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        let indices =
            cells.iter().map(|next| indices(campaign, next.cell)).collect::<Result<Vec<_>, _>>()?;
        for (CellToRun { cell, .. }, (stack_index, work_index)) in cells.iter().zip(indices) {
            let device_cell = DeviceCell {
                study: &campaign.study,
                stack_index,
                stack: &campaign.stacks[stack_index],
                spec: &campaign.study.workloads[work_index],
                workload: campaign.workloads[work_index].as_ref(),
                cell,
                scratch,
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
    study
        .stack_index(&cell.levels.stack)
        .zip(study.workload_index(&cell.levels.workload))
        .ok_or_else(|| BenchError::UnknownCell {
            cell: Box::new(cell.clone()),
            study: study.id.to_string(),
        })
}
