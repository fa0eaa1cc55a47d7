//! Every cell: how its commands ran, and where its raw outputs lie.

use std::fmt::Write as _;

use disklab_sample::TraceEntry;
use disklab_store::CellState;
use disklab_study::Cell;
use maud::{Markup, html};

use crate::Report;
use crate::view::count;

/// The finished cells of a stack and a workload.
struct Work<'a> {
    workload: &'a str,
    cells: Vec<&'a Cell>,
    trace: Option<&'a crate::CellTrace>,
}

/// Where the cells of a stack are listed; none if the page lists none.
pub(crate) fn link(report: &Report, stack: &str) -> Option<String> {
    let number = stack_number(report, stack)?;
    (!works(report, stack).is_empty()).then(|| format!("#cells-{number}"))
}

/// Where those of a stack with one workload are.
pub(crate) fn link_to_work(report: &Report, stack: &str, workload: &str) -> Option<String> {
    let number = stack_number(report, stack)?;
    let at = works(report, stack).iter().position(|work| work.workload == workload)?;
    Some(format!("#cells-{number}-{at}"))
}

fn stack_number(report: &Report, stack: &str) -> Option<usize> {
    report.info.stacks.iter().position(|planned| planned.id == stack)
}

/// The section: one fold per stack, and in it one per workload.
pub(crate) fn section(report: &Report) -> Markup {
    let stacks = report.info.stacks.iter().map(|planned| planned.id.as_str()).enumerate();
    let stacks: Vec<_> = stacks
        .map(|(number, stack)| (number, stack, works(report, stack)))
        .filter(|(_, _, works)| !works.is_empty())
        .collect();
    if stacks.is_empty() {
        return html! {};
    }
    html! {
        section id="commands" {
            h2 { "Every cell" }
            p {
                "The commands of the first finished cell of each stack and workload, as they ran. A \
                 line after # tells how a command ended if it did not end well."
                @if !report.outputs.is_empty() {
                    " The raw outputs of all cells are next to this page, in " code { "raw" } "."
                }
            }
            @for (number, stack, works) in &stacks {
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
        }
    }
}

/// The workloads of a stack of which there is something to show, in the study's order.
fn works<'a>(report: &'a Report, stack: &str) -> Vec<Work<'a>> {
    let of = |workload: &'a str| {
        let is_done = |r: &&disklab_store::CellRecord| {
            r.state == CellState::Done && r.cell.stack == stack && r.cell.workload == workload
        };
        let mut cells: Vec<&Cell> = report.cells.iter().filter(is_done).map(|r| &r.cell).collect();
        cells.sort_by_key(|cell| cell.block);
        let trace = report.facts.traces.iter().find(|trace| {
            trace.stack == stack && trace.workload == workload && !trace.entries.is_empty()
        });
        Work { workload, cells, trace }
    };
    let has_any = |work: &Work<'_>| {
        work.trace.is_some() || work.cells.iter().any(|c| report.outputs.contains_key(&c.number))
    };
    report.study.workloads.iter().map(|w| of(&w.id)).filter(has_any).collect()
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
