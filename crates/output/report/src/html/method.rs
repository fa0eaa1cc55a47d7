//! How it was measured, and what the measuring itself cost.

use disklab_cell::SeedSharing;
use disklab_units::significant;
use maud::{Markup, html};

use crate::campaign::is_adaptive;
use crate::html::fold::OPEN_ROWS;
use crate::view::{IMPORTED, command_line, count, intervals, prerequisites, progress, sizes};
use crate::{Report, Spread, StackOverhead};

pub(crate) fn section(report: &Report) -> Markup {
    let info = &report.info;
    html! {
        (super::fold("method", "How it was measured", false, &html! {
            ul {
                @if info.is_import() {
                    li { (IMPORTED) }
                } @else {
                    li {
                        "Each workload ran on each stack "
                        @if is_adaptive(info) { "up to " }
                        (times(info.repeats)) ", each time on a freshly made stack. The order \
                         of each repeat is random and drawn by itself, from seed " code { (info.seed) }
                        @if report.study.draws == SeedSharing::Shared {
                            "; all stacks of a repeat were given the same work"
                        }
                        "."
                    }
                }
                li { (progress(report)) }
                @if !info.is_import() { li { (sizes(info)) } }
                @let settings = info.options.listed();
                @if !settings.is_empty() {
                    li {
                        "Settings of the bench: "
                        @for (n, (name, value)) in settings.iter().enumerate() {
                            @if n > 0 { ", " }
                            code { (name) } " " (value)
                        }
                        "."
                    }
                }
                li { (intervals(report)) }
                li {
                    "MB and GB are powers of 1000, MiB and GiB powers of 1024. Read and write \
                     amplification are the bytes that the drives moved per byte that the \
                     workload asked for, from the drives' own counters."
                }
                li {
                    "To do it again: " code.command { (command_line(report)) }
                    ", with " (prerequisites(info))
                    @if report.sessions.len() > 1 {
                        " (resumed " (times(report.sessions.len() as u32 - 1)) ")"
                    }
                }
            }
            (notes(report))
            (overhead(report))
        }))
    }
}

fn times(n: u32) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

/// Of notes, this many stand open.
const OPEN_NOTES: usize = 12;
/// And as many are on the page at all; a page must load.
const MOST_NOTES: usize = 200;

fn notes(report: &Report) -> Markup {
    let notes = &report.facts.notes;
    let list = |notes: &[crate::CountedNote]| {
        html! {
            ul {
                @for counted in notes {
                    li {
                        strong { (counted.note.about) } ": " (counted.note.text) " "
                        span.muted { "(" (count(counted.cells, "cell")) ")" }
                    }
                }
            }
        }
    };
    html! {
        @if !notes.is_empty() {
            h3 { "Notes of the cells" }
            (list(&notes[..notes.len().min(OPEN_NOTES)]))
            @if notes.len() > OPEN_NOTES {
                details {
                    summary { (notes.len() - OPEN_NOTES) " more" }
                    (list(&notes[OPEN_NOTES..notes.len().min(MOST_NOTES)]))
                    @if notes.len() > MOST_NOTES {
                        p { (notes.len() - MOST_NOTES) " more are in the report's JSON form." }
                    }
                }
            }
        }
    }
}

fn overhead(report: &Report) -> Markup {
    let overheads = &report.facts.overheads;
    if overheads.is_empty() || report.info.is_import() {
        return html! {};
    }
    html! {
        h3 { "What a cell costs outside its workload" }
        p { (costs(overheads)) }
        details open[overheads.len() <= OPEN_ROWS] {
            summary { "Per stack, " (count(overheads.len(), "row")) }
            (table(overheads))
        }
    }
}

/// The cheapest and the most expensive stack, in a sentence.
fn costs(overheads: &[StackOverhead]) -> String {
    let by = |part: fn(&StackOverhead) -> f64| {
        move |a: &&StackOverhead, b: &&StackOverhead| part(a).total_cmp(&part(b))
    };
    let all = || overheads.iter();
    let (Some(least), Some(most), Some(worst)) = (
        all().min_by(by(|o| o.total.median)),
        all().max_by(by(|o| o.total.median)),
        all().max_by(by(|o| o.total.worst)),
    ) else {
        return String::new();
    };
    format!(
        "Making the stack, dropping caches and tearing it down took a median of {} s per cell on \
         {} and {} s on {}; the worst cell took {} s, on {}.",
        median(least.total),
        least.stack,
        median(most.total),
        most.stack,
        significant(worst.total.worst, 3),
        worst.stack
    )
}

fn table(overheads: &[StackOverhead]) -> Markup {
    let waited = overheads.iter().any(|o| o.settle.worst > 0.0);
    let prewrote = overheads.iter().any(|o| o.prewrite.worst > 0.0);
    html! {
        div.scroll role="region" tabindex="0" aria-label="Overhead" {
            table {
                thead {
                    tr {
                        th scope="col" { "stack" }
                        th.n scope="col" { "cells" }
                        th.n scope="col" { "make, s" }
                        th.n scope="col" { "caches, s" }
                        th.n scope="col" { "tear down, s" }
                        th.n scope="col" { "together, s" }
                        th.n scope="col" { "worst, s" }
                        @if waited { th.n scope="col" { "waited to settle, s" } }
                        @if prewrote { th.n scope="col" { "written beforehand, s" } }
                    }
                }
                tbody {
                    @for o in overheads {
                        tr {
                            th scope="row" { (o.stack) }
                            td.n { (o.total.n) }
                            td.n { (median(o.make)) }
                            td.n { (median(o.caches)) }
                            td.n { (median(o.tear_down)) }
                            td.n { strong { (median(o.total)) } }
                            td.n { (significant(o.total.worst, 3)) }
                            @if waited { td.n { (median(o.settle)) } }
                            @if prewrote { td.n { (median(o.prewrite)) } }
                        }
                    }
                }
            }
        }
    }
}

fn median(spread: Spread) -> String {
    significant(spread.median, 3)
}
