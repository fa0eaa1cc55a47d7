//! Running jobs by the native engine.

use disklab_engine::{DeviceAccess, EngineError, EngineReport, JobContext, JobReport, SeriesCells};
use disklab_exec::{Executor, Interrupted};
use disklab_jobfile::Job;
use disklab_sample::{Direction, Latency};

use super::figures::summary;
use super::output::{DirectionOutput, LatencyKind};
use super::real::{raw_name, seed_of};
use super::steps::FioStep;
use super::workload::Fio;
use crate::steady::Counts;
use crate::{FioJobFailure, StepOutcome, WorkContext, WorkloadError};

/// A step whose files are there.
pub(in crate::kinds) struct ReadyStep<'a> {
    fio: &'a Fio,
    step: &'a FioStep,
    jobs: Vec<Job>,
    place: JobContext,
    raw: String,
}

impl<'a> ReadyStep<'a> {
    /// Makes what is missing, before the clock starts.
    ///
    /// # Errors
    /// Where a file cannot be made.
    pub(in crate::kinds) fn new(
        fio: &'a Fio,
        number: usize,
        context: &WorkContext<'_>,
    ) -> Result<Self, WorkloadError> {
        let step = &fio.steps[number];
        let jobs: Vec<Job> = step.sections().map(|index| fio.parts[index].job.clone()).collect();
        let in_guest = context.executor.guest().is_some();
        let place = JobContext {
            interrupt: context.executor.interrupt.clone(),
            lean: in_guest,
            devices: if in_guest { DeviceAccess::Any } else { DeviceAccess::default() },
            ..JobContext::new(context.directory, seed_of(context.seed, number))
        };
        disklab_engine::lay_out(&jobs, &place).map_err(failed)?;
        Ok(Self { fio, step, jobs, place, raw: raw_name(number, &step.name) })
    }

    /// Runs it, and returns what is to be noted of it, too.
    ///
    /// # Errors
    /// [`WorkloadError::FioJob`] of the first job that failed.
    pub(in crate::kinds) fn run(
        &self,
        executor: &Executor,
    ) -> Result<(StepOutcome, Vec<String>), WorkloadError> {
        let command = command(self.fio, self.step, self.place.seed);
        executor.trace.note(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let report = disklab_engine::run(&self.jobs, &self.place).map_err(failed)?;
        if let Some(directory) = executor.raw_directory() {
            let path = directory.join(format!("{}.json", self.raw));
            let json = format!("{:#}\n", report.to_fio_json());
            std::fs::write(&path, json).map_err(WorkloadError::io("cannot write", &path))?;
        }
        if report.interrupted {
            return Err(Interrupted.into());
        }
        let notes = report.jobs.iter().flat_map(|job| job.notes.iter().cloned()).collect();
        Ok((outcome(self.fio, self.step, &report)?, notes))
    }

    /// The same, whose raw output has another name.
    pub(in crate::kinds) fn called(self, raw: &str) -> Self {
        Self { raw: raw.to_owned(), ..self }
    }
}

/// Runs the steps.
///
/// # Errors
/// [`WorkloadError::FioJob`] of the first job that failed.
pub(super) fn run(fio: &Fio, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
    let mut notes: Vec<String> = Vec::new();
    for (number, step) in fio.steps.iter().enumerate() {
        let ready = ReadyStep::new(fio, number, context)?;
        // The caches are dropped after what was missing was made.
        context.step(&step.name, |executor| {
            let (outcome, more) = ready.run(executor)?;
            notes.extend(more);
            Ok(outcome)
        })?;
    }
    note_run(fio, notes, context);
    Ok(())
}

/// Notes what a reader must know of the jobs' figures, and `notes`.
pub(in crate::kinds) fn note_run(fio: &Fio, notes: Vec<String>, context: &mut WorkContext<'_>) {
    for note in notes {
        context.note_once("fio", note);
    }
    context.note_once(
        "fio",
        "run by disklab's own engine; latencies are total ones (fio's lat): from submission to \
         completion",
    );
    if fio.parts.iter().any(|part| part.work.commits_each) {
        context.note_once("fio", "where a sync follows each write, of write and sync together");
    }
}

fn failed(error: EngineError) -> WorkloadError {
    match error {
        EngineError::Interrupted(stop) => stop.into(),
        other => WorkloadError::Engine(Box::new(other)),
    }
}

/// The command that does the same by hand.
fn command(fio: &Fio, step: &FioStep, seed: u64) -> Vec<String> {
    let own = ["disklab", "fio"].map(str::to_owned).into_iter().chain([format!("--seed={seed}")]);
    own.chain(step.sections().flat_map(|index| fio.parts[index].section.arguments())).collect()
}

/// What a step gave.
fn outcome(fio: &Fio, step: &FioStep, report: &EngineReport) -> Result<StepOutcome, WorkloadError> {
    if let Some((name, failure)) =
        report.jobs.iter().find_map(|job| Some((&job.name, job.error.as_ref()?)))
    {
        let source = FioJobFailure::Engine(failure.clone());
        return Err(WorkloadError::FioJob { job: name.clone(), source });
    }
    // Commits are counted for the whole only.
    let of_all =
        |whole: bool, what: &dyn Fn(&JobReport, Direction) -> disklab_engine::DirectionReport| {
            let mut done: Vec<Vec<DirectionOutput>> = vec![Vec::new(); step.sections().count()];
            let commit = |job: &JobReport| job.commit.clone().filter(|_| whole);
            let done_by = |job| of(&|d| what(job, d), commit(job).as_ref());
            report.jobs.iter().for_each(|job| done[job.job].extend(done_by(job)));
            summary(&fio.parts, step, &done).0
        };
    let mut outcome = of_all(true, &|job, direction| job.done(direction).clone());
    outcome.steadiness = counts(report).and_then(|counts| counts.steadiness());
    if let Some(from_ns) = outcome.steadiness.and_then(|steady| steady.later_part()) {
        // Windows of the jobs differ in length by powers of two: the longest one's mark
        // is one of all.
        let windows = report.jobs.iter().flat_map(|job| &job.windows);
        let mark_ns = windows.map(|w| w.mark(from_ns)).max().unwrap_or(from_ns);
        outcome.steady = of_all(false, &|job, direction| job.since(mark_ns, direction)).figures;
    }
    outcome.in_flight = in_flight(report);
    outcome.user_ns = report.jobs.iter().map(|job| job.user_ns).sum();
    outcome.system_ns = report.jobs.iter().map(|job| job.system_ns).sum();
    Ok(outcome)
}

/// Requests that a job had in flight on average; none where one does not tell.
fn in_flight(report: &EngineReport) -> Option<f64> {
    let clones = report.jobs.iter().map(|job| f64::from(job.clones)).sum::<f64>();
    let each = report.jobs.iter().map(|job| Some(job.in_flight? * f64::from(job.clones)));
    Some(each.sum::<Option<f64>>()? / clones).filter(|mean| mean.is_finite())
}

/// I/Os of all jobs, interval by interval; none where jobs run one after another.
fn counts(report: &EngineReport) -> Option<Counts> {
    let mut all = SeriesCells::default();
    for job in &report.jobs {
        all.merge(job.series.clone());
    }
    let together = report.jobs.windows(2).all(|two| two[0].group == two[1].group)
        || report.jobs.iter().all(|job| job.elapsed_ns.saturating_mul(2) > report.elapsed_ns);
    let operations = all.read.iter().zip(&all.write).map(|(r, w)| r.operations + w.operations);
    together.then(|| Counts { interval_ns: all.interval_ns, operations: operations.collect() })
}

/// What a job, or a group of them, did.
fn of(
    done: &dyn Fn(Direction) -> disklab_engine::DirectionReport,
    commit: Option<&Latency>,
) -> Vec<DirectionOutput> {
    [Direction::Read, Direction::Write]
        .map(|direction| (direction, done(direction)))
        .into_iter()
        .filter(|(_, done)| done.operations > 0)
        .map(|(direction, done)| DirectionOutput {
            direction,
            bytes: done.bytes,
            operations: done.operations,
            runtime_ns: done.runtime_ns,
            bytes_per_second: done.bytes_per_second(),
            operations_per_second: done.operations_per_second(),
            latency: done.total.map(|latency| (LatencyKind::Total, latency)),
            commit: commit.filter(|_| direction == Direction::Write).cloned(),
        })
        .collect()
}
