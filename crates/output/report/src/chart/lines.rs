//! Lines over a parameter, such as the block size.

use disklab_comparisons::{Answer, Point, Quantity};
use disklab_study::Measure;
use disklab_units::Bytes;
use maud::{Markup, html};

use crate::Report;
use crate::chart::parts::caption;
use crate::chart::plot::{Plot, PlotCurve, PlotMark, Tick, shared_legend};
use crate::chart::scale::{AxisScale, extent};
use crate::headings::{better, measure_name};
use crate::view::{Colours, Panel, PanelSeries, Portion, shared_names};

/// One figure of all its stacks, in as many plots as it takes to tell the lines
/// apart. All plots have the same axes.
pub(crate) fn chart(
    report: &Report,
    colours: &Colours,
    answer: &Answer,
    panel: &Panel<'_>,
    over: &str,
) -> Markup {
    let quantity = Quantity::from(answer);
    let values = || {
        panel.points.iter().flat_map(|p| {
            let e = p.estimate;
            [Some(e.centre), e.interval.map(|i| i.low), e.interval.map(|i| i.high)]
                .into_iter()
                .flatten()
        })
    };
    let unit = quantity.unit_for(extent(values()).1);
    let scale = AxisScale::fitting(values(), unit.size);
    let places = Places::of(&panel.points);
    let y_ticks: Vec<Tick> = scale
        .ticks
        .iter()
        .map(|tick| {
            let unit = if scale.logarithmic { quantity.unit_for(*tick) } else { unit };
            (scale.percent(*tick), format!("{} {}", quantity.tick(*tick, unit), unit.name))
        })
        .collect();
    let portions = panel.portions(&report.analysis, colours);
    let x_name = format!("{over}{}", if places.numeric { ", logarithmic" } else { "" });
    html! {
        figure.chart aria-label=(label(answer, panel.figure, over)) {
            (caption(panel.figure, &about(answer, &scale)))
            (shared_legend(&shared_names(&portions)))
            div.plots.many[portions.len() > 1] {
                @for portion in &portions {
                    (Plot {
                        title: portion.title.to_owned(),
                        description: describe(quantity, portion),
                        x_name: x_name.clone(),
                        x_ticks: places.ticks.clone(),
                        y_ticks: y_ticks.clone(),
                        curves: portion
                            .series
                            .iter()
                            .enumerate()
                            .map(|(n, (index, s))| {
                                let aside = DODGE * (n as f64 - middle(portion));
                                let (line, marks) = curve(quantity, &scale, &places, s, aside);
                                let name = portion.name(s).to_owned();
                                PlotCurve { name, index: *index, line, marks }
                            })
                            .collect(),
                        is_named: portion.is_named(),
                    }.draw())
                }
            }
        }
    }
}

fn label(answer: &Answer, figure: &str, over: &str) -> String {
    let of = if figure.is_empty() { String::new() } else { format!(" of {figure}") };
    format!("Lines: {}{of} over {over}", measure_name(answer))
}

fn about(answer: &Answer, scale: &AxisScale) -> String {
    let axis = if scale.logarithmic { ", logarithmic axis" } else { "" };
    let si = if answer.measure == Measure::Throughput {
        " (1 MB/s is 10⁶ bytes per second)"
    } else {
        ""
    };
    format!("{}{si}{axis}, {}", measure_name(answer), better(answer.measure))
}

/// How far apart, in percent, stand the markers of curves at the same value, so
/// that no interval hides another.
const DODGE: f64 = 0.7;

/// The place in the middle of a portion's series.
fn middle(portion: &Portion<'_>) -> f64 {
    (portion.series.len().max(1) - 1) as f64 / 2.0
}

fn describe(quantity: Quantity, portion: &Portion<'_>) -> String {
    let ends = |s: &PanelSeries<'_>| {
        let show = |p: Option<&&Point>| {
            p.map_or_else(String::new, |p| {
                format!("{} at {}", quantity.show(p.estimate.centre), x_of(p))
            })
        };
        format!("{}: {} to {}", s.stack, show(s.points.first()), show(s.points.last()))
    };
    portion.series.iter().map(|(_, s)| ends(s)).collect::<Vec<_>>().join("; ")
}

/// A line and its markers, `aside` percent from their values' places.
fn curve(
    quantity: Quantity,
    scale: &AxisScale,
    places: &Places,
    series: &PanelSeries<'_>,
    aside: f64,
) -> (Vec<(f64, f64)>, Vec<PlotMark>) {
    let mut marks: Vec<PlotMark> = series
        .points
        .iter()
        .map(|point| {
            let e = point.estimate;
            let unit = quantity.unit_for(e.centre);
            PlotMark {
                x: places.at(x_of(point)) + aside,
                y: scale.percent(e.centre),
                whisker: e
                    .interval
                    .filter(|i| i.low < i.high)
                    .map(|i| (scale.percent(i.low), scale.percent(i.high))),
                text: format!(
                    "{} at {}: {} {} ({})",
                    series.stack,
                    x_of(point),
                    unit.show(e.centre),
                    unit.name,
                    unit.show_interval(&e)
                ),
            }
        })
        .collect();
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    (marks.iter().map(|m| (m.x, m.y)).collect(), marks)
}

fn x_of(point: &Point) -> &str {
    point.x.as_deref().unwrap_or_default()
}

/// Where the parameter's values stand.
struct Places {
    ticks: Vec<Tick>,
    numeric: bool,
}

/// Room left and right of the outermost values, in percent, so that their
/// labels and markers stay inside.
const MARGIN: f64 = 5.0;

impl Places {
    /// Values that are sizes or numbers and range widely are on a logarithmic
    /// axis; all others side by side in their order.
    fn of(points: &[&Point]) -> Self {
        let mut values: Vec<&str> = Vec::new();
        for point in points {
            if !values.contains(&x_of(point)) {
                values.push(x_of(point));
            }
        }
        let numbers: Option<Vec<f64>> = values
            .iter()
            .map(|v| v.parse::<Bytes>().ok().filter(|b| b.0 > 0).map(|b| b.0 as f64))
            .collect();
        let numbers = numbers.filter(|n| {
            let (low, high) = extent(n.iter().copied());
            n.len() > 1 && high / low >= 4.0
        });
        let inside = |share: f64| MARGIN + share * (100.0 - 2.0 * MARGIN);
        let mut ticks: Vec<Tick> = match &numbers {
            Some(numbers) => {
                let (low, high) = extent(numbers.iter().copied());
                let share = |n: f64| (n.ln() - low.ln()) / (high.ln() - low.ln());
                values
                    .iter()
                    .zip(numbers)
                    .map(|(v, n)| (inside(share(*n)), (*v).to_owned()))
                    .collect()
            }
            None => {
                let last = (values.len().max(2) - 1) as f64;
                values
                    .iter()
                    .enumerate()
                    .map(|(n, v)| (inside(n as f64 / last), (*v).to_owned()))
                    .collect()
            }
        };
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { ticks, numeric: numbers.is_some() }
    }

    fn at(&self, value: &str) -> f64 {
        self.ticks.iter().find(|(_, v)| v == value).map_or(MARGIN, |(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use disklab_stats::{Estimate, Method};

    use super::*;

    fn places(values: &[&str]) -> Places {
        let estimate = Estimate { n: 1, centre: 1.0, interval: None, method: Method::Once };
        let points: Vec<Point> = values
            .iter()
            .map(|x| Point {
                group: 0,
                layout: "l".to_owned(),
                file_system: "f".to_owned(),
                figure: String::new(),
                x: Some((*x).to_owned()),
                estimate,
            })
            .collect();
        Places::of(&points.iter().collect::<Vec<_>>())
    }

    #[test]
    fn sizes_are_ordered_on_a_logarithmic_axis() {
        let places = places(&["1M", "4k", "64k"]);
        assert!(places.numeric);
        let labels: Vec<_> = places.ticks.iter().map(|(_, l)| l.as_str()).collect();
        assert_eq!(labels, ["4k", "64k", "1M"]);
        assert!((places.at("64k") - 50.0).abs() < 0.01);
        assert_eq!(places.at("4k"), MARGIN);
    }

    #[test]
    fn words_stand_side_by_side() {
        let places = places(&["on", "off", "auto"]);
        assert!(!places.numeric);
        assert_eq!(places.at("off"), 50.0);
        assert_eq!(super::tests::places(&["4k"]).at("4k"), MARGIN);
    }

    #[test]
    fn odd_values_have_a_place() {
        for values in [&["0", "4k"][..], &["", ""], &[], &["4k", "4096"]] {
            for (at, _) in places(values).ticks {
                assert!((0.0..=100.0).contains(&at), "{values:?}");
            }
        }
    }
}
