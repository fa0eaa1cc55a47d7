//! JSON: everything, for programs. The schema's name and version stand first.

use disklab_audits::{Finding, Group, Observation};
use disklab_cell::DATA;
use disklab_comparisons::{Answer, Comparison, Point};
use disklab_decision::{AxisEffect, Recommendation, StackChoice};
use disklab_stats::{Estimate, Method};
use disklab_store::{CellRecord, CellState};
use disklab_study::ChartKind;
use serde_json::{Map, Value, json};

use crate::Report;
use crate::json_figures::{compared, interval, measure, unit};
use crate::view::{PERCENTILES, percentile_name, percentiles, severity_word};

/// The schema's name.
const SCHEMA: &str = "disklab-report";
/// Its version: raised when a field changes its meaning or goes; new fields do
/// not raise it.
const VERSION: u32 = 3;

/// The whole report. Numbers that are not finite are null.
pub(crate) fn text(report: &Report) -> String {
    let analysis = &report.analysis;
    let value = json!({
        "schema": SCHEMA,
        "version": VERSION,
        "simulated": report.info.is_lab(),
        "run": report.info,
        "study": { "id": report.study.id.as_str(), "title": report.study.title,
                   "about": report.study.about, "sha256": report.study.digest },
        "sessions": report.sessions,
        "cells": report.cells.iter().map(cell).collect::<Value>(),
        "summary": analysis.summary,
        "recommendations": report.analysis.recommendations.iter().map(recommendation).collect::<Value>(),
        "findings": analysis.findings.iter().map(finding).collect::<Value>(),
        "groups": analysis.groups.iter().map(|g| group(report, g)).collect::<Value>(),
        "answers": analysis.answers.iter().enumerate()
            .map(|(n, a)| answer(a, analysis.sentences_of(n))).collect::<Value>(),
        "facts": report.facts,
        "published": report.published,
        "campaign": report.campaign,
        "at": report.at,
        "failures": crate::failures::describe(report),
        "effects": report.effects.iter().map(effect).collect::<Value>(),
    });
    // Keys are text and numbers are finite or null, so this cannot fail.
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

fn effect(effect: &AxisEffect) -> Value {
    let versus = &effect.versus;
    json!({
        "axis": effect.axis,
        "level": effect.level,
        "against": effect.ordinary,
        "headline": effect.headline(),
        "choices": effect.choices,
        "figures": versus.pairs.iter().map(|p| compared(p, versus.margin)).collect::<Value>(),
    })
}

fn recommendation(r: &Recommendation) -> Value {
    json!({
        "purpose": r.purpose.word,
        "title": r.purpose.title,
        "why_not": r.why_not,
        "classes": r.decisions.iter().map(|d| decision(r, d)).collect::<Value>(),
        "scores": r.scores.iter().map(|s| json!({ "stack": s.stack, "share_of_best": s.share }))
            .collect::<Value>(),
        "lacking": r.lacking,
        "suspect": r.suspect,
    })
}

fn decision(r: &Recommendation, decision: &StackChoice) -> Value {
    let name = str::to_owned;
    json!({
        "survives_failed_drives": decision.survives,
        "take": decision.take,
        "as_good": decision.as_good,
        "confidence": decision.confidence.word(),
        "partial": decision.is_partial,
        "how_sure": decision.how_sure(r, &str::to_owned),
        "figures": decision.figures.iter().map(|f| json!({
            "aspect": f.aspect, "of": f.of, "value": f.value,
        })).collect::<Value>(),
        "next": decision.next.as_ref().map(|n| json!({
            "stack": n.stack, "times": n.times,
            "ahead_in_repeats": n.ahead, "repeats": n.repeats,
        })),
        "trade": decision.trade.as_ref().map(|t| json!({
            "stack": t.stack, "more_bytes": t.more_bytes, "times": t.times,
            "as_good": t.is_as_good, "significant": t.is_significant,
        })),
        "places": decision.places.iter().map(|p| json!({
            "stack": p.stack, "rank": p.verdict.word(), "next_to_taken": p.distance,
            "by_what_decides": p.by_deciding,
        })).collect::<Value>(),
        "reasons": decision.reasons,
        "against": decision.against,
        "would_change":
            decision.would_change.iter().map(|c| c.sentence(&name)).collect::<Vec<_>>(),
    })
}

fn cell(record: &CellRecord) -> Value {
    let state = match record.state {
        CellState::Waiting => "waiting",
        CellState::Done => "done",
        CellState::Failed => "failed",
    };
    json!({
        "number": record.cell.number,
        "block": record.cell.block,
        "stack": record.cell.levels.stack,
        "workload": record.cell.levels.workload,
        "seed": record.cell.seed,
        "state": state,
        "error": record.error,
        "ended": record.ended,
        "seconds": record.seconds,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "audit": finding.audit,
        "severity": severity_word(finding.severity),
        "text": finding.text,
        "advice": finding.advice,
        "groups": finding.groups,
    })
}

fn group(report: &Report, group: &Group) -> Value {
    let spec = report.study.stack_index(&group.key.levels.stack).map(|i| &report.study.stacks[i]);
    let planned = report.info.stacks.iter().find(|stack| stack.id == group.key.levels.stack);
    let role = |drive: &str| planned.map_or(DATA, |stack| stack.role_of(drive));
    let latency = group.latency.as_ref().map(|h| {
        let mut map = Map::new();
        map.insert("count".to_owned(), json!(h.count()));
        map.insert("mean_ns".to_owned(), json!(h.mean()));
        for (quantile, ns) in PERCENTILES.iter().zip(percentiles(h, &PERCENTILES)) {
            let name = percentile_name(*quantile).replace('.', "");
            map.insert(format!("{name}_ns"), json!(ns));
        }
        map.insert("max_ns".to_owned(), json!(h.quantile(1.0)));
        map.insert("hdr_histogram_v2_deflate_base64".to_owned(), json!(h));
        map
    });
    json!({
        "stack": group.key.levels.stack,
        "layout": spec.map(|s| &s.layout),
        "file_system": spec.map(|s| &s.file_system),
        "workload": group.key.levels.workload,
        "step": group.key.step,
        "direction": group.key.direction.word(),
        "part": group.key.part.word(),
        "observations": group.observations.iter().map(|o| observation(o, &role)).collect::<Value>(),
        "latency": latency,
    })
}

fn observation<'a>(o: &'a Observation, role: &impl Fn(&str) -> &'a str) -> Value {
    json!({
        "cell": o.cell,
        "block": o.block,
        "throughput_bytes_per_second": o.throughput,
        "operations_per_second": o.iops,
        "elapsed_seconds": Some(o.elapsed).filter(|s| *s > 0.0),
        "p50_ns": o.latency.map(|l| l.p50_ns),
        "p99_ns": o.latency.map(|l| l.p99_ns),
        "p999_ns": o.latency.map(|l| l.p999_ns),
        "missed": o.missed,
        "bytes": o.bytes,
        "drive_read_bytes": o.drive_read,
        "drive_write_bytes": o.drive_write,
        "drives": o.drives.iter().map(|d| json!({
            "drive": d.drive, "role": role(&d.drive), "read_bytes": d.read, "write_bytes": d.written,
        })).collect::<Value>(),
        "drive_memory_reads": o.memory_reads.map(|memory| json!({
            "share_of_reads": memory.of_reads, "bytes": memory.bytes,
        })),
        "cpu_seconds": o.cpu_seconds,
    })
}

fn answer(answer: &Answer, sentences: &[String]) -> Value {
    let (chart, over) = match &answer.question.chart {
        ChartKind::Bars => ("bars", None),
        ChartKind::LinesOver(over) => ("lines", Some(over)),
        ChartKind::Distribution => ("distribution", None),
    };
    json!({
        "ask": answer.question.ask,
        "workloads": answer.question.workloads,
        "stacks": answer.question.stacks,
        "measure": measure(answer.measure),
        "operation": answer.operation,
        "commit_latency": answer.committed,
        "by_study": answer.by_study,
        "part": answer.question.part.word(),
        "unit": unit(answer.measure),
        "chart": chart,
        "over": over,
        "points": answer.points.iter().map(point).collect::<Value>(),
        "comparisons": answer.comparisons.iter().map(comparison).collect::<Value>(),
        "sentences": sentences,
    })
}

fn point(point: &Point) -> Value {
    json!({
        "group": point.group,
        "layout": point.layout,
        "file_system": point.file_system,
        "figure": point.figure,
        "x": point.x,
        "estimate": estimate(point.estimate),
    })
}

fn estimate(estimate: Estimate) -> Value {
    let method = match estimate.method {
        Method::Once => "once",
        Method::Deterministic => "all-equal",
        Method::LogT => "log-t",
        Method::T => "t",
        Method::Median => "median",
    };
    json!({
        "n": estimate.n,
        "centre": estimate.centre,
        "interval": estimate.interval.map(interval),
        "method": method,
    })
}

fn comparison(c: &Comparison) -> Value {
    json!({
        "stack": c.stack,
        "baseline": c.baseline,
        "group": c.group,
        "baseline_group": c.baseline_group,
        "figure": c.figure,
        "x": c.x,
        "pairs": c.pairs,
        "ratio": c.ratio,
        "interval": c.interval.map(interval),
        "p_holm": c.p,
        "outcome": c.outcome.as_str(),
    })
}
