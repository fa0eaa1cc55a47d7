//! Curves over an axis. The lines are drawn in a stretched coordinate system of
//! 100 × 100 with a stroke that does not stretch; markers, whiskers and text
//! are at percentages next to it, so that nothing but the distances grows with
//! the page.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::chart::SERIES;
use crate::chart::parts::{colour_class, percent};

#[derive(Debug, Default)]
pub(crate) struct PlotCurve {
    /// Its name in the legend.
    pub(crate) name: String,
    /// The number of its colour and marker, unlimited.
    pub(crate) index: usize,
    /// Its line: (x, y) in percent, y upwards.
    pub(crate) line: Vec<(f64, f64)>,
    /// Its markers.
    pub(crate) marks: Vec<PlotMark>,
}

/// A measured point of a curve.
#[derive(Debug, Default)]
pub(crate) struct PlotMark {
    /// Position in percent.
    pub(crate) x: f64,
    /// Position in percent, upwards.
    pub(crate) y: f64,
    /// Ends of the interval in percent, upwards.
    pub(crate) whisker: Option<(f64, f64)>,
    /// What it says when pointed at.
    pub(crate) text: String,
}

/// A tick: its position in percent and its label.
pub(crate) type Tick = (f64, String);

/// Curves with their axes.
#[derive(Debug, Default)]
pub(crate) struct Plot {
    /// Heading; empty for the only one.
    pub(crate) title: String,
    /// What it shows, for those who cannot see it.
    pub(crate) description: String,
    /// The horizontal axis's name.
    pub(crate) x_name: String,
    /// The horizontal axis's ticks.
    pub(crate) x_ticks: Vec<Tick>,
    /// The vertical axis's ticks.
    pub(crate) y_ticks: Vec<Tick>,
    pub(crate) curves: Vec<PlotCurve>,
    /// Whether a legend for several plots names its curves already.
    pub(crate) is_named: bool,
}

/// Labels of the horizontal axis nearer than this, in percent, would touch on a phone.
const CLEAR: f64 = 11.0;

impl Plot {
    /// The plot, with its legend where no other names its curves.
    pub(crate) fn draw(&self) -> Markup {
        let name = if self.title.is_empty() { "Curves" } else { &self.title };
        html! {
            div.plot {
                @if !self.title.is_empty() { h3 { (self.title) } }
                div.frame {
                    div.y aria-hidden="true" {
                        @for (at, label) in &self.y_ticks {
                            span style={ "bottom:" (percent(*at)) } { (label) }
                        }
                    }
                    svg role="img" aria-label=(name) {
                        title { (name) }
                        desc { (self.description) }
                        (self.grid())
                        @for curve in &self.curves { (curve.draw()) }
                    }
                    div.x aria-hidden="true" {
                        @for (at, label) in clear(&self.x_ticks) {
                            span style={ "left:" (percent(*at)) } { (label) }
                        }
                    }
                }
                p.x-name { (self.x_name) }
                @if !self.is_named { (self.legend()) }
            }
        }
    }

    fn grid(&self) -> Markup {
        html! {
            @for (at, _) in &self.y_ticks {
                @let y = percent(100.0 - at);
                line.grid x1="0" x2="100%" y1=(y) y2=(y) {}
            }
            @for (at, _) in &self.x_ticks {
                @let x = percent(*at);
                line.grid x1=(x) x2=(x) y1="0" y2="100%" {}
            }
        }
    }

    /// The legend, whose order is that of the curves' right ends.
    fn legend(&self) -> Markup {
        let mut curves: Vec<&PlotCurve> = self.curves.iter().collect();
        let end = |c: &PlotCurve| c.line.last().map_or(0.0, |(_, y)| *y);
        curves.sort_by(|a, b| end(b).total_cmp(&end(a)));
        html! {
            ul.legend { @for c in curves { (entry(c.index, &c.name)) } }
        }
    }
}

/// A legend for several plots: (number of colour and marker, name).
pub(crate) fn shared_legend(entries: &[(usize, &str)]) -> Markup {
    html! {
        @if !entries.is_empty() {
            ul.legend.shared { @for (index, name) in entries { (entry(*index, name)) } }
        }
    }
}

fn entry(index: usize, name: &str) -> Markup {
    html! {
        li.(colour_class(index)) {
            svg.swatch aria-hidden="true" width="28" height="12" {
                line.curve.again[index >= SERIES] x1="1" x2="27" y1="6" y2="6" {}
                (marker(index, "14", "6"))
            }
            span { (name) }
        }
    }
}

impl PlotCurve {
    fn draw(&self) -> Markup {
        let mut points = String::new();
        for (x, y) in &self.line {
            let _ = write!(points, "{x:.2},{:.2} ", 100.0 - y);
        }
        html! {
            g.(colour_class(self.index)) {
                svg viewBox="0 0 100 100" preserveAspectRatio="none" {
                    polyline.curve.again[self.index >= SERIES] points=(points.trim_end()) {}
                }
                @for mark in &self.marks {
                    @if let Some((low, high)) = mark.whisker {
                        line.spread x1=(percent(mark.x)) x2=(percent(mark.x))
                            y1=(percent(100.0 - low)) y2=(percent(100.0 - high)) {}
                    }
                }
                @for mark in &self.marks {
                    g {
                        title { (mark.text) }
                        (marker(self.index, &percent(mark.x), &percent(100.0 - mark.y)))
                    }
                }
            }
        }
    }
}

/// A marker at a position: its shape belongs to the series, as its colour does.
fn marker(index: usize, x: &str, y: &str) -> Markup {
    let path = match index % SERIES {
        0 => "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z",
        1 => "M-3.6-3.6H3.6V3.6H-3.6Z",
        2 => "M0-5L4.7 3.4H-4.7Z",
        3 => "M0-5L5 0L0 5L-5 0Z",
        4 => "M0 5L4.7-3.4H-4.7Z",
        5 => "M-4.5-1.5H-1.5V-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5Z",
        6 => "M-5-2.6H5V2.6H-5Z",
        _ => "M-2.6-5H2.6V5H-2.6Z",
    };
    html! { svg.marker x=(x) y=(y) { path d=(path) {} } }
}

/// Ticks whose labels do not touch: the ends, and what fits between them.
fn clear(ticks: &[Tick]) -> Vec<&Tick> {
    let mut kept: Vec<&Tick> = Vec::new();
    let Some(last) = ticks.last() else { return kept };
    for tick in ticks {
        let far = kept.last().is_none_or(|k| tick.0 - k.0 >= CLEAR);
        let clear_of_last = std::ptr::eq(tick, last) || last.0 - tick.0 >= CLEAR;
        if far && clear_of_last {
            kept.push(tick);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_touch() {
        let ticks: Vec<Tick> = (0..=50).map(|n| (f64::from(n) * 2.0, n.to_string())).collect();
        let kept = clear(&ticks);
        assert!(kept.windows(2).all(|w| w[1].0 - w[0].0 >= CLEAR), "{kept:?}");
        assert_eq!(kept.last().map(|t| t.0), Some(100.0));
        assert!(clear(&[]).is_empty());
    }

    #[test]
    fn a_plot_of_nothing_is_drawn() {
        let svg = Plot::default().draw().into_string();
        assert!(svg.contains("<svg"), "{svg}");
    }
}
