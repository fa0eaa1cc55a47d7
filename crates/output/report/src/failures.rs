//! What the run says of the day on which a drive fails.

use disklab_decision::{
    Failures, KeptSummary, PASS_PHASES, PassSummary, StackPasses, StackRisk, kept_words,
};
use disklab_risk::Uncertain;
use disklab_sample::KeptData;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::Report;
use crate::first_screen::FirstScreen;
use crate::html::fold;

const TITLE: &str = "When things go wrong";

/// What was measured of it, a paragraph for each stack.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let Failures { rebuilds, scrubs, kept, .. } = &report.failures;
    [rebuilds.sentences(), scrubs.sentences(), kept.sentences()].concat()
}

/// The section; empty where a run says nothing of it.
pub(crate) fn section(report: &Report, screen: &FirstScreen<'_>) -> Markup {
    let failures = &report.failures;
    if failures.is_empty() {
        return html! {};
    }
    let rows = rows(failures, screen);
    let was_measured = !failures.rebuilds.is_empty()
        || !failures.scrubs.is_empty()
        || !failures.kept.stacks.is_empty();
    let is_main = was_measured && screen.classes.is_empty();
    html! {
        (fold("failures", TITLE, is_main, &html! {
            @if !rows.is_empty() { (chances(report, screen, &rows)) }
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

fn chances(report: &Report, screen: &FirstScreen<'_>, rows: &[Row<'_>]) -> Markup {
    let failures = &report.failures;
    let study = &report.info.study;
    html! {
        p {
            "A drive fails and is replaced. "
            @if failures.rebuilds.is_empty() {
                "How long the rebuild takes was not measured here; it is at least one pass over what is \
                 copied. " code { "disklab rebuild " (study) } " measures it."
            } @else {
                "How long the rebuild takes was measured, for the whole drive."
            }
            @if !failures.scrubs.is_empty() {
                " So was a scrub, of all of its drives."
            }
            " The chances are of " (failures.risk.term_words()) ", from published failure rates."
        }
        (table(rows, !failures.scrubs.is_empty()))
        @for (summary, what) in [(&failures.rebuilds, "rebuild"), (&failures.scrubs, "scrub")] {
            @if !summary.is_empty() { (meanwhile(summary, what, screen)) }
        }
        @for note in failures.risk.notes() { p { (note) } }
        dl.assumptions {
            @for (name, value) in failures.risk.assumptions() { dt { (name) } dd { (value) } }
        }
    }
}

/// A line of the table, for one stack or several of which the same is to be said.
struct Row<'a> {
    stacks: Vec<&'a str>,
    /// How many drives may fail, how long a rebuild and a scrub take, the chances to lose something and all.
    says: [String; 5],
}

/// Which of them is of a scrub.
const SCRUBBED: usize = 2;

fn rows<'a>(failures: &'a Failures, screen: &'a FirstScreen<'_>) -> Vec<Row<'a>> {
    let of_risk = failures.risk.stacks.iter().map(|risk| risk.stack.as_str());
    let passes = failures.rebuilds.stacks().chain(failures.scrubs.stacks());
    let others = passes.map(|(stack, _)| stack).filter(|stack| failures.risk_of(stack).is_none());
    let mut rows: Vec<Row<'a>> = Vec::new();
    for stack in of_risk.chain(others) {
        let risk = failures.risk_of(stack);
        let of_risk = |words: fn(&StackRisk) -> String| risk.map_or_else(String::new, words);
        let says = [
            of_risk(|risk| format!("{} of {}", risk.tolerates, risk.drives)),
            failures.rebuilt_in(stack).unwrap_or_else(|| "–".to_owned()),
            failures.scrubbed_in(stack).unwrap_or_else(|| "–".to_owned()),
            of_risk(StackRisk::some_words),
            of_risk(StackRisk::all_alone_words),
        ];
        let label = screen.label(stack);
        match rows.iter_mut().find(|known| known.says == says) {
            Some(same) => same.stacks.push(label),
            None => rows.push(Row { stacks: vec![label], says }),
        }
    }
    rows
}

fn table(rows: &[Row<'_>], has_scrubs: bool) -> Markup {
    let shown = |(at, words)| (at != SCRUBBED || has_scrubs).then_some(words);
    html! {
        div.scroll role="region" tabindex="0" aria-label="What happens when a drive fails" {
            table {
                thead {
                    tr {
                        th scope="col" { "stack" } th.n scope="col" { "may fail" }
                        th.n scope="col" { "rebuilt in" }
                        @if has_scrubs { th.n scope="col" { "scrubbed in" } }
                        th.n scope="col" { "loses something" } th.n scope="col" { "loses all" }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.stacks.join(", ")) }
                            @for words in row.says.iter().enumerate().filter_map(shown) { td.n { (words) } }
                        }
                    }
                }
            }
        }
    }
}

/// What bounds the rebuilds or scrubs that were measured, and what other work feels meanwhile.
fn meanwhile(summary: &PassSummary, what: &str, screen: &FirstScreen<'_>) -> Markup {
    let mut rows: Vec<(Vec<&str>, &StackPasses)> = Vec::new();
    for (stack, own) in summary.stacks() {
        let says = |own: &StackPasses| (own.bound_words(), own.felt_words());
        match rows.iter_mut().find(|(_, known)| says(known) == says(own)) {
            Some((same, _)) => same.push(screen.label(stack)),
            None => rows.push((vec![screen.label(stack)], own)),
        }
    }
    let is_felt = |phase: &&str| {
        rows.iter().flat_map(|(_, own)| own.felt_words()).any(|(when, _)| when == *phase)
    };
    let phases: Vec<&str> = PASS_PHASES.into_iter().filter(is_felt).collect();
    html! {
        div.scroll role="region" tabindex="0" aria-label=(format!("What bounds a {what}")) {
            table {
                thead {
                    tr {
                        th scope="col" { "stack" } th scope="col" { "the " (what) " is bounded by" }
                        @for phase in &phases { th scope="col" { "other work, " (phase) } }
                    }
                }
                tbody {
                    @for (stacks, own) in &rows {
                        @let felt = own.felt_words();
                        tr {
                            th scope="row" { (stacks.join(", ")) }
                            td.words { (own.bound_words()) }
                            @for phase in &phases {
                                td.words { @for (_, felt) in felt.iter().filter(|felt| felt.0 == *phase) { (felt) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The same for programs.
pub(crate) fn describe(report: &Report) -> Value {
    let failures = &report.failures;
    if failures.is_empty() {
        return Value::Null;
    }
    let chance = |chance: &Uncertain| json!([chance.value, chance.low, chance.high]);
    let stacks = failures.risk.stacks.iter().map(|risk| {
        let is_redundant = risk.tolerates > 0;
        let rebuilds = failures.rebuilds.of(&risk.stack);
        json!({
            "stack": risk.stack,
            "rebuild_hours": is_redundant.then(|| chance(&risk.rebuild)),
            "rebuild_is_measured": rebuilds.is_some(),
            "bounded_by": rebuilds.map(StackPasses::bound_words),
            "scrub_hours": failures.scrubs.hours(&risk.stack).as_ref().map(chance),
            "scrub_bounded_by": failures.scrubs.of(&risk.stack).map(StackPasses::bound_words),
            "loses_something": chance(&risk.chance.some),
            "loses_all": chance(&risk.chance.all),
        })
    });
    let counts = |kept: &KeptData| json!({ "right": kept.right, "wrong": kept.wrong, "refused": kept.unreadable, "files": kept.files, "damaged_files": kept.damaged });
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
