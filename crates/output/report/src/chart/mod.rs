//! Charts, as HTML and SVG that need no script.

mod bars;
mod distribution;
mod lines;
pub(crate) mod moved;
mod palette;
mod plot;
pub(crate) mod published;
mod scale;

use disklab_comparisons::Answer;
use disklab_study::ChartKind;
use maud::{Markup, html};

use crate::Report;
use crate::view::{Colours, panels};

pub(crate) use palette::{DARK, LIGHT, SERIES};

/// All charts of an answer: one per figure.
pub(crate) fn charts(report: &Report, colours: &Colours, answer: &Answer) -> Markup {
    let panels = panels(answer);
    html! {
        @if panels.is_empty() {
            p.empty { "There is nothing to draw: no cell of this question has finished." }
        }
        div.charts {
            @for panel in &panels {
                @match &answer.question.chart {
                    ChartKind::Bars => (bars::chart(colours, answer, panel)),
                    ChartKind::LinesOver(over) => (lines::chart(report, colours, answer, panel, over)),
                    ChartKind::Distribution => (distribution::chart(report, colours, panel)),
                }
            }
        }
    }
}

/// The class that gives a mark the colour of a series.
fn colour_class(index: usize) -> String {
    format!("s{}", index % SERIES)
}

/// A percentage for an attribute, with as many digits as a pixel needs.
fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

/// A chart's heading: what is drawn and in what unit.
fn caption(figure: &str, about: &str) -> Markup {
    html! {
        figcaption {
            @if !figure.is_empty() { strong { (figure) } " " }
            span.unit { (about) }
        }
    }
}
