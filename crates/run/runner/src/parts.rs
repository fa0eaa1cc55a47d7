//! A run in parts, each carried out anywhere: lists of cells' plans with what the run is.

mod carry_out;
mod divide;
mod file;
mod problem;

use std::path::Path;

use disklab_bench::BenchError;
use disklab_cell::CellPlan;
use disklab_options::{RunPart, RunSettings};
use disklab_store::RunInfo;

use self::divide::{CellCost, divide};
use crate::places::claim_outputs;
use crate::{CheckedRun, Plan, RunEstimate, RunnerError};
pub use carry_out::{CarriedOutPart, PartOptions, carry_out_part};
pub use file::{PartHead, PartPlan};
pub use problem::PartProblem;
pub(crate) use problem::then_and_now;

/// The file of a part.
pub fn part_name(RunPart { number, of }: RunPart) -> String {
    let width = of.to_string().len().max(3);
    format!("{number:0width$}")
}

/// Divides a run into parts, and writes them into a new directory. Its kernel is built if it is
/// not there: parts say which one the run has.
///
/// # Errors
/// [`RunnerError::Part`] if it cannot be divided or written, and as [`CheckedRun::begin`].
pub fn write_parts(
    run: CheckedRun,
    parts: Option<u32>,
    folder: &Path,
) -> Result<Vec<PartHead>, RunnerError> {
    let CheckedRun { plan, bench, .. } = run;
    check_divisible(&plan)?;
    let estimate = RunEstimate::new(&plan);
    let costs = costs(&estimate, &plan).map_err(RunnerError::bench)?;
    let parts = parts.unwrap_or_else(|| default_parts(&costs));
    if parts as usize > costs.len() {
        return Err(PartProblem::TooMany { parts, cells: costs.len() }.into());
    }
    let bench = bench.confirm(false).map_err(RunnerError::prepare)?;
    let claim = claim_outputs(folder)?;
    let directory = claim.directory().clone();
    if directory.at(part_name(RunPart { number: 1, of: parts })).exists() {
        return Err(PartProblem::HasParts(folder.to_owned()).into());
    }
    let needs = plan.needs();
    let bench = bench.prepare(&needs).map_err(RunnerError::prepare)?;
    let info = plan.run_info(bench.environment());
    let divided = divide(&costs, parts as usize);
    let mut heads = Vec::with_capacity(divided.len());
    // The first comes last: if it is there, all are.
    for (at, positions) in divided.into_iter().enumerate().rev() {
        let part = RunPart { number: at as u32 + 1, of: parts };
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
        let name = part_name(part);
        file::write(&directory.at(&name), &folder.join(&name), &head, plans)?;
        heads.push(head);
    }
    claim.keep();
    heads.reverse();
    Ok(heads)
}

/// So long takes a part if nothing is said: the start of a task is little next to it.
const PART_SECONDS: f64 = 600.0;
/// No more are made then; Slurm takes as many tasks (`MaxArraySize` 1001).
const MOST_PARTS: usize = 1000;

fn default_parts(costs: &[CellCost]) -> u32 {
    let seconds: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let parts = (seconds / PART_SECONDS).ceil() as usize;
    parts.clamp(1, MOST_PARTS.min(costs.len().max(1))) as u32
}

/// Refuses a run that cannot be divided into parts.
///
/// # Errors
/// [`PartProblem::NotInTheLab`] and [`PartProblem::Adaptive`].
pub fn check_divisible(plan: &Plan) -> Result<(), PartProblem> {
    if !plan.bench.is_simulated {
        return Err(PartProblem::NotInTheLab);
    }
    if plan.stop.is_some() {
        return Err(PartProblem::Adaptive);
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
