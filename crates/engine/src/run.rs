//! Which clones run when, and what becomes of it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;

use disklab_jobfile::Job;
use disklab_sample::Windows;

use crate::error::EngineError;
use crate::files::{Ends, lay_out_job, preflight};
use crate::filler::Filler;
use crate::measure::{FINEST_NS, now_ns};
use crate::report::{JobReport, Report};
use crate::site::{Progress, Site};
use crate::verify::Checker;
use crate::worker::{self, Outcome, Shared};

/// More clones at once than this are refused: each is a thread.
const MOST_CLONES: u32 = 10_000;

/// A clone's stack: its buffers lie elsewhere. The lab's guest keeps all memory of its
/// first program in place, stacks included.
const STACK_BYTES: usize = 256 << 10;

/// Makes the files that jobs read or overwrite and that are missing or too short.
/// [`run`] does it, too; apart from it, a caller can drop caches in between.
///
/// # Errors
/// Where a job asks for what this engine cannot do, or names what it must not touch
/// ([`preflight`]), before anything is touched; or where a file cannot be made.
pub fn lay_out(jobs: &[Job], site: &Site) -> Result<(), EngineError> {
    check(jobs)?;
    preflight(jobs, site)?;
    jobs.iter().try_for_each(|job| lay_out_job(job, site))
}

/// Runs jobs: those of a file together, but for `stonewall` and `wait_for`.
///
/// What fails while they run (a full disk, a wrong block) is in the report, with
/// what was measured until then.
///
/// # Errors
/// As for [`lay_out`].
pub fn run(jobs: &[Job], site: &Site) -> Result<Report, EngineError> {
    lay_out(jobs, site)?;
    let ends = Ends::plan(jobs, site)?;
    if site.interrupt.is_raised() {
        return Err(EngineError::Interrupted);
    }
    let began = now_ns();
    let mut outcomes: BTreeMap<(usize, u32), Outcome> = BTreeMap::new();
    let bytes = [AtomicU64::new(0), AtomicU64::new(0)];
    let mut from = 0;
    while from < jobs.len() && !site.interrupt.is_raised() {
        let stone = jobs[from + 1..].iter().position(|job| job.groups.stonewall);
        let to = stone.map_or(jobs.len(), |at| from + 1 + at);
        segment(jobs, from..to, (site, &ends), &bytes, &mut outcomes)?;
        from = to;
    }
    let elapsed_ns = now_ns() - began;
    Ok(Report {
        jobs: reports(jobs, outcomes),
        interrupted: site.interrupt.is_raised(),
        elapsed_ns,
    })
}

/// What can be found wrong before anything is touched.
fn check(jobs: &[Job]) -> Result<(), EngineError> {
    let mut clones = 0_u32;
    for job in jobs {
        let wrong = |text: String| EngineError::Job(job.place.error(text));
        Filler::new(job, 0, 0).map_err(wrong)?;
        Checker::new(job, 0, 0).map_err(wrong)?;
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

/// Clones that start together wait here until all are prepared.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gate {
    /// Called by a clone: it is prepared, and waits until the gate opens.
    fn arrive(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Called by who started `clones` of them: opens when all are prepared.
    fn open(&self, clones: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 < clones {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.1 = true;
        self.changed.notify_all();
    }
}

/// Runs the jobs between two stone walls.
fn segment(
    jobs: &[Job],
    range: std::ops::Range<usize>,
    (site, ends): (&Site, &Ends),
    bytes: &[AtomicU64; 2],
    outcomes: &mut BTreeMap<(usize, u32), Outcome>,
) -> Result<(), EngineError> {
    let stop = AtomicBool::new(false);
    let bytes_told = site.progress.is_some().then_some(bytes);
    let shared = Shared { site, ends, stop: &stop, bytes: bytes_told };
    let all: u32 = jobs.iter().map(|job| job.process.clones).sum();
    std::thread::scope(|scope| {
        let (sender, ended) = channel();
        let mut waiting: Vec<usize> = range.clone().collect();
        let mut left: BTreeMap<usize, u32> = BTreeMap::new();
        let mut running = 0_usize;
        let mut failure = None;
        loop {
            // Jobs whose predecessor has ended start, all of them together.
            let is_over = |index: usize| !range.contains(&index) || left.get(&index) == Some(&0);
            let (ready, later): (Vec<usize>, Vec<usize>) =
                waiting.iter().partition(|index| jobs[**index].groups.wait_for.is_none_or(is_over));
            waiting = later;
            let stopped = stop.load(Ordering::Relaxed) || site.interrupt.is_raised();
            if !ready.is_empty() && !stopped && failure.is_none() {
                for index in &ready {
                    left.insert(*index, jobs[*index].process.clones);
                }
                match start(scope, jobs, &ready, &shared, &sender) {
                    Ok(started) => running += started,
                    Err((started, error)) => {
                        running += started;
                        stop.store(true, Ordering::Relaxed);
                        failure = Some(error);
                    }
                }
            }
            if running == 0 {
                return failure.map_or(Ok(()), Err);
            }
            let message = match &site.progress {
                None => ended.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(hook) => {
                    let message = ended.recv_timeout(Duration::from_millis(100));
                    hook(Progress {
                        read_bytes: bytes[0].load(Ordering::Relaxed),
                        write_bytes: bytes[1].load(Ordering::Relaxed),
                        running,
                        ended: outcomes.len(),
                        clones: all as usize,
                    });
                    message
                }
            };
            let (index, clone, outcome): (usize, u32, Outcome) = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => continue,
                // Cannot be: this thread holds a sender.
                Err(RecvTimeoutError::Disconnected) => return failure.map_or(Ok(()), Err),
            };
            let groups = &jobs[index].groups;
            if groups.exit_all || (groups.exit_all_on_error && outcome.error.is_some()) {
                stop.store(true, Ordering::Relaxed);
            }
            outcomes.insert((index, clone), outcome);
            running -= 1;
            if let Some(left) = left.get_mut(&index) {
                *left = left.saturating_sub(1);
            }
        }
    })
}

type Ended = Sender<(usize, u32, Outcome)>;

/// Starts all clones of some jobs, and lets them go when all are prepared.
fn start<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    jobs: &'env [Job],
    indices: &[usize],
    shared: &'scope Shared<'env>,
    sender: &Ended,
) -> Result<usize, (usize, EngineError)> {
    let gate = std::sync::Arc::new(Gate::default());
    let mut started = 0;
    let mut failure = None;
    'all: for &index in indices {
        let job = &jobs[index];
        for clone in 0..job.process.clones {
            let (gate, sender) = (gate.clone(), sender.clone());
            let thread = Builder::new()
                .name(format!("{}.{clone}", job.name).replace('\0', ""))
                .stack_size(STACK_BYTES);
            let spawned = thread.spawn_scoped(scope, move || {
                let arrived = std::cell::Cell::new(false);
                let ready = || {
                    arrived.set(true);
                    gate.arrive();
                    !shared.is_stopped()
                };
                // The others wait for this one: it has to tell its end, even by a bug.
                let work = AssertUnwindSafe(|| worker::run(job, index, clone, shared, ready));
                let outcome = catch_unwind(work).unwrap_or_else(|_| {
                    if !arrived.get() {
                        gate.arrive();
                    }
                    worker::broken(job)
                });
                // The receiver lives until all clones have ended.
                let _ = sender.send((index, clone, outcome));
            });
            if let Err(source) = spawned {
                failure = Some(EngineError::System { action: "start a thread", source });
                break 'all;
            }
            started += 1;
        }
    }
    if failure.is_some() {
        shared.stop.store(true, Ordering::Relaxed);
    }
    gate.open(started);
    failure.map_or(Ok(started), |error| Err((started, error)))
}

/// Outcomes by clone or by group, in the order of the jobs.
fn reports(jobs: &[Job], outcomes: BTreeMap<(usize, u32), Outcome>) -> Vec<JobReport> {
    let mut reports: Vec<(JobReport, crate::worker::Account, bool)> = Vec::new();
    let mut group = 0;
    let mut last_job = None;
    for ((index, clone), outcome) in outcomes {
        let job = &jobs[index];
        if last_job.is_some_and(|last| last != index)
            && (last_job.map_or(0, |last| last + 1)..=index)
                .any(|at| jobs[at].groups.stonewall || jobs[at].groups.new_group)
        {
            group += 1;
        }
        last_job = Some(index);
        let joins = job.groups.group_reporting;
        let same = reports
            .last_mut()
            .filter(|(report, _, joinable)| joins && *joinable && report.group == group);
        let report = one(job, index, clone, group, &outcome);
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
fn one(job: &Job, index: usize, clone: u32, group: u32, outcome: &Outcome) -> JobReport {
    let warnings = job.warnings.iter().map(|warning| warning.message.clone());
    JobReport {
        name: if clone == 0 { job.name.clone() } else { job.section.clone() },
        job: index,
        clone,
        clones: 1,
        group,
        engine: outcome.engine,
        depth: job.depth.depth,
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
        series: Default::default(),
        windows: [Windows::new(FINEST_NS), Windows::new(FINEST_NS)],
        notes: warnings.chain(outcome.notes.iter().cloned()).collect(),
        options: told_options(job),
        reporting: job.reporting.clone(),
    }
}

/// The options as written, and two that readers such as fio-plot look for.
fn told_options(job: &Job) -> Vec<(String, String)> {
    let mut options = job.options.clone();
    let defaults = [("iodepth", job.depth.depth), ("numjobs", job.process.clones)];
    for (name, value) in defaults {
        if options.iter().all(|(option, _)| option != name) {
            options.push((name.to_owned(), value.to_string()));
        }
    }
    options
}

fn filled(report: JobReport, account: crate::worker::Account) -> JobReport {
    let (read, write) = account.done();
    JobReport {
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
        series: account.series,
        windows: account.windows,
        ..report
    }
}
