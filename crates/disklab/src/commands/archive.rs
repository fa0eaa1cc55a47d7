//! `disklab archive`: figures of many runs, and what became of them.

mod query;

use std::fmt::Write as _;

use disklab_archive::{AddedRun, ArchivedRun, ListedRun, RunArchive};
use disklab_units::count;
use serde_json::{Value, json};

use crate::cli::{ArchiveAddArgs, ArchiveCommand, ArchiveFormat, ArchiveListArgs};
use crate::exit::{DONE, Failure};
use crate::printing::csv_line;

/// Carries out one of its commands.
pub fn archive(command: &ArchiveCommand, as_json: bool) -> Result<u8, Failure> {
    let format = |asked| if as_json { ArchiveFormat::Json } else { asked };
    match command {
        ArchiveCommand::Add(args) => add(args, as_json),
        ArchiveCommand::List(args) => list(args, format(args.format)),
        ArchiveCommand::Query(args) => query::query(args, format(args.format)),
    }
}

fn add(args: &ArchiveAddArgs, as_json: bool) -> Result<u8, Failure> {
    // All are read before anything is written.
    let runs = args.runs.iter().map(|run| ArchivedRun::read(run)).collect::<Result<Vec<_>, _>>()?;
    let added = RunArchive::open(&args.archive.name())?.add(&runs)?;
    let number = |kind| added.iter().filter(|added| **added == kind).count();
    let [new, renewed, known] = [AddedRun::New, AddedRun::Renewed, AddedRun::Known].map(number);
    if as_json {
        crate::printing::print_json(&json!({ "new": new, "renewed": renewed, "known": known }))?;
    } else {
        crate::printing::print(&format!(
            "{} added, {renewed} with other cells than before, {known} known already\n",
            count(new, "run")
        ))?;
    }
    Ok(DONE)
}

fn list(args: &ArchiveListArgs, format: ArchiveFormat) -> Result<u8, Failure> {
    let runs = RunArchive::open_existing(&args.archive.name())?.runs()?;
    match format {
        ArchiveFormat::Json => {
            let runs: Vec<Value> = runs.iter().map(run_json).collect();
            crate::printing::print_json(
                &json!({ "schema": "disklab-archive", "version": 1, "runs": runs }),
            )?;
        }
        ArchiveFormat::Csv => {
            let mut text = csv_line(&[
                "began", "study", "setting", "kernel", "disklab", "done", "cells", "drives", "path",
            ]);
            for run in &runs {
                text.push_str(&csv_line(&[
                    &run.began.to_string(),
                    &run.study,
                    &run.setting,
                    &run.kernel,
                    &run.disklab,
                    &run.cells[1].to_string(),
                    &run.cells[0].to_string(),
                    &drives(run),
                    &run.path.to_string_lossy(),
                ]));
            }
            crate::printing::print(&text)?;
        }
        ArchiveFormat::Text => crate::printing::print(&list_text(&runs))?,
    }
    Ok(DONE)
}

fn list_text(runs: &[ListedRun]) -> String {
    let mut text = format!("{}\n", count(runs.len(), "run"));
    for run in runs {
        let [all, done] = run.cells;
        let cells =
            if all == done { format!("{all} cells") } else { format!("{done} of {all} cells") };
        let (began, study, setting) = (format!("{:.0}", run.began), &run.study, &run.setting);
        let _ = write!(text, "\n{began}  {study}  {setting}  {cells}\n  {}\n", run.path.display());
        let _ = writeln!(text, "  kernel {}; disklab {}", run.kernel, run.disklab);
        let drives = drives(run);
        if !drives.is_empty() {
            let _ = writeln!(text, "  drives {drives}");
        }
    }
    text
}

/// The drives of all its stacks, each once.
fn drives(run: &ListedRun) -> String {
    let mut names: Vec<&str> = run.drives.values().flat_map(|names| names.split("; ")).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    names.join("; ")
}

fn run_json(run: &ListedRun) -> Value {
    json!({
        "id": run.id,
        "path": run.path.to_string_lossy(),
        "study": run.study,
        "study_sha256": run.study_digest,
        "setting": run.setting,
        "disklab": run.disklab,
        "kernel": run.kernel,
        "drives": run.drives,
        "began": run.began.to_string(),
        "cells": run.cells[0],
        "done": run.cells[1],
    })
}
