//! Latency distributions as percentile curves.

use disklab_comparisons::Quantity;
use disklab_sample::LatencyHistogram;
use maud::{Markup, html};

use crate::Report;
use crate::chart::parts::caption;
use crate::chart::plot::{Plot, PlotCurve, PlotMark, Tick, shared_legend};
use crate::chart::scale::AxisScale;
use crate::view::{
    Colours, PERCENTILES, Panel, PanelSeries, Portion, curve, percentile_name, percentiles,
    position, shared_names,
};

/// Room left and right, in percent, for markers and labels.
const MARGINS: (f64, f64) = (3.0, 6.0);

/// One figure's distributions, one curve per stack, in as many plots as it
/// takes to tell them apart. All plots have the same axes.
pub(crate) fn chart(report: &Report, colours: &Colours, panel: &Panel<'_>) -> Markup {
    let mut portions = panel.portions(&report.analysis, colours);
    for portion in &mut portions {
        portion.series.retain(|(_, s)| histogram(report, s).is_some());
    }
    portions.retain(|p| !p.series.is_empty());
    let lines: Vec<Vec<Line<'_>>> = portions
        .iter()
        .map(|p| {
            let line = |s| histogram(report, s).map(|h| (h, curve(h)));
            p.series.iter().filter_map(|(_, s)| line(s)).collect()
        })
        .collect();
    if portions.is_empty() {
        return html! { p.empty { "There is nothing to draw: no latencies were measured here." } };
    }
    let values =
        || lines.iter().flatten().flat_map(|(_, line)| line.iter().map(|(_, ns)| *ns as f64));
    let scale = AxisScale::logarithmic(
        values().fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    );
    let y_ticks: Vec<Tick> =
        scale.ticks.iter().map(|t| (scale.percent(*t), tick_label(*t))).collect();
    let across = Across::reaching(lines.iter().flatten().filter_map(|(_, line)| line.last()));
    let x_ticks: Vec<Tick> =
        across.percentiles().map(|q| (across.place(position(q)), percentile_label(q))).collect();
    let label = format!("Curves: distribution of latency {}", panel.figure);
    html! {
        figure.chart aria-label=(label.trim_end()) {
            (caption(
                panel.figure,
                "latency by percentile, logarithmic axis, less is better; all repeats merged",
            ))
            (shared_legend(&shared_names(&portions)))
            div.plots.many[portions.len() > 1] {
                @for (portion, lines) in portions.iter().zip(&lines) {
                    (Plot {
                        title: portion.title.to_owned(),
                        description: describe(portion, lines),
                        x_name: "share of operations that took no longer".to_owned(),
                        x_ticks: x_ticks.clone(),
                        y_ticks: y_ticks.clone(),
                        curves: curves(&scale, &across, portion, lines),
                        is_named: portion.is_named(),
                    }.draw())
                }
            }
        }
    }
}

/// A histogram and its percentile curve.
type Line<'a> = (&'a LatencyHistogram, Vec<(f64, u64)>);

fn curves(
    scale: &AxisScale,
    across: &Across,
    portion: &Portion<'_>,
    lines: &[Line<'_>],
) -> Vec<PlotCurve> {
    let curve =
        |((index, series), (histogram, line)): (&(usize, PanelSeries<'_>), &Line<'_>)| PlotCurve {
            name: portion.name(series).to_owned(),
            index: *index,
            line: line
                .iter()
                .map(|(x, ns)| (across.place(*x), scale.percent(*ns as f64)))
                .collect(),
            marks: marks(series.stack, scale, across, histogram),
        };
    portion.series.iter().zip(lines).map(curve).collect()
}

fn histogram<'a>(report: &'a Report, series: &PanelSeries<'_>) -> Option<&'a LatencyHistogram> {
    let point = series.points.first()?;
    report.analysis.groups.get(point.group)?.latency.as_ref().filter(|h| h.count() > 0)
}

fn marks(
    stack: &str,
    scale: &AxisScale,
    across: &Across,
    histogram: &LatencyHistogram,
) -> Vec<PlotMark> {
    PERCENTILES
        .iter()
        .zip(percentiles(histogram, &PERCENTILES))
        .filter_map(|(quantile, ns)| {
            let ns = ns? as f64;
            Some(PlotMark {
                x: across.place(position(*quantile)),
                y: scale.percent(ns),
                whisker: None,
                text: format!(
                    "{stack}, {}: {}",
                    percentile_name(*quantile),
                    Quantity::Latency.show(ns)
                ),
            })
        })
        .collect()
}

/// The horizontal axis: from 0 to the percentile that the furthest curve reaches.
struct Across {
    end: f64,
}

impl Across {
    /// As far as the last points of the curves, and then to the next percentile.
    fn reaching<'a>(ends: impl Iterator<Item = &'a (f64, u64)>) -> Self {
        let furthest = ends.map(|(x, _)| *x).fold(0.0, f64::max);
        let end = PERCENTILES.iter().map(|q| position(*q)).find(|p| *p >= furthest - 1e-9);
        Self { end: end.unwrap_or(1.0) }
    }

    /// The percentiles on this axis.
    fn percentiles(&self) -> impl Iterator<Item = f64> {
        PERCENTILES.into_iter().filter(|q| position(*q) <= self.end + 1e-9)
    }

    /// Where a share of the full axis stands, in percent.
    fn place(&self, share: f64) -> f64 {
        MARGINS.0 + (share / self.end).min(1.0) * (100.0 - MARGINS.0 - MARGINS.1)
    }
}

fn tick_label(ns: f64) -> String {
    let unit = Quantity::Latency.unit_for(ns);
    format!("{} {}", Quantity::Latency.tick(ns, unit), unit.name)
}

fn percentile_label(quantile: f64) -> String {
    format!("{} %", percentile_name(quantile).trim_start_matches('p'))
}

fn describe(portion: &Portion<'_>, lines: &[Line<'_>]) -> String {
    let one = |((_, s), (h, _)): (&(usize, PanelSeries<'_>), &Line<'_>)| {
        let at = |q| Quantity::Latency.show(h.quantile(q) as f64);
        format!("{}: median {}, 99 % within {}", s.stack, at(0.5), at(0.99))
    };
    portion.series.iter().zip(lines).map(one).collect::<Vec<_>>().join("; ")
}
