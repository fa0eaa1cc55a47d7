//! What charts have in common.

use maud::{Markup, html};

use super::palette::SERIES;

/// The class that gives a mark the colour of a series.
pub(super) fn colour_class(index: usize) -> String {
    format!("s{}", index % SERIES)
}

/// A percentage for an attribute, with as many digits as a pixel needs.
pub(super) fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

/// A chart's heading: what is drawn and in what unit.
pub(super) fn caption(figure: &str, about: &str) -> Markup {
    html! {
        figcaption {
            @if !figure.is_empty() { strong { (figure) } " " }
            span.unit { (about) }
        }
    }
}
