//! What one can do next: commands that suit the run that was just made.

use disklab_options::{BenchKind, RunOrigin};
use disklab_store::RunInfo;

use super::{FirstScreen, unsettled};
use crate::Report;
use crate::view::{settle_command, study_word};

/// What more repeats would decide.
pub(crate) const SETTLE: &str = "Decide what is inconclusive";
/// The shipped study that measures what every purpose needs.
const WHOLE: &str = "nas";

/// A command, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextStep {
    /// 'Decide what is inconclusive'.
    pub(crate) what: &'static str,
    /// As one would type it.
    pub(crate) command: String,
}

/// Commands that suit a run whose page is at `page`.
pub(crate) fn next_steps(report: &Report, screen: &FirstScreen<'_>, page: &str) -> Vec<NextStep> {
    let info = &report.info;
    let step = |what, words: &[&str]| NextStep { what, command: shell_words::join(words) };
    let mut steps = vec![step("Look at it", &["xdg-open", page])];
    let study = study_word(report);
    let bench = info.bench.to_string();
    let run = [vec!["disklab", "run", study], at_bench(info, &bench)].concat();
    if !info.is_import() && screen.is_unsettled() {
        let command = settle_command(report, unsettled::only(report, screen));
        steps.extend(command.map(|command| NextStep { what: SETTLE, command }));
    }
    let is_in_making = info.is_lab() || info.bench == RunOrigin::Bench(BenchKind::Loop);
    if is_in_making && screen.is_partial() && info.study != WHOLE {
        let whole = ["disklab", "run", WHOLE, "--quick"].to_vec();
        steps.push(step("Measure the rest", &[whole, at_bench(info, &bench)].concat()));
    }
    if !info.is_import() && (info.scale < 1.0 || info.is_quick()) {
        steps.push(step("In full size", &run));
    }
    if info.is_lab() {
        let disks = "disks:/dev/disk/by-id/…";
        steps.push(NextStep {
            what: "Your own disks",
            command: format!("{} {disks}", shell_words::join(["disklab", "plan", study, "--on"])),
        });
    }
    steps
}

/// Where the run was, as an option; nothing in the lab, which is where runs are by themselves.
fn at_bench<'a>(info: &RunInfo, bench: &'a str) -> Vec<&'a str> {
    if info.is_lab() { Vec::new() } else { vec!["--on", bench] }
}
