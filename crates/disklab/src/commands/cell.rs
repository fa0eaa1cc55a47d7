//! `disklab cell`: carries out one cell's plan. `disklab plan --cells`: writes them.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use disklab_cell::CellPlan;
use disklab_exec::read_text;
use disklab_runner::{
    CarriedOut, CheckedRun, RunEstimate, RunnerError, carry_out_cell, claim_outputs,
    leftover_lines, tear_down_leftovers,
};
use serde_json::json;

use super::caller::caller;
use crate::cli::CellArgs;
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::print_json;
use crate::watcher::Watcher;

/// A plan with the files that its work names is not as large.
const LARGEST_PLAN: u64 = 64 << 20;

/// Carries the plan out and says where its result is.
pub fn cell(args: &CellArgs, as_json: bool) -> Result<u8, Failure> {
    let wrong = |why: String| Failure::usage_error(format!("{}: {why}", args.plan.display()));
    let text = read_text(&args.plan, LARGEST_PLAN).map_err(|e| wrong(e.to_string()))?;
    let plan = CellPlan::parse(&text).map_err(|e| wrong(e.to_string()))?;
    let caller = caller()?;
    for line in leftover_lines(&tear_down_leftovers(&caller.state, &caller.interrupt)?) {
        eprintln!("{line}");
    }
    let mut watcher = Watcher::default();
    let done = carry_out_cell(plan, &args.out, &args.options(), &caller, &mut watcher)?;
    let CarriedOut { result, was_done } = done;
    let error = result.outcome.as_ref().err();
    if as_json {
        let (levels, out) = (&result.cell.levels, args.out.to_string_lossy());
        print_json(&json!({
            "stack": levels.stack,
            "workload": levels.workload,
            "further": levels.further,
            "block": result.cell.block,
            "out": out,
            "error": error,
            "was_done": was_done,
        }))?;
    } else {
        let before = if was_done { "done before" } else { "done" };
        eprintln!("{before}: {}", args.out.join("result.json").display());
        if let Some(error) = error {
            eprintln!("the cell failed: {error}");
        }
    }
    Ok(if error.is_some() { FAILED } else { DONE })
}

/// The file of a cell's plan: they count from 1, as people do.
fn name_of(number: u32) -> String {
    format!("{:05}.json", number + 1)
}

/// Writes a plan for each cell of a run into a new directory.
pub fn write_plans(run: &CheckedRun, out: &Path) -> Result<(), Failure> {
    if out.join(name_of(0)).exists() {
        let why = "has plans already; name another directory with --cells";
        return Err(Failure::usage_error(format!("{} {why}", out.display())));
    }
    let claim = claim_outputs(out)?;
    let directory = claim.directory().clone();
    let estimate = RunEstimate::new(&run.plan);
    for plan in estimate.compiled(&run.plan.cells) {
        let plan = plan.map_err(RunnerError::Bench)?;
        let json = serde_json::to_vec_pretty(&plan).map_err(Failure::failed)?;
        let name = name_of(plan.cell.number);
        let written = File::create_new(directory.at(&name)).and_then(|mut f| f.write_all(&json));
        written.map_err(|e| Failure::failed(format!("cannot write {name}: {e}")))?;
    }
    claim.keep();
    eprintln!("{} plans are in {}", run.plan.cells.len(), out.display());
    Ok(())
}
