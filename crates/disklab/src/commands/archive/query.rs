//! `disklab archive query`: figures over time.

use std::fmt::Write as _;

use disklab_archive::{FigureSeries, RunArchive, SeriesChange, SeriesFilter, SeriesPoint};
use disklab_comparisons::{plain_value, value};
use disklab_stats::{CONFIDENCE, Estimate, Interval, Method};
use disklab_study::Measure;
use disklab_units::count;
use serde_json::{Value, json};

use crate::cli::{ArchiveFormat, ArchiveQueryArgs};
use crate::exit::{DONE, Failure};
use crate::printing::csv_line;

/// Shows the figures that are asked for.
pub(super) fn query(args: &ArchiveQueryArgs, format: ArchiveFormat) -> Result<u8, Failure> {
    let filter = SeriesFilter {
        patterns: args.patterns.clone(),
        study: args.study.clone(),
        measure: args.measure,
        since: args.since,
        until: args.until,
    };
    let mut all = RunArchive::open_existing(&args.archive.name())?.series(&filter)?;
    if all.is_empty() {
        return Err(Failure::usage_error(
            "the archive has no such figure; `disklab archive query --json` has all of one measure, \
             `disklab archive list` the runs",
        ));
    }
    let found = all.len();
    if args.changed {
        all.retain(|series| !series.changes.is_empty());
    }
    match format {
        ArchiveFormat::Text => crate::printing::print(&text(&all, found))?,
        ArchiveFormat::Csv => crate::printing::print(&csv(&all))?,
        ArchiveFormat::Json => {
            let series: Vec<Value> = all.iter().map(series_json).collect();
            crate::printing::print_json(
                &json!({ "schema": "disklab-archive", "version": 1, "series": series }),
            )?;
        }
    }
    Ok(DONE)
}

fn text(all: &[FigureSeries], found: usize) -> String {
    let changed = all.iter().filter(|series| !series.changes.is_empty()).count();
    let mut text = format!("{}, of which {changed} changed\n", count(found, "figure"));
    for series in all {
        let _ = write!(text, "\n{}\n{} · {}\n", title(series), series.study, series.setting);
        for (index, point) in series.points.iter().enumerate() {
            if let Some(change) = series.changes.iter().find(|change| change.at == index) {
                text.push_str(&change_text(series, change));
            }
            let _ = writeln!(text, "  {}", point_text(series, point));
        }
    }
    text
}

/// Such as `raid5/ext4 · write-64k · write`.
fn title(series: &FigureSeries) -> String {
    let mut words = vec![series.stack.as_str(), &series.workload];
    if series.step != series.workload {
        words.push(&series.step);
    }
    words.push(&series.direction);
    if series.part != "whole" {
        words.push(&series.part);
    }
    words.push(&series.levels);
    words.retain(|word| !word.is_empty());
    words.join(" · ")
}

/// Such as `2026-03-01T02:10:00Z  118 MB/s [116, 120]`.
fn point_text(series: &FigureSeries, point: &SeriesPoint) -> String {
    let interval = point.ends.map(|(low, high)| Interval { low, high, confidence: CONFIDENCE });
    let n = usize::try_from(point.repeats).unwrap_or(1);
    let estimate = Estimate { n, centre: point.value, interval, method: Method::Median };
    let figure = value(series.measure, series.operation, &estimate);
    let suspect = if point.suspect.is_empty() {
        String::new()
    } else {
        format!("  suspect: {}", point.suspect)
    };
    format!("{:.0}  {figure}{suspect}", point.began)
}

fn change_text(series: &FigureSeries, change: &SeriesChange) -> String {
    let show = |value| plain_value(series.measure, series.operation, value);
    let share = change.after / change.before - 1.0;
    let by = if share.is_finite() { format!(" by {:+.1} %", share * 100.0) } else { String::new() };
    let mut text = format!(
        "  ── changed{by}: on average {} before, {} from here on\n",
        show(change.before),
        show(change.after)
    );
    for (what, before, after) in &change.besides {
        let _ = writeln!(text, "     {what}: {before} before, {after} from here on");
    }
    if change.besides.is_empty() {
        text.push_str("     kernel, disklab, drives and study are the same\n");
    }
    text
}

fn csv(all: &[FigureSeries]) -> String {
    let mut text = csv_line(&[
        "study",
        "setting",
        "stack",
        "workload",
        "axes",
        "step",
        "direction",
        "part",
        "measure",
        "operation",
        "began",
        "value",
        "low",
        "high",
        "repeats",
        "suspect",
        "changed",
        "kernel",
        "disklab",
        "drives",
        "path",
    ]);
    for series in all {
        for (index, point) in series.points.iter().enumerate() {
            let changed = series.changes.iter().any(|change| change.at == index);
            let end = |end: Option<f64>| end.map_or_else(String::new, |end| end.to_string());
            text.push_str(&csv_line(&[
                &series.study,
                &series.setting,
                &series.stack,
                &series.workload,
                &series.levels,
                &series.step,
                &series.direction,
                &series.part,
                word(series.measure),
                series.operation.plural(),
                &point.began.to_string(),
                &point.value.to_string(),
                &end(point.ends.map(|ends| ends.0)),
                &end(point.ends.map(|ends| ends.1)),
                &point.repeats.to_string(),
                &point.suspect,
                if changed { "yes" } else { "" },
                &point.kernel,
                &point.disklab,
                &point.drives,
                &point.path.to_string_lossy(),
            ]));
        }
    }
    text
}

fn word(measure: Measure) -> &'static str {
    Measure::WORDS.iter().find(|(_, known)| *known == measure).map_or("", |(word, _)| word)
}

fn series_json(series: &FigureSeries) -> Value {
    let point = |point: &SeriesPoint| {
        json!({
            "run": point.run,
            "path": point.path.to_string_lossy(),
            "began": point.began.to_string(),
            "disklab": point.disklab,
            "kernel": point.kernel,
            "drives": point.drives,
            "study_sha256": point.study_digest,
            "value": point.value,
            "low": point.ends.map(|ends| ends.0),
            "high": point.ends.map(|ends| ends.1),
            "repeats": point.repeats,
            "suspect": point.suspect,
        })
    };
    let change = |change: &SeriesChange| {
        let besides = change
            .besides
            .iter()
            .map(|(what, before, after)| json!({ "what": what, "before": before, "after": after }));
        json!({
            "at": change.at,
            "before": change.before,
            "after": change.after,
            "besides": besides.collect::<Vec<_>>(),
        })
    };
    json!({
        "study": series.study,
        "setting": series.setting,
        "stack": series.stack,
        "workload": series.workload,
        "axes": series.levels,
        "step": series.step,
        "direction": series.direction,
        "part": series.part,
        "measure": word(series.measure),
        "operation": series.operation.plural(),
        "points": series.points.iter().map(point).collect::<Vec<_>>(),
        "changes": series.changes.iter().map(change).collect::<Vec<_>>(),
    })
}
