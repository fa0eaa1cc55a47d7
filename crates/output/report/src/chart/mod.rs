//! Charts, as HTML and SVG that need no script.

mod bars;
mod distribution;
mod lines;
pub(crate) mod moved;
mod palette;
mod parts;
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
