//! The first screen of the page: the answers, then one picture, then all stacks by all
//! purposes.

use disklab_decision::Recommendation;
use maud::{Markup, html};

use super::cells::CellFolds;
use super::{matrix, picture};
use crate::Report;
use crate::first_screen::{FirstScreen, Pick, SETTLE, next_steps, space};

/// So many classes of drives that may fail can be chosen between; the rest is always shown.
pub(super) const CHOICES: usize = 6;

/// The section; empty where a run says nothing of any purpose.
pub(crate) fn section(report: &Report, screen: &FirstScreen<'_>, folds: &CellFolds<'_>) -> Markup {
    let has_answers = !screen.classes.is_empty();
    let picture = picture::section(screen);
    if !has_answers && picture.is_none() {
        return html! {};
    }
    html! {
        section.first id="answers" {
            @if has_answers { (answers(report, screen)) }
            div.two {
                @if let Some(picture) = picture { (picture) }
                (matrix::section(report, screen, folds))
            }
        }
    }
}

fn answers(report: &Report, screen: &FirstScreen<'_>) -> Markup {
    let first = screen.first_class();
    let can_settle = next_steps(report, screen, "").iter().any(|step| step.what == SETTLE);
    let are_chosen = screen.classes.len() > 1 && screen.classes.len() <= CHOICES;
    html! {
        h2.unseen { "Which one to take" }
        @if are_chosen {
            fieldset.choice {
                legend { "Drives that may fail:" }
                @for (n, class) in screen.classes.iter().enumerate() {
                    input type="radio" name="may-fail" id={ "may-" (n) }
                        checked[Some(*class) == first];
                    label for={ "may-" (n) } { (Recommendation::drives_that_may_fail(*class)) }
                }
            }
        }
        @for (n, class) in screen.classes.iter().enumerate() {
            @let chosen = format!("may-{n}");
            div.answers.chosen[are_chosen].(chosen) {
                // Where one is chosen, it is seen on paper alone.
                h3.class { (Recommendation::may_fail(*class)) }
                @for pick in screen.picks(*class) { (card(screen, &pick, can_settle)) }
            }
        }
    }
}

fn card(screen: &FirstScreen<'_>, pick: &Pick<'_>, can_settle: bool) -> Markup {
    let decision = pick.decision;
    let stack = screen.stack(&decision.take);
    let as_good: Vec<&str> = decision.as_good.iter().map(|id| screen.label(id)).collect();
    html! {
        div.answer {
            h3.for { (pick.recommendation.purpose.short) }
            p.take { (screen.label(&decision.take)) }
            @if let Some(stack) = stack.filter(|stack| stack.usable.is_some()) {
                p {
                    strong { (space(stack.usable)) }
                    @if stack.raw.is_some() { " of " (space(stack.raw)) }
                    " usable"
                }
            }
            @if let Some(time) = stack.and_then(|stack| stack.rebuilt_in.as_ref()) {
                p { "A failed drive is rebuilt in " (time) }
            }
            @if let Some(time) = stack.and_then(|stack| stack.scrubbed_in.as_ref()) {
                p { "A scrub takes " (time) }
            }
            p { (by_what(screen, pick)) }
            @if !as_good.is_empty() { p { "As good: " (as_good.join(", ")) } }
            @if let Some(trade) = &pick.trade { p { (trade) } }
            p.sure {
                (pick.how_sure)
                @if let Some(sentence) = &pick.would_change { " " (sentence) }
                @else if decision.confidence.is_unsettled() && can_settle {
                    " More repeats would settle it: " a href="#next" { "how" } "."
                }
            }
        }
    }
}

/// The figure by which it was chosen, and how that stands to the next.
fn by_what(screen: &FirstScreen<'_>, pick: &Pick<'_>) -> Markup {
    let decision = pick.decision;
    let next = decision.next.as_ref().filter(|_| decision.as_good.is_empty());
    html! {
        @if decision.figures.is_empty() { "By all figures combined" }
        @for (n, figure) in decision.figures.iter().enumerate() {
            @if n > 0 { " and " }
            (figure.value) " in " (figure.aspect)
            @if let Some(mean) = figure.mean() { " (" (mean) ")" }
        }
        @if let Some(next) = next {
            @match next.times() {
                Some(times) => { ", " strong { (times) } " " (screen.label(&next.stack)) ", the next" @if next.is_taken_for_the_rest() { ", and better in the rest" } }
                None => { ", as much as " (screen.label(&next.stack)) ", the next" }
            }
        }
    }
}
