//! `disklab run --parts`: writes the parts of a run. `disklab run --part`: carries one out.

use std::path::{Path, PathBuf};

use disklab_runner::{
    CarriedOutPart, PartPlan, PlannedRun, RunEstimate, RunnerError, WrittenPart, carry_out_part,
    check_outputs, leftover_lines, part_file, parts_in, tear_down_leftovers, write_parts,
};
use disklab_units::{count, show_seconds};
use serde_json::{Value, json};

use super::caller::caller;
use super::plan;
use crate::cli::RunArgs;
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::print_json;
use crate::signals;
use crate::watcher::Watcher;

/// Variables by which engines give each task of an array its index, and the first one's.
const INDEX_VARIABLES: [(&str, u32); 9] = [
    ("SLURM_ARRAY_TASK_ID", 1),
    ("JOB_COMPLETION_INDEX", 0),
    ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
    ("PBS_ARRAY_INDEX", 1),
    ("SGE_TASK_ID", 1),
    ("LSB_JOBINDEX", 1),
    ("CI_NODE_INDEX", 1),
    ("CIRCLE_NODE_INDEX", 0),
    ("BUILDKITE_PARALLEL_JOB", 0),
];

/// Plans the run, and writes its parts.
pub fn divide(args: &RunArgs, to: &Path, as_json: bool) -> Result<u8, Failure> {
    let caller = caller()?;
    let found = args.named_study()?;
    check_outputs(to)?;
    let planning = signals::planning(&caller.interrupt)?;
    let mut planned = PlannedRun::new(found, &args.campaign.options(), to, &caller)?;
    planned.stop_by(&args.how_long.options(), args.campaign.repeats)?;
    let checked = planned.check()?;
    eprint!("{}", plan::words(&checked, &RunEstimate::new(&checked.plan), false));
    drop(planning);
    let parts = write_parts(checked, args.parts.division.parts, to)?;
    let mut then = "disklab merge parts/* --to RUN".to_owned();
    if parts.iter().any(|part| part.head.info.options.looks.is_some()) {
        then.push_str(&format!(" --next {}", shell_words::quote(&to.to_string_lossy())));
    }
    print_parts(&parts, to, &then, as_json)
}

/// Says which parts were written, and what to do with them.
pub fn print_parts(
    parts: &[WrittenPart],
    to: &Path,
    then: &str,
    as_json: bool,
) -> Result<u8, Failure> {
    if as_json {
        let part = |WrittenPart { name, head }: &WrittenPart| json!({ "part": name, "cells": head.cells, "seconds": head.seconds });
        let parts: Vec<Value> = parts.iter().map(part).collect();
        print_json(&json!({ "to": to, "parts": parts }))?;
    }
    let longest = parts.iter().map(|part| part.head.seconds).fold(0.0, f64::max);
    let cells = count(parts.iter().map(|part| part.head.cells).sum(), "cell");
    let name = parts.first().map(|part| part.name.as_str()).unwrap_or_default();
    let part = to.join(name);
    eprintln!(
        "{} with {cells} are in {}; the longest takes about {} of one processor\n\
         Carry out each, anywhere: disklab run --part {} --out parts/{name}\n\
         Then: {then}",
        count(parts.len(), "part"),
        to.display(),
        show_seconds(longest),
        shell_words::quote(&part.to_string_lossy()),
    );
    Ok(DONE)
}

/// Carries a part out, or what is left of it.
pub fn carry_out(args: &RunArgs, as_json: bool) -> Result<u8, Failure> {
    let (file, out) = files(args)?;
    let plan = PartPlan::read(&file)?;
    let part = plan.head.part();
    let caller = caller()?;
    for line in leftover_lines(&tear_down_leftovers(&caller.state, &caller.interrupt)?) {
        eprintln!("{line}");
    }
    let cells = plan.plans.len();
    eprintln!("part {} of {}: {}", part.number, part.of, count(cells, "cell"));
    let done = carry_out_part(plan, &out, &args.part_options(), &caller, &mut Watcher::default());
    let CarriedOutPart { failed, was_done, .. } = done.map_err(|error| match error {
        RunnerError::Interrupted => {
            Failure::from(error).with("What was measured is kept; the same command resumes it.")
        }
        error => error.into(),
    })?;
    if as_json {
        print_json(&json!({
            "part": part.to_string(),
            "out": out,
            "cells": cells,
            "failed_cells": failed,
            "was_done": was_done,
        }))?;
    }
    let before = if was_done { "was done before" } else { "is done" };
    let failures = match failed {
        0 => String::new(),
        failed => {
            format!("; {} failed, the report of the merged run says why", count(failed, "cell"))
        }
    };
    eprintln!("part {} of {} {before}: {}{failures}", part.number, part.of, out.display());
    Ok(if failed > 0 { FAILED } else { DONE })
}

/// The file of the part, and the directory for its run.
fn files(args: &RunArgs) -> Result<(PathBuf, PathBuf), Failure> {
    let plan = args.parts.part.clone().unwrap_or_default();
    let out = args.out.clone().unwrap_or_default();
    let Some(index) = args.parts.part_index else {
        if plan.is_dir() {
            let plan = plan.display();
            return Err(Failure::usage_error(format!(
                "{plan} is a directory: name a part in it, such as {plan}/001, or give --part-index"
            )));
        }
        return Ok((plan, out));
    };
    let number = match index {
        Some(number) => number,
        None => index_of_task(|name| std::env::var(name).ok())?,
    };
    let of = parts_in(&plan).map_err(RunnerError::from)?;
    let Some(file) = part_file(&plan, number) else {
        return Err(Failure::usage_error(match of {
            0 => format!(
                "{} has no part 1: name the directory that `disklab run --parts` wrote",
                plan.display()
            ),
            of => format!(
                "part {number}: {} has parts 1 to {of}; have the engine count its tasks so",
                plan.display()
            ),
        }));
    };
    let out = out.join(file.file_name().unwrap_or_default());
    Ok((file, out))
}

/// The number of the part for this task of an engine.
fn index_of_task(variable: impl Fn(&str) -> Option<String>) -> Result<u32, Failure> {
    let given = INDEX_VARIABLES.iter().find_map(|(name, first)| {
        // Grid Engine and LSF give tasks outside of arrays a word, or 0.
        let value = variable(name).filter(|value| !value.is_empty() && value != "undefined")?;
        Some((name, first, value))
    });
    let Some((name, first, value)) = given else {
        let names: Vec<_> = INDEX_VARIABLES.iter().map(|(name, _)| *name).collect();
        return Err(Failure::usage_error(format!(
            "--part-index without a number is the index of an engine's task, and none of {} is \
             set; give the number",
            names.join(", ")
        )));
    };
    let index: Option<u32> = value.trim().parse().ok();
    let number = index.and_then(|index| index.checked_add(1)?.checked_sub(*first));
    number.ok_or_else(|| Failure::usage_error(format!("{name}={value} is not the index of a task")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(set: &[(&str, &str)]) -> Option<u32> {
        let value = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        index_of_task(value).ok()
    }

    #[test]
    fn engines_count_from_zero_or_one() {
        assert_eq!(number(&[("SLURM_ARRAY_TASK_ID", "17")]), Some(17));
        assert_eq!(number(&[("JOB_COMPLETION_INDEX", "0")]), Some(1));
        assert_eq!(number(&[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "4")]), Some(3));
        assert_eq!(number(&[("SGE_TASK_ID", "undefined"), ("PBS_ARRAY_INDEX", "2")]), Some(2));
        assert_eq!(number(&[("SLURM_ARRAY_TASK_ID", "x")]), None);
        assert_eq!(number(&[("SLURM_ARRAY_TASK_ID", "4294967295")]), None);
        assert_eq!(number(&[]), None);
    }
}
