//! Which clones run when, and what becomes of it.

use std::collections::BTreeMap;

use disklab_jobfile::Job;
use disklab_sample::Windows;

use crate::context::JobContext;
use crate::control::{Controls, groups};
use crate::error::EngineError;
use crate::files::{
    Ends, check_directories, lay_out_job, make_directories, preflight, take_lengths,
};
use crate::filler::BufferFiller;
use crate::flow::Flows;
use crate::measure::{FINEST_NS, now_ns};
use crate::report::{EngineReport, JobReport};
use crate::segment::Segments;
use crate::steady::Watches;
use crate::verify::Checker;
use crate::worker::CloneOutcome;

/// More clones at once than this are refused: each is a thread.
const MOST_CLONES: u32 = 10_000;

/// Makes the files that jobs read or overwrite and that are missing or too short.
/// [`run`] does it, too; apart from it, a caller can drop caches in between.
///
/// # Errors
/// Where a job asks for what this engine cannot do, or names what it must not touch
/// ([`preflight`]), before anything is touched; or where a file cannot be made.
pub fn lay_out(jobs: &[Job], context: &JobContext) -> Result<(), EngineError> {
    laid_out(jobs, context).map(|_| ())
}

/// The same. Returns the jobs with the lengths of files that are taken as they are.
fn laid_out(jobs: &[Job], context: &JobContext) -> Result<Vec<Job>, EngineError> {
    check(jobs)?;
    check_directories(jobs, context)?;
    preflight(jobs, context)?;
    let mut jobs = jobs.to_vec();
    for job in &mut jobs {
        make_directories(job, context)?;
        // A job before this one may have made its files.
        take_lengths(job, context)?;
        lay_out_job(job, context)?;
    }
    Ok(jobs)
}

/// Runs jobs: those of a file together, but for `stonewall` and `wait_for`.
///
/// What fails while they run (a full disk, a wrong block) is in the report, with
/// what was measured until then.
///
/// # Errors
/// As for [`lay_out`].
pub fn run(jobs: &[Job], context: &JobContext) -> Result<EngineReport, EngineError> {
    let jobs = laid_out(jobs, context)?;
    let jobs = jobs.as_slice();
    let ends = Ends::plan(jobs, context)?;
    context.interrupt.check()?;
    let (controls, flows) = (Controls::new(jobs), Flows::new(jobs));
    let began = now_ns();
    let mut outcomes: BTreeMap<(usize, u32), CloneOutcome> = BTreeMap::new();
    let mut segments = Segments {
        jobs,
        context,
        ends: &ends,
        controls: &controls,
        flows: &flows,
        bytes: Default::default(),
        watches: Watches::new(jobs),
    };
    let mut from = 0;
    while from < jobs.len() && !context.interrupt.is_raised() {
        let stone = jobs[from + 1..].iter().position(|job| job.groups.stonewall);
        let to = stone.map_or(jobs.len(), |at| from + 1 + at);
        segments.run(from..to, &mut outcomes)?;
        from = to;
    }
    let elapsed_ns = now_ns() - began;
    Ok(EngineReport {
        jobs: reports(jobs, outcomes, &segments.watches),
        interrupted: context.interrupt.is_raised(),
        elapsed_ns,
    })
}

/// What can be found wrong before anything is touched.
fn check(jobs: &[Job]) -> Result<(), EngineError> {
    let mut clones = 0_u32;
    for job in jobs {
        let wrong = |text: String| EngineError::Job(job.place.error(text));
        BufferFiller::new(job, 0, 0).map_err(|e| wrong(e.to_string()))?;
        Checker::new(job, 0, 0).map_err(|e| wrong(e.to_string()))?;
        clones = clones.saturating_add(job.process.clones);
        if clones > MOST_CLONES {
            return Err(wrong(format!("the jobs have more than {MOST_CLONES} clones (numjobs)")));
        }
        if job.blocks.max() > 1 << 30 {
            return Err(wrong("blocks can be at most 1 GiB long".to_owned()));
        }
        if job.opening.direct && job.blocks.min() < 512 {
            return Err(wrong(format!(
                "direct=1 needs blocks of at least a sector (512 bytes), not of {} bytes",
                job.blocks.min()
            )));
        }
    }
    Ok(())
}

/// Outcomes by clone or by group, in the order of the jobs.
fn reports(
    jobs: &[Job],
    outcomes: BTreeMap<(usize, u32), CloneOutcome>,
    watches: &Watches,
) -> Vec<JobReport> {
    let mut reports: Vec<(JobReport, crate::worker::Account, bool)> = Vec::new();
    let groups = groups(jobs);
    for ((index, clone), outcome) in outcomes {
        let (job, group) = (&jobs[index], groups[index]);
        let joins = job.groups.group_reporting;
        let same = reports
            .last_mut()
            .filter(|(report, _, joinable)| joins && *joinable && report.group == group);
        let steadiness = watches.of(index, clone);
        let report = JobReport { steadiness, ..one(job, index, clone, group, &outcome) };
        match same {
            None => reports.push((report, outcome.account, joins)),
            Some((before, account, _)) => {
                account.merge(outcome.account);
                before.clones += 1;
                before.clone = 0;
                before.error = before.error.take().or(report.error);
                before.verified.0 += report.verified.0;
                before.verified.1 += report.verified.1;
                for note in report.notes {
                    if !before.notes.contains(&note) {
                        before.notes.push(note);
                    }
                }
            }
        }
    }
    reports.into_iter().map(|(report, account, _)| filled(report, account)).collect()
}

/// A report with everything but what is summed up.
fn one(job: &Job, index: usize, clone: u32, group: u32, outcome: &CloneOutcome) -> JobReport {
    let warnings = job.warnings.iter().map(|warning| warning.message.clone());
    JobReport {
        name: if clone == 0 { job.name.clone() } else { job.section.clone() },
        job: index,
        clone,
        clones: 1,
        group,
        engine: outcome.engine,
        depth: outcome.depth,
        steadiness: None,
        latency_target: job.depth.target,
        error: outcome.error.clone(),
        passed_over: 0,
        read: Default::default(),
        write: Default::default(),
        sync: None,
        commit: None,
        verified: outcome.verified,
        user_ns: 0,
        system_ns: 0,
        context_switches: 0,
        faults: (0, 0),
        elapsed_ns: 0,
        depths: [0; 7],
        // Filled in where it means something.
        in_flight: fills_its_queue(job).then_some(0.0),
        submits: [0; 7],
        completes: [0; 7],
        series: Default::default(),
        windows: [Windows::new(FINEST_NS), Windows::new(FINEST_NS)],
        notes: warnings.chain(outcome.notes.iter().cloned()).collect(),
        options: options_as_given(job),
        reporting: job.reporting.clone(),
    }
}

/// The options as written, and two that readers such as fio-plot look for.
fn options_as_given(job: &Job) -> Vec<(String, String)> {
    let mut options = job.options.clone();
    let defaults = [("iodepth", job.depth.depth), ("numjobs", job.process.clones)];
    for (name, value) in defaults {
        if options.iter().all(|(option, _)| option != name) {
            options.push((name.to_owned(), value.to_string()));
        }
    }
    options
}

/// Whether a job keeps as many in flight as its depth says, as far as it can.
fn fills_its_queue(job: &Job) -> bool {
    let depth = &job.depth;
    let is_batched = depth.complete_min > 1 || depth.batch > 1 || depth.low < depth.depth;
    !is_batched && depth.target.is_none() && job.pace.flow.is_none() && job.verify.is_none()
}

fn filled(report: JobReport, account: crate::worker::Account) -> JobReport {
    let (read, write) = account.done();
    JobReport {
        in_flight: report.in_flight.and(account.in_flight()),
        read,
        write,
        sync: account.sync(),
        commit: account.commit(),
        passed_over: account.passed_over,
        user_ns: account.usage.user_ns,
        system_ns: account.usage.system_ns,
        context_switches: account.usage.context_switches,
        faults: (account.usage.major_faults, account.usage.minor_faults),
        elapsed_ns: account.elapsed_ns,
        depths: account.depths,
        submits: account.submits,
        completes: account.completes,
        series: account.series,
        windows: account.windows,
        ..report
    }
}
