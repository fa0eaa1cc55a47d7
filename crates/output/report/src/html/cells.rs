//! Every cell: how its commands ran, and where its raw outputs lie.

use std::collections::HashMap;
use std::fmt::Write as _;

use disklab_cell::Cell;
use disklab_sample::TraceEntry;
use disklab_store::CellState;
use maud::{Markup, html};

use crate::Report;
use crate::view::count;

/// The finished cells of a stack and a workload.
struct Work<'a> {
    workload: &'a str,
    cells: Vec<&'a Cell>,
    trace: Option<&'a crate::CellTrace>,
}

/// What the page lists of cells, and where. Built once: each figure links to its cells.
pub(crate) struct CellFolds<'a> {
    report: &'a Report,
    /// The stacks of which there is something to show: number, id, workloads in the study's
    /// order.
    stacks: Vec<(usize, &'a str, Vec<Work<'a>>)>,
    /// By stack and workload: the numbers of both.
    places: HashMap<(&'a str, &'a str), (usize, usize)>,
}

impl<'a> CellFolds<'a> {
    pub(crate) fn new(report: &'a Report) -> Self {
        let mut works = works(report);
        let mut stacks = Vec::new();
        let mut places = HashMap::new();
        for (number, planned) in report.info.stacks.iter().enumerate() {
            let stack = planned.id.as_str();
            // A run may name a stack twice, if it is not as disklab wrote it.
            let Some(works) = works.remove(stack) else { continue };
            places.extend(
                works.iter().enumerate().map(|(at, work)| ((stack, work.workload), (number, at))),
            );
            stacks.push((number, stack, works));
        }
        Self { report, stacks, places }
    }

    /// Where the cells of a stack are listed; none if the page lists none.
    pub(crate) fn link(&self, stack: &str) -> Option<String> {
        let (number, ..) = self.stacks.iter().find(|(_, id, _)| *id == stack)?;
        Some(format!("#cells-{number}"))
    }

    /// Where those of a stack with one workload are.
    pub(crate) fn link_to_work(&self, stack: &str, workload: &str) -> Option<String> {
        let (number, at) = self.places.get(&(stack, workload))?;
        Some(format!("#cells-{number}-{at}"))
    }
}

/// The section: one fold per stack, and in it one per workload.
pub(crate) fn section(folds: &CellFolds<'_>) -> Markup {
    let CellFolds { report, stacks, .. } = folds;
    if stacks.is_empty() {
        return html! {};
    }
    html! {
        (super::fold("commands", "Every cell", false, &html! {
            p {
                "The commands of the first finished cell of each stack and workload, as they ran. A \
                 line after # tells how a command ended if it did not end well."
                @if !report.outputs.is_empty() {
                    " The raw outputs of all cells are next to this page, in " code { "raw" } "."
                }
            }
            @for (number, stack, works) in stacks {
                details {
                    summary { (stack) }
                    // A link opens what its target lies in.
                    div id={ "cells-" (number) } {
                        @for (at, work) in works.iter().enumerate() {
                            (fold(report, work, &format!("cells-{number}-{at}")))
                        }
                    }
                }
            }
        }))
    }
}

/// The workloads of each stack of which there is something to show, in the study's order.
fn works(report: &Report) -> HashMap<&str, Vec<Work<'_>>> {
    let mut cells: HashMap<(&str, &str), Vec<&Cell>> = HashMap::new();
    for cell in report.cells.iter().filter(|r| r.state == CellState::Done).map(|r| &r.cell) {
        cells.entry((&cell.levels.stack, &cell.levels.workload)).or_default().push(cell);
    }
    let mut traces: HashMap<(&str, &str), &crate::CellTrace> = HashMap::new();
    for trace in report.facts.traces.iter().filter(|trace| !trace.entries.is_empty()) {
        traces.entry((&trace.stack, &trace.workload)).or_insert(trace);
    }
    let mut works: HashMap<&str, Vec<Work<'_>>> = HashMap::new();
    for planned in &report.info.stacks {
        let stack = planned.id.as_str();
        if works.contains_key(stack) {
            continue;
        }
        for spec in &report.study.workloads {
            let pair = (stack, spec.id.as_str());
            let mut cells = cells.remove(&pair).unwrap_or_default();
            cells.sort_by_key(|cell| cell.block);
            let work = Work { workload: &spec.id, cells, trace: traces.get(&pair).copied() };
            let has_raw = || work.cells.iter().any(|c| report.outputs.contains_key(&c.number));
            if work.trace.is_some() || has_raw() {
                works.entry(stack).or_default().push(work);
            }
        }
    }
    works
}

fn fold(report: &Report, work: &Work<'_>, id: &str) -> Markup {
    let raw = |cell: &&Cell| Some((cell.block, report.outputs.get(&cell.number)?));
    let raw: Vec<_> = work.cells.iter().filter_map(raw).collect();
    html! {
        details {
            summary { (work.workload) " " span.muted { (count(work.cells.len(), "cell")) } }
            div id=(id) {
                @if !raw.is_empty() {
                    p {
                        "Raw output of block "
                        @for (n, (block, path)) in raw.iter().enumerate() {
                            @if n > 0 { ", " }
                            a href={ (path) "/" } { (block + 1) }
                        }
                    }
                }
                @if let Some(trace) = work.trace {
                    p.muted { "Commands of cell " (trace.cell) }
                    pre { code { (lines(&trace.entries)) } }
                }
            }
        }
    }
}

fn lines(entries: &[TraceEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if let Some(cwd) = &entry.cwd {
            let _ = write!(text, "cd {} && ", shell_words::quote(cwd));
        }
        text.push_str(&entry.command_line());
        if entry.status != "0" {
            let _ = write!(text, "\n# {}", entry.status);
        }
        text.push('\n');
    }
    text
}
