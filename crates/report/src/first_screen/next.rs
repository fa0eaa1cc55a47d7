//! What one can do next: commands that suit the run that was just made.

use disklab_store::RunInfo;

use super::FirstScreen;
use crate::Report;
use crate::view::study_word;

/// A command, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// 'Settle what is open'.
    pub what: &'static str,
    /// As one would type it.
    pub command: String,
}

/// Commands that suit a run whose page is at `page`.
pub fn next_steps(report: &Report, page: &str) -> Vec<NextStep> {
    let info = &report.info;
    let step = |what, words: &[&str]| NextStep { what, command: shell_words::join(words) };
    let mut steps = vec![step("Look at it", &["xdg-open", page])];
    let study = study_word(report);
    let bench = [vec!["disklab", "run", study], at_bench(info)].concat();
    let is_adaptive = info.options.contains_key(RunInfo::GOAL);
    if !info.is_import() && FirstScreen::of(report).is_unsettled() && !is_adaptive {
        steps.push(step("Settle what is open", &[bench, vec!["--goal", "best"]].concat()));
    }
    if !info.is_import() && info.scale < 1.0 {
        let full = [vec!["disklab", "run", study], at_bench(info)].concat();
        steps.push(step("In full size", &full));
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
fn at_bench(info: &RunInfo) -> Vec<&str> {
    if info.is_lab() { Vec::new() } else { vec!["--on", &info.bench] }
}
