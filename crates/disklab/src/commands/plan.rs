//! `disklab plan`: what a run would do, and what it would cost.

mod extent;

use std::path::Path;
use std::time::Duration;

use disklab_bench::Prediction;
use disklab_lab::kernel::{self, Parts};
use disklab_study::Cell;
use disklab_units::{Bytes, count, show_duration};
use serde_json::{Value, json};

use self::extent::Extent;
use super::lab::build::{build_time, parts_words};
use super::{print, print_json};
use crate::cli::PlanArgs;
use crate::exit::{DONE, Failure};
use crate::places::new_run_folder;
use crate::setup::{Mode, Setup, kernel_parts};
use crate::words::{Skipped, left_out_lines, scale_words};
use crate::{signals, studies};

/// Prints the plan.
pub fn plan(args: &PlanArgs, as_json: bool) -> Result<u8, Failure> {
    let interrupt = signals::interrupt()?;
    let _planning = signals::planning(&interrupt)?;
    let found = studies::find(&args.study)?;
    let folder = new_run_folder(&found.study.id);
    let mut setup = Setup::new(found, &args.campaign, &folder, Mode::Look, &interrupt)?;
    if let Some(how_long) = args.how_long.understood(&args.campaign)? {
        setup.adapt(&how_long)?;
    }
    setup.check_cells()?;
    if let Some(folder) = &args.from {
        setup.learn_from(folder)?;
    }
    setup.look()?;
    let prediction = setup.predict(&setup.cells);
    if as_json {
        print_json(&describe(&setup, &prediction, args.cells))?;
    } else {
        print(&words(&setup, &prediction, args.cells))?;
    }
    setup.check_room()?;
    setup.check_budget()?;
    Ok(DONE)
}

/// The plan in words, also shown when a run begins.
pub fn words(setup: &Setup, prediction: &Prediction, with_cells: bool) -> String {
    let study = &setup.campaign.study;
    let mut text = format!("{} ({})\n", study.title, study.id);
    let skipped = Skipped::new(&setup.survey.left_out, setup.survey.stacks.len());
    if let Some(warning) = skipped.warning() {
        text.push_str(&format!("  WARNING       {warning}\n"));
    }
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<14}{value}\n"));
    line("bench", format!("{}: {}", setup.bench.name(), setup.bench.about()));
    if let Some((zfs, kernel)) = setup.lab_kernel() {
        let parts = kernel_parts(&setup.campaign);
        line("kernel", kernel_words(zfs, parts, kernel.as_deref()));
    }
    let workloads: std::collections::BTreeSet<_> =
        setup.survey.pairs.iter().map(|(_, w)| w).collect();
    let stacks: std::collections::BTreeSet<_> = setup.survey.pairs.iter().map(|(s, _)| s).collect();
    let each = format!("{} × {}", count(stacks.len(), "stack"), count(workloads.len(), "workload"));
    match &setup.how_long {
        None => line(
            "cells",
            format!(
                "{}: {each}, {} in randomised complete blocks, seed {}",
                setup.cells.len(),
                count(setup.repeats as usize, "repeat"),
                setup.seed
            ),
        ),
        Some(how_long) => {
            let block = setup.survey.pairs.len();
            line("cells", format!("{block} a block: {each}, seed {}", setup.seed));
            line("until", how_long.words());
        }
    }
    let unasked = unasked(setup);
    if !unasked.is_empty() {
        let names = unasked.join(", ");
        line(
            "not asked",
            format!("no question asks about {names}: the report shows their figures at its end"),
        );
    }
    if setup.campaign.scale != 1.0 {
        line(
            "scale",
            format!("file sizes are {} × the study's", scale_words(setup.campaign.scale)),
        );
    }
    let extent = Extent::of(setup, prediction);
    for (at, time) in extent.times().into_iter().enumerate() {
        line(if at == 0 { "time" } else { "" }, time);
    }
    if let Some(seconds) = setup.virtual_seconds(&setup.cells) {
        let shown = show_duration(Duration::from_secs_f64(seconds));
        line("", format!("about {shown} of the drives' own, virtual time"));
    }
    // Nobody's drive wears out in the lab.
    let kind = if setup.is_lab() { "simulated " } else { "" };
    for (drive, written) in setup.drive_names().iter().zip(&prediction.drive_writes) {
        if *written > Bytes::ZERO {
            line("written to", format!("{kind}{drive}: {}", extent.bytes(*written)));
        }
    }
    let largest = match setup.bench.at_once() {
        1 => "cell".to_owned(),
        n => format!("cells, {n} at once"),
    };
    line(
        "space",
        match &setup.room {
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
    for warning in setup.bench.warnings() {
        text.push_str(&format!("  {warning}\n"));
    }
    if !setup.survey.left_out.is_empty() {
        text.push_str("  left out:\n");
        for line in left_out_lines(&setup.survey.left_out) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if with_cells {
        text.push_str("  order:\n");
        for cell in &setup.cells {
            text.push_str(&format!("    {}\n", cell_line(setup, cell)));
        }
    }
    if let Some(remedy) = skipped.remedy() {
        text.push_str(&format!("  {remedy}\n"));
    }
    text
}

/// Workloads that will run and that no question of the study covers.
fn unasked(setup: &Setup) -> Vec<&str> {
    let runs = |id: &str| setup.survey.pairs.iter().any(|(_, workload)| workload == id);
    let unasked = setup.campaign.study.unasked_workloads().map(|w| w.id.as_str());
    unasked.filter(|id| runs(id)).collect()
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

fn cell_line(setup: &Setup, cell: &Cell) -> String {
    format!(
        "{:>5}  block {}  {} · {}  about {}",
        cell.number + 1,
        cell.block + 1,
        cell.stack,
        cell.workload,
        show_duration(Duration::from_secs_f64(setup.seconds(cell)))
    )
}

fn describe(setup: &Setup, prediction: &Prediction, with_cells: bool) -> Value {
    let written: serde_json::Map<String, Value> = setup
        .drive_names()
        .into_iter()
        .zip(prediction.drive_writes.iter().map(|w| json!(w.0)))
        .collect();
    let extent = Extent::of(setup, prediction);
    let mut value = json!({
        "study": setup.campaign.study.id.as_str(),
        "bench": setup.bench.name(),
        "bench_about": setup.bench.about(),
        "lab_kernel": setup.lab_kernel().map(|(zfs, found)| {
            json!({
                "with_zfs": zfs,
                "parts": kernel_parts(&setup.campaign).to_string(),
                "path": found,
            })
        }),
        "cells": setup.cells.len(),
        "repeats": setup.repeats,
        "seed": setup.seed,
        "scale": setup.campaign.scale,
        "predicted_seconds": prediction.seconds,
        "prediction_rests_on": extent.rests_on(),
        "predicted_virtual_seconds": setup.virtual_seconds(&setup.cells),
        "campaign": extent.describe(),
        "predicted_drive_write_bytes": written,
        "drives_are_simulated": setup.is_lab(),
        "space_bytes": prediction.space.0,
        "space_in": setup.room.as_ref().map_or("the drives".into(), |r| r.folder.to_string_lossy()),
        "free_bytes": setup.room.as_ref().map(|room| room.free.0),
        "warnings": setup.bench.warnings(),
        "stacks": setup.survey.stacks,
        "left_out": setup.survey.left_out,
        "not_asked": unasked(setup),
    });
    if with_cells {
        value["order"] = json!(setup.cells);
    }
    value
}
