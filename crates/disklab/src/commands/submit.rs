//! `disklab run --submit`: a run in parts on a cluster, through the engine that places its jobs.
//! `disklab run --attach`: comes back to one.
//!
//! The first job plans, on a node: it builds the lab's kernel, once, into the cache that the nodes
//! share, and shows that a node sees the run's directory and has the programs. Then the parts are
//! submitted as tasks of one job, and one after it merges them. All is kept in the run's directory,
//! so that the one who submitted it need not stay.

mod slurm;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::{Executor, Interrupt, LARGEST_TEXT, read_text};
use disklab_runner::{
    Caller, PlannedRun, RunnerError, WrittenPart, check_divisible, check_vacant, claim_outputs,
    part_file, written_parts,
};
use disklab_source::printable;
use disklab_store::{CellState, Run};
use disklab_units::count;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::slurm::{BatchJob, JobId};
pub use self::slurm::{NoEngine, Slurm};
use super::caller::caller;
use super::ending::finish;
use super::outputs::write_own;
use crate::cli::{RunArgs, StudyArgs};
use crate::exit::{DONE, FAILED, Failure, INTERRUPTED, USAGE_ERROR};
use crate::printing::{print, print_json};

/// What is remembered of a run's jobs, in its directory.
const JOBS: &str = "jobs.json";
/// The file with what came of a sensitivity analysis, in its directory.
pub const ANALYSIS: &str = "sensitivity.json";
/// The directory of what jobs print.
const LOGS: &str = "jobs";
/// How often the engine is asked, at first and later.
const POLLS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(15)];
/// No more than one line of progress in so long.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// What another node wrote into a directory that nodes share may not be seen at once: a name that
/// was looked for in vain is not looked for again for so long (nfs(5), `acdirmin`).
const SEEN_AFTER: Duration = Duration::from_secs(30);
/// A kernel takes minutes to build, one with OpenZFS up to an hour; compilers need memory.
const PLAN_MINUTES: u64 = 120;
const PLAN_MEBIBYTES: u64 = 2048;
/// Predictions are within a third and three times what it takes; and a start takes some time.
const TIME_FACTOR: f64 = 4.0;
const LEAST_MINUTES: u64 = 15;
/// What a cell needs next to its guest's memory, of which there is a copy for what the next begins
/// with.
const NEXT_TO_GUEST_MEBIBYTES: u64 = 512;
/// The merging and the report, of a million samples at most.
const MERGE_MEBIBYTES: u64 = 2048;
const MERGE_MINUTES: u64 = 60;

/// The jobs of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Jobs {
    /// As --submit takes it.
    engine: String,
    plan: JobId,
    /// The parts, once they are planned.
    parts: Option<JobId>,
    merge: Option<JobId>,
}

/// Submits the run, and waits for it.
pub fn submit(args: &RunArgs, engine: &Slurm, as_json: bool) -> Result<u8, Failure> {
    Slurm::check()?;
    let caller = caller()?;
    let found = args.named_study()?;
    let directory = match &args.out {
        Some(out) => out.clone(),
        None => disklab_runner::new_run_directory(&found.study.id),
    };
    check_vacant(&directory)?;
    let mut planned = PlannedRun::new(found, &args.campaign.options(), &directory, &caller)?;
    planned.stop_by(&args.how_long.options(), args.campaign.repeats)?;
    check_divisible(&planned.plan).map_err(RunnerError::from)?;
    let seed = planned.plan.seed;
    begin(directory, engine, &args.campaign, seed, caller, as_json)
}

/// Submits the command that was called, of this seed, and waits for what it makes in `directory`.
pub fn begin(
    directory: PathBuf,
    engine: &Slurm,
    campaign: &StudyArgs,
    seed: u64,
    caller: Caller,
    as_json: bool,
) -> Result<u8, Failure> {
    Slurm::check()?;
    // Left as it was if the job is not taken.
    let claim = claim_outputs(&directory)?;
    let directory = directory.canonicalize().map_err(|e| Failure::failed(format!("{e}")))?;
    let mut submitted = Submitted::new(directory, engine.clone(), campaign, caller.interrupt)?;
    if let Err(mut failure) = submitted.plan(seed) {
        let _ = fs::remove_dir(submitted.log(""));
        if failure.code == FAILED {
            failure.code = USAGE_ERROR;
        }
        return Err(failure);
    }
    claim.keep();
    submitted.finish(as_json)
}

/// Comes back to a run whose jobs were submitted. Parts that are left when all jobs have ended are
/// submitted again.
pub fn attach(args: &RunArgs, as_json: bool) -> Result<u8, Failure> {
    Slurm::check()?;
    let directory = args.out.clone().unwrap_or_default();
    let path = directory.join(JOBS);
    let wrong = |why: String| {
        Failure::usage_error(format!(
            "{}: {why}; name the directory of a run that --submit began",
            path.display()
        ))
    };
    let text = read_text(&path, 1 << 16).map_err(|e| wrong(e.to_string()))?;
    let jobs: Jobs = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    let engine = jobs.engine.parse().map_err(|e: NoEngine| wrong(e.to_string()))?;
    let directory = directory.canonicalize().map_err(|e| wrong(e.to_string()))?;
    let mut submitted = Submitted::new(directory, engine, &args.campaign, caller()?.interrupt)?;
    submitted.jobs = Some(jobs);
    submitted.again()?;
    submitted.finish(as_json)
}

/// A run on a cluster.
struct Submitted {
    directory: PathBuf,
    engine: Slurm,
    program: PathBuf,
    /// --kernel and --scratch, which each part needs anew.
    places: Vec<OsString>,
    executor: Executor,
    interrupt: Interrupt,
    jobs: Option<Jobs>,
    progress: Progress,
}

impl Submitted {
    fn new(
        directory: PathBuf,
        engine: Slurm,
        campaign: &StudyArgs,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::failed(format!("cannot find disklab's own program: {e}")))?;
        let mut places = Vec::new();
        let given = [("--kernel", &campaign.lab.kernel), ("--scratch", &campaign.scratch)];
        for (option, path) in given {
            let Some(path) = path else { continue };
            let path = std::path::absolute(path)
                .map_err(|e| Failure::usage_error(format!("{option} {}: {e}", path.display())))?;
            places.extend([option.into(), path.into_os_string()]);
        }
        let executor = Executor::new(interrupt.clone());
        let progress = Progress::default();
        Ok(Self { directory, engine, program, places, executor, interrupt, jobs: None, progress })
    }

    /// A script for sh that calls disklab with these words, in this directory.
    fn script(&self, words: &[OsString], more: &str) -> String {
        let words = std::iter::once(self.program.clone().into_os_string())
            .chain(words.iter().cloned())
            .map(|word| word.to_string_lossy().into_owned());
        format!("#!/bin/sh\nexec {}{more}\n", shell_words::join(words))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(LOGS).join(name)
    }

    fn submit(&mut self, job: &BatchJob<'_>) -> Result<JobId, Failure> {
        self.engine.submit(job, &self.executor)
    }

    /// Remembers the jobs.
    fn keep(&mut self, jobs: Jobs) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&jobs)? + "\n";
        write_own(&self.directory, JOBS, &text, |_| true).map_err(Failure::failed)?;
        self.jobs = Some(jobs);
        Ok(())
    }

    /// Submits the job that plans, with the words of this call.
    fn plan(&mut self, seed: u64) -> Result<(), Failure> {
        let logs = self.directory.join(LOGS);
        fs::create_dir_all(&logs)
            .map_err(|e| Failure::failed(format!("cannot make {}: {e}", logs.display())))?;
        let mut words = words_for_node(std::env::args_os().skip(1));
        if !words.iter().any(|word| word.to_string_lossy().starts_with("--seed")) {
            words.extend(["--seed".into(), seed.to_string().into()]);
        }
        words.extend(["--to".into(), self.directory.join("plan").into_os_string()]);
        let plan = self.submit(&BatchJob {
            name: "plan",
            script: self.script(&words, ""),
            log: &self.log("plan.log"),
            tasks: &[],
            mebibytes: PLAN_MEBIBYTES,
            minutes: PLAN_MINUTES,
            after: None,
        })?;
        eprintln!("  directory     {}\n  plan          job {plan}", self.directory.display());
        let engine = self.engine.to_string();
        self.keep(Jobs { engine, plan, parts: None, merge: None })
    }

    /// The jobs that were submitted and have ended without a run are submitted again.
    fn again(&mut self) -> Result<(), Failure> {
        let Some(jobs) = self.jobs.clone() else { return Ok(()) };
        if let (Some(merge), false) = (jobs.merge, self.is_merged())
            && self.engine.states(merge, &self.executor)?.is_some_and(|states| states.is_empty())
        {
            self.keep(Jobs { parts: None, merge: None, ..jobs })?;
        }
        Ok(())
    }

    fn is_merged(&self) -> bool {
        self.directory.join("run.sqlite").exists() || self.is_analysis()
    }

    fn is_analysis(&self) -> bool {
        self.directory.join(ANALYSIS).exists()
    }

    /// Waits for the run, submits what is left of it on the way, and shows it.
    fn finish(&mut self, as_json: bool) -> Result<u8, Failure> {
        match self.wait() {
            Err(failure) if failure.code == INTERRUPTED => {
                Err(Failure::interrupted(self.how_to_come_back()))
            }
            Err(failure) => Err(failure),
            Ok(()) if self.is_analysis() => self.show_analysis(as_json),
            Ok(()) => {
                let run = Run::open(&self.directory).map_err(RunnerError::Open)?;
                let records = run.cells().map_err(RunnerError::Record)?;
                let failed = records.iter().filter(|r| r.state == CellState::Failed).count();
                finish(&run, failed, as_json)
            }
        }
    }

    /// Says where the analysis is that the job that merges wrote.
    fn show_analysis(&self, as_json: bool) -> Result<u8, Failure> {
        let path = self.directory.join(ANALYSIS);
        let unread = |why: String| Failure::failed(format!("{}: {why}", path.display()));
        let text = read_text(&path, LARGEST_TEXT).map_err(|e| unread(e.to_string()))?;
        let json: Value = serde_json::from_str(&text).map_err(|e| unread(e.to_string()))?;
        if as_json {
            print_json(&json)?;
        } else {
            print(&format!("Page: {}\n", self.directory.join("sensitivity.md").display()))?;
        }
        Ok(if json["failed_cells"] == 0 { DONE } else { FAILED })
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let Some(jobs) = self.jobs.clone() else { return Ok(()) };
        let plan = self.directory.join("plan");
        if jobs.merge.is_none() && !self.is_merged() {
            self.wait_for(jobs.plan)?;
            if !self.appears("plan.log", || part_file(&plan, 1).is_some()) {
                return Err(self.ended_without("that plans", jobs.plan, "plan.log"));
            }
        }
        while !self.is_merged() {
            self.look(&plan)?;
        }
        Ok(())
    }

    /// Waits for the parts that there are, and for the job that merges them. If their samples do not
    /// decide yet, there are more parts then.
    fn look(&mut self, plan: &Path) -> Result<(), Failure> {
        let parts = written_parts(plan, 0).map_err(RunnerError::from)?;
        self.progress.cells = parts.iter().map(|part| part.head.cells).sum();
        self.progress.parts = parts.iter().map(|part| part.name.clone()).collect();
        if self.jobs.as_ref().is_some_and(|jobs| jobs.merge.is_none()) {
            self.submit_parts(&parts)?;
        }
        let Some(merge) = self.jobs.as_ref().and_then(|jobs| jobs.merge) else { return Ok(()) };
        self.wait_for(merge)?;
        let next = parts.len() as u32 + 1;
        if !self.appears("merge.log", || self.is_merged() || part_file(plan, next).is_some()) {
            let (logs, words) = (self.log("part-*.log"), self.attach_words());
            let more = format!(
                "{} say why a part is not done. To submit what is left again: {words}",
                logs.display()
            );
            let parts = self.jobs.as_ref().and_then(|jobs| jobs.parts);
            let failure = match parts.filter(|_| !self.has_begun_parts()) {
                Some(parts) => self.ended_without("with the parts", parts, "part-1.log"),
                None => self.ended_without("that merges", merge, "merge.log"),
            };
            return Err(failure.with(&more));
        }
        match self.jobs.clone() {
            Some(jobs) if !self.is_merged() => self.keep(Jobs { parts: None, merge: None, ..jobs }),
            _ => Ok(()),
        }
    }

    fn has_begun_parts(&self) -> bool {
        fs::read_dir(self.directory.join("parts")).is_ok_and(|mut parts| parts.next().is_some())
    }

    /// Waits until a job has ended, and says how far the run is.
    fn wait_for(&mut self, job: JobId) -> Result<(), Failure> {
        let mut poll = POLLS[0];
        loop {
            // Of the parts, too, while the job after them waits.
            let parts = self.jobs.as_ref().and_then(|jobs| jobs.parts);
            let states = self.engine.states(job, &self.executor)?;
            if states.as_ref().is_some_and(|states| states.is_empty()) {
                return Ok(());
            }
            let shown = match parts {
                Some(parts) => self.engine.states(parts, &self.executor)?,
                None => states,
            };
            self.progress.show(&self.directory, shown.unwrap_or_default());
            let began = Instant::now();
            while began.elapsed() < poll {
                self.interrupt.check().map_err(Failure::interrupted)?;
                std::thread::sleep(Duration::from_millis(100));
            }
            poll = (poll * 5 / 4).min(POLLS[1]);
        }
    }

    /// Whether something is seen that a node has written.
    fn appears(&self, log: &str, is_there: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        while !is_there() {
            // If the log of the job is here, what it wrote before its end is, too.
            let log = fs::metadata(self.log(log)).is_ok_and(|meta| meta.len() > 0);
            let patience = if log { SEEN_AFTER / 10 } else { SEEN_AFTER };
            if began.elapsed() > patience || self.interrupt.check().is_err() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        true
    }

    /// A job has ended, and what it is for is not there.
    fn ended_without(&self, what: &str, job: JobId, log: &str) -> Failure {
        let path = self.log(log);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.trim().lines().collect();
        if lines.is_empty() {
            let end = self.engine.end(job, &self.executor);
            return Failure::failed(format!(
                "the job {what}, {job}, ended{} and left nothing in {}: it was cancelled, or its \
                 node does not see this directory and {}; take directories that all nodes share",
                end.map(|end| format!(" ({end})")).unwrap_or_default(),
                self.directory.display(),
                self.program.display()
            ));
        }
        let last = lines[lines.len().saturating_sub(8)..].join("\n  ");
        Failure::failed(format!(
            "the job {what}, {job}, failed; the end of {}:\n  {}",
            path.display(),
            printable(&last)
        ))
    }

    /// Submits the parts that are left, and the job that merges all.
    fn submit_parts(&mut self, all: &[WrittenPart]) -> Result<(), Failure> {
        let Some(jobs) = self.jobs.clone() else { return Ok(()) };
        let is_left = |part: &WrittenPart| {
            cells_of(&self.directory, &part.name).is_none_or(|(ended, all)| ended < all)
        };
        let left = (1..).zip(all).filter(|(_, part)| is_left(part));
        let left: Vec<u32> = left.map(|(number, _)| number).collect();
        let heads = || all.iter().map(|part| &part.head);
        let longest = heads().map(|head| head.seconds).fold(0.0, f64::max);
        let memory = heads().map(|head| head.memory.0 >> 20).max().unwrap_or_default();
        let words = ["run", "--part", "plan", "--part-index", "--at-once", "1", "--out", "parts"];
        let words = words.into_iter().map(|word| match word {
            "plan" | "parts" => self.directory.join(word).into_os_string(),
            word => word.into(),
        });
        let words: Vec<OsString> = words.chain(self.places.iter().cloned()).collect();
        let parts = match left.as_slice() {
            [] => None,
            left => Some(self.submit(&BatchJob {
                name: "parts",
                script: self.script(&words, ""),
                log: &self.log("part-%a.log"),
                tasks: left,
                mebibytes: memory + memory / 4 + NEXT_TO_GUEST_MEBIBYTES,
                minutes: LEAST_MINUTES + (longest * TIME_FACTOR / 60.0).ceil() as u64,
                after: None,
            })?),
        };
        let each = self.directory.join("parts").to_string_lossy().into_owned();
        let mut words =
            vec!["merge".into(), "--to".into(), self.directory.clone().into_os_string()];
        if heads().any(|head| head.info.options.looks.is_some()) {
            words.extend(["--next".into(), self.directory.join("plan").into_os_string()]);
        }
        let merge = self.submit(&BatchJob {
            name: "merge",
            script: self.script(&words, &format!(" {}/*", shell_words::quote(&each))),
            log: &self.log("merge.log"),
            tasks: &[],
            mebibytes: MERGE_MEBIBYTES,
            minutes: MERGE_MINUTES,
            after: parts,
        })?;
        let cells = count(self.progress.cells, "cell");
        let tasks = parts.map_or_else(|| "all are done".to_owned(), |job| format!("job {job}"));
        let left = count(left.len(), "part");
        eprintln!("  parts         {tasks}: {left} left of a run of {cells}");
        eprintln!("  merge         job {merge}");
        self.keep(Jobs { parts, merge: Some(merge), ..jobs })
    }

    fn attach_words(&self) -> String {
        let words = ["disklab", "run", "--attach", "--out"].map(OsString::from).into_iter();
        let words = words.chain([self.directory.clone().into_os_string()]);
        let words = words.chain(self.places.iter().cloned());
        shell_words::join(words.map(|word| word.to_string_lossy().into_owned()))
    }

    fn how_to_come_back(&self) -> String {
        let Some(jobs) = &self.jobs else { return "interrupted".to_owned() };
        let all = [Some(jobs.plan), jobs.parts, jobs.merge].into_iter().flatten();
        let all: Vec<String> = all.map(|job| job.to_string()).collect();
        let then = match jobs.merge {
            Some(_) => "the jobs continue",
            None => "the job that plans continues, and the parts are submitted when you come back",
        };
        format!(
            "interrupted; {then}.\nCome back with: {}\nCancel with: scancel {}",
            self.attach_words(),
            all.join(" ")
        )
    }
}

/// How far the parts are.
#[derive(Default)]
struct Progress {
    parts: Vec<String>,
    cells: usize,
    /// Parts all of whose cells have ended, and how many cells that are.
    ended: BTreeMap<String, usize>,
    said: Option<(Instant, String)>,
}

impl Progress {
    fn show(&mut self, directory: &Path, states: slurm::States) {
        let mut done: usize = self.ended.values().sum();
        for part in &self.parts {
            if self.ended.contains_key(part) {
                continue;
            }
            let Some((ended, all)) = cells_of(directory, part) else { continue };
            done += ended;
            if ended == all {
                self.ended.insert(part.clone(), all);
            }
        }
        let states = states.iter().map(|(state, n)| format!("{n} {state}"));
        let states = states.collect::<Vec<_>>().join(", ");
        let line = match self.parts.len() {
            0 => format!("the job that plans: {states}"),
            _ => format!(
                "[{done}/{}] {} of {} parts done; tasks: {states}",
                self.cells,
                self.ended.len(),
                self.parts.len()
            ),
        };
        let is_new =
            self.said.as_ref().is_none_or(|(at, said)| *said != line && at.elapsed() >= LINE_EVERY);
        if is_new {
            eprintln!("{}", printable(&line));
            self.said = Some((Instant::now(), line));
        }
    }
}

/// How many cells of a part have ended, and all; `None` if it has not begun.
fn cells_of(directory: &Path, part: &str) -> Option<(usize, usize)> {
    let run = Run::open(&directory.join("parts").join(part)).ok()?;
    let records = run.cells().ok()?;
    let ended = records.iter().filter(|record| record.state != CellState::Waiting).count();
    Some((ended, records.len()))
}

/// The words of this call without what is for here alone.
fn words_for_node(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (option, has_value) = match text.split_once('=') {
            Some((option, _)) => (option, true),
            None => (&*text, false),
        };
        match option {
            "--json" => {}
            "--submit" | "--out" if has_value => {}
            "--submit" | "--out" => drop(words.next()),
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_get_the_words_that_are_for_them() {
        let words = "run nas --submit slurm --out=x --parts 3 --json --only a=b --submit=slurm";
        let kept = words_for_node(words.split(' ').map(OsString::from));
        assert_eq!(kept.join(" ".as_ref()), "run nas --parts 3 --only a=b");
    }
}
