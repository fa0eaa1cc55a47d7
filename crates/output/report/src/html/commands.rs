//! Every command, as it ran.

use std::fmt::Write as _;

use disklab_sample::TraceEntry;
use maud::{Markup, html};

use crate::Report;

/// The section: one fold per stack, and in it one per workload.
pub(crate) fn section(report: &Report) -> Markup {
    let traces = &report.facts.traces;
    if traces.is_empty() {
        return html! {};
    }
    html! {
        section id="commands" {
            h2 { "Every command" }
            p {
                "As they ran, of the first finished cell of each stack and workload. A line after \
                 # tells how a command ended where it did not end well."
            }
            @for of_stack in traces.chunk_by(|a, b| a.stack == b.stack) {
                @if let Some(first) = of_stack.first() {
                    details {
                        summary { (first.stack) }
                        @for trace in of_stack {
                            details {
                                summary { (trace.workload) " " span.muted { "cell " (trace.cell) } }
                                pre { code { (lines(&trace.entries)) } }
                            }
                        }
                    }
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
