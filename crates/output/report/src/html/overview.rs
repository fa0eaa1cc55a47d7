//! The top of the page: what was measured on what, and what came out.

use disklab_audits::Severity;
use maud::{Markup, html};

use crate::Report;
use crate::headings::BEFORE;
use crate::html::findings;
use crate::view::{bench_label, has_own_sizes, manner, measured, progress, sizes};

/// Title and what was measured on what.
pub(crate) fn header(report: &Report) -> Markup {
    let info = &report.info;
    let simulated = info.is_lab();
    html! {
        header {
            h1 { (info.title) }
            p.under {
                span.badge.simulated[simulated] { (manner(info)) }
                " "
                // The lab's own words say all that its label does, and which drives.
                @if simulated && !info.bench_about.is_empty() {
                    strong { (own_words(&info.bench_about)) }
                } @else {
                    strong { (bench_label(&info.bench)) }
                    @if !info.bench_about.is_empty() { " · " (info.bench_about) }
                }
                " · " (measured(report)) ". "
                (progress(report)) " " a href="#method" { "How it was measured" } "."
                @if !has_own_sizes(info) { " " (sizes(info)) }
            }
        }
    }
}

/// What the lab says of itself, without what the badge before it says.
fn own_words(about: &str) -> &str {
    about.strip_prefix("simulated drives: ").unwrap_or(about)
}

/// The summary, with what is severe next to it.
pub(crate) fn summary(report: &Report, has_answers: bool) -> Markup {
    let analysis = &report.analysis;
    let sentences =
        html! { ul.summary { @for sentence in &analysis.summary { li { (sentence) } } } };
    let severe: Vec<_> =
        analysis.findings.iter().filter(|f| f.severity == Severity::Severe).collect();
    html! {
        section id="summary" {
            @if analysis.summary.is_empty() {
                h2 { "In short" }
                p.empty { "Nothing was measured yet: see what was left out or failed." }
            } @else if has_answers {
                h2.unseen { "In short" }
                details {
                    summary { "The strongest differences, in sentences with intervals" }
                    (sentences)
                }
            } @else {
                h2 { "In short" }
                (sentences)
            }
            @if !severe.is_empty() {
                div.callout role="note" {
                    h3 { (BEFORE) }
                    (findings::list(&severe))
                }
            }
        }
    }
}
