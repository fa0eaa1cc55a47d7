//! Why which stack for which purpose.

use disklab_verdict::{Advice, AdviceChange, PurposeClass, Recommendation};
use maud::{Markup, html};

use crate::Report;

/// The section; empty where a run has only one stack.
pub(crate) fn section(report: &Report, all: &[Recommendation]) -> Markup {
    let judged: Vec<&Recommendation> = all.iter().filter(|r| !r.classes.is_empty()).collect();
    let others: Vec<&Recommendation> = all.iter().filter(|r| r.classes.is_empty()).collect();
    if report.study.stacks.len() < 2 {
        return html! {};
    }
    html! {
        section id="purposes" {
            h2 { "Why, purpose by purpose" }
            @if judged.is_empty() {
                p { "This run recommends nothing, for no purpose:" }
            } @else {
                p.muted {
                    "Stacks are compared with those that survive as many lost drives, by all \
                     figures that a purpose asks for, weighted. A stack is recommended only if it is \
                     significantly better."
                }
                @if let Some(sentence) = Recommendation::how_to_decide(all, &report.info) {
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

fn purpose(recommendation: &Recommendation) -> Markup {
    html! {
        h3 { (capital(recommendation.purpose.title)) }
        @for class in &recommendation.classes { (of_class(class)) }
        @if !recommendation.lacking.is_empty() {
            p.muted { "Not measured here: " (recommendation.lacking.join(", ")) "." }
        }
        @if !recommendation.suspect.is_empty() {
            p.muted { "Left out for severe findings: " (recommendation.suspect.join(", ")) "." }
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

fn of_class(class: &PurposeClass) -> Markup {
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

/// What is said of a class, by heading; empty parts are left out.
pub(crate) fn parts(class: &PurposeClass) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    [
        (WHY, class.reasons.clone()),
        ("What speaks against it", class.against.clone()),
        ("What would change it", class.would_change.iter().map(AdviceChange::sentence).collect()),
    ]
    .into_iter()
    .filter(|(_, sentences)| !sentences.is_empty())
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |c| c.to_uppercase().chain(characters).collect())
}
