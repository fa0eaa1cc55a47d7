//! The lab of one program compared with the lab of another, in turn on one machine.
//!
//! A machine's speed changes from minute to minute, so that only neighbours can be compared:
//! each round runs both programs, and every other round the second one first. Each program
//! uses its own kernel: that is half of a lab.

use std::path::{Path, PathBuf};

use disklab_exec::{ExecError, Executor, Finished, Invocation};
use disklab_stats::median;
use serde_json::Value;

/// A program to be measured.
#[derive(Debug, Clone)]
pub struct Program {
    /// A `disklab`.
    pub path: PathBuf,
    /// Its guests' kernel; the one that it builds itself if `None`.
    pub kernel: Option<PathBuf>,
}

/// What to measure, and on what.
#[derive(Debug)]
pub struct AgainstOptions {
    /// The program that is asked about.
    pub this: Program,
    /// The one that it is compared with.
    pub other: Program,
    /// The processor to measure on.
    pub core: usize,
    /// How often each program is measured.
    pub rounds: u32,
    /// An existing directory for what the programs leave.
    pub directory: PathBuf,
}

/// A figure of both programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// A word for programs.
    pub key: String,
    /// What it is, for people.
    pub name: String,
    /// As it is shown; both programs have the same.
    pub unit: String,
    /// As measured, in order.
    pub this: Vec<f64>,
    /// The other program's.
    pub other: Vec<f64>,
}

/// Why two programs could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// A program did not run, or failed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// It answered something else than figures.
    #[error("'{program}' is not a disklab whose lab can be measured: {why}")]
    NoFigures {
        /// Path of the other program.
        program: String,
        /// What is wrong with its answer.
        why: AnswerProblem,
    },
}

/// Why what a program printed holds no figures.
#[derive(Debug, thiserror::Error)]
pub enum AnswerProblem {
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It has no list of figures.
    #[error("no figures")]
    NoFigures,
}

/// The study whose cost is measured as a whole: 30 cells.
const STUDY: &str = "first-look";

/// One figure, measured once.
type Measured = (String, String, String, f64);

/// Measures both programs in turn. `progress` is told what is measured next.
///
/// # Errors
/// [`AgainstError`]; nothing is left but in the directory.
pub fn against(
    options: &AgainstOptions,
    executor: &Executor,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Compared>, AgainstError> {
    let mut all = Vec::new();
    for round in 0..options.rounds.max(1) {
        let mut order = [(&options.this, true), (&options.other, false)];
        if round % 2 == 1 {
            order.reverse();
        }
        for (program, is_this) in order {
            let path = program.path.display();
            progress(&format!("{path} ({} of {})", round + 1, options.rounds.max(1)));
            let mut measured = bench(program, options.core, executor)?;
            measured.extend(study(program, &options.directory, executor)?);
            for figure in measured {
                add(&mut all, figure, is_this);
            }
        }
    }
    // What only one of them measures cannot be compared.
    all.retain(|figure| !figure.this.is_empty() && !figure.other.is_empty());
    Ok(all)
}

impl Compared {
    /// Both medians.
    pub fn medians(&self) -> Option<(f64, f64)> {
        Some((median(&self.this)?, median(&self.other)?))
    }

    /// This program's median by the other's; `None` if there is nothing to divide by.
    pub fn ratio(&self) -> Option<f64> {
        self.medians().filter(|(_, other)| *other != 0.0).map(|(this, other)| this / other)
    }
}

fn add(all: &mut Vec<Compared>, (key, name, unit, value): Measured, is_this: bool) {
    let at = all.iter().position(|figure| figure.key == key).unwrap_or_else(|| {
        all.push(Compared { key, name, unit, this: Vec::new(), other: Vec::new() });
        all.len() - 1
    });
    let figure = &mut all[at];
    if is_this { &mut figure.this } else { &mut figure.other }.push(value);
}

/// The figures of a program's own `lab bench`.
fn bench(
    program: &Program,
    core: usize,
    executor: &Executor,
) -> Result<Vec<Measured>, AgainstError> {
    let core = core.to_string();
    let words = ["lab", "bench", "--json", "--repeats", "1", "--core", &core];
    let done = executor.check(&invocation(program, &words))?;
    let wrong = |why| AgainstError::NoFigures { program: program.path.display().to_string(), why };
    bench_figures(&done.stdout).map_err(wrong)
}

/// The figures in what a program printed, or why there are none.
fn bench_figures(text: &[u8]) -> Result<Vec<Measured>, AnswerProblem> {
    let answer: Value = serde_json::from_slice(text)?;
    let figures = answer["figures"].as_array().ok_or(AnswerProblem::NoFigures)?;
    Ok(figures.iter().filter_map(measured).collect())
}

fn measured(figure: &Value) -> Option<Measured> {
    let text = |key: &str| figure[key].as_str().map(str::to_owned);
    Some((text("key")?, text("name")?, text("unit")?, figure["median"].as_f64()?))
}

/// What a study takes of the processor, one cell at a time.
fn study(
    program: &Program,
    directory: &Path,
    executor: &Executor,
) -> Result<Vec<Measured>, AgainstError> {
    let out = directory.join("run");
    let place = out.display().to_string();
    let words = ["run", STUDY, "--seed", "1", "--repeats", "1", "--at-once", "1", "--out", &place];
    let done = executor.run(&invocation(program, &words))?;
    // 1: it ran, and there is a finding; one repeat is few.
    let done = if done.code == 1 { done } else { done.success()? };
    // What is left would be resumed by the next one.
    let _ = std::fs::remove_dir_all(&out);
    Ok(study_figures(&done))
}

fn study_figures(done: &Finished) -> Vec<Measured> {
    let (user, system) = (done.user.as_secs_f64(), done.system.as_secs_f64());
    let figure = |key: &str, what: &str, value| {
        (format!("study_{key}"), format!("{STUDY}, 30 cells: {what}"), "s".to_owned(), value)
    };
    vec![
        figure("user", "user time", user),
        figure("system", "system time", system),
        figure("processor", "CPU time", user + system),
    ]
}

fn invocation(program: &Program, words: &[&str]) -> Invocation {
    let invocation = Invocation::new(program.path.display().to_string()).args(words);
    match &program.kernel {
        Some(kernel) => invocation.arg("--kernel").arg(kernel),
        None => invocation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use disklab_exec::Interrupt;
    use proptest::prelude::*;

    /// A program that answers like disklab, and notes its arguments.
    fn program(directory: &Path, name: &str, figure: f64, code: u8) -> Program {
        let path = directory.join(name);
        let answer = format!(
            r#"{{"figures":[{{"key":"read","name":"read","unit":"RT","median":{figure}}},{{"key":"{name}","name":"n","unit":"","median":1}}]}}"#
        );
        let script = format!(
            "#!/bin/sh\necho \"{name} $*\" >> '{}'\ncase $1 in lab) echo '{answer}';; *) exit {code};; esac\n",
            directory.join("calls").display()
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Program { path, kernel: None }
    }

    #[test]
    fn programs_are_measured_in_turn_and_share_their_figures() {
        let directory = tempfile::tempdir().unwrap();
        let this =
            Program { kernel: Some("/kernel".into()), ..program(directory.path(), "new", 3.0, 0) };
        let other = program(directory.path(), "old", 6.0, 1);
        let options =
            AgainstOptions { this, other, core: 1, rounds: 2, directory: directory.path().into() };
        let executor = Executor::new(Interrupt::new());
        let all = against(&options, &executor, &mut |_| {}).unwrap();
        let keys: Vec<&str> = all.iter().map(|figure| figure.key.as_str()).collect();
        assert_eq!(keys, ["read", "study_user", "study_system", "study_processor"]);
        assert_eq!(
            (all[0].this.as_slice(), all[0].other.as_slice()),
            (&[3.0; 2][..], &[6.0; 2][..])
        );
        assert_eq!((all[0].medians(), all[0].ratio()), (Some((3.0, 6.0)), Some(0.5)));
        let calls = std::fs::read_to_string(directory.path().join("calls")).unwrap();
        let order: Vec<&str> = calls.lines().map(|line| &line[..7]).collect();
        assert_eq!(
            order,
            [
                "new lab", "new run", "old lab", "old run", "old lab", "old run", "new lab",
                "new run"
            ]
        );
        assert!(
            calls.lines().all(|line| line.starts_with("new") == line.contains("--kernel /kernel"))
        );
    }

    #[test]
    fn other_programs_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let this = program(directory.path(), "new", 3.0, 0);
        let executor = Executor::new(Interrupt::new());
        let error = |path: &str| {
            let other = Program { path: path.into(), kernel: None };
            let directory = directory.path().to_owned();
            let options =
                AgainstOptions { this: this.clone(), other, core: 0, rounds: 1, directory };
            against(&options, &executor, &mut |_| {}).unwrap_err()
        };
        let echo = error("/bin/echo");
        assert!(
            matches!(
                &echo,
                AgainstError::NoFigures { program, why: AnswerProblem::Json(_) }
                    if program == "/bin/echo"
            ),
            "{echo:?}"
        );
        let missing = error("/no/such/program");
        assert!(
            matches!(
                &missing,
                AgainstError::Exec(ExecError::Missing(program)) if program == "/no/such/program"
            ),
            "{missing:?}"
        );
    }

    proptest! {
        #[test]
        fn no_answer_of_a_program_breaks_the_comparison(
            text in prop_oneof![
                ".*",
                r#"\{"figures":(\[(\{"key":("k"|1),"name":"n","unit":"","median":(2|"2"|null)\},?)*\]|1)\}"#,
            ],
        ) {
            for (key, name, unit, _) in bench_figures(text.as_bytes()).unwrap_or_default() {
                prop_assert_eq!((key.as_str(), name.as_str(), unit.as_str()), ("k", "n", ""));
            }
        }
    }
}
