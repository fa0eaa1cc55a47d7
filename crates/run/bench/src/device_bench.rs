//! The benches that make stacks on drives of this machine: `loop` and `disks`.

use std::path::{Path, PathBuf};

use disklab_cell::{CellPlan, MachinePlan};
use disklab_exec::Executor;
use disklab_measure::environment;
use disklab_sample::Environment;
use disklab_stack::{Ledger, Machine};

use crate::bench::{BenchProfile, BenchSteps};
use crate::cell::run_one;
use crate::making::Begin;
use crate::own_directory::CellsDirectory;
use crate::preflight::preflight_devices;
use crate::{
    Bench, BenchError, BenchNeeds, CellExecutor, CellWatcher, Drives, EndedCell, LoadedStudy,
    Preflight,
};

/// A bench whose stacks are built on drives.
#[derive(Debug)]
pub struct DeviceBench<D> {
    drives: D,
    planned: MachinePlan,
    machine: Machine,
    ledger: Ledger,
    executor: Executor,
    scratch: Scratch,
    /// How its cells begin.
    begin: Begin,
    /// The cell that comes next, and where its raw outputs go.
    submitted: Option<(CellPlan, PathBuf)>,
    /// That of this bench's own in a shared one.
    own: CellsDirectory,
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
    pub fn new(
        drives: D,
        planned: MachinePlan,
        ledger: Ledger,
        executor: Executor,
        scratch: &Path,
    ) -> Self {
        Self::with(drives, planned, ledger, executor, Scratch::Shared(scratch.to_owned()))
    }

    /// A bench in the lab's guest, which has `scratch` for itself, on drives on which the stack was made.
    pub(crate) fn in_guest(
        drives: D,
        planned: MachinePlan,
        ledger: Ledger,
        executor: Executor,
        scratch: &Path,
    ) -> Self {
        let own = Scratch::Own(scratch.to_owned());
        Self { begin: Begin::Assemble, ..Self::with(drives, planned, ledger, executor, own) }
    }

    fn with(
        drives: D,
        planned: MachinePlan,
        ledger: Ledger,
        executor: Executor,
        scratch: Scratch,
    ) -> Self {
        let machine = Machine::here();
        let (submitted, own, begin) = (None, CellsDirectory::default(), Begin::Make);
        Self { drives, planned, machine, ledger, executor, scratch, begin, submitted, own }
    }

    /// Where cells have their directories.
    fn place(&mut self) -> Result<PathBuf, BenchError> {
        match &self.scratch {
            Scratch::Own(directory) => Ok(directory.clone()),
            Scratch::Shared(parent) => self.own.path(parent, &mut self.ledger),
        }
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

    fn preflight(&self, campaign: &LoadedStudy) -> Preflight {
        preflight_devices(campaign, &self.drives, &self.machine, self.planned.clone())
    }

    fn missing(&self) -> Vec<String> {
        self.machine.missing(&self.drives.needs()).iter().map(ToString::to_string).collect()
    }

    fn check(&mut self, needs: &BenchNeeds) -> Result<(), BenchError> {
        self.drives.check(&needs.drives, &self.executor)
    }

    fn warnings(&self, _: &BenchNeeds) -> Vec<String> {
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

    fn prepare(mut self: Box<Self>, _: &BenchNeeds) -> Result<Box<dyn CellExecutor>, BenchError> {
        self.ledger.make()?;
        Ok(self)
    }
}

impl<D: Drives> CellExecutor for DeviceBench<D> {
    fn environment(&self) -> Environment {
        environment(&self.executor)
    }

    fn consents_left(&self) -> Vec<String> {
        self.drives.consents_left()
    }

    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        self.drives.confirm(yes)
    }

    fn has_room(&self, _: &CellPlan) -> bool {
        self.submitted.is_none()
    }

    fn submit(&mut self, plan: CellPlan, outputs: &Path) -> Result<(), BenchError> {
        if plan.making.machine != self.planned {
            return Err(BenchError::OtherBench);
        }
        self.submitted = Some((plan, outputs.to_owned()));
        Ok(())
    }

    fn next(&mut self, watcher: &mut dyn CellWatcher) -> Result<Option<EndedCell>, BenchError> {
        let Some((plan, outputs)) = self.submitted.take() else { return Ok(None) };
        let place = self.place()?;
        let Self { drives, ledger, executor, begin, .. } = self;
        let begin = *begin;
        run_one(
            begin,
            ledger,
            executor,
            &plan,
            &outputs,
            watcher,
            |work, ledger, executor, phase| {
                work.run_on(begin, drives, &place, ledger, executor, phase)
            },
        )
        .map(Some)
    }

    fn finish(&mut self) {
        self.own.remove(&mut self.ledger, &self.executor);
    }
}
