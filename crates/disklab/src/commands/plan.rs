//! `disklab plan`: what a run would do, and what it would cost.

mod extent;

use std::path::Path;
use std::time::Duration;

use disklab_lab::kernel::{self, Parts};
use disklab_runner::{
    CheckedRun, Pilot, PlannedRun, RunEstimate, RunnerError, find_study, kernel_parts,
    new_run_folder,
};
use disklab_study::{Cell, PlannedLayer, PlannedStack};
use disklab_units::{Bytes, count, scale_words, show_duration};
use serde_json::{Value, json};

use self::extent::Extent;
use super::lab::build::{build_time, parts_words};
use super::{print, print_json};
use crate::cli::PlanArgs;
use crate::exit::{DONE, Failure};
use crate::signals;
use crate::words::{Skipped, left_out_lines};

/// Prints the plan.
pub fn plan(args: &PlanArgs, as_json: bool) -> Result<u8, Failure> {
    let caller = super::caller()?;
    let _planning = signals::planning(&caller.interrupt)?;
    let found = find_study(&args.study)?;
    let folder = new_run_folder(&found.study.id);
    let mut planned = PlannedRun::new(found, &args.campaign.options(), &folder, &caller)?;
    planned.stop_by(&args.how_long.options(), args.campaign.repeats)?;
    let run = planned.check_for_plan()?;
    let pilot = args.from.as_deref().map(|folder| Pilot::read(folder, &run.plan)).transpose();
    let pilot = pilot.map_err(RunnerError::from)?;
    let estimate = match &pilot {
        None => RunEstimate::new(&run.plan),
        Some(pilot) => RunEstimate::from_pilot(&run.plan, pilot),
    };
    if as_json {
        print_json(&describe(&run, &estimate, args.cells))?;
    } else {
        print(&words(&run, &estimate, args.cells))?;
    }
    estimate.check_room(run.room.as_ref())?;
    estimate.check_budget()?;
    Ok(DONE)
}

/// The plan in words, also shown when a run begins.
pub fn words(run: &CheckedRun, estimate: &RunEstimate<'_>, with_cells: bool) -> String {
    let plan = &run.plan;
    let prediction = estimate.total();
    let study = &plan.campaign.study;
    let mut text = format!("{} ({})\n", study.title, study.id);
    let skipped = Skipped::new(&plan.preflight.left_out, plan.preflight.stacks.len());
    if let Some(warning) = skipped.warning() {
        text.push_str(&format!("  WARNING       {warning}\n"));
    }
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<14}{value}\n"));
    line("bench", format!("{}: {}", plan.bench.name, plan.bench.about));
    if let Some((zfs, kernel)) = run.lab_kernel() {
        let parts = kernel_parts(&plan.campaign);
        line("kernel", kernel_words(zfs, parts, kernel.as_deref()));
    }
    let workloads: std::collections::BTreeSet<_> =
        plan.preflight.pairs.iter().map(|(_, w)| w).collect();
    let stacks: std::collections::BTreeSet<_> =
        plan.preflight.pairs.iter().map(|(s, _)| s).collect();
    let each = format!("{} × {}", count(stacks.len(), "stack"), count(workloads.len(), "workload"));
    match &plan.stop {
        None => line(
            "cells",
            format!(
                "{}: {each}, {} in randomised complete blocks, seed {}",
                plan.cells.len(),
                count(plan.repeats as usize, "repeat"),
                plan.seed
            ),
        ),
        Some(how_long) => {
            let block = plan.preflight.pairs.len();
            line("cells", format!("{block} a block: {each}, seed {}", plan.seed));
            line("until", how_long.words());
            if plan.has_goal_of_study {
                let repeats = count(study.repeats as usize, "time");
                line(
                    "",
                    format!(
                        "the study's own goal; --repeats {} runs each cell {repeats} instead",
                        study.repeats
                    ),
                );
            }
        }
    }
    let unasked = plan.unasked();
    if !unasked.is_empty() {
        let names = unasked.join(", ");
        line(
            "not asked",
            format!("no question asks about {names}: the report shows their figures at its end"),
        );
    }
    let below = plan.below_floors();
    if !below.is_empty() {
        let below = below.join(", ");
        line("too little", format!("{below}: such figures answer no question in the report"));
    }
    if plan.is_quick() {
        line("quick", "the sizes of the study's table [quick]".to_owned());
    }
    if plan.campaign.scale != 1.0 {
        line("scale", format!("file sizes are {} × the study's", scale_words(plan.campaign.scale)));
    }
    let extent = Extent::new(plan, estimate, &prediction);
    for (at, time) in extent.times().into_iter().enumerate() {
        line(if at == 0 { "time" } else { "" }, time);
    }
    if let Some(seconds) = estimate.virtual_seconds(&plan.cells) {
        let shown = show_duration(Duration::from_secs_f64(seconds));
        line("", format!("about {shown} of the drives' own, virtual time"));
    }
    // Nobody's drive wears out in the lab.
    let kind = if plan.bench.is_simulated { "simulated " } else { "" };
    for (drive, written) in plan.drive_names().iter().zip(&prediction.drive_writes) {
        if *written > Bytes::ZERO {
            line("written to", format!("{kind}{drive}: {}", extent.bytes(*written)));
        }
    }
    let largest = match plan.bench.at_once {
        1 => "cell".to_owned(),
        n => format!("cells, {n} at once"),
    };
    line(
        "space",
        match &run.room {
            Some(room) => format!(
                "{} for the largest {largest}; {} is free in {}",
                prediction.space.iec(),
                room.free.iec(),
                room.folder.display()
            ),
            None => format!(
                "{} for the largest {largest}, on the drives, which are large enough",
                prediction.space.iec()
            ),
        },
    );
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

/// Whether the lab's kernel is there, and what it takes if it is not.
fn kernel_words(zfs: bool, parts: Parts, found: Option<&Path>) -> String {
    if let Some(path) = found {
        return path.display().to_string();
    }
    let (with, parts) =
        if zfs { ("ZFS".to_owned(), Parts::ALL) } else { (parts_words(parts), parts) };
    format!(
        "one with {with} is not there yet: the run builds it first, once, in {}, and keeps it in \
         {}",
        build_time(parts),
        kernel::cache_folder().display()
    )
}

fn cell_line(estimate: &RunEstimate<'_>, cell: &Cell) -> String {
    format!(
        "{:>5}  block {}  {} · {}  about {}",
        cell.number + 1,
        cell.block + 1,
        cell.stack,
        cell.workload,
        show_duration(Duration::from_secs_f64(estimate.seconds(cell)))
    )
}

fn stack_json(stack: &PlannedStack) -> Value {
    json!({
        "id": stack.id,
        "layers": PlannedLayer::notation(&stack.layers),
        "drives": stack.drives,
        "capacity": stack.capacity,
        "tolerates": stack.tolerates,
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
    let extent = Extent::new(plan, estimate, &prediction);
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
        "drives_are_simulated": plan.bench.is_simulated,
        "space_bytes": prediction.space.0,
        "space_in": run.room.as_ref().map_or("the drives".into(), |r| r.folder.to_string_lossy()),
        "free_bytes": run.room.as_ref().map(|room| room.free.0),
        "warnings": run.warnings(),
        "stacks": plan.preflight.stacks.iter().map(stack_json).collect::<Vec<_>>(),
        "left_out": plan.preflight.left_out,
        "not_asked": plan.unasked(),
    });
    if with_cells {
        value["order"] = json!(plan.cells);
    }
    value
}
