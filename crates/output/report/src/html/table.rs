//! The exact figures behind a chart.

use disklab_cell::DATA;
use disklab_comparisons::{Answer, Point, Quantity, Unit};
use disklab_study::{ChartKind, Measure};
use indexmap::IndexSet;
use maud::{Markup, html};

use super::cells::CellFolds;
use crate::Report;
use crate::headings::measure_name;
use crate::view::{TrafficPanel, against_baseline, percentiles, stack_of, traffic};

/// Percentiles of the table; 1 is the largest latency.
const COLUMNS: [(f64, &str); 4] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"), (1.0, "max")];

/// One row per point: the figure with its interval, against the baseline, its
/// latencies, and what the drives did.
pub(crate) fn figures(report: &Report, folds: &CellFolds<'_>, answer: &Answer) -> Markup {
    let analysis = &report.analysis;
    let quantity = Quantity::from(answer);
    let largest = answer.points.iter().map(|p| p.estimate.centre).fold(0.0, f64::max);
    let unit = quantity.unit_for(largest);
    let group = |p: &Point| analysis.groups.get(p.group);
    let figures = answer.points.iter().any(|p| !p.figure.is_empty());
    let over = match &answer.question.chart {
        ChartKind::LinesOver(over) => Some(over.as_str()),
        _ => None,
    };
    let latencies = answer.points.iter().any(|p| group(p).is_some_and(|g| g.latency.is_some()));
    let traffics: Vec<Option<TrafficPanel>> =
        answer.points.iter().map(|p| traffic(report, p.group)).collect();
    let watched = traffics.iter().any(Option::is_some);
    let media = traffics.iter().flatten().any(|t| t.medium_ratio.is_some());
    let memory = traffics.iter().flatten().any(|t| t.memory_reads.is_some());
    let moves = watched.then_some(TrafficColumns { media, memory });
    let binary = answer.measure == Measure::Throughput;
    let columns = FigureColumns { figures, over, binary, latencies, traffic: moves };
    html! {
        div.scroll role="region" tabindex="0" aria-label={ "Exact figures " (which(report, answer)) } {
            table.sortable {
                (heading(answer, unit, &columns))
                tbody {
                    @for (point, traffic) in answer.points.iter().zip(&traffics) {
                        tr {
                            th scope="row" { (stack_of(analysis, point)) }
                            @if figures { td { (point.figure) } }
                            @if over.is_some() { td { (point.x.as_deref().unwrap_or("–")) } }
                            (value(point, unit, binary, cells_of(report, folds, point).as_deref()))
                            td { (against_baseline(answer, point)) }
                            @if latencies {
                                @let histogram = group(point).and_then(|g| g.latency.as_ref());
                                @for (quantile, _) in COLUMNS {
                                    td.n {
                                        @match histogram {
                                            Some(h) if h.count() > 0 => (quantile_text(h, quantile)),
                                            _ => "–",
                                        }
                                    }
                                }
                            }
                            @if let Some(columns) = moves { (moved(traffic.as_ref(), columns)) }
                        }
                    }
                }
            }
        }
    }
}

/// The columns that a table has, besides those that all have.
struct FigureColumns<'a> {
    figures: bool,
    /// The parameter of a chart of lines.
    over: Option<&'a str>,
    binary: bool,
    latencies: bool,
    /// If drives were watched.
    traffic: Option<TrafficColumns>,
}

fn heading(answer: &Answer, unit: Unit, columns: &FigureColumns<'_>) -> Markup {
    html! {
        thead {
            tr {
                th scope="col" { "stack" }
                @if columns.figures { th scope="col" { "figure" } }
                @if let Some(over) = columns.over { th scope="col" { (over) } }
                th.n scope="col" {
                    (measure_name(answer))
                    // A count says itself what it counts.
                    @if answer.measure != Measure::Missed { ", " (unit.name) }
                }
                th.n scope="col" { "95 % interval, " (unit.name) }
                @if columns.binary { th.n scope="col" { "MiB/s" } }
                th.n scope="col" { "runs" }
                th scope="col" { "÷ baseline" }
                @if columns.latencies {
                    @for (_, name) in COLUMNS { th.n scope="col" { (name) " latency" } }
                }
                @if let Some(traffic) = columns.traffic {
                    th.n scope="col" { "drives read" }
                    th.n scope="col" { "drives wrote" }
                    th.n scope="col" title="bytes that the drives read per byte asked for" {
                        "read ampl."
                    }
                    th.n scope="col" title="bytes that the drives wrote per byte asked for" {
                        "write ampl."
                    }
                    @if traffic.memory {
                        th.n scope="col" title="the share of the reads given to the drives that they answered from their own memory: read ahead, or kept" {
                            "from drives' memory"
                        }
                    }
                    @if traffic.media {
                        th.n scope="col" title="bytes that the drives wrote to their own flash or platters per byte that they were given: data moved to make room are in it, data still in their write caches are not" {
                            "inside drives"
                        }
                    }
                }
            }
        }
    }
}

/// Which question's, for those who hear the page: two may ask the same.
fn which(report: &Report, answer: &Answer) -> String {
    let number = report.analysis.answers.iter().position(|other| std::ptr::eq(other, answer));
    format!("of question {}: {}", number.map_or(0, |n| n + 1), answer.question.ask)
}

/// Where the cells of a point are listed.
fn cells_of(report: &Report, folds: &CellFolds<'_>, point: &Point) -> Option<String> {
    let key = &report.analysis.groups.get(point.group)?.key;
    folds.link_to_work(&key.levels.stack, &key.levels.workload)
}

fn value(point: &Point, unit: Unit, binary: bool, cells: Option<&str>) -> Markup {
    let e = &point.estimate;
    html! {
        td.n { strong { (unit.show(e.centre)) } }
        td.n { (unit.show_interval(e)) }
        @if binary {
            td.n { (Unit::MEBIBYTES_PER_SECOND.show(e.centre)) }
        }
        td.n {
            @match cells {
                Some(link) => a href=(link) title="its commands and raw outputs" { (e.n) },
                None => (e.n),
            }
        }
    }
}

fn quantile_text(histogram: &disklab_sample::LatencyHistogram, quantile: f64) -> String {
    if quantile >= 1.0 {
        return Quantity::Latency.show(histogram.quantile(1.0) as f64);
    }
    match percentiles(histogram, &[quantile]).first() {
        Some(Some(ns)) => Quantity::Latency.show(*ns as f64),
        _ => "–".to_owned(),
    }
}

/// Columns of what drives did that only some drives count.
#[derive(Debug, Clone, Copy)]
struct TrafficColumns {
    media: bool,
    memory: bool,
}

fn moved(traffic: Option<&TrafficPanel>, columns: TrafficColumns) -> Markup {
    let TrafficColumns { media, memory } = columns;
    let share =
        |s: Option<f64>| s.map_or_else(|| "–".to_owned(), |s| format!("{:.1} %", s * 100.0));
    let amplification =
        |r: Option<f64>| r.map_or_else(|| "–".to_owned(), disklab_comparisons::times);
    html! {
        @match traffic {
            Some(t) => {
                td.n { (Quantity::Size.show(t.read)) }
                td.n { (Quantity::Size.show(t.written)) }
                td.n { (amplification(t.read_ratio)) }
                td.n { (amplification(t.written_ratio)) }
                @if memory { td.n { (share(t.memory_reads)) } }
                @if media { td.n { (amplification(t.medium_ratio)) } }
            }
            None => { @for _ in 0..4 + usize::from(media) + usize::from(memory) { td.n { "–" } } }
        }
    }
}

/// What each drive did; folded, and only where there are several.
pub(crate) fn drives(report: &Report, answer: &Answer) -> Markup {
    let analysis = &report.analysis;
    let rows: Vec<(&Point, TrafficPanel)> = answer
        .points
        .iter()
        .filter_map(|p| Some((p, traffic(report, p.group)?)))
        .filter(|(_, t)| t.drives.len() > 1)
        .collect();
    let names: IndexSet<&str> =
        rows.iter().flat_map(|(_, t)| t.drives.iter().map(|(d, ..)| d.as_str())).collect();
    if rows.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary { "What each drive read and wrote, mean of the runs" }
            div.scroll role="region" tabindex="0" aria-label={ "Traffic of each drive " (which(report, answer)) } {
                table {
                    thead {
                        tr {
                            th scope="col" { "stack" }
                            th scope="col" { "figure" }
                            @for name in &names { th.n scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for (point, traffic) in &rows {
                            tr {
                                th scope="row" { (stack_of(analysis, point)) }
                                td { (point.figure) " " (point.x.as_deref().unwrap_or_default()) }
                                @for name in &names {
                                    td.n { (drive(report, point, traffic, name)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn drive(report: &Report, point: &Point, traffic: &TrafficPanel, name: &str) -> String {
    let Some((_, read, written)) = traffic.drives.iter().find(|(d, ..)| d == name) else {
        return "–".to_owned();
    };
    let id = &report.analysis.groups[point.group].key.levels.stack;
    let planned = report.info.stacks.iter().find(|stack| stack.id == *id);
    let role = match planned.map_or(DATA, |stack| stack.role_of(name)) {
        DATA => String::new(),
        other => format!("{other}: "),
    };
    let (read, written) = (Quantity::Size.show(*read), Quantity::Size.show(*written));
    format!("{role}{read} read, {written} written")
}
