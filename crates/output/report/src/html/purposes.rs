//! Why which stack for which purpose.

use disklab_decision::{Recommendation, StackChoice};
use maud::{Markup, html};

use crate::Report;
use crate::first_screen::FirstScreen;

/// The section; empty if a run has only one stack.
pub(crate) fn section(report: &Report, screen: &FirstScreen<'_>) -> Markup {
    let all = screen.recommendations;
    let (decided, others): (Vec<&Recommendation>, Vec<&Recommendation>) =
        all.iter().partition(|r| !r.decisions.is_empty());
    if report.study.stacks.len() < 2 {
        return html! {};
    }
    html! {
        (super::fold("purposes", "Why, purpose by purpose", false, &html! {
            @if !decided.is_empty() {
                p.muted {
                    "Stacks are compared with those that survive as many failed drives. Of those within \
                     10 % of the best in what decides, the one is taken that is best by all that \
                     counts, weighted."
                }
                @if let Some(sentence) = Recommendation::how_to_decide(all, &report.info) {
                    p { (sentence) }
                }
                @for recommendation in &decided { (purpose(report, recommendation, screen)) }
            }
            @if !others.is_empty() {
                ul {
                    @for r in others {
                        li { strong { (r.purpose.title) } ": no answer, " (r.why_not.as_deref().unwrap_or_default()) "." }
                    }
                }
            }
        }))
    }
}

fn purpose(report: &Report, recommendation: &Recommendation, screen: &FirstScreen<'_>) -> Markup {
    html! {
        h3 { (capital(recommendation.purpose.title)) }
        @for decision in &recommendation.decisions { (of_class(report, recommendation, decision, screen)) }
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

fn of_class(
    report: &Report,
    recommendation: &Recommendation,
    decision: &StackChoice,
    screen: &FirstScreen<'_>,
) -> Markup {
    html! {
        p {
            (Recommendation::survives(decision.survives)) ": "
            strong { (decision.take) }
            @if !decision.as_good.is_empty() { ", or " (decision.as_good.join(", ")) }
            ". " (decision.how_sure(recommendation, &str::to_owned))
            @if let Some(sentence) = at_risk(report, decision, screen) { " " (sentence) }
        }
        @for (what, sentences) in parts(decision, screen) {
            details {
                summary { (what) }
                ul { @for sentence in sentences { li { (sentence) } } }
            }
        }
    }
}

/// What it may lose, where drives may fail.
fn at_risk(report: &Report, decision: &StackChoice, screen: &FirstScreen<'_>) -> Option<String> {
    let name = |id: &str| screen.label(id).to_owned();
    let among = decision.places.iter().map(|place| place.stack.as_str());
    report.failures.sentence(&decision.take, among, &name)
}

/// What is said of a decision, by heading; empty parts are left out.
fn parts(
    decision: &StackChoice,
    screen: &FirstScreen<'_>,
) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let name = |id: &str| screen.label(id).to_owned();
    let changes = decision.would_change.iter().map(|change| change.sentence(&name)).collect();
    [
        ("Why", decision.reasons.clone()),
        ("What speaks against it", decision.against.clone()),
        ("What would change it", changes),
    ]
    .into_iter()
    .filter(|(_, sentences)| !sentences.is_empty())
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |c| c.to_uppercase().chain(characters).collect())
}
