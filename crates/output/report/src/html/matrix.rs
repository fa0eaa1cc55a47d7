//! All stacks by all purposes: how fast each is next to the best, in colours and words.

use disklab_decision::{PurposeRank, Recommendation};
use disklab_store::{CellRecord, CellState};
use maud::{Markup, html};

use super::cells::CellFolds;
use crate::Report;
use crate::first_screen::{FirstScreen, StackLine, space};
use crate::view::count;

/// From here on a cell says that it is as good as the best, and has its colour.
const AS_GOOD: f64 = 0.975;
/// From these shares of the best on, a cell has the next deeper colour.
const STEPS: [f64; 4] = [0.25, 0.45, 0.7, AS_GOOD];

/// The table; empty where no purpose was measured.
pub(crate) fn section(report: &Report, screen: &FirstScreen<'_>, folds: &CellFolds<'_>) -> Markup {
    let shown: Vec<&Recommendation> =
        screen.recommendations.iter().filter(|r| !r.scores.is_empty()).collect();
    if shown.is_empty() {
        return html! {};
    }
    let first = screen.first_class();
    let measured = screen.stacks.iter().filter(|stack| is_measured(stack, &shown));
    let mut classes: Vec<Option<u32>> = measured.map(|stack| stack.survives).collect();
    classes.sort_unstable_by_key(|class| (Some(*class) != first, *class));
    classes.dedup();
    html! {
        section {
            h2 { "Each stack, each purpose" }
            div.scroll.tall role="region" tabindex="0" aria-label="Stacks by purpose" {
                table.matrix.sortable {
                    caption { "What decides, next to the best stack" }
                    thead {
                        tr {
                            th scope="col" { "stack" }
                            th.n scope="col" { "usable" }
                            @for r in &shown {
                                th.n scope="col" title=(r.purpose.title) {
                                    (r.purpose.short)
                                    @if r.why_not.is_some() { abbr title=(partial(r)) { "*" } }
                                }
                            }
                        }
                    }
                    @for class in &classes {
                        tbody {
                            tr.fixed { th.class colspan=(shown.len() + 2) scope="rowgroup" {
                                (Recommendation::may_fail(*class))
                            } }
                            @for stack in rows(screen, *class, &shown) { (row(report, folds, stack, &shown)) }
                        }
                    }
                }
            }
            @if shown.iter().any(|r| r.why_not.is_some()) {
                p.muted { "* From a part of what this purpose asks for." }
            }
        }
    }
}

fn partial(recommendation: &Recommendation) -> String {
    format!("not measured: {}", recommendation.lacking.join(", "))
}

/// The stacks of a class, fastest first.
fn rows<'a>(
    screen: &'a FirstScreen<'_>,
    class: Option<u32>,
    shown: &[&Recommendation],
) -> Vec<&'a StackLine> {
    let is_row = |stack: &&StackLine| stack.survives == class && is_measured(stack, shown);
    let mut rows: Vec<&StackLine> = screen.stacks.iter().filter(is_row).collect();
    let speed = |stack: &StackLine| stack.speed.unwrap_or(-1.0);
    rows.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    rows
}

/// Whether any purpose has it.
fn is_measured(stack: &StackLine, shown: &[&Recommendation]) -> bool {
    shown.iter().flat_map(|r| &r.scores).any(|score| score.stack == stack.id)
}

fn row(
    report: &Report,
    folds: &CellFolds<'_>,
    stack: &StackLine,
    shown: &[&Recommendation],
) -> Markup {
    let link = folds.link(&stack.id);
    html! {
        tr {
            th scope="row" title=(stack.id) { (stack.label) }
            td.n data-value=(stack.usable.unwrap_or(0)) { (space(stack.usable)) }
            @for recommendation in shown { (cell(report, stack, recommendation, link.as_deref())) }
        }
    }
}

fn cell(
    report: &Report,
    stack: &StackLine,
    recommendation: &Recommendation,
    link: Option<&str>,
) -> Markup {
    let score = recommendation.scores.iter().find(|score| score.stack == stack.id);
    let Some(share) = score.map(|score| score.share) else {
        return html! { td.n data-value="-1" { "–" } };
    };
    let depth = STEPS.iter().filter(|from| share >= **from).count();
    let word = match share {
        1.0 => "best".to_owned(),
        share if share >= AS_GOOD => "≈ best".to_owned(),
        share if share < 0.005 => "<0.01".to_owned(),
        share => format!("{share:.2}"),
    };
    let place = recommendation
        .decisions
        .iter()
        .filter(|decision| decision.survives == stack.survives)
        .flat_map(|decision| &decision.places)
        .find(|place| place.stack == stack.id);
    html! {
        td.n.depth.{ "d" (depth) } data-value=(format!("{share:.6}")) {
            @let tip = tip(place, &repeats(report, stack, recommendation));
            @match link {
                Some(link) => a.tip href=(link) data-tip=(tip) { (word) },
                None => span.tip tabindex="0" data-tip=(tip) { (word) },
            }
        }
    }
}

/// How it stands among those that survive as many failed drives, with the interval.
fn tip(place: Option<&PurposeRank>, repeats: &str) -> String {
    match place {
        None => repeats.to_owned(),
        Some(place) if place.distance.is_empty() => {
            format!("{}; {repeats}", place.verdict.word())
        }
        Some(PurposeRank { verdict, distance, by_deciding, .. }) => {
            let by = if *by_deciding { "in what decides" } else { "by all that counts" };
            format!("{} {by}: {distance} of the one taken; {repeats}", verdict.word())
        }
    }
}

/// '6 repeats of write-1m, read-1m'.
fn repeats(report: &Report, stack: &StackLine, recommendation: &Recommendation) -> String {
    let done = |workload: &str| {
        let is_of = |r: &&CellRecord| {
            r.state == CellState::Done
                && r.cell.levels.stack == stack.id
                && r.cell.levels.workload == workload
        };
        report.cells.iter().filter(is_of).count()
    };
    let workloads: Vec<&str> = recommendation.workloads.iter().map(String::as_str).collect();
    let least = workloads.iter().map(|w| done(w)).min().unwrap_or(0);
    format!("{} of {}", count(least, "repeat"), workloads.join(", "))
}
