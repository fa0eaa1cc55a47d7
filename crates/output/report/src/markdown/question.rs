//! One question: its sentences and one table per figure.

use std::fmt::Write as _;

use disklab_comparisons::{Answer, Point, Quantity, Unit};
use disklab_stats::Estimate;
use disklab_study::{ChartKind, Part};
use indexmap::IndexSet;

use crate::Report;
use crate::headings::{better, in_unit, measure_name, part_note};
use crate::markdown::escape::text as escape;
use crate::markdown::table::MarkdownTable;
use crate::view::{
    PERCENTILES, Panel, PanelSeries, absences, against_baseline, count, panels, percentile_name,
    percentiles, stack_of,
};

/// More columns than these do not fit into a post.
const MOST_COLUMNS: usize = 6;

/// Writes a question's part.
pub(crate) fn write(md: &mut String, report: &Report, number: usize, answer: &Answer) {
    let _ = write!(md, "## {}\n\n", escape(&answer.question.ask));
    if let Some(note) = part_note(answer.question.part) {
        let _ = write!(md, "{note}\n\n");
    }
    super::list(md, report.analysis.sentences_of(number));
    for panel in panels(answer) {
        let quantity = Quantity::from(answer);
        let largest = panel.points.iter().map(|p| p.estimate.centre).fold(0.0, f64::max);
        let unit = quantity.unit_for(largest);
        let (what, table) = match &answer.question.chart {
            ChartKind::Distribution => ("latency".to_owned(), distribution(report, &panel)),
            ChartKind::LinesOver(over) => {
                let better = better(answer.measure);
                let what = format!("{}, {better}", measure_name(answer));
                (what, lines(report, answer, &panel, over))
            }
            ChartKind::Bars => (figure(answer, unit), bars(report, answer, &panel, unit)),
        };
        let name = if panel.figure.is_empty() {
            String::new()
        } else {
            format!("{}: ", escape(panel.figure))
        };
        let _ = write!(md, "**{name}{what}**\n\n");
        table.write(md);
    }
    if answer.points.is_empty() && answer.question.part == Part::Whole {
        md.push_str("No cell of this question has finished.\n\n");
    }
    missing(md, report, answer);
}

/// What the table shows, with its unit.
fn figure(answer: &Answer, unit: Unit) -> String {
    format!("{}, {}", in_unit(answer, unit.name), better(answer.measure))
}

fn missing(md: &mut String, report: &Report, answer: &Answer) {
    let absences = absences(report, &answer.question);
    let number =
        |parts: &[(String, Vec<String>)]| parts.iter().map(|(_, w)| w.len()).sum::<usize>();
    let (left_out, failed) = (number(&absences.left_out), number(&absences.failed));
    let mut parts = Vec::new();
    if left_out > 0 {
        parts.push(format!("{left_out} left out"));
    }
    if failed > 0 {
        parts.push(format!("{} failed", count(failed, "cell")));
    }
    parts.extend(absences.not_run_yet());
    if !parts.is_empty() {
        let _ = write!(md, "Missing here: {}.\n\n", parts.join(", "));
    }
}

/// `113 (108–118)`, `113 (once)`.
fn value(estimate: &Estimate, unit: Unit) -> String {
    format!("{} ({})", unit.show(estimate.centre), unit.show_interval(estimate))
}

/// Layouts as rows and file systems as columns, where that fits; else one row
/// per stack, with its ratio to the baseline.
fn bars(report: &Report, answer: &Answer, panel: &Panel<'_>, unit: Unit) -> MarkdownTable {
    let file_systems: IndexSet<&str> =
        panel.points.iter().map(|p| p.file_system.as_str()).collect();
    let is_matrix = panel.points.iter().all(|p| p.file_system != p.layout);
    let layouts = panel.by_layout();
    if !is_matrix || file_systems.len() > MOST_COLUMNS || layouts.len() < 2 {
        return stacks(report, answer, panel, unit);
    }
    let head = std::iter::once("layout".to_owned()).chain(file_systems.iter().map(|f| escape(f)));
    let rows = layouts.iter().map(|(layout, points)| {
        let cell = |file_system: &&str| {
            points
                .iter()
                .find(|p| p.file_system == *file_system)
                .map_or_else(|| "–".to_owned(), |p| value(&p.estimate, unit))
        };
        std::iter::once(escape(layout)).chain(file_systems.iter().map(cell)).collect()
    });
    MarkdownTable { head: head.collect(), rows: rows.collect() }
}

fn stacks(report: &Report, answer: &Answer, panel: &Panel<'_>, unit: Unit) -> MarkdownTable {
    let head = ["stack", unit.name, "interval", "÷ baseline"].map(str::to_owned);
    let row = |p: &&Point| {
        vec![
            escape(stack_of(&report.analysis, p)),
            unit.show(p.estimate.centre),
            unit.show_interval(&p.estimate),
            against_baseline(answer, p),
        ]
    };
    MarkdownTable { head: head.to_vec(), rows: panel.points.iter().map(row).collect() }
}

/// Stacks as rows, the parameter's values as columns; the other way round
/// where there are many values and few stacks. Every column has the unit that
/// suits it: over block sizes, throughput ranges widely.
fn lines(report: &Report, answer: &Answer, panel: &Panel<'_>, over: &str) -> MarkdownTable {
    let quantity = Quantity::from(answer);
    let series = panel.series(&report.analysis);
    let xs: IndexSet<&str> = panel.points.iter().map(|p| x_of(p)).collect();
    let at = |points: &[&Point], x: &str| points.iter().find(|p| x_of(p) == x).map(|p| p.estimate);
    let show =
        |e: Option<Estimate>, unit: Unit| e.map_or_else(|| "–".to_owned(), |e| value(&e, unit));
    let with_unit = |e: Estimate| {
        let unit = quantity.unit_for(e.centre);
        format!("{} {} ({})", unit.show(e.centre), unit.name, unit.show_interval(&e))
    };
    if xs.len() > MOST_COLUMNS && series.len() <= 3 {
        let row = |x: &&str| {
            let cells =
                series.iter().map(|s| at(&s.points, x).map_or_else(|| "–".to_owned(), with_unit));
            std::iter::once(escape(x)).chain(cells).collect()
        };
        let names = series.iter().map(|s| escape(s.stack));
        return MarkdownTable {
            head: std::iter::once(escape(over)).chain(names).collect(),
            rows: xs.iter().map(row).collect(),
        };
    }
    // Too many values for columns: the first, the last and what lies evenly between.
    let columns: Vec<(&str, Unit)> = thin(&xs)
        .into_iter()
        .map(|x| {
            let here = series.iter().filter_map(|s| at(&s.points, x));
            (x, quantity.unit_for(here.map(|e| e.centre).fold(0.0, f64::max)))
        })
        .collect();
    let names = columns.iter().map(|(x, unit)| format!("{}, {}", escape(x), unit.name));
    let row = |s: &PanelSeries<'_>| {
        let cells = columns.iter().map(|(x, unit)| show(at(&s.points, x), *unit));
        std::iter::once(escape(s.stack)).chain(cells).collect()
    };
    MarkdownTable {
        head: std::iter::once(format!("stack ╲ {}", escape(over))).chain(names).collect(),
        rows: series.iter().map(row).collect(),
    }
}

fn x_of(point: &Point) -> &str {
    point.x.as_deref().unwrap_or("–")
}

/// At most [`MOST_COLUMNS`] values, ends included.
fn thin<'a>(values: &IndexSet<&'a str>) -> Vec<&'a str> {
    let n = values.len();
    if n <= MOST_COLUMNS {
        return values.iter().copied().collect();
    }
    (0..MOST_COLUMNS)
        .filter_map(|i| values.get_index(i * (n - 1) / (MOST_COLUMNS - 1)).copied())
        .collect()
}

fn distribution(report: &Report, panel: &Panel<'_>) -> MarkdownTable {
    let names = PERCENTILES.iter().map(|q| percentile_name(*q));
    let head = std::iter::once("stack".to_owned()).chain(names).chain(["max".to_owned()]);
    let row = |p: &&Point| {
        let histogram = report.analysis.groups.get(p.group).and_then(|g| g.latency.as_ref());
        let show = |ns: Option<u64>| {
            ns.map_or_else(|| "–".to_owned(), |ns| Quantity::Latency.show(ns as f64))
        };
        let cells: Vec<String> = match histogram.filter(|h| h.count() > 0) {
            Some(h) => percentiles(h, &PERCENTILES)
                .into_iter()
                .chain([Some(h.quantile(1.0))])
                .map(show)
                .collect(),
            None => vec!["–".to_owned(); PERCENTILES.len() + 1],
        };
        std::iter::once(escape(stack_of(&report.analysis, p))).chain(cells).collect()
    };
    MarkdownTable { head: head.collect(), rows: panel.points.iter().map(row).collect() }
}
