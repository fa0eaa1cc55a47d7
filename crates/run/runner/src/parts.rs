//! A run in parts, each carried out anywhere: lists of cells' plans with what the run is.

mod carry_out;
mod directory;
mod divide;
mod file;
mod look;
mod problem;

use std::ops::RangeInclusive;
use std::path::Path;

use disklab_bench::{BenchError, BenchNeeds};
use disklab_cell::CellPlan;
use disklab_options::{MovedParameters, RunPart, RunSettings};
use disklab_store::{RunDirectory, RunInfo};

use self::divide::{CellCost, divide};
use crate::places::claim_outputs;
use crate::{CheckedRun, Plan, RunEstimate, RunnerError};
pub use carry_out::{CarriedOutPart, PartOptions, carry_out_part};
use directory::part_name;
pub use directory::{WrittenPart, part_file, parts_in, written_parts};
pub use file::{PartHead, PartPlan};
pub use look::{NextParts, after_look};
pub use problem::PartProblem;
pub(crate) use problem::then_and_now;

/// Divides a run into parts, and writes them into a new directory. Its kernel is built if it is
/// not there: parts say which one the run has. If its samples decide how long it is, these are
/// the parts up to the first look.
///
/// # Errors
/// [`RunnerError::Part`] if it cannot be divided or written, and as [`CheckedRun::begin`].
pub fn write_parts(
    run: CheckedRun,
    parts: Option<u32>,
    directory: &Path,
) -> Result<Vec<WrittenPart>, RunnerError> {
    write_parts_of_runs(vec![run], parts, None, directory)
}

/// The same of several runs: a part is of one. `moved` is what an analysis moves in them.
pub(crate) fn write_parts_of_runs(
    runs: Vec<CheckedRun>,
    parts: Option<u32>,
    moved: Option<&MovedParameters>,
    directory: &Path,
) -> Result<Vec<WrittenPart>, RunnerError> {
    let (plans, benches): (Vec<_>, Vec<_>) =
        runs.into_iter().map(|run| (run.plan, run.bench)).unzip();
    let divided = plans.iter().map(DividedRun::new).collect::<Result<Vec<_>, _>>()?;
    let parts = parts_of_runs(&divided, parts)?;
    let confirmed = benches.into_iter().map(|bench| bench.confirm(false));
    let confirmed = confirmed.collect::<Result<Vec<_>, _>>().map_err(RunnerError::prepare)?;
    let claim = claim_outputs(directory)?;
    if parts_in(directory)? > 0 {
        return Err(PartProblem::HasParts(directory.to_owned()).into());
    }
    let total = parts.iter().sum();
    let mut written = Vec::with_capacity(total as usize);
    let mut before = total;
    // The first comes last: if it is there, all are.
    for ((run, parts), bench) in divided.iter().zip(parts).zip(confirmed).rev() {
        before -= parts;
        let needs = run.plan.needs();
        let bench = bench.prepare(&needs).map_err(RunnerError::prepare)?;
        let mut info = run.plan.run_info(bench.environment());
        info.options.sensitivity = moved.cloned();
        let names = Numbers { behind: before, of: total };
        written.extend(run.write(&info, &needs, 1..=parts, names, claim.directory())?);
    }
    written.sort_by(|one, other| one.name.cmp(&other.name));
    claim.keep();
    Ok(written)
}

/// Into how many parts each run is divided, if so many are wanted of all: as its time asks for.
fn parts_of_runs(runs: &[DividedRun<'_>], wanted: Option<u32>) -> Result<Vec<u32>, PartProblem> {
    if let [run] = runs {
        return Ok(vec![run.parts(wanted)?]);
    }
    let Some(wanted) = wanted else { return runs.iter().map(|run| run.parts(None)).collect() };
    let (parts, cells) = (wanted, runs.iter().map(|run| run.costs.len()).sum());
    if wanted as usize > cells {
        return Err(PartProblem::TooMany { parts, cells });
    }
    if (wanted as usize) < runs.len() {
        return Err(PartProblem::TooFew { parts, runs: runs.len() });
    }
    let mut parts = vec![1; runs.len()];
    for _ in runs.len()..wanted as usize {
        let length = |at: &usize| runs[*at].seconds() / f64::from(parts[*at]);
        let can = |at: &usize| (parts[*at] as usize) < runs[*at].costs.len();
        let longest = (0..runs.len()).filter(can).max_by(|a, b| length(a).total_cmp(&length(b)));
        longest.into_iter().for_each(|at| parts[at] += 1);
    }
    Ok(parts)
}

/// How parts are numbered in their directory.
#[derive(Clone, Copy)]
struct Numbers {
    /// So many parts of other runs come before.
    behind: u32,
    /// How many there are.
    of: u32,
}

/// A run in the lab, and what its cells cost.
struct DividedRun<'a> {
    plan: &'a Plan,
    estimate: RunEstimate<'a>,
    costs: Vec<CellCost>,
}

/// So long takes a part if nothing is said: the start of a task is little next to it.
const PART_SECONDS: f64 = 600.0;
/// No more are made then; Slurm takes as many tasks (`MaxArraySize` 1001).
const MOST_PARTS: usize = 1000;

impl<'a> DividedRun<'a> {
    fn new(plan: &'a Plan) -> Result<Self, RunnerError> {
        check_divisible(plan)?;
        let estimate = RunEstimate::new(plan);
        let costs = costs(&estimate, plan).map_err(RunnerError::bench)?;
        Ok(Self { plan, estimate, costs })
    }

    /// Into how many it is divided, if so many are wanted.
    fn parts(&self, wanted: Option<u32>) -> Result<u32, PartProblem> {
        let cells = self.costs.len();
        match wanted {
            Some(parts) if parts as usize > cells => Err(PartProblem::TooMany { parts, cells }),
            Some(parts) => Ok(parts),
            None => {
                let parts = (self.seconds() / PART_SECONDS).ceil() as usize;
                Ok(parts.clamp(1, MOST_PARTS.min(cells.max(1))) as u32)
            }
        }
    }

    fn seconds(&self) -> f64 {
        self.costs.iter().map(|cost| cost.seconds).sum()
    }

    /// Writes its parts, which have these numbers in the run. `needs` are those of all cells of the run.
    fn write(
        &self,
        info: &RunInfo,
        needs: &BenchNeeds,
        numbers: RangeInclusive<u32>,
        names: Numbers,
        directory: &RunDirectory,
    ) -> Result<Vec<WrittenPart>, RunnerError> {
        let Self { plan, estimate, costs } = self;
        let (first, of) = numbers.into_inner();
        let divided = divide(costs, (of + 1 - first) as usize);
        let mut written = Vec::with_capacity(divided.len());
        // The first comes last: if it is there, all are.
        for (at, positions) in divided.into_iter().enumerate().rev() {
            let part = RunPart { number: first + at as u32, of };
            let head = PartHead {
                format: PartHead::FORMAT,
                info: RunInfo {
                    options: RunSettings { part: Some(part), ..info.options.clone() },
                    ..info.clone()
                },
                machine: plan.preflight.machine.clone(),
                zfs: needs.zfs,
                linux: needs.linux.clone(),
                cells: positions.len(),
                seconds: positions.iter().map(|at| costs[*at].seconds).sum(),
                memory: positions.iter().map(|at| costs[*at].memory).max().unwrap_or_default(),
            };
            let cells: Vec<_> = positions.iter().map(|at| plan.cells[*at].clone()).collect();
            let plans = estimate.compiled(&cells).map(|plan| plan.map_err(RunnerError::bench));
            let name = part_name(RunPart { number: names.behind + part.number, of: names.of });
            let shown = directory.path().join(&name);
            file::write(&directory.at(&name), &shown, &head, plans)?;
            written.push(WrittenPart { name, head });
        }
        written.reverse();
        Ok(written)
    }
}

/// Refuses a run that cannot be divided into parts.
///
/// # Errors
/// [`PartProblem::NotInTheLab`] and [`PartProblem::Budget`].
pub fn check_divisible(plan: &Plan) -> Result<(), PartProblem> {
    if !plan.bench.is_simulated {
        return Err(PartProblem::NotInTheLab);
    }
    if plan.stop.as_ref().is_some_and(|rule| rule.budget.is_some()) {
        return Err(PartProblem::Budget);
    }
    Ok(())
}

fn costs(estimate: &RunEstimate<'_>, plan: &Plan) -> Result<Vec<CellCost>, BenchError> {
    let cost = |compiled: CellPlan| CellCost {
        drives: compiled.making.digest(),
        seconds: compiled.estimate.seconds,
        content: compiled.estimate.content,
        memory: file::memory_of(&compiled),
    };
    estimate.compiled(&plan.cells).map(|compiled| compiled.map(cost)).collect()
}
