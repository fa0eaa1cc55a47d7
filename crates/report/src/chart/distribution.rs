//! Latency distributions as percentile curves.

use disklab_measure::LatencyHistogram;
use maud::{Markup, html};

use crate::Report;
use crate::chart::caption;
use crate::chart::plot::{Curve, Mark, Plot, Tick};
use crate::chart::scale::Scale;
use crate::quantity::Quantity;
use crate::view::{
    Colours, PERCENTILES, Panel, Series, curve, percentile_name, percentiles, position,
};

/// A stack, its percentile curve and the histogram that it was drawn from.
type Drawn<'a> = (Series<'a>, Vec<(f64, u64)>, &'a LatencyHistogram);

/// Room left and right, in percent, for markers and labels.
const MARGIN: f64 = 3.0;

/// One figure's distributions, one curve per stack, in as many plots as it
/// takes to tell them apart. All plots have the same axes.
pub(crate) fn chart(report: &Report, colours: &Colours, panel: &Panel<'_>) -> Markup {
    let portions: Vec<(String, Vec<Drawn<'_>>)> = panel
        .portions(&report.analysis)
        .into_iter()
        .map(|(title, series)| {
            let with_curve = |s| {
                let histogram = histogram(report, &s)?;
                Some((s, curve(histogram), histogram))
            };
            (title, series.into_iter().filter_map(with_curve).collect::<Vec<_>>())
        })
        .filter(|(_, series)| !series.is_empty())
        .collect();
    if portions.is_empty() {
        return html! { p.empty { "There is nothing to draw: no latencies were measured here." } };
    }
    let all = portions.iter().flat_map(|(_, series)| series);
    let values = || all.clone().flat_map(|(_, curve, _)| curve.iter().map(|(_, ns)| *ns as f64));
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    let scale = Scale::logarithmic(low, high);
    let y_ticks: Vec<Tick> =
        scale.ticks.iter().map(|t| (scale.percent(*t), tick_label(*t))).collect();
    let several = portions.len() > 1;
    let label = format!("Curves: distribution of latency {}", panel.figure);
    html! {
        figure.chart role="group" aria-label=(label.trim_end()) {
            (caption(
                panel.figure,
                "latency by percentile, logarithmic axis, less is better; all repeats merged",
            ))
            div.plots.many[several] {
                @for (title, series) in &portions {
                    (Plot {
                        title: title.clone(),
                        description: describe(series.iter().map(|(s, _, h)| (s, *h))),
                        x_name: "share of operations that took no longer".to_owned(),
                        x_ticks: PERCENTILES
                            .iter()
                            .map(|q| (place(position(*q)), percentile_label(*q)))
                            .collect(),
                        y_ticks: y_ticks.clone(),
                        curves: series
                            .iter()
                            .map(|(s, line, histogram)| Curve {
                                name: if several { s.file_system } else { s.stack }.to_owned(),
                                index: colours.index(s.file_system),
                                line: line
                                    .iter()
                                    .map(|(x, ns)| (place(*x), scale.percent(*ns as f64)))
                                    .collect(),
                                marks: marks(s.stack, &scale, histogram),
                            })
                            .collect(),
                    }.draw())
                }
            }
        }
    }
}

fn histogram<'a>(report: &'a Report, series: &Series<'_>) -> Option<&'a LatencyHistogram> {
    let point = series.points.first()?;
    report.analysis.groups.get(point.group)?.latency.as_ref().filter(|h| h.count() > 0)
}

fn marks(stack: &str, scale: &Scale, histogram: &LatencyHistogram) -> Vec<Mark> {
    PERCENTILES
        .iter()
        .zip(percentiles(histogram, &PERCENTILES))
        .filter_map(|(quantile, ns)| {
            let ns = ns? as f64;
            Some(Mark {
                x: place(position(*quantile)),
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

fn place(share: f64) -> f64 {
    MARGIN + share * (100.0 - 2.0 * MARGIN)
}

fn tick_label(ns: f64) -> String {
    let unit = Quantity::Latency.unit_for(ns);
    format!("{} {}", Quantity::Latency.tick(ns, unit), unit.name)
}

fn percentile_label(quantile: f64) -> String {
    format!("{} %", percentile_name(quantile).trim_start_matches('p'))
}

fn describe<'a>(series: impl Iterator<Item = (&'a Series<'a>, &'a LatencyHistogram)>) -> String {
    series
        .map(|(s, h)| {
            let at = |q| Quantity::Latency.show(h.quantile(q) as f64);
            format!("{}: median {}, 99 % within {}", s.stack, at(0.5), at(0.99))
        })
        .collect::<Vec<_>>()
        .join("; ")
}
