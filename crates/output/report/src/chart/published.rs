//! Each published row as a line: what is accepted as a bar, the measured value as a mark.
//!
//! All rows share one logarithmic axis: for figures and ratios measured ÷ published, for
//! orders subject ÷ baseline. Reproduced and not reproduced differ by the mark's shape, its colour and
//! its word; rows that are not counted have an open mark.

use disklab_published::{JudgedRow, RowComparison, RowKind, RowStatus};
use disklab_units::significant;
use indexmap::IndexMap;
use maud::{Markup, html};

use crate::chart::parts::{caption, percent};
use crate::chart::scale::AxisScale;
use crate::view::published::{published, status, subject};

/// The axis reaches no further than this many times less or more.
const REACH: f64 = 30.0;

/// The picture; nothing if no row has been measured.
pub(crate) fn chart(comparison: &RowComparison) -> Markup {
    let mut groups: IndexMap<&str, Vec<(&JudgedRow, f64)>> = IndexMap::new();
    for judged in &comparison.rows {
        if let Some(quotient) = judged.quotient {
            groups.entry(&judged.row.workload).or_default().push((judged, quotient));
        }
    }
    if groups.is_empty() {
        return html! { p.empty { "There is nothing to draw: no row has been measured yet." } };
    }
    let scale = scale_of(groups.values().flatten().map(|(_, quotient)| *quotient));
    let label = "Measured results divided by the published ones";
    framed(label, &legend(), &scale, &groups, |(judged, quotient)| line(&scale, judged, *quotient))
}

/// A picture of lines, below the workloads that they are about, on one axis.
pub(super) fn framed<T>(
    label: &str,
    legend: &Markup,
    scale: &AxisScale,
    groups: &IndexMap<&str, Vec<T>>,
    line: impl Fn(&T) -> Markup,
) -> Markup {
    html! {
        figure.chart.published aria-label=(label) {
            (caption("", "measured ÷ published; if an order was published, subject ÷ baseline; \
                          logarithmic axis. The bars are what is accepted."))
            (legend)
            div.bars {
                (axis(scale))
                @for (workload, rows) in groups {
                    div.group {
                        h3 style={ "--rows:" (rows.len()) } { (workload) }
                        @for row in rows { (line(row)) }
                    }
                }
            }
        }
    }
}

/// An axis for these quotients.
pub(super) fn scale_of(quotients: impl Iterator<Item = f64>) -> AxisScale {
    let (low, high) = quotients
        .map(|quotient| quotient.clamp(1.0 / REACH, REACH))
        .fold((0.5, 2.0), |(low, high): (f64, f64), q| (low.min(q), high.max(q)));
    AxisScale::logarithmic(low, high)
}

fn axis(scale: &AxisScale) -> Markup {
    let every = scale.ticks.len().div_ceil(6).max(1);
    html! {
        div.ticks aria-hidden="true" {
            @for tick in scale.ticks.iter().step_by(every) {
                span style={ "left:" (percent(scale.percent(*tick))) } {
                    (significant(*tick, 3).trim_end_matches('0').trim_end_matches('.')) "×"
                }
            }
        }
    }
}

fn line(scale: &AxisScale, judged: &JudgedRow, quotient: f64) -> Markup {
    let interval = interval(judged).filter(|(low, high)| low < high);
    html! {
        div.bar.(class(judged.status)) {
            span.name { (subject(judged)) }
            svg.track aria-hidden="true" {
                (ground(scale, judged))
                @if let Some((low, high)) = interval {
                    @let (x1, x2) = (percent(scale.percent(low)), percent(scale.percent(high)));
                    line.whisker x1=(x1) x2=(x2) y1="50%" y2="50%" {}
                }
                svg.mark x=(percent(scale.percent(quotient))) y="50%" {
                    (mark(judged.status, judged.counts))
                }
            }
            span.value {
                (significant(quotient, 3)) "× "
                @if judged.row.kind == RowKind::Order { small { "(" (published(judged)) ") " } }
                (status(judged))
            }
        }
    }
}

/// What lies below the marks of a line: the grid, what is accepted, and 1.
pub(super) fn ground(scale: &AxisScale, judged: &JudgedRow) -> Markup {
    let (low, high) = accepted(judged);
    let (from, to) = (scale.percent(low), high.map_or(100.0, |h| scale.percent(h)));
    html! {
        @for tick in &scale.ticks {
            @let at = percent(scale.percent(*tick));
            line.grid x1=(at) x2=(at) y1="0" y2="100%" {}
        }
        rect.accepted x=(percent(from)) width=(percent((to - from).max(0.0)))
            y="12%" height="76%" {}
        @let one = percent(scale.percent(1.0));
        line.one x1=(one) x2=(one) y1="0" y2="100%" {}
    }
}

/// A disc if it is reproduced, a cross if not; hollow if it is not counted.
pub(super) fn mark(status: RowStatus, counts: bool) -> Markup {
    html! {
        @match status {
            RowStatus::NotReproduced => path.cross.open[!counts] d="M-5-5L5 5M-5 5L5-5" {},
            _ => circle.dot.open[!counts] r="5" {},
        }
    }
}

fn legend() -> Markup {
    let entry = |status, counts, name: &str| {
        html! {
            li.(class(status)) {
                svg.swatch width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true" {
                    (mark(status, counts))
                }
                (name)
            }
        }
    };
    html! {
        ul.legend.shared {
            (entry(RowStatus::Reproduced, true, "reproduced"))
            (entry(RowStatus::NotReproduced, true, "not reproduced"))
            (entry(RowStatus::Reproduced, false, "reproduced, not counted"))
            (entry(RowStatus::NotReproduced, false, "not reproduced, not counted"))
        }
    }
}

pub(super) fn class(status: RowStatus) -> &'static str {
    if status == RowStatus::NotReproduced { "missed" } else { "met" }
}

/// What is accepted, on the axis.
fn accepted(judged: &JudgedRow) -> (f64, Option<f64>) {
    let Some(band) = judged.accepted else { return (1.0, Some(1.0)) };
    let by = unit(judged);
    (band.low / by, band.high.map(|high| high / by))
}

fn interval(judged: &JudgedRow) -> Option<(f64, f64)> {
    let by = unit(judged);
    judged.measured?.interval.map(|(low, high)| (low / by, high / by))
}

/// What a row's figures are divided by on the axis.
pub(super) fn unit(judged: &JudgedRow) -> f64 {
    judged.row.divisor().unwrap_or(1.0)
}
