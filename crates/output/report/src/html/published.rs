//! Published and measured results.

use disklab_published::{JudgedRow, RowComparison, RowStatus};
use maud::{Markup, html};

use crate::Report;
use crate::chart::published as picture;
use crate::headings::PUBLISHED;
use crate::view::published::{
    RULE, measured, notes, published, quotient, status, subject, tally, why,
};

/// The section; empty if nothing was published about the study.
pub(crate) fn section(report: &Report) -> Markup {
    let Some(comparison) = &report.published else { return html! {} };
    html! {
        (super::fold("published", PUBLISHED, false, &html! {
            p { (tally(&comparison.tally)) }
            p.muted { (RULE) }
            @for note in notes(comparison) { p { strong { (note) } } }
            (picture::chart(comparison))
            (table(comparison))
        }))
    }
}

fn table(comparison: &RowComparison) -> Markup {
    let open = comparison.rows.len() <= super::fold::OPEN_ROWS;
    html! {
        details.figures open[open] {
            summary { "All rows, and why some are not reproduced" }
            div.scroll role="region" tabindex="0" aria-label="Published rows" {
                table {
                    thead {
                        tr {
                            th scope="col" { "row" }
                            th scope="col" { "stack" }
                            th scope="col" { "workload" }
                            th.n scope="col" { "published" }
                            th.n scope="col" { "measured (95 % interval)" }
                            th.n scope="col" { "measured ÷ published" }
                            th scope="col" { "" }
                            th scope="col" { "why" }
                        }
                    }
                    tbody { @for judged in &comparison.rows { (row(judged)) } }
                }
            }
        }
    }
}

fn row(judged: &JudgedRow) -> Markup {
    let is_missed = judged.status == RowStatus::NotReproduced && judged.counts;
    html! {
        tr.not_reproduced[is_missed] {
            th scope="row" { (judged.row.id) }
            td.words { (subject(judged)) }
            td.words {
                (judged.row.workload)
                @if !judged.row.note.is_empty() { " " small { (judged.row.note) } }
            }
            td.n { (published(judged)) }
            td.n { strong { (measured(judged)) } }
            td.n { (quotient(judged)) }
            td.status { (status(judged)) }
            td.words { (why(judged).unwrap_or_default()) }
        }
    }
}
