//! One question: a chart, its sentences, its figures, its doubts.

use disklab_audits::{Finding, Severity};
use disklab_comparisons::Answer;
use maud::{Markup, html};

use crate::Report;
use crate::chart::charts;
use crate::headings::part_note;
use crate::html::cells::CellFolds;
use crate::html::fold::{OPEN_ROWS, fold};
use crate::html::{findings, table};
use crate::view::{Absences, Colours, count, kinds};

/// The section of one question.
pub(crate) fn section(
    report: &Report,
    colours: &Colours,
    folds: &CellFolds<'_>,
    open: bool,
    number: usize,
    answer: &Answer,
) -> Markup {
    let rows = answer.points.len();
    let sentences = report.analysis.sentences_of(number);
    let absences_here = crate::view::absences(report, &answer.question);
    html! {
        (fold(&format!("q{}", number + 1), &answer.question.ask, open, &html! {
            @if let Some(note) = part_note(answer.question.part) { p.muted { (note) } }
            (charts(report, colours, answer))
            @if !sentences.is_empty() {
                ul.sentences { @for sentence in sentences { li { (sentence) } } }
            }
            @if rows > 0 {
                details.figures open[rows <= OPEN_ROWS] {
                    summary { "Exact figures, " (count(rows, "row")) }
                    (table::figures(report, folds, answer))
                }
                (table::drives(report, answer))
            }
            (absences(&absences_here, false))
            (suspicions(report, answer))
        }))
    }
}

/// What makes these figures suspect. What concerns every question is told once,
/// in the section of findings, and only named here.
fn suspicions(report: &Report, answer: &Answer) -> Markup {
    let concerns = |f: &Finding, a: &Answer| a.points.iter().any(|p| f.groups.contains(&p.group));
    let answers = &report.analysis.answers;
    let concerns_all = |f: &Finding| answers.len() > 1 && answers.iter().all(|a| concerns(f, a));
    let (everywhere, here): (Vec<&Finding>, Vec<&Finding>) = report
        .analysis
        .findings
        .iter()
        .filter(|f| f.severity != Severity::Note && concerns(f, answer))
        .partition(|f| concerns_all(f));
    html! {
        @if !here.is_empty() { div.suspicions { (findings::list(&here)) } }
        @if !everywhere.is_empty() {
            p.muted {
                "Here as in all questions: "
                a href="#findings" {
                    @for (n, kind) in kinds(everywhere).iter().enumerate() {
                        @if n > 0 { ", " }
                        (kind.audit)
                    }
                }
            }
        }
    }
}

/// What is missing, and why.
pub(crate) fn absences(absences: &Absences, whole: bool) -> Markup {
    html! {
        @if !absences.left_out.is_empty() {
            details.absent open[whole] {
                summary {
                    @if whole { "Left out: " } @else { "Left out here: " }
                    (absences.left_out.iter().map(|(_, what)| what.len()).sum::<usize>())
                }
                ul {
                    @for (why, what) in &absences.left_out {
                        li { strong { (why) } ": " (what.join(", ")) }
                    }
                }
            }
        }
        @if !absences.failed.is_empty() {
            details.absent.failed open[whole] {
                summary {
                    "Failed: "
                    (count(absences.failed.iter().map(|(_, what)| what.len()).sum(), "cell"))
                }
                ul {
                    @for (error, what) in &absences.failed {
                        li { (what.join("; ")) ":" pre.error { (error) } }
                    }
                }
            }
        }
        @if let Some(waiting) = absences.not_run_yet() { p.muted { (waiting) "." } }
    }
}
