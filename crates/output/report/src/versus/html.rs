//! One page.

use disklab_comparisons::Change;
use disklab_decision::Pair;
use maud::{Markup, html};

use super::two_runs::TwoRuns;
use crate::headings::{BEFORE, DIFFERENCES, NO_DIFFERENCE};
use crate::html::document;

/// The whole page.
pub(super) fn page(runs: &TwoRuns) -> String {
    let title = format!("{} against {}", runs.name_b, runs.name_a);
    let main = html! {
        header {
            h1 { (title) }
            @for (letter, name, about) in runs.runs() {
                p { strong { (letter) } ": " (name) " " span.muted { "(" (about) ")" } }
            }
        }
        (summary(runs))
        (differences(runs))
        (questions(runs))
        (rest(runs))
    };
    document(&title, env!("CARGO_PKG_VERSION"), &main, &html! {})
}

fn summary(runs: &TwoRuns) -> Markup {
    let versus = &runs.versus;
    let worst: Vec<&Pair> =
        versus.worst_first().into_iter().filter(|p| p.change == Change::Slower).collect();
    html! {
        section id="summary" {
            h2 { "In short" }
            p { strong { (versus.headline()) } }
            @if !worst.is_empty() { (table(runs, &worst, true)) }
            @let severe = runs.severe();
            @if !severe.is_empty() {
                div.callout role="note" {
                    h3 { (BEFORE) }
                    @for found in severe {
                        div.finding.severe {
                            h3 { span.badge { "severe in " (found.run) } " " span.audit { (found.audit) } }
                            p { (found.text()) }
                        }
                    }
                }
            }
            @for note in runs.notes() { p.muted { (note) } }
        }
    }
}

fn differences(runs: &TwoRuns) -> Markup {
    html! {
        section id="differences" {
            h2 { (DIFFERENCES) }
            @if runs.differences.is_empty() {
                p { (NO_DIFFERENCE) }
            } @else {
                div.scroll role="region" tabindex="0" aria-label="Differences of the runs" {
                    table.wrapped {
                        thead { tr { th scope="col" { "what" } th scope="col" { "A" } th scope="col" { "B" } } }
                        tbody {
                            @for d in &runs.differences {
                                tr {
                                    th scope="row" {
                                        (d.what)
                                        @if d.other_work { " " span.badge { "not the same work" } }
                                    }
                                    td { (d.a) } td { (d.b) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn questions(runs: &TwoRuns) -> Markup {
    let mut answers: Vec<usize> = Vec::new();
    for pair in &runs.versus.pairs {
        if !answers.contains(&pair.answer) {
            answers.push(pair.answer);
        }
    }
    html! {
        @for answer in answers {
            @let pairs: Vec<&Pair> =
                runs.versus.pairs.iter().filter(|p| p.answer == answer).collect();
            section {
                @if let Some(first) = pairs.first() { h2 { (first.question) } }
                (table(runs, &pairs, false))
            }
        }
    }
}

fn table(runs: &TwoRuns, pairs: &[&Pair], with_question: bool) -> Markup {
    let several = with_question || pairs.iter().any(|p| p.noun != pairs[0].noun);
    let of = match pairs.first().filter(|_| !with_question) {
        Some(pair) => &pair.question,
        None => "the largest changes",
    };
    html! {
        div.scroll role="region" tabindex="0" aria-label={ "Figures of both runs: " (of) } {
            table {
                thead {
                    tr {
                        th scope="col" { "stack" }
                        @if several { th scope="col" { "figure" } }
                        th.n scope="col" { "A" } th.n scope="col" { "B" }
                        th.n scope="col" { "B ÷ A" } th scope="col" { "verdict" }
                    }
                }
                tbody {
                    @for pair in pairs {
                        @let [a, b] = pair.values();
                        tr {
                            th scope="row" { (pair.stack) }
                            @if several { td { (pair.noun) } }
                            td.n { (a) } td.n { (b) } td.n { (pair.ratio_text()) }
                            td.change.(pair.change.word()) { (pair.verdict(runs.versus.margin)) }
                        }
                    }
                }
            }
        }
    }
}

fn rest(runs: &TwoRuns) -> Markup {
    let versus = &runs.versus;
    let unmatched = versus.unmatched.sentences();
    html! {
        @if !versus.missing.is_empty() || !unmatched.is_empty() {
            section id="unmatched" {
                h2 { "What has no counterpart" }
                ul {
                    @for missing in &versus.missing { li { (missing.text()) } }
                    @for sentence in unmatched { li { (sentence) } }
                }
            }
        }
    }
}
