//! Running a personality on a stack, and its figures.

use std::fs;

use disklab_exec::{Interrupt, Interrupted};
use disklab_filebench::{
    Counted, FilebenchError, FilebenchFigures, FilebenchReport, FilebenchSession, RunProgress,
    SessionContext,
};
use disklab_sample::{Direction, Figure, Latency, OperationKind, Since, Steadiness};
use disklab_source::FileName;

use super::workload::Filebench;
use crate::steady::Counts;
use crate::{StepOutcome, WorkContext, WorkloadError};

/// What went wrong, for a cell.
fn failed(error: FilebenchError) -> WorkloadError {
    if error.is_interrupt() {
        return Interrupted.into();
    }
    WorkloadError::Filebench(Box::new(error))
}

/// Makes the files, and carries out what the script says before its first run.
pub(super) fn prepare(
    workload: &Filebench,
    context: &mut WorkContext<'_>,
) -> Result<FilebenchSession, WorkloadError> {
    if !workload.scaled.is_empty() {
        context.note(
            "filebench",
            format!(
                "scaled: {}; the sizes of the files of a fileset stay",
                workload.scaled.join("; ")
            ),
        );
    }
    if workload.options.strict {
        context.note("filebench", "strict: with the flaws of Filebench 1.5 that decide figures");
    }
    let interrupt: Interrupt = context.executor.interrupt.clone();
    let place = SessionContext {
        directory: context.directory.to_owned(),
        seed: context.seed,
        interrupt,
        progress: RunProgress::new(|line| tracing::debug!("filebench: {line}")),
    };
    let personality = std::sync::Arc::clone(&workload.personality);
    let mut session =
        FilebenchSession::new(personality, place, workload.options.clone()).map_err(failed)?;
    session.prepare().map_err(failed)?;
    Ok(session)
}

pub(super) fn run(
    workload: &Filebench,
    session: &mut FilebenchSession,
    context: &mut WorkContext<'_>,
) -> Result<(), WorkloadError> {
    let name = workload.personality.name.trim_end_matches(".f").to_owned();
    let mut notes = Vec::new();
    let result = context.step(&name, |executor| {
        let (report, early) = match session.measure() {
            Ok(report) => (report, None),
            Err(FilebenchError::Early { reason, report }) => (*report, Some(reason)),
            Err(error) => return Err(failed(error)),
        };
        // Also of a run that ended early: it tells how far it came.
        if let Some(directory) = executor.raw_directory() {
            save(directory, &name, workload, &report)?;
        }
        notes.clone_from(&report.notes);
        if let Some(reason) = early {
            let (name, seconds) = (name.clone(), report.seconds());
            return Err(WorkloadError::StoppedEarly { name, seconds, reason });
        }
        outcome(workload, &name, &report)
    });
    for note in notes {
        context.note_once("filebench", note);
    }
    result
}

/// Keeps the rows as Filebench shows them, and the series.
fn save(
    directory: &std::path::Path,
    name: &str,
    workload: &Filebench,
    report: &FilebenchReport,
) -> Result<(), WorkloadError> {
    let histograms = workload.personality.latency_histogram;
    let mut text = String::new();
    let mut series = "run,second,operations,bytes\n".to_owned();
    for (number, measured) in report.runs.iter().enumerate() {
        text.push_str(&measured.text(workload.options.strict, histograms));
        let seconds = measured.series.interval_ns / 1_000_000_000;
        let both = measured.series.operations.iter().zip(&measured.series.bytes);
        for (interval, (operations, bytes)) in both.enumerate() {
            let second = interval as u64 * seconds;
            series.push_str(&format!("{},{second},{operations},{bytes}\n", number + 1));
        }
    }
    let name = FileName::plain(name, 60);
    for (ending, content) in [("txt", text), ("csv", series)] {
        let path = directory.join(format!("filebench-{name}.{ending}"));
        fs::write(&path, content).map_err(WorkloadError::io("cannot write", &path))?;
    }
    Ok(())
}

fn outcome(
    workload: &Filebench,
    name: &str,
    report: &FilebenchReport,
) -> Result<StepOutcome, WorkloadError> {
    let elapsed_ns = report.runs.iter().map(|run| run.elapsed_ns).sum();
    let all = |of: &dyn Fn(&FilebenchFigures) -> &Counted| {
        let mut sum = Counted::default();
        report.runs.iter().for_each(|run| sum.merge(of(run)));
        sum
    };
    let summary = all(&|run| &run.summary);
    if summary.operations == 0 {
        let (name, seconds) = (name.to_owned(), report.seconds());
        return Err(WorkloadError::NothingDone { name, seconds });
    }
    let mut parts = Vec::new();
    if workload.flowops {
        for (index, row) in report.runs.first().into_iter().flat_map(|run| &run.rows).enumerate() {
            let mut counted = Counted::default();
            report.runs.iter().filter_map(|run| run.rows.get(index)).for_each(|row| {
                counted.merge(&row.counted);
            });
            if row.io && counted.operations > 0 {
                parts.push((row.name.clone(), vec![figure(counted, elapsed_ns)]));
            }
        }
    }
    // Periods count from zero each.
    let (steadiness, steady) = match report.runs.as_slice() {
        [one] => steady_part(one),
        _ => (None, Vec::new()),
    };
    Ok(StepOutcome {
        figures: vec![figure(summary, elapsed_ns)],
        parts,
        steadiness,
        steady,
        user_ns: report.runs.iter().map(|run| run.user_ns).sum(),
        system_ns: report.runs.iter().map(|run| run.system_ns).sum(),
        ..StepOutcome::default()
    })
}

/// How steady a run was, and the figure of its steady part where that is not the whole.
fn steady_part(run: &FilebenchFigures) -> (Option<Steadiness>, Vec<Figure>) {
    let counts =
        Counts { interval_ns: run.series.interval_ns, operations: run.series.operations.clone() };
    let steadiness = counts.steadiness();
    let steady = steadiness.and_then(|steady| steady.later_part()).map(|from_ns| {
        let Since { operations, bytes, histogram } = run.windows.since(from_ns);
        let counted = Counted { operations, bytes, histogram, ..Counted::default() };
        figure(counted, run.elapsed_ns.saturating_sub(run.windows.mark(from_ns)))
    });
    (steadiness, steady.into_iter().collect())
}

fn figure(counted: Counted, elapsed_ns: u64) -> Figure {
    let seconds = elapsed_ns as f64 / 1e9;
    let per_second = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
    Figure {
        direction: Direction::Mixed,
        bytes: counted.bytes,
        operations: Some(counted.operations),
        elapsed_ns,
        bytes_per_second: per_second(counted.bytes),
        operations_per_second: per_second(counted.operations),
        latency: Some(Latency::from_histogram(counted.histogram)),
        missed: None,
        operation: OperationKind::Operation,
        commit: None,
    }
}
