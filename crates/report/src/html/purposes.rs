//! Which stack for which purpose: a grid of words, then the reasons.

use disklab_verdict::{Advice, Class, Place, PlaceWord, Recommendation, recommend};
use indexmap::IndexMap;
use maud::{Markup, html};

use crate::Report;

/// A stack's places, by purpose.
type Row<'a> = (Option<u32>, Vec<Option<&'a Place>>);

/// The section; empty where a run has only one stack.
pub(crate) fn section(report: &Report) -> Markup {
    let all = recommend(&report.study, &report.info, &report.analysis);
    let judged: Vec<&Recommendation> = all.iter().filter(|r| !r.classes.is_empty()).collect();
    let others: Vec<&Recommendation> = all.iter().filter(|r| r.classes.is_empty()).collect();
    if report.study.stacks.len() < 2 {
        return html! {};
    }
    html! {
        section id="purposes" {
            h2 { "Which one for what?" }
            @if judged.is_empty() {
                p { "This run recommends nothing, for no purpose:" }
            } @else {
                p.muted {
                    "Stacks are compared with those that survive as many lost drives, by all \
                     figures that a purpose asks for, weighted; numbers are how good a stack is \
                     next to the one that leads, with the interval. A stack is named only where it \
                     is surely ahead."
                }
                (grid(&judged))
                @if let Some(sentence) = Recommendation::what_would_decide(&all, &report.info) {
                    p { (sentence) }
                }
                @for recommendation in &judged { (purpose(recommendation)) }
            }
            @if !others.is_empty() {
                ul {
                    @for r in others {
                        li { strong { (r.purpose.title) } ": no recommendation, " (r.why_not.as_deref().unwrap_or_default()) "." }
                    }
                }
            }
        }
    }
}

/// Stacks × purposes, in words.
fn grid(judged: &[&Recommendation]) -> Markup {
    let mut rows: IndexMap<&str, Row<'_>> = IndexMap::new();
    for (column, recommendation) in judged.iter().enumerate() {
        for class in &recommendation.classes {
            for place in &class.places {
                let row = rows
                    .entry(place.stack.as_str())
                    .or_insert_with(|| (class.survives, vec![None; judged.len()]));
                row.1[column] = Some(place);
            }
        }
    }
    rows.sort_by(|_, a, _, b| a.0.cmp(&b.0));
    let classes: Vec<Option<u32>> = {
        let mut classes: Vec<Option<u32>> = rows.values().map(|(class, _)| *class).collect();
        classes.dedup();
        classes
    };
    html! {
        div.scroll role="region" tabindex="0" aria-label="Stacks by purpose" {
            table.purposes {
                thead {
                    tr {
                        th scope="col" { "stack" }
                        @for r in judged { th scope="col" title=(r.purpose.title) { (r.purpose.word) } }
                    }
                }
                @for class in classes {
                    tbody {
                        tr { th.class colspan=(judged.len() + 1) scope="rowgroup" {
                            (Recommendation::survives(class))
                        } }
                        @for (stack, (_, places)) in rows.iter().filter(|(_, (c, _))| *c == class) {
                            tr {
                                th scope="row" { (stack) }
                                @for place in places { (cell(*place)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(place: Option<&Place>) -> Markup {
    let Some(place) = place else { return html! { td { "–" } } };
    let class = match place.standing {
        PlaceWord::Best => "best",
        PlaceWord::Level => "level",
        PlaceWord::Behind => "behind",
        PlaceWord::Open | PlaceWord::Leads => "open",
        PlaceWord::Alone | PlaceWord::Unknown => "behind",
    };
    html! {
        td.place.(class) {
            span { (place.standing.word()) }
            @if !place.distance.is_empty() { " " small { (place.distance) } }
        }
    }
}

fn purpose(recommendation: &Recommendation) -> Markup {
    html! {
        h3 { (capital(recommendation.purpose.title)) }
        @for class in &recommendation.classes { (of_class(class)) }
        @if !recommendation.lacking.is_empty() {
            p.muted { "Not measured here: " (recommendation.lacking.join(", ")) "." }
        }
        @if !recommendation.doubtful.is_empty() {
            p.muted { "Left out for severe findings: " (recommendation.doubtful.join(", ")) "." }
        }
        details {
            summary { "What counts, and why" }
            ul {
                @for aspect in recommendation.purpose.aspects {
                    li { (aspect.name) " (weight " (aspect.weight) "): " (aspect.why) }
                }
            }
        }
    }
}

fn of_class(class: &Class) -> Markup {
    html! {
        p {
            (Recommendation::survives(class.survives)) ": "
            @match &class.advice {
                Advice::None(_) => { (class.advice.text()) }
                _ => { strong { (class.advice.text()) } }
            }
            "."
        }
        @for (what, sentences) in parts(class) {
            details open[what == WHY] {
                summary { (what) }
                ul { @for sentence in sentences { li { (sentence) } } }
            }
        }
    }
}

const WHY: &str = "Why";

/// What is told of a class, by what it is; without what is empty.
pub(crate) fn parts(class: &Class) -> impl Iterator<Item = (&'static str, &[String])> {
    [
        (WHY, class.reasons.as_slice()),
        ("What speaks against it", class.against.as_slice()),
        ("What would change it", class.would_change.as_slice()),
    ]
    .into_iter()
    .filter(|(_, sentences)| !sentences.is_empty())
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |c| c.to_uppercase().chain(characters).collect())
}
