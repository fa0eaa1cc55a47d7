//! One self-contained page: no fonts, no pictures, no scripts from elsewhere. It says the
//! same without its own script.

mod answer;
mod cells;
mod environment;
mod findings;
mod fold;
mod labels;
mod matrix;
mod method;
mod next;
mod overview;
mod picture;
mod published;
mod purposes;
mod question;
mod script;
mod style;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::Report;
use crate::first_screen::FirstScreen;
use crate::headings::ABSENT;
use crate::view::{Colours, all_absences};

use cells::CellFolds;
pub(crate) use fold::fold;

/// The whole page.
pub(crate) fn page(report: &Report) -> String {
    let colours = Colours::of(&report.study);
    let screen = FirstScreen::of(report);
    let folds = CellFolds::new(report);
    let main = html! {
        (overview::header(report))
        (answer::section(report, &screen, &folds))
        (overview::summary(report, screen.has_whole_answers()))
        (crate::campaign::section(report))
        (next::section(report, &screen))
        @for (number, answer) in report.analysis.answers.iter().enumerate() {
            @let open = number == 0 && screen.classes.is_empty();
            (question::section(report, &colours, &folds, open, number, answer))
        }
        (crate::failures::section(report, &screen))
        (crate::axes::section(report))
        (purposes::section(report, &screen))
        (published::section(report))
        (absent(report))
        (findings::section(report))
        (method::section(report))
        (environment::section(report))
        (cells::section(&folds))
        (study(report))
    };
    document(&report.info.title, &report.info.disklab, &main, &footer(report))
}

/// A page that loads nothing, made by this `version`.
pub(crate) fn document(title: &str, version: &str, main: &Markup, footer: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "disklab " (version) };
                meta http-equiv="Content-Security-Policy" content=(script::policy());
                title { (title) }
                style { (PreEscaped(style::sheet())) }
            }
            body {
                main { (theme()) (main) }
                (footer)
                script { (PreEscaped(script::SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// Light, dark or as the system says, for those whose browser does not ask it.
fn theme() -> Markup {
    html! {
        fieldset.theme aria-label="Colours of the page" {
            @for (id, name) in [("auto", "auto"), ("light", "light"), ("dark", "dark")] {
                input type="radio" name="theme" id={ "theme-" (id) } checked[id == "auto"];
                label for={ "theme-" (id) } { (name) }
            }
        }
    }
}

fn absent(report: &Report) -> Markup {
    let absences = all_absences(report);
    if absences.is_empty() {
        return html! {};
    }
    html! {
        (fold("absent", ABSENT, false, &html! {
            (question::absences(&absences, true))
        }))
    }
}

fn study(report: &Report) -> Markup {
    html! {
        (fold("study", "The study", false, &html! {
            @if !report.study.about.is_empty() { p.about { (report.study.about) } }
            details {
                summary { "The study's whole text (" code { (report.info.study_file) } ")" }
                pre { code { (report.info.study_text) } }
            }
        }))
    }
}

fn footer(report: &Report) -> Markup {
    html! {
        footer {
            p {
                "Made by disklab " (report.info.disklab) " from the run of study "
                code { (report.info.study) } ", begun " (report.info.created.to_string()) "."
            }
        }
    }
}
