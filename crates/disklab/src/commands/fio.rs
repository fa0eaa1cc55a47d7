//! `disklab fio`: jobs run by disklab's own engine, outside of any study.

mod devices;
mod program_options;
mod surroundings;
mod table;
mod texts;
mod words;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disklab_engine::{
    EngineReport, JobContext, JobProgress, LogKind, ProgressHook, log_paths, run,
};
use disklab_jobfile::{Job, jobs, listing};
use indicatif::{ProgressBar, ProgressStyle};

use self::texts::JobTexts;
use self::words::FioWords;
use super::outputs::{OutputError, check_named, write_named};
use crate::cli::{FioArgs, FioFormat};
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::print;
use crate::signals;

/// fio seeds its generators with a constant unless it is told otherwise, so that a
/// job does the same each time; so do we.
const SEED: u64 = 0;

/// Runs the jobs and prints what they did.
pub fn fio(args: &FioArgs, json: bool) -> Result<u8, Failure> {
    let words = FioWords::read(&args.own, &args.words)?;
    if words.own.list_options {
        print(&listing())?;
        return Ok(DONE);
    }
    if words.files.is_empty() && words.text.is_empty() {
        return Err(Failure::usage_error(
            "nothing to do: give a job file, or options such as --name=x --rw=randread --bs=4k \
             --size=1g (`disklab fio --list-options` lists them)",
        ));
    }
    let texts = JobTexts::read(&words)?;
    let jobs = jobs(&texts.sections).map_err(Failure::usage_error)?;
    for note in notes(&words, &texts, &jobs) {
        eprintln!("note: {note}");
    }
    if words.own.parse_only {
        return Ok(DONE);
    }
    let interrupt = signals::interrupt()?;
    let directory = words.own.dir.clone().unwrap_or_else(|| ".".into());
    let directory = directory.canonicalize().map_err(|e| {
        Failure::usage_error(format!("--dir: cannot use {}: {e}", directory.display()))
    })?;
    let shown = FioProgress::new(&jobs);
    let mut context = JobContext {
        interrupt,
        progress: Some(shown.hook()),
        read_only: words.own.readonly,
        ..JobContext::new(directory, words.own.seed.unwrap_or(SEED))
    };
    words
        .own
        .output
        .as_deref()
        .map_or(Ok(None), check_named)
        .map_err(OutputError::into_usage_error)?;
    devices::settle(&jobs, &words, &mut context)?;
    words.own.logs.as_deref().map_or(Ok(()), make_for_logs)?;
    check_logs(&jobs)?;
    let report = run(&jobs, &context);
    shown.end();
    let report = report?;
    write(&report, &texts, &words, json)?;
    ended(&report)
}

/// What is said once before jobs run.
fn notes(words: &FioWords, texts: &JobTexts, jobs: &[Job]) -> Vec<String> {
    let mut notes: Vec<String> = program_options::note(&words.passed_over).into_iter().collect();
    if words.own.output_format.contains(&FioFormat::Terse) {
        notes.push("--output-format=terse: a table is printed; json has all figures".to_owned());
    }
    let filled = texts.variables.iter().map(|(name, value)| format!("{name} is '{value}'"));
    notes.extend(filled);
    for warning in jobs.iter().flat_map(|job| &job.warnings) {
        let note = warning.to_string();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Prints the report, or writes it into the file that was named, and the logs.
fn write(
    report: &EngineReport,
    texts: &JobTexts,
    words: &FioWords,
    json: bool,
) -> Result<(), Failure> {
    let mut text = String::new();
    let formats = if json { vec![FioFormat::Json] } else { words.formats() };
    for format in formats {
        let mut value = match format {
            FioFormat::Json => report.to_brief_fio_json(),
            FioFormat::JsonPlus => report.to_fio_json(),
            FioFormat::Normal | FioFormat::Terse => {
                text.push_str(&table::table(report));
                continue;
            }
        };
        texts.record(&mut value);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{value:#}");
    }
    match &words.own.output {
        None => print(&text)?,
        Some(path) => write_named(path, &text).map_err(Failure::failed)?,
    }
    if let Some(directory) = &words.own.logs {
        write_logs(report, directory)?;
    }
    for (path, text) in report.wanted_logs() {
        write_named(&path, &text).map_err(Failure::failed)?;
    }
    Ok(())
}

fn make_for_logs(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|e| {
        Failure::usage_error(format!(
            "--logs: cannot make the directory {}: {e}",
            directory.display()
        ))
    })
}

/// Checks that the logs that jobs ask for can be written, before anything is touched.
fn check_logs(jobs: &[Job]) -> Result<(), Failure> {
    for job in jobs {
        for (_, path) in log_paths(&job.name, &job.reporting.logs, 0) {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if directory.is_some_and(|directory| !directory.is_dir()) {
                return Err(Failure::usage_error(job.place.error(format!(
                    "the log {} would lie in a directory that does not exist: make it first",
                    path.display()
                ))));
            }
            check_named(&path).map_err(OutputError::into_usage_error)?;
        }
    }
    Ok(())
}

/// Logs as fio writes them, for what draws fio's logs; in a directory of their own, so that they
/// are not written into what is measured.
fn write_logs(report: &EngineReport, directory: &Path) -> Result<(), Failure> {
    for kind in [LogKind::Bandwidth, LogKind::Operations, LogKind::Latency] {
        for (name, text) in report.logs(kind) {
            let path = directory.join(name);
            write_named(&path, &text).map_err(Failure::failed)?;
        }
    }
    Ok(())
}

/// The exit code, and what was wrong.
fn ended(report: &EngineReport) -> Result<u8, Failure> {
    if report.interrupted {
        return Err(Failure::interrupted("interrupted; the figures are of what was done"));
    }
    let mut code = DONE;
    for job in &report.jobs {
        if let Some(why) = &job.error {
            eprintln!("disklab: job '{}' failed: {why}", job.name);
            code = FAILED;
        }
        for note in &job.notes {
            eprintln!("note: {note}");
        }
    }
    Ok(code)
}

/// Progress, as a bar on a terminal and as a line now and then anywhere else.
struct FioProgress {
    bar: Option<ProgressBar>,
    /// Bytes that all jobs will move, or nanoseconds where time ends them.
    whole: Whole,
}

#[derive(Clone, Copy)]
enum Whole {
    Bytes(u64),
    Time(Duration),
}

impl FioProgress {
    fn new(jobs: &[Job]) -> Self {
        let timed = jobs.iter().any(|job| job.timing.runtime.is_some());
        let whole = if timed {
            let of = |job: &Job| job.timing.runtime.unwrap_or_default() + job.timing.ramp;
            // Those behind a stonewall add up, others run together.
            let mut sum = Duration::ZERO;
            let mut longest = Duration::ZERO;
            for job in jobs {
                if job.groups.stonewall {
                    sum += longest;
                    longest = Duration::ZERO;
                }
                longest = longest.max(of(job));
            }
            Whole::Time(sum + longest)
        } else {
            let of = |job: &Job| {
                let each = job.length.io_size.saturating_mul(job.length.loops);
                each.saturating_mul(u64::from(job.process.clones))
            };
            Whole::Bytes(jobs.iter().map(of).fold(0, u64::saturating_add))
        };
        let bar = std::io::stderr().is_terminal().then(|| {
            let (length, template) = match whole {
                Whole::Bytes(bytes) => {
                    (bytes, "{bar:30} {binary_bytes} of {binary_total_bytes}, {eta} left")
                }
                Whole::Time(time) => (time.as_millis() as u64, "{bar:30} {msg}, {eta} left"),
            };
            let bar = ProgressBar::new(length.max(1));
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, whole }
    }

    /// What the engine calls.
    fn hook(&self) -> ProgressHook {
        let (bar, whole) = (self.bar.clone(), self.whole);
        let began = std::time::Instant::now();
        let reported = std::sync::Mutex::new(began);
        Arc::new(move |progress: JobProgress| {
            let moved = progress.read_bytes.saturating_add(progress.write_bytes);
            let passed = began.elapsed();
            if let Some(bar) = &bar {
                bar.set_position(match whole {
                    Whole::Bytes(_) => moved,
                    Whole::Time(_) => passed.as_millis() as u64,
                });
                bar.set_message(disklab_units::Bytes(moved).iec());
                return;
            }
            let Ok(mut reported) = reported.lock() else { return };
            if reported.elapsed() < Duration::from_secs(10) {
                return;
            }
            *reported = std::time::Instant::now();
            let share = match whole {
                Whole::Bytes(bytes) => moved as f64 / bytes.max(1) as f64,
                Whole::Time(time) => passed.as_secs_f64() / time.as_secs_f64().max(1e-3),
            };
            let left = passed.mul_f64((1.0 / share.clamp(1e-3, 1.0) - 1.0).max(0.0));
            eprintln!(
                "{}, about {} left",
                disklab_units::Bytes(moved).iec(),
                disklab_units::show_duration(left)
            );
        })
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
