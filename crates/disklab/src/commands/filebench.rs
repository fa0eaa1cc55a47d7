//! `disklab filebench`: a personality, run outside of any study.

use std::path::Path;
use std::sync::Arc;

use disklab_exec::{LARGEST_TEXT, read_input};
use disklab_filebench::{
    ContentKind, FilebenchError, FilebenchFigures, FilebenchReport, FilebenchSession, Options,
    RunProgress, SessionContext,
};
use disklab_source::Source;
use disklab_wml::{Overrides, PERSONALITIES, Personality, find_personality};
use serde_json::{Value, json};

use crate::cli::FilebenchArgs;
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::print;
use crate::signals;

/// Runs the personality and prints what it did.
pub fn filebench(args: &FilebenchArgs, json: bool) -> Result<u8, Failure> {
    let Some(file) = args.file.as_deref().filter(|_| !args.list) else { return list() };
    let personality = read(file, args)?;
    let said: Vec<String> = personality.notes.iter().map(ToString::to_string).collect();
    for note in &said {
        eprintln!("note: {note}");
    }
    let directory = args.dir.canonicalize().map_err(|e| {
        Failure::usage_error(format!("--dir: cannot use {}: {e}", args.dir.display()))
    })?;
    let content = ContentKind::WORDS.iter().find(|(word, _)| *word == args.content);
    let options = Options {
        strict: args.strict,
        compat_rng: false,
        content: content.map(|(_, kind)| *kind).unwrap_or_default(),
        warm_up: args.warm_up.unwrap_or_default(),
    };
    let context = SessionContext {
        directory,
        seed: args.seed,
        interrupt: signals::interrupt()?,
        progress: RunProgress::new(|line| eprintln!("{line}")),
    };
    let histograms = personality.latency_histogram;
    let mut session = FilebenchSession::new(Arc::new(personality), context, options)
        .map_err(Failure::usage_error)?;
    let result = session.prepare().and_then(|()| session.measure());
    let removed = if args.keep { Ok(()) } else { session.remove() };
    let shown = show(result, &Show { said, strict: args.strict, histograms, json })?;
    removed.map_err(Failure::failed)?;
    Ok(shown)
}

fn list() -> Result<u8, Failure> {
    let lines = PERSONALITIES.iter().map(|p| format!("{:<20} {}\n", p.name, p.summary()));
    print(&lines.collect::<String>())?;
    Ok(DONE)
}

fn read(file: &Path, args: &FilebenchArgs) -> Result<Personality, Failure> {
    let shipped = file.to_str().and_then(find_personality).filter(|_| !file.exists());
    let source = match shipped {
        Some(built_in) => built_in.source(),
        None => {
            let bytes = read_input(file, LARGEST_TEXT).map_err(|e| {
                Failure::usage_error(format!(
                    "cannot read {}: {e} (`disklab filebench --list` names the shipped ones)",
                    file.display()
                ))
            })?;
            let source = Source::from_bytes(file.display().to_string(), bytes);
            Arc::new(source.map_err(Failure::usage_error)?)
        }
    };
    let mut variables = Vec::with_capacity(args.set.len());
    for setting in &args.set {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            Failure::usage_error(format!("--set: expected NAME=VALUE, found '{setting}'"))
        })?;
        variables.push((name.to_owned(), value.to_owned()));
    }
    let overrides = Overrides { variables, run_time: args.run };
    Ok(Personality::read(&source, &overrides)?)
}

/// How figures are printed.
struct Show {
    /// Notes that were printed before the run.
    said: Vec<String>,
    strict: bool,
    histograms: bool,
    json: bool,
}

/// Prints the figures; also those of a run that ended before its time, by itself
/// or by Ctrl-C.
fn show(result: Result<FilebenchReport, FilebenchError>, how: &Show) -> Result<u8, Failure> {
    let &Show { strict, histograms, json, .. } = how;
    let (report, interrupted) = match result {
        Ok(report) => (report, false),
        Err(FilebenchError::Early { report, .. }) => (*report, false),
        Err(FilebenchError::CutShort(report)) => (*report, true),
        Err(error) if error.is_interrupt() => return Err(Failure::interrupted("interrupted")),
        Err(error) => return Err(Failure::failed(error)),
    };
    let early = report.runs.last().and_then(|run| run.stopped_early.as_deref());
    for note in report.notes.iter().filter(|note| !how.said.contains(note)) {
        eprintln!("note: {note}");
    }
    if json {
        crate::printing::print_json(&json!({
            "early_stop": early,
            "notes": report.notes,
            "runs": report.runs.iter().map(as_json).collect::<Vec<_>>(),
        }))?;
    } else {
        for measured in &report.runs {
            print(&measured.text(strict, histograms))?;
        }
    }
    if interrupted {
        return Err(Failure::interrupted("interrupted; the figures are of what was done"));
    }
    if let Some(reason) = early {
        eprintln!("disklab: the run stopped early: {reason}");
        return Ok(FAILED);
    }
    Ok(DONE)
}

fn as_json(measured: &FilebenchFigures) -> Value {
    let counted = |counted: &disklab_filebench::Counted| {
        let latency = |quantile| counted.histogram.quantile(quantile);
        json!({
            "operations": counted.operations,
            "bytes": counted.bytes,
            "latency_ns": {
                "mean": counted.mean_ns(),
                "min": counted.min_ns,
                "p50": latency(0.5),
                "p99": latency(0.99),
                "p99.9": latency(0.999),
                "max": counted.max_ns,
            },
        })
    };
    let rows = measured.rows.iter().map(
        |row| json!({ "name": row.name, "in_summary": row.io, "counted": counted(&row.counted) }),
    );
    json!({
        "seconds": measured.seconds(),
        "threads": measured.threads,
        "operations_per_second": measured.operations_per_second(),
        "bytes_per_second": measured.bytes_per_second(),
        "summary": counted(&measured.summary),
        "reads": counted(&measured.reads),
        "writes": counted(&measured.writes),
        "rows": rows.collect::<Vec<_>>(),
        "series": {
            "interval_ns": measured.series.interval_ns,
            "operations": measured.series.operations,
            "bytes": measured.series.bytes,
        },
    })
}
