//! A cell's plan, carried out alone, without its study.

use std::path::{Path, PathBuf};

use disklab_bench::{
    Bench, BenchNeeds, CellExecutor, CellOutcome, CellProgress, CellWatcher, DeviceBench, DirBench,
    DiskDrives, EndedCell, LoopDrives, Phase, check_plan,
};
use disklab_cell::{Cell, CellPlan, DriveKind, MachinePlan};
use disklab_exec::Executor;
use disklab_sample::CellResult;
use disklab_stack::Ledger;
use disklab_store::{CellDirectory, CellRecord, CellState};
use disklab_units::Bytes;

use crate::places::ledger_directory;
use crate::plan_problem::check;
use crate::setup::{Caller, PlannedLab, Scratch, existing_ancestor, medium_below};
use crate::{BenchKind, CellForecast, Observer, PlanProblem, RunnerError, UpcomingCells, VERSION};

/// How a cell's plan is carried out.
#[derive(Debug, Clone, Default)]
pub struct CellOptions {
    /// The directory or the disks that the plan writes to, named once more by the user.
    pub on: Option<BenchKind>,
    /// Serial numbers of disks that may be erased although they carry data.
    pub erase: Vec<String>,
    /// Whether the user has consented to what it erases.
    pub yes: bool,
    /// Directory below which it creates one of its own; its outputs' if `None`.
    pub scratch: Option<PathBuf>,
    /// A kernel instead of the lab's own.
    pub kernel: Option<PathBuf>,
}

/// A cell's result, and whether it was there before.
#[derive(Debug)]
pub struct CarriedOut {
    /// What came of it.
    pub result: CellResult,
    /// Whether it was carried out by an earlier call.
    pub was_done: bool,
}

/// Refuses a plan that asks for what no study can, or whose parts cannot be understood, without
/// touching anything.
///
/// # Errors
/// [`RunnerError::CellPlan`] and [`RunnerError::Prepare`].
pub fn check_cell(plan: &CellPlan) -> Result<(), RunnerError> {
    check(plan)?;
    check_plan(plan).map_err(RunnerError::prepare)
}

/// Carries a cell's plan out, and leaves its result in `out`. If that is there already, nothing
/// is done. What an earlier call left that was killed is removed.
///
/// # Errors
/// [`RunnerError::CellPlan`] if the plan asks for what no study can, or the user must name what it
/// writes to; and those of a bench.
pub fn carry_out_cell(
    plan: CellPlan,
    out: &Path,
    options: &CellOptions,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<CarriedOut, RunnerError> {
    check_cell(&plan)?;
    named_by_user(&plan, options.on.as_ref())?;
    let digest = plan.digest();
    if let Some(result) = CellDirectory::result(out).map_err(RunnerError::Open)? {
        if result.plan != digest {
            return Err(PlanProblem::OtherResult(out.to_owned()).into());
        }
        return Ok(CarriedOut { result, was_done: true });
    }
    let result = anew(plan, digest, out, options, caller, observer)?;
    Ok(CarriedOut { result, was_done: false })
}

/// Carries a plan out that has no result yet.
fn anew(
    plan: CellPlan,
    digest: String,
    out: &Path,
    options: &CellOptions,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<CellResult, RunnerError> {
    let scratch = Scratch::new(options.scratch.as_deref(), out)?;
    scratch.check()?;
    let plan = in_order(plan);
    let needs = BenchNeeds::of_plan(&plan);
    let bench = bench(&plan, options, &scratch, caller)?;
    let missing = bench.missing();
    if !missing.is_empty() {
        return Err(RunnerError::BenchLacks { bench: bench.profile().name, missing });
    }
    let bench = bench.check(&needs).map_err(RunnerError::prepare)?;
    bench.warnings(&needs).iter().for_each(|line| observer.note(line));
    let bench = bench.confirm(options.yes).map_err(RunnerError::prepare)?;
    let directory = CellDirectory::claim(out).map_err(RunnerError::Open)?;
    let mut executor = bench.prepare(&needs).map_err(RunnerError::prepare)?;
    scratch.make()?;
    let (environment, cell) = (executor.environment(), plan.cell.clone());
    let outputs = directory.outputs().map_err(RunnerError::Record)?;
    let outcome = watched(executor.as_mut(), plan, &outputs, observer)?;
    let CellOutcome { result, trace, seconds } = outcome;
    let result = CellResult {
        format: CellResult::FORMAT,
        cell,
        plan: digest,
        disklab: VERSION.to_owned(),
        environment,
        outcome: result.map_err(|error| error.to_string()),
        trace,
        seconds,
    };
    directory.keep(&result).map_err(RunnerError::Record)?;
    Ok(result)
}

/// Has the observer see the cell as a run of one.
fn watched(
    executor: &mut dyn CellExecutor,
    plan: CellPlan,
    outputs: &Path,
    observer: &mut dyn Observer,
) -> Result<CellOutcome, RunnerError> {
    let cell = plan.cell.clone();
    let (workload, seconds) = (cell.levels.workload.clone(), plan.estimate.seconds);
    let next = [CellForecast { workload, seconds }];
    let recorded = [CellRecord::new(cell.clone(), CellState::Waiting)];
    let upcoming = UpcomingCells { next: &next, at_once: 1, recorded: &recorded, campaign: None };
    observer.cells_begin(&upcoming);
    observer.cell_begins(&cell);
    let ended = executor
        .submit(plan, outputs)
        .and_then(|()| executor.next(&mut ShownProgress(&mut *observer)));
    executor.finish();
    let ended = ended.map_err(RunnerError::bench);
    let ended = ended.and_then(|ended| ended.ok_or(RunnerError::Interrupted));
    if let Ok(EndedCell { outcome: CellOutcome { result, seconds, .. }, .. }) = &ended {
        let error = result.as_ref().err().map(ToString::to_string);
        observer.cell_ends(&cell, *seconds, error.as_deref());
    }
    observer.cells_end();
    Ok(ended?.outcome)
}

/// Tells an observer of runs how far the cell is.
struct ShownProgress<'a>(&'a mut dyn Observer);

impl CellWatcher for ShownProgress<'_> {
    fn phase(&mut self, cell: &Cell, phase: Phase) {
        self.0.phase(cell, phase);
    }

    fn stands(&mut self, cell: &Cell, progress: CellProgress) {
        self.0.cell_stands(cell, progress);
    }
}

/// Refuses a plan that writes to a place of the user's which he has not named himself.
fn named_by_user(plan: &CellPlan, on: Option<&BenchKind>) -> Result<(), RunnerError> {
    let wanted = match &plan.making.machine {
        MachinePlan::Lab(_) => BenchKind::Lab,
        MachinePlan::Loop => BenchKind::Loop,
        MachinePlan::Directory(path) => BenchKind::Dir(path.clone()),
        MachinePlan::Disks => BenchKind::Disks(disks(plan)),
    };
    let is_own = matches!(wanted, BenchKind::Lab | BenchKind::Loop);
    // A plan has whole paths, without links.
    let on = on.map(|on| match on {
        BenchKind::Dir(path) => BenchKind::Dir(path.canonicalize().unwrap_or(path.clone())),
        other => other.clone(),
    });
    match on {
        Some(on) if on == wanted => Ok(()),
        None if is_own => Ok(()),
        _ => Err(PlanProblem::NotNamed { wanted: wanted.to_string() }.into()),
    }
}

/// The names of its disks.
fn disks(plan: &CellPlan) -> Vec<String> {
    let name = |kind: &DriveKind| match kind {
        DriveKind::Disk(path) => Some(path.display().to_string()),
        DriveKind::File | DriveKind::Model(_) => None,
    };
    plan.making.drives.iter().filter_map(|drive| name(&drive.kind)).collect()
}

/// With real disks by their order here: those of the study that the cell has no use for are
/// not there.
fn in_order(mut plan: CellPlan) -> CellPlan {
    if plan.making.machine == MachinePlan::Disks {
        plan.making.drives.iter_mut().zip(0..).for_each(|(drive, place)| drive.position = place);
    }
    plan
}

fn bench(
    plan: &CellPlan,
    options: &CellOptions,
    scratch: &Scratch,
    caller: &Caller,
) -> Result<Bench, RunnerError> {
    let executor = Executor::new(caller.interrupt.clone());
    let ledger = Ledger::planned(&ledger_directory(&caller.state));
    let scratch = scratch.path();
    let medium = medium_below(&existing_ancestor(scratch)).0;
    Ok(match &plan.making.machine {
        MachinePlan::Lab(lab) => {
            let lab = PlannedLab::of_plan(lab, &plan.needs, options.kernel.as_deref(), scratch)?;
            lab.bench(ledger, executor, caller)?.into()
        }
        MachinePlan::Loop => {
            let size =
                plan.making.drives.iter().map(|drive| drive.size).max().unwrap_or(Bytes::ZERO);
            let drives = LoopDrives::new(scratch, size, medium);
            DeviceBench::new(drives, MachinePlan::Loop, ledger, executor, scratch).into()
        }
        MachinePlan::Disks => {
            let names = disks(plan);
            let study = ("the plan".to_owned(), names.len());
            let drives = DiskDrives::new(&names, &options.erase, study);
            let drives = drives.map_err(RunnerError::prepare)?;
            DeviceBench::new(drives, MachinePlan::Disks, ledger, executor, scratch).into()
        }
        MachinePlan::Directory(path) => {
            let (medium, watched) = medium_below(path);
            DirBench::new(path, watched, medium, ledger, executor).into()
        }
    })
}
