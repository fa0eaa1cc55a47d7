//! `disklab plan`: what a run would do, and what it would cost.

mod extent;
mod passes;
mod roles;
mod written;

use std::collections::BTreeSet;
use std::path::Path;

use disklab_cell::{Cell, PlannedLayer};
use disklab_lab_kernel::{self as kernel, Parts};
use disklab_runner::{
    CheckedRun, Pilot, Plan, PlannedRun, Prediction, RunEstimate, RunnerError, find_study,
    kernel_parts, new_run_directory,
};
use disklab_study::{LeftOut, PlannedStack};
use disklab_units::{Bytes, count, scale_words, show_seconds};
use serde_json::{Value, json};

use self::extent::PlanExtent;
use super::lab::build::{build_time, parts_words, zfs_build_time};
use crate::cli::PlanArgs;
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};
use crate::signals;
use crate::words::{Skipped, left_out_lines};

/// Prints the plan.
pub fn plan(args: &PlanArgs, as_json: bool) -> Result<u8, Failure> {
    let caller = super::caller::caller()?;
    let _planning = signals::planning(&caller.interrupt)?;
    let found = find_study(&args.study)?;
    let directory = new_run_directory(&found.study.id);
    let mut planned = PlannedRun::new(found, &args.campaign.options(), &directory, &caller)?;
    planned.stop_by(&args.how_long.options(), args.campaign.repeats)?;
    let run = planned.check_for_plan()?;
    let pilot = args.from.as_deref().map(|directory| Pilot::read(directory, &run.plan)).transpose();
    let pilot = pilot.map_err(RunnerError::from)?;
    let estimate = match &pilot {
        None => RunEstimate::new(&run.plan),
        Some(pilot) => RunEstimate::from_pilot(&run.plan, pilot),
    };
    if as_json {
        print_json(&describe(&run, &estimate, args.order))?;
    } else {
        print(&words(&run, &estimate, args.order))?;
    }
    estimate.check_room(run.room.as_ref())?;
    estimate.check_budget()?;
    if let Some(directory) = &args.cells {
        super::cell::write_plans(&run, directory)?;
    }
    Ok(DONE)
}

/// The plan in words, also shown when a run begins.
pub fn words(run: &CheckedRun, estimate: &RunEstimate<'_>, with_cells: bool) -> String {
    let plan = &run.plan;
    let prediction = estimate.total();
    let study = &plan.campaign.study;
    let mut lines = Lines(format!("{} ({})\n", study.title, study.id));
    let stacks = plan.cells.iter().map(|cell| cell.levels.stack.as_str());
    let skipped = Skipped::new(&lost(plan), stacks);
    if let Some(warning) = skipped.warning() {
        lines.add("WARNING", &warning);
    }
    lines.add("bench", &format!("{}: {}", plan.bench.name, plan.bench.about));
    if let Some((zfs, kernel)) = run.lab_kernel() {
        let parts = kernel_parts(&plan.campaign);
        lines.add("kernel", &kernel_words(zfs, parts, kernel.as_deref()));
    }
    add_cells(&mut lines, plan);
    add_limits(&mut lines, plan);
    let extent = PlanExtent::new(plan, estimate, &prediction);
    for (at, time) in extent.times().into_iter().enumerate() {
        lines.add(if at == 0 { "time" } else { "" }, &time);
    }
    if let Some(seconds) = estimate.virtual_seconds(&plan.cells) {
        let shown = show_seconds(seconds);
        lines.add("", &format!("about {shown} of the drives' own, virtual time"));
    }
    for (at, pass) in passes::words(plan, estimate).into_iter().enumerate() {
        lines.add(if at == 0 { "before use" } else { "" }, &pass);
    }
    // Nobody's drive wears out in the lab.
    let kind = if plan.bench.is_simulated { "simulated " } else { "" };
    let groups = written::grouped(&plan.drive_names(), &prediction.drive_writes);
    for (drives, written) in groups {
        lines.add("written to", &format!("{kind}{drives}: {}", extent.bytes(written)));
    }
    add_usable(&mut lines, plan);
    for (name, text) in roles::words(plan) {
        lines.add(name, &text);
    }
    lines.add("space", &space_words(run, &prediction));
    let mut text = lines.0;
    for warning in run.warnings() {
        text.push_str(&format!("  {warning}\n"));
    }
    if !plan.preflight.left_out.is_empty() {
        text.push_str("  left out:\n");
        for line in left_out_lines(&plan.preflight.left_out) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if with_cells {
        text.push_str("  order:\n");
        for cell in &plan.cells {
            text.push_str(&format!("    {}\n", cell_line(estimate, cell)));
        }
    }
    if let Some(remedy) = skipped.remedy() {
        text.push_str(&format!("  {remedy}\n"));
    }
    text
}

/// Lines of a name and a value, values below each other.
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: &str) {
        self.0.push_str(&format!("  {name:<14}{value}\n"));
    }
}

/// How many cells there are, and what ends the run if their number does not.
fn add_cells(lines: &mut Lines, plan: &Plan) {
    let levels = &plan.preflight.levels;
    let workloads: BTreeSet<_> = levels.iter().map(|l| &l.workload).collect();
    let stacks: BTreeSet<_> = levels.iter().map(|l| &l.stack).collect();
    let mut each = vec![count(stacks.len(), "stack"), count(workloads.len(), "workload")];
    let axes = plan.campaign.study.axes.all();
    each.extend(axes.iter().map(|axis| count(axis.levels().len(), "level") + " of " + axis.name()));
    let each = each.join(" × ");
    let Some(how_long) = &plan.stop else {
        let repeats = count(plan.repeats as usize, "repeat");
        let order = format!("{repeats} in randomised complete blocks, seed {}", plan.seed);
        return lines.add("cells", &format!("{}: {each}, {order}", plan.cells.len()));
    };
    let to_look = match how_long.looks_for {
        Some(_) => format!("{} to the first look, ", plan.cells.len()),
        None => String::new(),
    };
    let block = levels.len();
    lines.add("cells", &format!("{to_look}{block} a block: {each}, seed {}", plan.seed));
    lines.add("until", &how_long.words());
    if plan.has_goal_of_study {
        let repeats = plan.campaign.study.repeats;
        let times = count(repeats as usize, "time");
        let instead = format!("--repeats {repeats} runs each cell {times} instead");
        lines.add("", &format!("the study's own goal; {instead}"));
    }
}

/// What is left out, but layouts for other numbers of drives.
fn lost(plan: &Plan) -> Vec<LeftOut> {
    let for_others = &plan.campaign.study.left_out;
    let all = plan.preflight.left_out.iter();
    all.filter(|left_out| !for_others.contains(left_out)).cloned().collect()
}

/// What users can fill of each stack, those of the same size together.
fn add_usable(lines: &mut Lines, plan: &Plan) {
    let mut sizes: Vec<(String, Vec<&str>)> = Vec::new();
    for stack in plan.preflight.stacks.iter().filter(|stack| stack.capacity > 0) {
        let size = Bytes(stack.capacity).si().to_string();
        match sizes.iter_mut().find(|(known, _)| *known == size) {
            Some((_, stacks)) => stacks.push(&stack.id),
            None => sizes.push((size, vec![&stack.id])),
        }
    }
    for (at, (size, stacks)) in sizes.iter().enumerate() {
        let name = if at == 0 { "usable" } else { "" };
        lines.add(name, &format!("{size}: {}", stacks.join(", ")));
    }
}

/// What the report will not answer, and sizes that are not the study's.
fn add_limits(lines: &mut Lines, plan: &Plan) {
    let unasked = plan.unasked();
    if !unasked.is_empty() {
        let names = unasked.join(", ");
        let shown = "the report shows their figures at its end";
        lines.add("not asked", &format!("no question asks about {names}: {shown}"));
    }
    let below = plan.below_floors();
    if !below.is_empty() {
        let below = below.join(", ");
        let why = "such figures answer no question in the report";
        lines.add("too little", &format!("{below}: {why}"));
    }
    if plan.is_quick() {
        lines.add("quick", "the sizes of the study's table [quick]");
    }
    if plan.campaign.scale != 1.0 {
        let scale = scale_words(plan.campaign.scale);
        lines.add("scale", &format!("file sizes are {scale} × the study's"));
    }
}

/// What the largest cell takes, how many run at once, and what is free.
fn space_words(run: &CheckedRun, prediction: &Prediction) -> String {
    let least = if prediction.is_least { "at least " } else { "" };
    let most = match prediction.space_with_old {
        old if old > prediction.space => {
            format!(", up to {} where what was overwritten stays", old.iec())
        }
        _ => String::new(),
    };
    let needed = format!("{least}{} for the largest cell{most}", prediction.space.iec());
    match &run.room {
        Some(room) => {
            let at_once = match run.plan.bench.at_once {
                1 => String::new(),
                n => format!(", {n} at once as far as they fit"),
            };
            format!(
                "{needed}{at_once}; {} is free in {}",
                room.free.iec(),
                room.directory.display()
            )
        }
        None => format!("{needed}, on the drives, which are large enough"),
    }
}

/// Whether the lab's kernel is there, and what it takes if it is not.
fn kernel_words(zfs: bool, parts: Parts, found: Option<&Path>) -> String {
    if let Some(path) = found {
        return path.display().to_string();
    }
    let (with, time) = if zfs {
        ("ZFS".to_owned(), zfs_build_time())
    } else {
        (parts_words(parts), build_time(parts))
    };
    format!(
        "one with {with} is not there yet: the run builds it first, once, in {time}, and keeps it \
         in {}",
        kernel::cache_directory().display()
    )
}

fn cell_line(estimate: &RunEstimate<'_>, cell: &Cell) -> String {
    format!(
        "{:>5}  block {}  {}  about {}",
        cell.number + 1,
        cell.block + 1,
        cell.levels,
        show_seconds(estimate.seconds(cell))
    )
}

fn stack_json(stack: &PlannedStack, passes: Value) -> Value {
    json!({
        "id": stack.id,
        "layers": PlannedLayer::notation(&stack.layers),
        "drives": stack.drives,
        "roles": stack.roles().map(|(_, role)| role).collect::<Value>(),
        "capacity": stack.capacity,
        "tolerates": stack.tolerates,
        "first_passes": passes,
    })
}

fn describe(run: &CheckedRun, estimate: &RunEstimate<'_>, with_cells: bool) -> Value {
    let plan = &run.plan;
    let prediction = estimate.total();
    let written: serde_json::Map<String, Value> = plan
        .drive_names()
        .into_iter()
        .zip(prediction.drive_writes.iter().map(|w| json!(w.0)))
        .collect();
    let extent = PlanExtent::new(plan, estimate, &prediction);
    let passes = |stack: &PlannedStack| passes::describe(plan, estimate.passes(&stack.id));
    let stacks: Vec<Value> =
        plan.preflight.stacks.iter().map(|stack| stack_json(stack, passes(stack))).collect();
    let mut value = json!({
        "study": plan.campaign.study.id.as_str(),
        "bench": plan.bench.name,
        "bench_about": plan.bench.about,
        "lab_kernel": run.lab_kernel().map(|(zfs, found)| {
            json!({
                "with_zfs": zfs,
                "parts": kernel_parts(&plan.campaign).to_string(),
                "path": found,
            })
        }),
        "cells": plan.cells.len(),
        "repeats": plan.repeats,
        "seed": plan.seed,
        "quick": plan.is_quick(),
        "goal_from_study": plan.has_goal_of_study,
        "scale": plan.campaign.scale,
        "predicted_seconds": prediction.seconds,
        "prediction_rests_on": extent.rests_on(),
        "predicted_virtual_seconds": estimate.virtual_seconds(&plan.cells),
        "campaign": extent.describe(),
        "predicted_drive_write_bytes": written,
        "predicted_bytes_are_least": prediction.is_least,
        "drives_are_simulated": plan.bench.is_simulated,
        "space_bytes": prediction.space.0,
        "space_with_old_data_bytes": prediction.space_with_old.0,
        "space_in": run.room.as_ref().map_or("the drives".into(), |r| r.directory.to_string_lossy()),
        "free_bytes": run.room.as_ref().map(|room| room.free.0),
        "warnings": run.warnings(),
        "stacks": stacks,
        "left_out": plan.preflight.left_out,
        "not_asked": plan.unasked(),
        "axes": plan.campaign.study.axes.all(),
    });
    if with_cells {
        value["order"] = json!(plan.cells);
    }
    value
}
