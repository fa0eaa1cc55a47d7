//! Two stacks on a page.

use disklab_source::printable;
use maud::{Markup, html};

use super::show::{sign, word};
use super::{ComparedFigure, TwoStacks};
use crate::html::document;

impl TwoStacks {
    /// The whole page.
    pub fn html(&self) -> String {
        let heading = self.heading();
        let main = html! {
            header {
                h1 { (heading) }
                p.under { (self.title) }
            }
            section id="summary" {
                h2.unseen { "In short" }
                ul.summary { @for sentence in self.trade() { li { (sentence) } } }
            }
            @if !self.rows.is_empty() { (self.figures()) }
        };
        let page = document(&heading, env!("CARGO_PKG_VERSION"), &main, &html! {});
        printable(&page).into_owned()
    }

    fn figures(&self) -> Markup {
        let [a, b] = &self.stacks;
        html! {
            section id="figures" {
                h2 { "All figures" }
                div.scroll role="region" tabindex="0" aria-label="Figures of both stacks" {
                    table.wrapped {
                        thead {
                            tr {
                                th scope="col" { "what" }
                                th scope="col" { (a.label) }
                                th scope="col" { (b.label) }
                                th scope="col" { "ratio" }
                                th scope="col" { (a.label) " is" }
                            }
                        }
                        tbody { @for row in &self.rows { (figure(row)) } }
                    }
                }
            }
        }
    }
}

fn figure(row: &ComparedFigure) -> Markup {
    let [x, y] = &row.values;
    html! {
        tr {
            th scope="row" { (row.ask) " " (row.figure) }
            td { (x) }
            td { (y) }
            td { (row.ratio) }
            td { (sign(row)) " " (word(row.outcome)) }
        }
    }
}
