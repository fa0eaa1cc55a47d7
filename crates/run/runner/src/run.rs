//! A run: created or resumed, carried out, recorded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_bench::CellExecutor;
use disklab_cell::{Cell, Levels};
use disklab_store::{CellState, Provenance, Run, RunInfo, Session, now};
use disklab_study::{Study, load};

use crate::adaptive;
use crate::observer::{CellForecast, Observer, UpcomingCells};
use crate::places::{check_vacant, claim_outputs, holds_run};
use crate::plan::Plan;
use crate::recorder::{Answers, analyser_so_far, run_recorded};
use crate::setup::{Caller, CheckedRun, PlannedRun};
use crate::studies::study_directory;
use crate::{
    FoundStudy, RunEstimate, RunOptions, RunnerError, StopOptions, StopRule, VERSION,
    leftover_lines, tear_down_leftovers,
};

/// A run with a directory, the user's consent, and a bench that is ready.
pub struct OpenRun {
    /// What is run.
    pub plan: Plan,
    /// Where it is recorded.
    pub run: Run,
    bench: Box<dyn CellExecutor>,
    /// The cells that are left, if their number is fixed.
    cells: Vec<Cell>,
}

impl CheckedRun {
    /// Creates the run in `out`: asks for consent, has the bench prepared, and records what
    /// the run is. `yes` says that consent was given.
    ///
    /// # Errors
    /// [`RunnerError`]; the directory is then as it was.
    pub fn begin(self, out: &Path, yes: bool) -> Result<OpenRun, RunnerError> {
        let Self { plan, bench, scratch, .. } = self;
        let bench = bench.confirm(yes).map_err(RunnerError::prepare)?;
        let claim = claim_outputs(out)?;
        let bench = bench.prepare(&plan.needs()).map_err(RunnerError::prepare)?;
        scratch.make()?;
        let info = plan.run_info(bench.environment());
        // A campaign that decides as it goes adds its cells block by block.
        let first: &[Cell] = if plan.stop.is_some() { &[] } else { &plan.cells };
        let run = Run::create_in(&claim, &info, first).map_err(RunnerError::Open)?;
        claim.keep();
        let cells = plan.cells.clone();
        Ok(OpenRun { plan, run, bench, cells })
    }
}

impl OpenRun {
    /// Runs the cells that are left. Returns how many failed.
    ///
    /// # Errors
    /// [`RunnerError::Interrupted`], [`RunnerError::Bench`] if the bench cannot continue, and
    /// [`RunnerError::Record`] if the run cannot be written. What was recorded is kept.
    pub fn carry_out(&mut self, observer: &mut dyn Observer) -> Result<usize, RunnerError> {
        let Self { plan, run, bench, cells } = self;
        run.begin_session(&session()).map_err(RunnerError::Record)?;
        if let Some(rule) = &plan.stop {
            return adaptive::go(plan, rule, bench.as_mut(), run, observer);
        }
        let estimate = RunEstimate::new(plan);
        let forecast = |cell: &Cell| CellForecast {
            workload: cell.levels.workload.clone(),
            seconds: estimate.seconds(cell),
        };
        let recorded = run.cells().map_err(RunnerError::Record)?;
        let upcoming = UpcomingCells {
            next: &cells.iter().map(forecast).collect::<Vec<_>>(),
            at_once: plan.bench.at_once,
            recorded: &recorded,
            campaign: None,
        };
        let mut analyser = analyser_so_far(plan, run)?;
        let answers = Some(Answers::new(&plan.campaign.study, &mut analyser, cells));
        let mut plans = estimate.compiled(cells);
        run_recorded(&mut plans, bench.as_mut(), run, answers, &upcoming, observer)
    }

    /// Has other machines or processes carry its cells out. `engine` is given what would do it
    /// here.
    pub fn with_executor(
        mut self,
        engine: impl FnOnce(Box<dyn CellExecutor>) -> Box<dyn CellExecutor>,
    ) -> Self {
        self.bench = engine(self.bench);
        self
    }

    /// Arguments that resuming it needs besides those that it remembers: consents that are
    /// not used up yet.
    pub fn consents_left(&self) -> Vec<String> {
        self.bench.consents_left()
    }
}

/// A run that is resumed.
pub struct ResumeRequest {
    /// Where it is.
    pub directory: PathBuf,
    /// What is given now; the rest is as it was begun.
    pub options: RunOptions,
    /// What is given now of when to end.
    pub stop: StopOptions,
    /// The study as it is named now, if it is.
    pub study: Option<(String, FoundStudy)>,
    /// Whether cells that failed run again.
    pub retry_failed: bool,
    /// Whether the user has consented to erasing drives.
    pub yes: bool,
}

/// What there is to resume.
pub enum Resumed {
    /// Nothing: all is done.
    Done(Box<Run>),
    /// The rest.
    Open(Box<OpenRun>),
}

/// Resumes a run: the same study, bench, scale and machine, or not at all.
///
/// # Errors
/// [`RunnerError`] if it is no run, if something differs, or the bench does not become ready.
pub fn resume(
    request: &ResumeRequest,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<Resumed, RunnerError> {
    for line in leftover_lines(&tear_down_leftovers(&caller.state, &caller.interrupt)?) {
        observer.note(&line);
    }
    let directory = &request.directory;
    let run = Run::resume(directory).map_err(RunnerError::Open)?;
    if request.retry_failed {
        run.retry_failed().map_err(RunnerError::Record)?;
    }
    let info = run.info().map_err(RunnerError::Open)?;
    let study = load(&info.study_file, &info.study_text)?;
    if let Some((name, named)) = &request.study
        && named.study.digest != study.digest
    {
        return Err(RunnerError::OtherStudy { directory: directory.clone(), name: name.clone() });
    }
    let cells = waiting(&run)?;
    let options = request.options.as_begun(&info)?;
    let rule = request.stop.as_begun(&info.options)?.rule(None)?;
    if cells.is_empty() && is_over(&run, rule.is_some(), &request.stop)? {
        return Ok(Resumed::Done(Box::new(run)));
    }
    let is_fixed = rule.is_none();
    let mut planned = planned_again(study, &info, options, rule, directory, caller)?;
    if is_fixed {
        planned.plan.cells.clone_from(&cells);
    }
    let checked = planned.check()?;
    let records = run.cells().map_err(RunnerError::Record)?;
    let all: Vec<Cell> = records.into_iter().map(|record| record.cell).collect();
    let (begun, left) = (all.len(), cells.len());
    let (plan, bench) = make_ready(checked, &info, all, request.yes, observer)?;
    observer.note(&if plan.stop.is_some() {
        format!("{} cells are done; what is left depends on the samples", begun - left)
    } else {
        format!("{left} of {begun} cells are left")
    });
    Ok(Resumed::Open(Box::new(OpenRun { plan, run, bench, cells })))
}

/// Plans a run that was begun once more.
pub(crate) fn planned_again(
    study: Study,
    info: &RunInfo,
    mut options: RunOptions,
    rule: Option<StopRule>,
    directory: &Path,
    caller: &Caller,
) -> Result<PlannedRun, RunnerError> {
    if let Some(rule) = &rule {
        options.repeats = Some(rule.first_look());
        // Cells that are left out were left out then.
        options.settings.only.clone_from(&info.options.only);
        options.settings.without.clone_from(&info.options.without);
    }
    let found = FoundStudy { study, directory: study_directory(&info.study_file) };
    let mut planned = PlannedRun::new(found, &options, directory, caller)?;
    if let Some(rule) = rule {
        planned.plan.stop_by(rule)?;
    }
    Ok(planned)
}

/// Whether a run of which no cell waits needs no more of them.
fn is_over(run: &Run, has_rule: bool, stop: &StopOptions) -> Result<bool, RunnerError> {
    if !has_rule {
        return Ok(true);
    }
    Ok(stop.budget.is_none() && run.outcome().map_err(RunnerError::Record)?.is_some())
}

/// Makes the bench of a resumed run ready. `all` are its cells, also those that are done, so
/// that the rest gets the same kernel. The machine is compared before the question, so that
/// nobody gives his drives for a run that cannot be resumed.
pub(crate) fn make_ready(
    checked: CheckedRun,
    info: &RunInfo,
    all: Vec<Cell>,
    yes: bool,
    observer: &mut dyn Observer,
) -> Result<(Plan, Box<dyn CellExecutor>), RunnerError> {
    let CheckedRun { plan, bench, scratch, .. } = checked;
    let cells = if all.is_empty() { &plan.cells } else { &all };
    let needs = plan.campaign.needs(cells);
    let warnings = bench.warnings(&needs);
    let bench = bench.prepare(&needs).map_err(RunnerError::prepare)?;
    same_machine(info, &plan, &bench.environment())?;
    for warning in warnings {
        observer.note(&format!("  {warning}"));
    }
    let bench = bench.confirm(yes).map_err(RunnerError::prepare)?;
    scratch.make()?;
    Ok((plan, bench))
}

/// Samples of two kernels, machines or tool versions in one run would be
/// compared with each other as if they were of one.
fn same_machine(
    info: &RunInfo,
    plan: &Plan,
    environment: &disklab_sample::Environment,
) -> Result<(), RunnerError> {
    let now = Provenance {
        disklab: VERSION,
        bench: &plan.kind.clone().into(),
        bench_about: &plan.bench.about,
        environment,
    };
    let found = info.provenance().differences(&now);
    if found.is_empty() { Ok(()) } else { Err(RunnerError::OtherMachine(found)) }
}

fn waiting(run: &Run) -> Result<Vec<Cell>, RunnerError> {
    let records = run.cells().map_err(RunnerError::Record)?;
    let waiting = records.into_iter().filter(|record| record.state == CellState::Waiting);
    Ok(waiting.map(|record| record.cell).collect())
}

/// A run that is begun, or resumed if it is there, without a question or a word.
pub struct RunRequest<'a> {
    /// A shipped one, or a file of the user's.
    pub study: FoundStudy,
    /// Those of its bench, with all limits.
    pub options: RunOptions,
    /// Where it will be, or is.
    pub directory: PathBuf,
    /// All that it runs.
    pub cells: &'a BTreeSet<Levels>,
}

/// Carries a run out until its cells are done. Returns it and how many cells failed in it.
///
/// # Errors
/// As [`resume`], [`CheckedRun::begin`] and [`OpenRun::carry_out`].
pub fn run_until_done(
    request: RunRequest<'_>,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<(Run, usize), RunnerError> {
    let run = if holds_run(&request.directory) {
        let (mut options, directory) = (request.options, request.directory);
        // Its cells are fixed.
        (options.settings.only, options.settings.without) = (Vec::new(), Vec::new());
        let stop = StopOptions::default();
        let request = ResumeRequest {
            directory,
            options,
            stop,
            study: None,
            retry_failed: false,
            yes: false,
        };
        match resume(&request, caller, observer)? {
            Resumed::Done(run) => *run,
            Resumed::Open(mut open) => {
                open.carry_out(observer)?;
                open.run
            }
        }
    } else {
        let mut open = begin_quietly(request, caller, observer)?;
        open.carry_out(observer)?;
        open.run
    };
    let records = run.cells().map_err(RunnerError::Record)?;
    let failed = records.iter().filter(|record| record.state == CellState::Failed).count();
    Ok((run, failed))
}

fn begin_quietly(
    request: RunRequest<'_>,
    caller: &Caller,
    observer: &mut dyn Observer,
) -> Result<OpenRun, RunnerError> {
    check_vacant(&request.directory)?;
    for line in leftover_lines(&tear_down_leftovers(&caller.state, &caller.interrupt)?) {
        observer.note(&line);
    }
    let mut planned = PlannedRun::new(request.study, &request.options, &request.directory, caller)?;
    planned.keep(request.cells);
    planned.check()?.begin(&request.directory, false)
}

/// This start of the program.
pub fn session() -> Session {
    let uname = rustix::system::uname();
    let part = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    Session {
        began: now(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        disklab: VERSION.to_owned(),
        kernel: [
            part(uname.sysname()),
            part(uname.release()),
            part(uname.version()),
            part(uname.machine()),
        ]
        .join(" "),
    }
}
