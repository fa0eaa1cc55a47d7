//! The first screen of the page: the answers, then one picture, then all stacks by all
//! purposes.

use disklab_verdict::Recommendation;
use maud::{Markup, html};

use super::cells::CellFolds;
use super::{matrix, picture};
use crate::Report;
use crate::first_screen::{FirstScreen, Pick, SETTLE, next_steps, space};

/// So many classes of drives that may fail can be chosen between; the rest is always shown.
pub(super) const CHOICES: usize = 6;

/// The section; empty where a run says nothing of any purpose.
pub(crate) fn section(report: &Report, screen: &FirstScreen, folds: &CellFolds<'_>) -> Markup {
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

fn answers(report: &Report, screen: &FirstScreen) -> Markup {
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

fn card(screen: &FirstScreen, pick: &Pick<'_>, can_settle: bool) -> Markup {
    let stack = pick.guess.stacks.first().and_then(|id| screen.stack(id));
    let others: Vec<&str> = pick.guess.stacks.iter().skip(1).map(|id| screen.label(id)).collect();
    let figure = &pick.guess.figure;
    html! {
        div.answer {
            h3.for { (pick.purpose.short) }
            p.take { (stack.map_or("", |stack| &stack.label)) }
            @if let Some(stack) = stack.filter(|stack| stack.usable.is_some()) {
                p {
                    strong { (space(stack.usable)) }
                    @if stack.raw.is_some() { " of " (space(stack.raw)) }
                    " usable"
                }
            }
            p {
                (figure.value) " in " (figure.aspect)
                @if let Some(next) = pick.guess.next.as_ref().filter(|_| others.is_empty()) {
                    "; overall " strong { (next.times_ahead().as_deref().unwrap_or("as good as")) } " "
                    (screen.label(&next.stack)) ", the next"
                }
            }
            @if !others.is_empty() { p { "As good: " (others.join(", ")) } }
            p.sure {
                (pick.how_sure)
                @if let Some(sentence) = &pick.would_change { " " (sentence) }
                @else if pick.guess.is_unsettled() && can_settle {
                    " More repeats would settle it: " a href="#next" { "how" } "."
                }
            }
        }
    }
}
