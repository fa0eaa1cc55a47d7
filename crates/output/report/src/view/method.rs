//! How it was measured, in sentences.

use std::collections::BTreeSet;

use crate::campaign::is_adaptive;
use disklab_cell::SeedSharing;
use disklab_options::{BenchKind, RunOrigin};
use disklab_sample::Tool;
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_units::{Bytes, count, significant};

use crate::Report;

/// What is known of figures that disklab did not measure.
pub(crate) const IMPORTED: &str = "Other programs measured these figures; disklab read their \
     outputs, which are next to the samples. How the stacks were made, whether caches were emptied, \
     and in which order all was measured is not known. Repeats of two stacks are paired in the \
     order of their files. What the outputs do not contain, such as what the drives really read and \
     wrote, was not audited; the notes of the cells say what that is.";

/// How the figures came about, in a word.
pub(crate) fn manner(info: &RunInfo) -> &'static str {
    match info {
        info if info.is_lab() => "simulated",
        info if info.is_import() => "imported",
        _ => "measured",
    }
}

/// The bench as a label, such as `real disks`.
pub(crate) fn bench_label(origin: &RunOrigin) -> &'static str {
    match origin {
        RunOrigin::Bench(BenchKind::Lab) => "modelled drives in virtual time",
        RunOrigin::Bench(BenchKind::Loop) => "files as disks (bench 'loop')",
        RunOrigin::Bench(BenchKind::Dir(_)) => "a mounted directory",
        RunOrigin::Bench(BenchKind::Disks(_)) => "real disks",
        RunOrigin::Import => "what other programs measured",
    }
}

/// What was measured, in a sentence.
pub(crate) fn measured(report: &Report) -> String {
    let info = &report.info;
    let times = match info.repeats {
        1 => "once each".to_owned(),
        n if info.is_import() || is_adaptive(info) => format!("up to {n} times each"),
        n => format!("{n} times each"),
    };
    // Of a study, `--only` may have asked for a part.
    let number =
        |of: fn(&CellRecord) -> &str| report.cells.iter().map(of).collect::<BTreeSet<&str>>().len();
    let workloads = count(number(|c| &c.cell.levels.workload), "workload");
    let stacks = count(number(|c| &c.cell.levels.stack), "stack");
    let at = crate::axes::levels(report).map_or_else(String::new, |at| format!(" at {at}"));
    format!("{stacks} × {workloads}{at}, {times}")
}

/// How many cells are done, failed and waiting, in a sentence.
pub(crate) fn progress(report: &Report) -> String {
    let number = |state| report.cells.iter().filter(|c| c.state == state).count();
    let (done, failed) = (number(CellState::Done), number(CellState::Failed));
    let waiting = number(CellState::Waiting);
    let all = report.cells.len();
    let mut text = if done == all && all > 0 {
        format!("All {all} cells finished")
    } else {
        format!("{done} of {all} cells finished")
    };
    if failed > 0 {
        text.push_str(&format!(", {failed} failed"));
    }
    if waiting > 0 {
        let have = if waiting == 1 { "has" } else { "have" };
        text.push_str(&format!(", {waiting} {have} not run yet"));
    }
    let seconds = busy_seconds(&report.cells);
    if (1.0..1e12).contains(&seconds) {
        text.push_str(&format!(", in {}", disklab_units::show_seconds(seconds)));
    }
    text.push('.');
    text
}

/// Seconds during which cells ran; several may have run side by side.
fn busy_seconds(cells: &[CellRecord]) -> f64 {
    let (mut busy, mut until) = (0.0, f64::NEG_INFINITY);
    let mut spans = Vec::new();
    for cell in cells {
        let seconds = cell.seconds.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(0.0);
        match cell.ended.map(|ended| ended.as_millisecond() as f64 / 1000.0) {
            Some(end) => spans.push((end - seconds, end)),
            None => busy += seconds,
        }
    }
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (start, end) in spans {
        busy += (end - start.max(until)).max(0.0);
        until = until.max(end);
    }
    busy
}

/// Which sizes a run has, in a sentence.
pub(crate) fn sizes(info: &RunInfo) -> String {
    if info.is_quick() {
        return "The study's quick form: smaller sizes, fewer operations.".to_owned();
    }
    scale(info.scale)
}

/// Whether a run has the study's own sizes.
pub(crate) fn has_own_sizes(info: &RunInfo) -> bool {
    info.scale == 1.0 && !info.is_quick()
}

/// How sizes were scaled, in a sentence.
fn scale(scale: f64) -> String {
    if scale == 1.0 {
        return "Sizes are as the study says.".to_owned();
    }
    let inverse = 1.0 / scale;
    let share = if inverse >= 1.5 && (inverse / inverse.round() - 1.0).abs() < 0.005 {
        format!("1/{inverse:.0}")
    } else {
        format!("{} times", significant(scale, 3))
    };
    format!(
        "Files and amounts are {share} of the study's size, to fit this bench: what a cache or a \
         drive's faster zones can do for them may differ."
    )
}

/// What an interval of the lab covers.
const LAB_INTERVALS: &str = " In the lab each repeat has other units of the drives' models and \
     draws its work anew: a figure's interval covers any drive of the model, as far as the model \
     makes its units differ.";
/// What ratios are made of there.
const SHARED_DRAWS: &str = " All stacks of a repeat have the same units and the same work.";
const OWN_DRAWS: &str = " Each stack of a repeat has its own units and its own work.";

/// How intervals and verdicts were made, and what an interval covers.
pub(crate) fn intervals(report: &Report) -> String {
    let info = &report.info;
    let mut text = how_intervals_were_made(info).to_owned();
    if info.is_lab() && info.repeats > 1 {
        text.push_str(LAB_INTERVALS);
        text.push_str(match report.study.draws {
            SeedSharing::Shared => SHARED_DRAWS,
            SeedSharing::Apart => OWN_DRAWS,
        });
    }
    text
}

fn how_intervals_were_made(info: &RunInfo) -> &'static str {
    if info.is_for_precision() {
        return "One cell is one observation. It ran until its intervals were narrow enough; as \
                repeats that happen to agree end that early, those of single figures are at \
                99 %, which then hold in 94 to 99 %: Student's t on the logarithms around the geometric \
                mean, from eight observations on the exact distribution-free interval of the \
                median. Ratios are paired over repeats; what is said of the ratios of one question \
                holds for all of them at 95 %.";
    }
    if info.repeats == 1 {
        return "Each figure was measured once, so none has an interval and no difference can be \
                told apart from chance. Run the study with more repeats before you rely on a difference.";
    }
    "One cell is one observation. Intervals are at 95 % unless another level is given: \
     for up to five observations Student's t on the logarithms around the geometric mean, from six \
     on the exact distribution-free interval of the median. Ratios are paired over repeats, \
     and their intervals are those of their verdicts, which hold for all comparisons of a \
     question at once (Holm). An interval that reaches tenfold above and below is not shown. \
     'Equivalent' means that the whole interval of the ratio lies within ±5 %; 'inconclusive' that the \
     samples do not say."
}

/// The machine in a line: processor, memory, kernel, distribution.
pub(crate) fn machine(info: &RunInfo) -> Vec<String> {
    let environment = &info.environment;
    let mut parts = Vec::new();
    let processors = count(environment.processors as usize, "processor");
    match (&environment.processor, environment.processors) {
        (Some(name), 0) => parts.push(name.clone()),
        (Some(name), _) => parts.push(format!("{name}, {processors}")),
        (None, 0) => {}
        (None, _) => parts.push(processors),
    }
    if environment.memory_bytes > 0 {
        parts.push(format!("{} of memory", Bytes(environment.memory_bytes).iec()));
    }
    if !environment.kernel.is_empty() {
        parts.push(environment.kernel.clone());
    }
    parts.extend(environment.distribution.clone());
    parts.extend(environment.virtual_machine.as_ref().map(|v| format!("a virtual machine ({v})")));
    parts
}

/// A program's version, with its name said once.
pub(crate) fn tool(tool: &Tool) -> String {
    let Tool { name, version } = tool;
    if version.starts_with(name.as_str()) { version.clone() } else { format!("{name} {version}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disklab_cell::{Cell, Levels};

    #[test]
    fn scales_in_words() {
        assert_eq!(scale(1.0), "Sizes are as the study says.");
        assert!(scale(1.0 / 16.0).starts_with("Files and amounts are 1/16 of"));
        assert!(scale(0.3).starts_with("Files and amounts are 0.300 times"));
        assert!(!scale(0.0).contains("inf"));
        assert!(!scale(f64::NAN).contains("NaN"));
    }

    #[test]
    fn parallel_cells_count_once() {
        let cell = |end: i64, seconds: f64| CellRecord {
            cell: Cell { number: 0, block: 0, levels: Levels::new("s", "w"), seed: 1 },
            state: CellState::Done,
            error: None,
            ended: jiff::Timestamp::from_second(end).ok(),
            seconds: Some(seconds),
        };
        // Two at once, one of them longer; then a pause; then one more.
        let cells = [cell(110, 10.0), cell(115, 13.0), cell(200, 5.0)];
        assert!((busy_seconds(&cells) - 20.0).abs() < 1e-6, "{}", busy_seconds(&cells));
        assert_eq!(busy_seconds(&[]), 0.0);
        assert_eq!(busy_seconds(&[cell(1, f64::NAN)]), 0.0);
    }

    #[test]
    fn only_the_lab_is_simulated() {
        let manner_on = |bench: &str| {
            manner(&RunInfo {
                disklab: "0.1.0".to_owned(),
                study: "s".to_owned(),
                title: "S".to_owned(),
                study_file: "s.toml".to_owned(),
                study_text: String::new(),
                bench: bench.parse().expect(bench),
                bench_about: String::new(),
                options: disklab_options::RunSettings::default(),
                scale: 1.0,
                repeats: 1,
                seed: 1,
                created: jiff::Timestamp::UNIX_EPOCH,
                stacks: Vec::new(),
                left_out: Vec::new(),
                reference: None,
                machines: Default::default(),
                environment: disklab_sample::Environment::default(),
            })
        };
        assert_eq!(manner_on("lab"), "simulated");
        assert_eq!(
            ["import", "loop", "dir:/lab"].map(manner_on),
            ["imported", "measured", "measured"]
        );
        let label = |text: &str| bench_label(&text.parse().expect(text));
        assert_eq!(label("lab"), "modelled drives in virtual time");
        assert_eq!(label("dir:/lab"), "a mounted directory");
    }
}
