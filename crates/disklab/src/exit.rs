//! Exit codes, and errors that carry one.

use std::fmt;

use disklab_archive::ArchiveError;
use disklab_bench::ModelError;
use disklab_engine::EngineError;
use disklab_import::ImportError;
use disklab_lab_kernel::KernelError;
use disklab_probe::{DriveFileError, ProbeError};
use disklab_report::{ReportError, TwoStacksError};
use disklab_runner::sensitivity::SensitivityError;
use disklab_runner::{LeftoversError, PlanError, RunnerError, StudyError};
use disklab_source::shortened;
use disklab_speed::AgainstError;
use disklab_wml::WmlError;

use crate::words::{Skipped, left_out_lines};
use disklab_guest::shell::SessionError;

/// All was done, and nothing is severe.
pub const DONE: u8 = 0;
/// A cell failed, or a finding is severe.
pub const FAILED: u8 = 1;
/// Usage error or bad input; nothing was touched.
pub const USAGE_ERROR: u8 = 2;
/// `compare`: something is slower in the second run.
pub const REGRESSION: u8 = 10;
/// `compare`: too noisy to tell.
pub const TOO_NOISY: u8 = 11;
/// `compare`: too few samples to tell.
pub const TOO_FEW: u8 = 12;
/// Interrupted, resumable.
pub const INTERRUPTED: u8 = 130;

/// Characters of a message. Those that list what cannot run have some thousand.
const LONGEST_MESSAGE: usize = 20_000;

/// An error for the user, with the exit code it leads to.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    message: String,
}

impl Failure {
    /// Usage error or bad input.
    pub fn usage_error(message: impl fmt::Display) -> Self {
        Self { code: USAGE_ERROR, message: message.to_string() }
    }

    /// An error that leads to this exit code.
    pub fn of(error: &impl fmt::Display, code: u8) -> Self {
        Self { code, message: error.to_string() }
    }

    /// Something went wrong on the way.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { code: FAILED, message: message.to_string() }
    }

    /// A program of disklab's own was not found.
    pub fn no_own_program(error: std::io::Error) -> Self {
        Self::failed(format!("cannot find disklab's own program: {error}"))
    }

    /// The same, with a further line.
    pub fn with(mut self, line: &str) -> Self {
        self.message = format!("{}\n{line}", self.message);
        self
    }

    /// The user asked to stop.
    pub fn interrupted(message: impl fmt::Display) -> Self {
        Self { code: INTERRUPTED, message: message.to_string() }
    }
}

impl From<RunnerError> for Failure {
    fn from(error: RunnerError) -> Self {
        Self { code: runner_code(&error), message: runner_message(&error) }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        let code = if error.is_usage_error() { USAGE_ERROR } else { FAILED };
        Self { code, message: error.to_string() }
    }
}

impl From<LeftoversError> for Failure {
    fn from(error: LeftoversError) -> Self {
        RunnerError::from(error).into()
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        RunnerError::from(error).into()
    }
}

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Self {
        if error.is_interrupt() {
            return Self::interrupted(
                "interrupted; what is compiled is kept, and the next build resumes there",
            );
        }
        let code = if error.is_usage_error() { USAGE_ERROR } else { FAILED };
        Self { code, message: error.to_string() }
    }
}

/// Errors that lead to one exit code, whatever their variant.
macro_rules! exit_codes {
    ($($error:ty => $code:ident,)+) => {$(
        impl From<$error> for $crate::exit::Failure {
            fn from(error: $error) -> Self {
                Self::of(&error, $crate::exit::$code)
            }
        }
    )+};
}
pub(crate) use exit_codes;

exit_codes! {
    // Before anything is touched.
    ImportError => USAGE_ERROR,
    ModelError => USAGE_ERROR,
    TwoStacksError => USAGE_ERROR,
    WmlError => USAGE_ERROR,
    // On the way.
    AgainstError => FAILED,
    DriveFileError => FAILED,
    SessionError => FAILED,
    serde_json::Error => FAILED,
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            // A run that is not as disklab wrote it is bad input.
            ReportError::Level { .. } | ReportError::Store(_) | ReportError::Study(_) => {
                Self::usage_error(error)
            }
            ReportError::Published(_) => Self::failed(error),
        }
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Self {
        match error {
            ProbeError::Interrupted => Self::interrupted("interrupted; nothing was written"),
            ProbeError::Disturbed(_) | ProbeError::Unsuitable(_) => Self::usage_error(error),
            ProbeError::Failed { .. } => Self::failed(error),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Interrupted(_) => {
                Self::interrupted("interrupted before anything was measured")
            }
            EngineError::Job(_) | EngineError::Untouchable { .. } => Self::usage_error(error),
            EngineError::File { .. } | EngineError::System { .. } => Self::failed(error),
        }
    }
}

/// The exit code of what the runner reports: one place, each variant once.
fn runner_code(error: &RunnerError) -> u8 {
    match error {
        RunnerError::Interrupted => INTERRUPTED,
        RunnerError::Record(_)
        | RunnerError::Outcome(_)
        | RunnerError::Bench(_)
        | RunnerError::OwnProgram(_)
        | RunnerError::Processors(_)
        | RunnerError::Seed(_)
        | RunnerError::Sensitivity(SensitivityError::Catalogue(_))
        | RunnerError::Leftovers(LeftoversError::Failed { .. } | LeftoversError::Undecided(_)) => {
            FAILED
        }
        RunnerError::Options(_)
        | RunnerError::Study(_)
        | RunnerError::Source(_)
        | RunnerError::Selection(_)
        | RunnerError::Plan(_)
        | RunnerError::CellPlan(_)
        | RunnerError::Part(_)
        | RunnerError::Pilot(_)
        | RunnerError::Leftovers(LeftoversError::Refused(_))
        | RunnerError::Sensitivity(_)
        | RunnerError::Kernel(_)
        | RunnerError::Drives(_)
        | RunnerError::NamedDrives { .. }
        | RunnerError::Processor(_)
        | RunnerError::Ledger(_)
        | RunnerError::Directory { .. }
        | RunnerError::Path { .. }
        | RunnerError::BenchLacks { .. }
        | RunnerError::CreateScratch { .. }
        | RunnerError::NoRoom { .. }
        | RunnerError::BudgetTooShort { .. }
        | RunnerError::Prepare(_)
        | RunnerError::Open(_)
        | RunnerError::Occupied(_)
        | RunnerError::OtherStudy { .. }
        | RunnerError::OtherMachine(_) => USAGE_ERROR,
    }
}

/// Its text; what cannot run, and what to install for it, is told as in a plan.
fn runner_message(error: &RunnerError) -> String {
    let RunnerError::Plan(PlanError::NoCells { left_out }) = error else {
        return error.to_string();
    };
    let mut text = format!("{error}:");
    for line in left_out_lines(left_out) {
        text.push_str(&format!("\n  {line}"));
    }
    if left_out.is_empty() {
        text.push_str("\n  no cell matches both --only and --without");
    }
    if let Some(remedy) = Skipped::new(left_out, []).remedy() {
        text.push_str(&format!("\n  {remedy}"));
    }
    text
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What it repeats may be a file, an argument, or a name in a run that somebody made.
        f.write_str(&shortened(&self.message, LONGEST_MESSAGE))
    }
}

#[cfg(test)]
mod tests {
    use disklab_bench::BenchError;
    use disklab_probe::Unsuitable;
    use disklab_runner::OptionsError;
    use disklab_store::StoreError;

    use super::*;

    #[test]
    fn exit_code_follows_from_the_variant() {
        let store = || StoreError::NoParts;
        let bench = || BenchError::ConsentNeeded;
        for (error, code) in [
            (RunnerError::Interrupted, INTERRUPTED),
            (RunnerError::Options(OptionsError::ZeroBudget), USAGE_ERROR),
            // Before a run nothing was touched; in it, what was measured is kept.
            (RunnerError::Open(store()), USAGE_ERROR),
            (RunnerError::Record(store()), FAILED),
            (RunnerError::Prepare(bench()), USAGE_ERROR),
            (RunnerError::Bench(bench()), FAILED),
            (RunnerError::Plan(PlanError::NothingToCompare), USAGE_ERROR),
        ] {
            let text = error.to_string();
            assert_eq!(Failure::from(error).code, code, "{text}");
        }
    }

    #[test]
    fn a_damaged_run_is_bad_input() {
        let (path, cell) = (std::path::PathBuf::from("run"), 3);
        let failure = Failure::from(ReportError::Store(StoreError::NoSample { path, cell }));
        assert_eq!(failure.code, USAGE_ERROR);
        assert!(failure.to_string().contains("restore the run from a copy"), "{failure}");
    }

    #[test]
    fn probe_and_engine_errors_have_the_code_of_their_variant() {
        let system = std::io::Error::from_raw_os_error;
        let failed = ProbeError::Failed { what: "a read", offset: 0, source: system(5) };
        for (failure, code) in [
            (Failure::from(ProbeError::Interrupted), INTERRUPTED),
            (Failure::from(ProbeError::Unsuitable(Unsuitable::Idle)), USAGE_ERROR),
            (Failure::from(failed), FAILED),
            (Failure::from(EngineError::from(disklab_exec::Interrupted)), INTERRUPTED),
            (Failure::from(EngineError::System { action: "allocate", source: system(12) }), FAILED),
        ] {
            assert_eq!(failure.code, code, "{failure}");
        }
    }

    #[test]
    fn plan_without_cells_says_why() {
        let left_out = vec![disklab_study::LeftOut::stack("md", "needs mdadm").lacking(["mdadm"])];
        let error = RunnerError::Plan(PlanError::NoCells { left_out });
        let text = Failure::from(error).to_string();
        assert!(text.contains("\n  md: needs mdadm"), "{text}");
        assert!(text.ends_with("apt-get install mdadm"), "{text}");
        let none = RunnerError::Plan(PlanError::NoCells { left_out: Vec::new() });
        let text = Failure::from(none).to_string();
        assert!(text.ends_with("no cell matches both --only and --without"), "{text}");
    }
}
