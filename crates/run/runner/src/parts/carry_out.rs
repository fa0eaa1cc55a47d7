//! A part, carried out alone, without its study.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_bench::{Bench, BenchNeeds, CellExecutor};
use disklab_cell::{CellPlan, MachinePlan, Needs};
use disklab_exec::Executor;
use disklab_sample::Environment;
use disklab_stack::Ledger;
use disklab_store::{CellState, Provenance, Run, StoreError};

use super::file::memory_of;
use super::{PartPlan, PartProblem};
use crate::places::{check_outputs, claim_outputs, holds_run, ledger_directory};
use crate::recorder::run_recorded;
use crate::run::session;
use crate::setup::{Caller, PlannedLab, Scratch};
use crate::{CellForecast, Observer, RunnerError, UpcomingCells, VERSION};

/// How often it is looked whether another process that carries the same part out has ended.
const POLL: Duration = Duration::from_secs(1);

/// How a part is carried out.
#[derive(Debug, Clone, Default)]
pub struct PartOptions {
    /// Directory below which it creates one of its own; its run's if `None`.
    pub scratch: Option<PathBuf>,
    /// A kernel instead of the lab's own.
    pub kernel: Option<PathBuf>,
    /// How many cells run side by side.
    pub at_once: Option<usize>,
    /// Whether cells that failed run again.
    pub retry_failed: bool,
}

/// What came of a part.
#[derive(Debug)]
pub struct CarriedOutPart {
    /// Its cells, with their samples.
    pub run: Run,
    /// How many of them failed.
    pub failed: usize,
    /// Whether all was done by earlier calls.
    pub was_done: bool,
}

/// Carries out what is left of a part, and records it in `out`. If another process does the same,
/// such as one on a node that the engine gave up, waits for it.
///
/// # Errors
/// [`RunnerError::Part`] if `out` has another run, or this machine is not as that of the plan; and
/// those of a bench.
pub fn carry_out_part(
    part: PartPlan,
    out: &Path,
    options: &PartOptions,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<CarriedOutPart, RunnerError> {
    let scratch = Scratch::new(options.scratch.as_deref(), out)?;
    scratch.check()?;
    let begun = match begun(&part, out, caller, observer)? {
        None => None,
        Some(run) => {
            if options.retry_failed {
                run.retry_failed().map_err(RunnerError::Record)?;
            }
            if waiting(&run)?.is_empty() {
                return done(run, true);
            }
            Some(run)
        }
    };
    let (bench, needs, at_once) = bench(&part, options, &scratch, caller)?;
    let missing = bench.missing();
    if !missing.is_empty() {
        return Err(RunnerError::BenchLacks { bench: bench.profile().name, missing });
    }
    let bench = bench.check(&needs).map_err(RunnerError::prepare)?;
    bench.warnings(&needs).iter().for_each(|line| observer.note(line));
    let bench = bench.confirm(false).map_err(RunnerError::prepare)?;
    let claim = claim_outputs(out)?;
    let mut executor = bench.prepare(&needs).map_err(RunnerError::prepare)?;
    same_machine(&part, &executor.environment())?;
    let mut run = match begun {
        Some(run) => run,
        None => {
            let created = Run::create_in(&claim, &part.head.info, &part.cells());
            claim.keep();
            created.map_err(RunnerError::Open)?
        }
    };
    scratch.make()?;
    run.begin_session(&session()).map_err(RunnerError::Record)?;
    carry_out(part, &mut run, executor.as_mut(), at_once, observer)?;
    done(run, false)
}

/// The run in `out`, if there is one: it must be this part's.
fn begun(
    part: &PartPlan,
    out: &Path,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<Option<Run>, RunnerError> {
    if !holds_run(out) {
        check_outputs(out)?;
        return Ok(None);
    }
    let mut is_noted = false;
    let run = loop {
        match Run::resume(out) {
            Err(StoreError::BeingWritten(_)) => {}
            resumed => break resumed.map_err(RunnerError::Open)?,
        }
        if !std::mem::replace(&mut is_noted, true) {
            observer.note("another disklab carries this part out: waiting for its end");
        }
        std::thread::sleep(POLL);
        caller.interrupt.check().map_err(|_| RunnerError::Interrupted)?;
    };
    let info = run.info().map_err(RunnerError::Open)?;
    let own = &part.head.info;
    let mut cells = part.cells();
    cells.sort_by_key(|cell| cell.number);
    let records = run.cells().map_err(RunnerError::Record)?;
    let is_same = info.options.part == own.options.part
        && info.differences(own).is_empty()
        && records.iter().map(|record| &record.cell).eq(&cells);
    if is_same { Ok(Some(run)) } else { Err(PartProblem::OtherRun(out.to_owned()).into()) }
}

fn waiting(run: &Run) -> Result<BTreeSet<u32>, RunnerError> {
    let records = run.cells().map_err(RunnerError::Record)?;
    let waiting = records.iter().filter(|record| record.state == CellState::Waiting);
    Ok(waiting.map(|record| record.cell.number).collect())
}

fn done(run: Run, was_done: bool) -> Result<CarriedOutPart, RunnerError> {
    let records = run.cells().map_err(RunnerError::Record)?;
    let failed = records.iter().filter(|record| record.state == CellState::Failed).count();
    Ok(CarriedOutPart { run, failed, was_done })
}

/// The bench on which all its cells run, what they need of it, and how many run side by side.
fn bench(
    part: &PartPlan,
    options: &PartOptions,
    scratch: &Scratch,
    caller: &Caller,
) -> Result<(Bench, BenchNeeds, usize), RunnerError> {
    let head = &part.head;
    let mut needs =
        BenchNeeds { zfs: head.zfs, linux: head.linux.clone(), ..BenchNeeds::default() };
    for plan in &part.plans {
        needs.drives.extend(BenchNeeds::of_plan(plan).drives);
    }
    let MachinePlan::Lab(lab) = &head.machine else { return Err(PartProblem::NotInTheLab.into()) };
    let of_lab = Needs { zfs: head.zfs, ..Needs::default() };
    let kernel = options.kernel.as_deref();
    let most = part.plans.iter().map(memory_of).max().unwrap_or_default();
    let lab = PlannedLab::of_plan(lab, &of_lab, kernel, scratch.path())?;
    let lab = lab.side_by_side(options.at_once, most)?;
    let (executor, ledger) = (
        Executor::new(caller.interrupt.clone()),
        Ledger::planned(&ledger_directory(&caller.state)),
    );
    let at_once = lab.at_once();
    Ok((lab.bench(ledger, executor, caller)?.into(), needs, at_once))
}

/// Refuses a machine whose programs or kernel are not those that the run was planned with.
fn same_machine(part: &PartPlan, environment: &Environment) -> Result<(), PartProblem> {
    let planned = part.head.info.provenance();
    let here = Provenance { disklab: VERSION, environment, ..planned };
    let differences = planned.differences(&here);
    if differences.is_empty() { Ok(()) } else { Err(PartProblem::OtherMachine(differences)) }
}

fn carry_out(
    part: PartPlan,
    run: &mut Run,
    executor: &mut dyn CellExecutor,
    at_once: usize,
    observer: &mut dyn Observer,
) -> Result<usize, RunnerError> {
    let waiting = waiting(run)?;
    let recorded = run.cells().map_err(RunnerError::Record)?;
    let mut plans = part.plans;
    plans.retain(|plan| waiting.contains(&plan.cell.number));
    let forecast = |plan: &CellPlan| CellForecast {
        workload: plan.cell.levels.workload.clone(),
        seconds: plan.estimate.seconds,
    };
    let next: Vec<_> = plans.iter().map(forecast).collect();
    let upcoming = UpcomingCells { next: &next, at_once, recorded: &recorded, campaign: None };
    let mut plans = plans.into_iter().map(Ok);
    run_recorded(&mut plans, executor, run, None, &upcoming, observer)
}
