//! What the further levels of a study's axes change.

use disklab_cell::level_words;
use disklab_decision::{AxisEffect, Pair};
use maud::{Markup, html};

use crate::Report;
use crate::html::fold;

const TITLE: &str = "At other levels";
/// Figures of a level that are shown; `disklab compare` has all.
const SHOWN: usize = 12;

/// One line for each level that was compared.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let line = |effect: &AxisEffect| {
        let choices = effect.choices.iter().map(|sentence| format!(" {sentence}"));
        effect.headline() + &choices.collect::<String>()
    };
    report.effects.iter().map(line).collect()
}

/// What the report is about, if that is not all of the run: 'memory=1GiB linux=6.12'.
pub(crate) fn levels(report: &Report) -> Option<String> {
    (!report.at.is_empty()).then(|| level_words(&report.at))
}

/// The section; empty if the study crosses nothing.
pub(crate) fn section(report: &Report) -> Markup {
    let Some(at) = levels(report) else { return html! {} };
    html! {
        (fold("axes", TITLE, false, &html! {
            p.muted {
                "All of this page is about " code { (at) } ". A figure is compared with the same one at another level: \
                 'faster' and 'slower' are more than 5 %, by intervals over the blocks that they share."
            }
            @for effect in &report.effects { (one(effect)) }
        }))
    }
}

fn one(effect: &AxisEffect) -> Markup {
    let changed = effect.changed();
    html! {
        h3 { (effect.title()) }
        p { (effect.headline()) }
        @if !effect.choices.is_empty() {
            ul { @for sentence in &effect.choices { li { (sentence) } } }
        }
        @if !changed.is_empty() { (table(effect, &changed)) }
        p.muted {
            "All figures: "
            code { "disklab compare RUN@" (effect.axis) "=" (effect.ordinary) " RUN@" (effect.axis) "=" (effect.level) }
        }
    }
}

fn table(effect: &AxisEffect, changed: &[&Pair]) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label={ "What is faster and slower: " (effect.title()) } {
            table {
                thead {
                    tr {
                        th scope="col" { "stack" } th scope="col" { "figure" }
                        th.n scope="col" { (effect.ordinary) } th.n scope="col" { (effect.level) }
                        th.n scope="col" { "ratio" } th scope="col" { "verdict" }
                    }
                }
                tbody {
                    @for pair in changed.iter().take(SHOWN) {
                        @let [ordinary, level] = pair.values();
                        tr {
                            th scope="row" { (pair.stack) }
                            td { (pair.noun) }
                            td.n { (ordinary) } td.n { (level) } td.n { (pair.ratio_text()) }
                            td.change.(pair.change.word()) { (pair.verdict(effect.versus.margin)) }
                        }
                    }
                }
            }
        }
        @if changed.len() > SHOWN {
            p.muted { "And " (changed.len() - SHOWN) " more." }
        }
    }
}
