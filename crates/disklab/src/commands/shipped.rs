//! `disklab shipped`: a run that comes with disklab.

use disklab_lab_kernel as kernel;
use disklab_report::wrapped;
use disklab_store::Run;
use serde_json::json;

use super::ending::finish_new;
use super::lab::build::build_time;
use super::outputs::{OutputError, write_named};
use crate::cli::ShippedArgs;
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::{print, print_json, style_of_output};
use crate::shipped::{ShippedDifferences, ShippedRun, write};
use disklab_runner::{kernel_parts, new_run_directory};

/// Shows a shipped run, or compares it with one of this machine.
pub fn shipped(args: &ShippedArgs, as_json: bool) -> Result<u8, Failure> {
    if let Some(directory) = &args.record {
        return record(args, directory);
    }
    if let Some(directory) = &args.against {
        let run = Run::open(directory).map_err(Failure::usage_error)?;
        let shipped = ShippedRun::closest(&args.study, &run)?;
        return tell(&ShippedDifferences::between(&shipped, &run)?, as_json);
    }
    let shipped = ShippedRun::find(&args.study)?;
    let name = format!("shipped-{}", args.study);
    let directory = args.out.clone().unwrap_or_else(|| new_run_directory(&name));
    let restored = shipped.restore(&directory)?;
    if !as_json {
        print(&paragraph(&about(&shipped)))?;
        print("\n")?;
    }
    let code = finish_new(restored, 0, as_json)?;
    if !as_json {
        print(&next(&shipped)?)?;
    }
    Ok(code)
}

/// In lines of the width of the first screen.
fn paragraph(text: &str) -> String {
    wrapped(text, style_of_output(false).width()).join("\n") + "\n"
}

/// How the same is measured here, and how long that takes; the command has a line of its own.
fn next(shipped: &ShippedRun) -> Result<String, Failure> {
    let ShippedRun { info, samples, .. } = shipped;
    let parts = kernel_parts(&shipped.campaign()?);
    let first = match kernel::find(&kernel::cache_directory(), parts) {
        Some(_) => String::new(),
        None => format!("building the lab's kernel, {}; then ", build_time(parts)),
    };
    let what = format!("Next: {first}the same {} measurements on this machine:", samples.len());
    Ok(format!("{}  disklab run {} --seed {}\n", paragraph(&what), info.study, info.seed))
}

/// What the figures rest on.
fn about(shipped: &ShippedRun) -> String {
    let ShippedRun { info, samples, .. } = shipped;
    let kernel = info.environment.kernel.split(',').next().unwrap_or_default();
    format!(
        "These {} measurements come with disklab, which made them on {} with {} and seed {}. They \
         rest on {}.",
        samples.len(),
        info.created.strftime("%Y-%m-%d"),
        kernel,
        info.seed,
        info.bench_about
    )
}

fn tell(differences: &ShippedDifferences, as_json: bool) -> Result<u8, Failure> {
    if as_json {
        let causes = differences.causes.iter();
        print_json(&json!({
            "distribution": differences.distribution,
            "cells": differences.cells,
            "missing": differences.missing,
            "differing": differences.differing(),
            "differing_by_stack": differences.by_stack,
            "largest_share": differences.largest,
            "same_to_the_digit": differences.none(),
            "causes": causes
                .map(|c| json!({ "what": c.what.to_string(), "shipped": c.one, "here": c.other }))
                .collect::<Vec<_>>(),
        }))?;
    } else {
        print(&(differences.lines().join("\n") + "\n"))?;
    }
    Ok(if differences.unexplained() { FAILED } else { DONE })
}

/// Writes the file of a run, for `runs/`.
fn record(args: &ShippedArgs, directory: &std::path::Path) -> Result<u8, Failure> {
    let run = Run::open(directory).map_err(Failure::usage_error)?;
    let text = write(&run)?;
    match &args.out {
        Some(path) => write_named(path, &text).map_err(OutputError::into_usage_error)?,
        None => print(&text)?,
    }
    Ok(DONE)
}
