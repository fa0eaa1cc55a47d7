//! What the run says of the day on which a drive fails.

use disklab_decision::{Failures, KeptSummary, kept_words};
use disklab_risk::Uncertain;
use disklab_sample::KeptData;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::Report;
use crate::html::fold;

const TITLE: &str = "When things go wrong";

/// A paragraph for each stack.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let Some(failures) = &report.failures else { return Vec::new() };
    [failures.rebuilds.sentences(), failures.kept.sentences()].concat()
}

/// The section; empty if no rebuild was measured.
pub(crate) fn section(report: &Report) -> Markup {
    let Some(failures) = &report.failures else { return html! {} };
    html! {
        (fold("failures", TITLE, true, &html! {
            @if !failures.rebuilds.is_empty() { (rebuilds(failures)) }
            @if !failures.kept.stacks.is_empty() { (read_back(&failures.kept)) }
        }))
    }
}

fn read_back(kept: &KeptSummary) -> Markup {
    html! {
        p { "What was written was read back after the drives had their faults, and compared block by block; once more after a scrub." }
        div.scroll role="region" tabindex="0" aria-label="What was read back" {
            table {
                thead {
                    tr { th scope="col" { "stack" } th scope="col" { "read back" } th scope="col" { "after a scrub" } }
                }
                tbody {
                    @for (stack, kept) in &kept.stacks {
                        tr {
                            th scope="row" { (stack) }
                            td { (kept_words(&kept.first)) }
                            td { (kept.scrubbed.map_or("–".to_owned(), |kept| kept_words(&kept))) }
                        }
                    }
                }
            }
        }
    }
}

fn rebuilds(failures: &Failures) -> Markup {
    html! {
            p {
                "A drive fails and is replaced. How long until the stack is redundant again was measured, for the whole drive; \
                 the chances are of " (failures.risk.term_words()) ", from published failure rates."
            }
            (table(failures))
            @for note in failures.risk.notes() { p { (note) } }
            dl.assumptions {
                @for (name, value) in failures.risk.assumptions() { dt { (name) } dd { (value) } }
            }
    }
}

fn table(failures: &Failures) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label="What happens when a drive fails" {
            table {
                thead {
                    tr {
                        th scope="col" { "stack" } th.n scope="col" { "may fail" }
                        th.n scope="col" { "rebuilt in" }
                        th.n scope="col" { "loses something" } th.n scope="col" { "loses all" }
                        th scope="col" { "bounded by" } th scope="col" { "other work meanwhile" }
                    }
                }
                tbody {
                    @for (name, stack) in failures.rebuilds.stacks() {
                        @let risk = failures.risk_of(name);
                        tr {
                            th scope="row" { (name) }
                            td.n { @if let Some(risk) = risk { (risk.tolerates) " of " (risk.drives) } }
                            td.n { (stack.time_words()) }
                            td.n { @if let Some(risk) = risk { (risk.some_words()) } }
                            td.n { @if let Some(risk) = risk { (risk.all_words()) } }
                            td { (stack.bound_words()) }
                            td { @for (when, felt) in stack.felt_words() { p { (when) ": " (felt) } } }
                        }
                    }
                }
            }
        }
    }
}

/// The same for programs.
pub(crate) fn describe(report: &Report) -> Value {
    let Some(failures) = &report.failures else { return Value::Null };
    let chance = |chance: &Uncertain| json!([chance.value, chance.low, chance.high]);
    let stacks = failures.rebuilds.stacks().map(|(name, stack)| {
        let risk = failures.risk_of(name);
        json!({
            "stack": name,
            "rebuild_hours": failures.rebuilds.hours(name).as_ref().map(chance),
            "bounded_by": stack.bound_words(),
            "loses_something": risk.map(|risk| chance(&risk.chance.some)),
            "loses_all": risk.map(|risk| chance(&risk.chance.all)),
        })
    });
    let counts = |kept: &KeptData| json!({ "right": kept.right, "wrong": kept.wrong, "refused": kept.unreadable });
    let kept = failures.kept.stacks.iter().map(|(stack, kept)| {
        json!({
            "stack": stack,
            "read_back": counts(&kept.first),
            "after_scrub": kept.scrubbed.as_ref().map(counts),
        })
    });
    json!({
        "years": failures.risk.terms.years,
        "stacks": stacks.collect::<Vec<_>>(),
        "read_back": kept.collect::<Vec<_>>(),
    })
}
