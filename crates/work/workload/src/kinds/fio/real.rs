//! Running real fio.

use disklab_exec::{ExecError, Finished, Invocation};
use disklab_source::FileName;

use super::figures::summary;
use super::layout::keep_off;
use super::output::{self, DirectionOutput, FioOutput, LatencyKind};
use super::steps::FioStep;
use super::workload::Fio;
use crate::duration::nanoseconds;
use crate::{FioJobFailure, OutputProblem, WorkContext, WorkloadError};

/// The first fio that has `lat_percentiles`, by which it gives the distribution
/// of the total latency.
const HAS_LAT_PERCENTILES: (u32, u32) = (3, 3);

/// fio would read the processor's own counter, which does not travel in time with
/// the lab's clock. So that all benches are alike, the kernel's clock is used on
/// each; where it is read without a system call that costs some 20 ns.
const CLOCK: &str = "--clocksource=clock_gettime";

/// The arguments of one run. All that disklab adds stands before the first job,
/// so that a job's own options override it.
fn arguments(fio: &Fio, step: &FioStep, seed: u64, lat_percentiles: bool) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["--output-format=json+", "--eta=never", CLOCK].map(str::to_owned).to_vec();
    // Without the second, random offsets are the same in each run, whatever the seed.
    arguments.push(format!("--randseed={seed}"));
    arguments.push("--randrepeat=0".to_owned());
    arguments.extend(lat_percentiles.then(|| "--lat_percentiles=1".to_owned()));
    arguments.extend(step.sections().flat_map(|index| fio.parts[index].section.arguments()));
    arguments
}

/// A seed for the step with this number: 31 bits, which every fio reads, and
/// never 0. Steps have different ones, so that they go to different places.
pub(super) fn seed_of(seed: u64, step: usize) -> u64 {
    // SplitMix64's constants spread neighbouring seeds.
    let mixed = (seed ^ (step as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).max(1)
}

/// fio's version, as far as it is known.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix("fio-")?.split(['.', '-', '~', '+']);
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0)))
}

fn has_lat_percentiles(context: &WorkContext<'_>) -> Result<bool, WorkloadError> {
    let version = version(&context.executor.version_line("fio")?);
    Ok(version.is_some_and(|version| version >= HAS_LAT_PERCENTILES))
}

/// Has fio itself read the jobs, without running them.
///
/// # Errors
/// [`WorkloadError::NoIoEngine`], [`WorkloadError::IoEngineRefused`], or [`WorkloadError::FioJob`]
/// with what fio says of them.
pub(super) fn check(fio: &Fio, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
    let lat_percentiles = has_lat_percentiles(context)?;
    for step in &fio.steps {
        let parse = Invocation::new("fio")
            .arg("--parse-only")
            .args(arguments(fio, step, 1, lat_percentiles))
            .cwd(context.directory);
        let finished = context.executor.run(&parse)?;
        if finished.code != 0 {
            return Err(failed(fio, step, finished));
        }
    }
    Ok(())
}

/// Runs the steps.
///
/// # Errors
/// [`WorkloadError`] with what fio says if it fails, [`WorkloadError::Output`] if its report is not
/// one.
pub(super) fn run(fio: &Fio, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
    keep_off(&fio.parts, context)?;
    let lat_percentiles = has_lat_percentiles(context)?;
    let mut kinds = Vec::new();
    let mut passed_over = 0_u64;
    let mut committed = false;
    for (number, step) in fio.steps.iter().enumerate() {
        let arguments = arguments(fio, step, seed_of(context.seed, number), lat_percentiles);
        let invocation = Invocation::new("fio")
            .args(arguments)
            .cwd(context.directory)
            .save_as(&raw_name(number, &step.name));
        context.step(&step.name, |executor| {
            let finished = executor.run(&invocation)?;
            if finished.code != 0 {
                return Err(failed(fio, step, finished));
            }
            let output = output::parse(&finished.text())?;
            let (mut outcome, kind) = summary(&fio.parts, step, &by_section(fio, step, &output)?);
            if outcome.figures.is_empty() {
                let problem = OutputProblem::NoIo { step: step.name.clone() };
                return Err(WorkloadError::output("fio", problem));
            }
            (outcome.user_ns, outcome.system_ns) =
                (nanoseconds(finished.user), nanoseconds(finished.system));
            kinds.push(kind);
            committed |= outcome.figures.iter().any(|figure| figure.commit.is_some());
            let failed = output.jobs.iter().map(|job| job.passed_over);
            passed_over = failed.fold(passed_over, u64::saturating_add);
            Ok(outcome)
        })?;
    }
    if passed_over > 0 {
        context.note(
            "fio",
            format!("{passed_over} operations failed and were passed over (continue_on_error)"),
        );
    }
    if committed {
        context.note(
            "fio",
            "where a sync follows each write, latencies are of both together: fio reports them \
             apart, and they were added rank by rank (the mean is exact, high percentiles are \
             at most too long)",
        );
    }
    for kind in kinds {
        context.note_once("fio", note_of(kind));
    }
    Ok(())
}

/// Which latencies fio gave.
fn note_of(kind: Option<LatencyKind>) -> &'static str {
    match kind {
        Some(LatencyKind::Total) => {
            "latencies are total ones (fio's lat): from submission to completion"
        }
        Some(LatencyKind::Completion) => {
            "latencies are completion latencies (fio's clat), without the time that submitting \
             takes: of the total this job, or this fio, gives no distribution"
        }
        None => "fio gave no distribution of latencies",
    }
}

/// A file name from a step's.
pub(super) fn raw_name(number: usize, step: &str) -> String {
    format!("fio-{}-{}", number + 1, FileName::plain(step, 60))
}

/// What the jobs of each section of the step did.
fn by_section(
    fio: &Fio,
    step: &FioStep,
    output: &FioOutput,
) -> Result<Vec<Vec<DirectionOutput>>, WorkloadError> {
    if let Some(job) = output.jobs.iter().find(|job| job.error != 0) {
        let code = i32::try_from(job.error).unwrap_or(0).saturating_abs();
        let source = FioJobFailure::Fio(std::io::Error::from_raw_os_error(code));
        return Err(WorkloadError::FioJob { job: job.name.clone(), source });
    }
    let sections: Vec<usize> = step.sections().collect();
    let mut done = vec![Vec::new(); sections.len()];
    for job in &output.jobs {
        // fio cuts long names; such a job is counted with the first section.
        let named = |index: &usize| fio.parts[*index].section.name() == job.name;
        let with_commits = job.done.iter().cloned().map(|mut one| {
            // fio gives the distributions of writes and of syncs, not of both together.
            if let (Some((_, write)), Some(sync)) = (&one.latency, &job.sync) {
                one.commit = write.followed_by(sync);
            }
            one
        });
        done[sections.iter().position(named).unwrap_or(0)].extend(with_commits);
    }
    Ok(done)
}

/// Why fio failed, with its own words and what they mean.
fn failed(fio: &Fio, step: &FioStep, finished: Finished) -> WorkloadError {
    let said = format!("{}\n{}", finished.error_text(), finished.text());
    let engine = step.sections().find_map(|index| fio.parts[index].section.get("ioengine"));
    let engine = engine.unwrap_or("psync");
    let line = |marks: &[&str]| {
        said.lines().find(|line| marks.iter().any(|mark| line.contains(mark))).map(str::trim)
    };
    if line(&["not loadable", "failed to load engine"]).is_some() {
        return WorkloadError::NoIoEngine(engine.to_owned());
    }
    let setup = ["io_queue_init", "io_uring_queue_init", "io_uring_setup", "failed to setup"];
    if let Some(line) = line(&setup) {
        let (engine, line) = (engine.to_owned(), line.to_owned());
        return WorkloadError::IoEngineRefused { engine, line };
    }
    // Its report can be pages long, and its reason is in single lines.
    let reasons: Vec<&str> =
        said.lines().filter(|l| l.starts_with("fio:") || l.contains("error=")).take(5).collect();
    match finished.success() {
        Err(ExecError::Failed { command, status, stderr }) => {
            let stderr = if reasons.is_empty() { stderr } else { reasons.join("\n") };
            ExecError::Failed { command, status, stderr }.into()
        }
        Err(error) => error.into(),
        // None that ends with 0 comes here.
        Ok(_) => WorkloadError::output("fio", OutputProblem::NoJobs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_failures_are_reported() {
        let fio = Fio {
            parts: Vec::new(),
            steps: Vec::new(),
            prewrite: Default::default(),
            scaled: Vec::new(),
            engine: Default::default(),
            checked: Default::default(),
        };
        let step = FioStep { name: "s".to_owned(), groups: Vec::new() };
        let failed = |stdout: &str, stderr: &str| {
            let finished = Finished {
                code: 1,
                stdout: stdout.into(),
                stderr: stderr.into(),
                elapsed: Default::default(),
                user: Default::default(),
                system: Default::default(),
                max_rss_kib: 0,
                command: "fio --x".to_owned(),
            };
            failed(&fio, &step, finished).to_string()
        };
        for (stdout, stderr, part) in [
            ("", "fio: engine libaio not loadable\nfio: failed to load engine", "no I/O engine"),
            (
                "fio: pid=1, err=1/file:engines/io_uring.c:998, func=io_queue_init, \
                 error=Operation not permitted\n{\n \"jobs\": []\n}",
                "",
                "kernel refuses",
            ),
            (
                "fio: pid=2, err=28/file:io_u.c:1876, func=io_u error, error=No space left\n{\n}",
                "fio: io_u error on file x.0.0: No space left on device",
                "No space left on device",
            ),
            ("", "Bad option <x>", "Bad option"),
            ("", "", "`fio --x` failed (exit code 1)"),
        ] {
            let error = failed(stdout, stderr);
            assert!(error.contains(part), "{error}");
            assert!(!error.contains("jobs"), "{error}");
        }
    }

    #[test]
    fn versions_are_understood() {
        for (text, expected) in [
            ("fio-3.33\n", Some((3, 33))),
            ("fio-2.2.10", Some((2, 2))),
            ("fio-3.36-12-gabc", Some((3, 36))),
            ("fio-3", Some((3, 0))),
            ("fio version", None),
            ("", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
        }
    }

    #[test]
    fn seeds_differ_and_are_small() {
        let seeds: Vec<u64> =
            (0..50).flat_map(|s| (0..4).map(move |n| seed_of(s << 40, n))).collect();
        let mut distinct = seeds.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), seeds.len());
        assert!(seeds.iter().all(|s| (1..1 << 31).contains(s)));
    }

    #[test]
    pub(super) fn raw_names_are_file_names() {
        assert_eq!(raw_name(0, "seq read/1M"), "fio-1-seq_read_1M");
    }
}
