//! Grouped bars: a group is a layout, a bar a file system.

use disklab_comparisons::{Answer, Point, Quantity, Unit};
use disklab_stats::Interval;
use disklab_study::Measure;
use maud::{Markup, html};

use crate::chart::parts::{caption, colour_class, percent};
use crate::chart::scale::{AxisScale, extent};
use crate::headings::{better, in_unit, measure_name};
use crate::view::{Colours, Panel, is_baseline};

/// What all bars of a chart share.
struct Bars<'a> {
    colours: &'a Colours,
    answer: &'a Answer,
    quantity: Quantity,
    scale: AxisScale,
    unit: Unit,
    /// Whether more names than colours would make a colour mean two things.
    plain: bool,
}

/// One figure of all its stacks.
pub(crate) fn chart(colours: &Colours, answer: &Answer, panel: &Panel<'_>) -> Markup {
    let measure = answer.measure;
    let quantity = Quantity::from(answer);
    let largest = panel.points.iter().map(|p| p.estimate.centre).fold(0.0, f64::max);
    let unit = quantity.unit_for(largest);
    let scale = scale(measure, &panel.points, unit);
    let plain = panel.points.iter().any(|p| colours.index(&p.file_system) >= crate::chart::SERIES);
    let bars = Bars { colours, answer, quantity, scale, unit, plain };
    html! {
        figure.chart aria-label=(label(answer, panel.figure)) {
            (caption(panel.figure, &about(answer, &bars)))
            div.bars {
                (axis(&bars))
                @for (layout, points) in panel.by_layout() {
                    (group(&bars, layout, &points))
                }
            }
        }
    }
}

/// An interval that reaches further than this many times the largest figure
/// ends in an arrow: it would press all bars together.
const REACH: f64 = 2.0;

fn scale(measure: Measure, points: &[&Point], unit: Unit) -> AxisScale {
    let (low, high) = extent(points.iter().map(|p| p.estimate.centre));
    let ends = points.iter().filter_map(|p| p.estimate.interval).flat_map(|i| [i.low, i.high]);
    let (lowest, highest) = extent(ends.chain([low, high]));
    // A logarithmic axis has no place for 0.
    if measure == Measure::Missed {
        AxisScale::counting(highest.min(high * REACH))
    } else if high / low > 100.0 {
        AxisScale::logarithmic(lowest.max(low / 100.0), highest.min(high * 100.0))
    } else {
        AxisScale::linear(highest.min(high * REACH), unit.size)
    }
}

fn label(answer: &Answer, figure: &str) -> String {
    let of = if figure.is_empty() { String::new() } else { format!(" of {figure}") };
    format!("Bars: {}{of}, by layout and file system", measure_name(answer))
}

fn about(answer: &Answer, bars: &Bars<'_>) -> String {
    let name = measure_name(answer);
    let better = better(answer.measure);
    if bars.scale.logarithmic {
        format!("{name}, logarithmic axis, {better}")
    } else {
        let unit = match bars.unit.name {
            "MB/s" => "MB/s (10⁶ bytes per second)",
            other => other,
        };
        format!("{}, {better}", in_unit(answer, unit))
    }
}

fn axis(bars: &Bars<'_>) -> Markup {
    // More labels than five would touch where the chart is narrow.
    let every = bars.scale.ticks.len().div_ceil(5).max(1);
    html! {
        div.ticks aria-hidden="true" {
            @for tick in bars.scale.ticks.iter().step_by(every) {
                span style={ "left:" (percent(bars.scale.percent(*tick))) } {
                    @if bars.scale.logarithmic {
                        (bars.quantity.tick(*tick, bars.quantity.unit_for(*tick)))
                        " " (bars.quantity.unit_for(*tick).name)
                    } @else {
                        (bars.quantity.tick(*tick, bars.unit))
                    }
                }
            }
        }
    }
}

fn group(bars: &Bars<'_>, layout: &str, points: &[&Point]) -> Markup {
    // A whole stack is a group of its own; saying its name twice tells nothing.
    let whole = points.iter().all(|p| p.file_system == p.layout);
    html! {
        div.group.whole[whole] {
            @if !whole { h3 style={ "--rows:" (points.len()) } { (layout) } }
            @for point in points { (bar(bars, point)) }
        }
    }
}

fn bar(bars: &Bars<'_>, point: &Point) -> Markup {
    let estimate = point.estimate;
    let at = |value: f64| bars.scale.percent(value);
    let unit =
        if bars.scale.logarithmic { bars.quantity.unit_for(estimate.centre) } else { bars.unit };
    let index = if bars.plain { 0 } else { bars.colours.index(&point.file_system) };
    let ticks = &bars.scale.ticks;
    html! {
        div.bar.(colour_class(index)) {
            span.name {
                (point.file_system)
                @if is_baseline(bars.answer, point) { " " small { "baseline" } }
            }
            svg.track aria-hidden="true" {
                @for tick in ticks {
                    line.grid x1=(percent(at(*tick))) x2=(percent(at(*tick))) y1="0" y2="100%" {}
                }
                @if bars.scale.logarithmic {
                    line.stem x1="0" x2=(percent(at(estimate.centre))) y1="50%" y2="50%" {}
                    circle.dot cx=(percent(at(estimate.centre))) cy="50%" r="4.5" {}
                } @else {
                    rect.fill x="0" y="16%" height="68%" width=(percent(at(estimate.centre))) {}
                }
                @if let Some(interval) = estimate.interval.filter(|i| i.low < i.high) {
                    (whisker(&bars.scale, interval))
                }
            }
            span.value {
                (unit.show(estimate.centre)) " " (unit.name) " "
                small { (unit.show_interval(&estimate)) }
            }
        }
    }
}

/// An interval as a line with caps, or with an arrow where it continues. A halo in
/// the page's colour sets it off from any bar.
fn whisker(scale: &AxisScale, interval: Interval) -> Markup {
    let continues = scale.ticks.last().is_some_and(|end| interval.high > *end);
    let (low, high) = (percent(scale.percent(interval.low)), percent(scale.percent(interval.high)));
    html! {
        @for class in ["halo", "whisker"] {
            line.(class) x1=(low) x2=(high) y1="50%" y2="50%" {}
            line.(class) x1=(low) x2=(low) y1="28%" y2="72%" {}
            @if continues {
                svg.arrow x=(high) y="50%" { path.(class) d="M-6-4L-1 0L-6 4" {} }
            } @else {
                line.(class) x1=(high) x2=(high) y1="28%" y2="72%" {}
            }
        }
    }
}
