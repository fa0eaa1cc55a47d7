//! What a run says of its own stacks.

use disklab_decision::Analysis;
use disklab_published::{MeasuredValue, OwnRatio};
use disklab_study::{Measure, Part};

/// What follows a workload's step, and in no id.
const BEHIND: &str = ", ";

/// Whether a figure that is called `figure` here is one of this workload.
pub(super) fn is_of(figure: &str, workload: &str) -> bool {
    let behind = figure.strip_prefix(workload);
    behind.is_some_and(|rest| rest.starts_with(':') || rest.starts_with(BEHIND))
}

/// Each stack against its baseline, for every figure that the study asks about.
pub fn own_ratios(analysis: &Analysis) -> Vec<OwnRatio> {
    let mut found: Vec<OwnRatio> = Vec::new();
    for answer in analysis.answers.iter().filter(|answer| answer.by_study) {
        let metric = word(answer.measure);
        for comparison in &answer.comparisons {
            let Some(group) = analysis.groups.get(comparison.group) else { continue };
            let key = &group.key;
            let step = if key.step == key.levels.workload {
                String::new()
            } else {
                format!(":{}", key.step)
            };
            let part = if key.part == Part::Steady { ", steady part" } else { "" };
            let direction = key.direction.word();
            let workload =
                format!("{}{step}{BEHIND}{direction} ({metric}{part})", key.levels.workload);
            let id = format!("{} ÷ {}: {workload}", comparison.stack, comparison.baseline);
            // Two questions may be about the same figure.
            if found.iter().any(|known| known.id == id) || !comparison.ratio.is_finite() {
                continue;
            }
            found.push(OwnRatio {
                id,
                subject: comparison.stack.clone(),
                baseline: comparison.baseline.clone(),
                workload,
                metric: metric.to_owned(),
                measured: MeasuredValue {
                    centre: comparison.ratio,
                    interval: comparison.interval.map(|interval| (interval.low, interval.high)),
                    n: comparison.pairs,
                },
            });
        }
    }
    found
}

/// A measure's word in a study.
fn word(measure: Measure) -> &'static str {
    let known = Measure::WORDS.iter().find(|(_, known)| *known == measure);
    known.map_or("latency", |(word, _)| word)
}
