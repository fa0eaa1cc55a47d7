//! Slurm: jobs by sbatch(1), what became of them by squeue(1).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use disklab_exec::{ExecError, Executor, Invocation, find_program};
use disklab_source::did_you_mean;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// Options of sbatch(1) that --submit passes on.
const OPTIONS: [&str; 8] =
    ["account", "constraint", "exclude", "nodelist", "partition", "qos", "reservation", "time"];
const NAME: &str = "slurm";

/// Slurm, with the options that the user gives to all jobs: `slurm:partition=long,time=2:00:00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slurm {
    options: Vec<(String, String)>,
}

/// A text names no engine, or an option that it does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoEngine {
    #[error("unknown engine '{0}': expected {NAME}, or {NAME}:OPTION=VALUE,…")]
    Unknown(String),
    #[error("'{0}' is not OPTION=VALUE, such as partition=long")]
    NoValue(String),
    #[error(
        "unknown option '{option}'{}; those of sbatch that can be given are {}",
        did_you_mean(option, OPTIONS),
        OPTIONS.join(", ")
    )]
    Option { option: String },
}

impl FromStr for Slurm {
    type Err = NoEngine;

    fn from_str(text: &str) -> Result<Self, NoEngine> {
        let unknown = || NoEngine::Unknown(text.to_owned());
        let rest = text.strip_prefix(NAME).ok_or_else(unknown)?;
        let mut options: Vec<(String, String)> = Vec::new();
        if rest.is_empty() {
            return Ok(Self { options });
        }
        // A list of nodes has commas, too: n[1,3].
        for word in rest.strip_prefix(':').ok_or_else(unknown)?.split(',') {
            match (word.split_once('='), options.last_mut()) {
                (Some((option, value)), _) if !value.is_empty() => {
                    if !OPTIONS.contains(&option) {
                        return Err(NoEngine::Option { option: option.to_owned() });
                    }
                    options.push((option.to_owned(), value.to_owned()));
                }
                (None, Some((option, value))) if ["nodelist", "exclude"].contains(&&**option) => {
                    value.push(',');
                    value.push_str(word);
                }
                _ => return Err(NoEngine::NoValue(word.to_owned())),
            }
        }
        Ok(Self { options })
    }
}

impl fmt::Display for Slurm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self.options.iter().map(|(option, value)| format!("{option}={value}"));
        match options.collect::<Vec<_>>().join(",") {
            options if options.is_empty() => f.write_str(NAME),
            options => write!(f, "{NAME}:{options}"),
        }
    }
}

/// The number of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A job to submit.
pub struct BatchJob<'a> {
    /// What it is called, in Slurm's lists too.
    pub name: &'a str,
    /// A script for sh.
    pub script: String,
    /// The file for its outputs; `%a` is a task's number.
    pub log: &'a Path,
    /// Numbers of its tasks; it is one if there are none.
    pub tasks: &'a [u32],
    /// Memory of a task, in MiB.
    pub mebibytes: u64,
    /// How long a task may take, unless the user says it.
    pub minutes: u64,
    /// The job at whose end it begins.
    pub after: Option<JobId>,
}

/// Where a job, or some of its tasks, are.
pub type States = BTreeMap<String, usize>;

impl Slurm {
    /// Refuses a machine from which no job can be submitted.
    pub fn check() -> Result<(), Failure> {
        let missing = ["sbatch", "squeue"].into_iter().find(|name| find_program(name).is_none());
        let Some(program) = missing else { return Ok(()) };
        Err(Failure::usage_error(format!(
            "--submit {NAME} needs the program {program} (package slurm-client): log in to a machine \
             from which the cluster takes jobs"
        )))
    }

    /// Gives it to sbatch(1).
    pub fn submit(&self, job: &BatchJob<'_>, executor: &Executor) -> Result<JobId, Failure> {
        let mut sbatch = Invocation::new("sbatch")
            .args(["--parsable", "--requeue", "--ntasks=1", "--open-mode=append"])
            .arg(format!("--job-name=disklab-{}", job.name))
            .arg(format!("--output={}", job.log.display()))
            .arg(format!("--mem={}M", job.mebibytes))
            .arg(format!("--time={}", job.minutes));
        if !job.tasks.is_empty() {
            sbatch = sbatch.arg(format!("--array={}", ranges(job.tasks)));
        }
        if let Some(after) = job.after {
            sbatch = sbatch.arg(format!("--dependency=afterany:{after}"));
        }
        // The last one wins.
        for (option, value) in &self.options {
            sbatch = sbatch.arg(format!("--{option}={value}"));
        }
        let done = executor.run(&sbatch.stdin(job.script.as_bytes())).map_err(failed)?;
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if done.code != 0 {
            return Err(Failure::failed(format!("Slurm does not take the job: {said}")));
        }
        // 'ID', or 'ID;CLUSTER'.
        let text = done.text();
        let id = text.trim().split(';').next().and_then(|id| id.parse().ok());
        id.map(JobId).ok_or_else(|| Failure::failed(format!("sbatch printed no job: {text}{said}")))
    }

    /// How many tasks of a job are in which state, with the reason why they wait; none if it has
    /// ended, `None` if Slurm does not answer now.
    pub fn states(&self, job: JobId, executor: &Executor) -> Result<Option<States>, Failure> {
        let squeue = Invocation::new("squeue").args(["--noheader", "--array", "--format=%T %r"]);
        let done = executor.run(&squeue.arg(format!("--jobs={job}"))).map_err(failed)?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        // A job that ended some minutes ago is forgotten.
        if done.code != 0 && !said.contains("Invalid job id") {
            return Ok(None);
        }
        let mut states = States::new();
        for line in done.text().lines().filter(|line| !line.trim().is_empty()) {
            let (state, reason) = line.trim().split_once(' ').unwrap_or((line.trim(), "None"));
            // Nothing is left to do but to tear it down.
            if state == "COMPLETING" || ENDED.contains(&state) {
                continue;
            }
            let reason = if reason == "None" { String::new() } else { format!(" ({reason})") };
            *states.entry(format!("{}{reason}", state.to_lowercase())).or_default() += 1;
        }
        Ok(Some(states))
    }

    /// How a job ended, and where, as far as Slurm still knows it.
    pub fn end(&self, job: JobId, executor: &Executor) -> Option<String> {
        let scontrol = Invocation::new("scontrol").args(["show", "job"]).arg(job.to_string());
        end_in(&executor.run(&scontrol).ok()?.text())
    }
}

/// 'state FAILED, reason JobLaunchFailure, on n1', from what scontrol(1) prints.
fn end_in(text: &str) -> Option<String> {
    let of = |name: &str| {
        let value = text.split_whitespace().find_map(|word| word.strip_prefix(name))?;
        (!["(null)", "None"].contains(&value)).then_some(value)
    };
    let reason = of("Reason=").map(|reason| format!(", reason {reason}")).unwrap_or_default();
    let node = of("BatchHost=").map(|node| format!(", on {node}")).unwrap_or_default();
    of("JobState=").map(|state| format!("state {state}{reason}{node}"))
}

/// States of jobs that squeue(1) may still list. A requeued one waits under the same number.
const ENDED: [&str; 8] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
];

fn failed(error: ExecError) -> Failure {
    match error {
        ExecError::Interrupted(_) => Failure::interrupted("interrupted"),
        error => Failure::failed(error),
    }
}

/// `1-3,7`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(ToString::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_read_as_they_are_shown() {
        for text in
            ["slurm", "slurm:partition=long", "slurm:nodelist=n[1,3],n5,time=1-0:00,account=a"]
        {
            assert_eq!(text.parse::<Slurm>().map(|slurm| slurm.to_string()), Ok(text.to_owned()));
        }
        for (text, expected) in [
            ("slurm:", "'' is not OPTION=VALUE"),
            ("slurm:partition", "'partition' is not"),
            ("slurm:partition=", "is not OPTION=VALUE"),
            ("slurm:partiton=x", "did you mean 'partition'?"),
            ("slurm:wrap=rm", "unknown option 'wrap'"),
            ("slurmx", "unknown engine"),
            ("pbs", "unknown engine 'pbs'"),
        ] {
            let error = text.parse::<Slurm>().expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn the_end_of_a_job_is_read() {
        let text = "JobId=1 JobName=disklab-plan\n   JobState=FAILED Reason=JobLaunchFailure \
                    Dependency=(null)\n   NodeList=n1\n   BatchHost=n1\n";
        let end = end_in(text);
        assert_eq!(end.as_deref(), Some("state FAILED, reason JobLaunchFailure, on n1"));
        let cancelled = "JobId=3 JobState=CANCELLED Reason=None BatchHost=(null)";
        assert_eq!(end_in(cancelled).as_deref(), Some("state CANCELLED"));
        assert_eq!(end_in("slurm_load_jobs error: Invalid job id specified"), None);
    }

    #[test]
    fn tasks_are_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
    }
}
