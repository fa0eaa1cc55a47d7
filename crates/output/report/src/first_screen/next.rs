//! What one can do next: commands that suit the run that was just made.

use disklab_store::RunInfo;

use super::FirstScreen;
use crate::Report;
use crate::view::study_word;

/// A command, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextStep {
    /// 'Settle what is open'.
    pub(crate) what: &'static str,
    /// As one would type it.
    pub(crate) command: String,
}

/// Commands that suit a run whose page is at `page`.
pub(crate) fn next_steps(report: &Report, screen: &FirstScreen, page: &str) -> Vec<NextStep> {
    let info = &report.info;
    let step = |what, words: &[&str]| NextStep { what, command: shell_words::join(words) };
    let mut steps = vec![step("Look at it", &["xdg-open", page])];
    let study = study_word(report);
    let bench = info.bench.to_string();
    let run = [vec!["disklab", "run", study], at_bench(info, &bench)].concat();
    let form: &[&str] = if info.is_quick() { &["--quick"] } else { &[] };
    let is_adaptive = info.options.goal.is_some();
    if !info.is_import() && screen.is_unsettled() && !is_adaptive {
        let settle = [run.as_slice(), form, &["--goal", "best"]].concat();
        steps.push(step("Decide what is inconclusive", &settle));
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
