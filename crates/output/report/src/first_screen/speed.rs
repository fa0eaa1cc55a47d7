//! One number of speed for a stack: all purposes alike, or, if the study shows none, all
//! questions alike; of a run about a rebuild or a scrub, how long that takes.

use std::collections::BTreeMap;

use disklab_audits::Group;
use disklab_comparisons::{Answer, plain_value};
use disklab_decision::Recommendation;
use disklab_sample::OperationKind;
use disklab_study::Measure;

use crate::Report;

/// What a stack's speed is the mean of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpeedBasis {
    /// What decides for all purposes.
    AllPurposes,
    /// What decides for these purposes alone; the others were not measured.
    Purposes(Vec<&'static str>),
    /// All questions of the study.
    Questions,
    /// No mean, but this time, which takes so many seconds at least.
    Time(&'static str, f64),
}

impl SpeedBasis {
    /// What it is: 'Speed', or which time.
    pub(crate) fn heading(&self) -> &'static str {
        match self {
            Self::Time(what, _) => what,
            _ => "Speed",
        }
    }

    /// What it is of, behind the heading: 'all purposes alike'.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::AllPurposes => "all purposes alike".to_owned(),
            Self::Purposes(names) => {
                let alike = if names.len() > 1 { " alike" } else { "" };
                format!("{}{alike}", names.join(", ").to_lowercase())
            }
            Self::Questions => "all questions alike".to_owned(),
            Self::Time(..) => "for whole drives: less is better".to_owned(),
        }
    }

    /// What a stack of such a speed, next to the best, has: per cent of that, or its time.
    pub(crate) fn figure(&self, speed: f64) -> String {
        match self {
            Self::Time(_, least) => plain_value(Measure::Elapsed, OperationKind::Io, least / speed),
            _ => per_cent_of_best(speed),
        }
    }

    /// How long its bar is, of 1, if the slowest stack has the speed `slowest`.
    pub(crate) fn length(&self, speed: f64, slowest: f64) -> f64 {
        match self {
            Self::Time(..) => slowest / speed,
            _ => speed,
        }
    }
}

/// A speed in per cent of the best; no stack's is 0.
pub(crate) fn per_cent_of_best(speed: f64) -> String {
    if speed < 0.005 { "<1".to_owned() } else { format!("{:.0}", speed * 100.0) }
}

/// The speed of each stack that was measured in all of it, next to the best: 1 is the best. A
/// purpose counts as much as any other: the mean is geometric, as of all ratios.
pub(crate) fn speeds(report: &Report) -> (Vec<(String, f64)>, SpeedBasis) {
    if let Some(of_pass) = of_pass(report) {
        return of_pass;
    }
    let all = &report.analysis.recommendations;
    let has_scores = |r: &&Recommendation| !r.scores.is_empty();
    let whole: Vec<&Recommendation> =
        all.iter().filter(has_scores).filter(|r| r.why_not.is_none()).collect();
    let counted = if whole.is_empty() { all.iter().filter(has_scores).collect() } else { whole };
    if counted.is_empty() {
        let groups = &report.analysis.groups;
        let asked = report.analysis.answers.iter().filter(|a| a.by_study);
        let ratios: Vec<_> = asked.flat_map(|answer| of_answer(groups, answer)).collect();
        return (mean(&ratios), SpeedBasis::Questions);
    }
    let scores = |r: &&Recommendation| {
        r.scores.iter().map(|score| (score.stack.clone(), score.share)).collect()
    };
    let ratios: Vec<BTreeMap<String, f64>> = counted.iter().map(scores).collect();
    let basis = if counted.len() == all.len() {
        SpeedBasis::AllPurposes
    } else {
        SpeedBasis::Purposes(counted.iter().map(|r| r.purpose.short).collect())
    };
    (mean(&ratios), basis)
}

/// Of a run about a rebuild or a scrub.
fn of_pass(report: &Report) -> Option<(Vec<(String, f64)>, SpeedBasis)> {
    let (passes, what) = match (&report.info.options.rebuild, &report.info.options.scrub) {
        (Some(_), _) => (&report.failures.rebuilds, "Time until redundant again"),
        (None, Some(_)) => (&report.failures.scrubs, "Time of a scrub"),
        (None, None) => return None,
    };
    let hours = |stack: &str| passes.hours(stack).map(|h| h.value).filter(|hours| *hours > 0.0);
    let all: Vec<(String, f64)> =
        passes.stacks().filter_map(|(stack, _)| Some((stack.to_owned(), hours(stack)?))).collect();
    let least = all.iter().map(|(_, hours)| *hours).min_by(f64::total_cmp)?;
    let shares = all.into_iter().map(|(stack, hours)| (stack, least / hours)).collect();
    Some((shares, SpeedBasis::Time(what, least * 3600.0)))
}

/// Of each figure of an answer, its stacks next to the best.
fn of_answer(groups: &[Group], answer: &Answer) -> Vec<BTreeMap<String, f64>> {
    let up = answer.measure.higher_is_better();
    let figures = answer.points.chunk_by(|a, b| a.figure == b.figure && a.x == b.x);
    figures
        .filter_map(|points| {
            let quality = |centre: f64| if up { centre } else { 1.0 / centre };
            let all = points.iter().map(|p| (p, quality(p.estimate.centre)));
            let sound: Vec<_> = all.filter(|(_, q)| q.is_finite() && *q > 0.0).collect();
            let best = sound.iter().map(|(_, q)| *q).fold(0.0, f64::max);
            let share = |(p, q): &(&disklab_comparisons::Point, f64)| {
                Some((groups.get(p.group)?.key.levels.stack.clone(), q / best))
            };
            (sound.len() > 1).then(|| sound.iter().filter_map(share).collect())
        })
        .collect()
}

/// The geometric mean of those that are in all of them.
fn mean(ratios: &[BTreeMap<String, f64>]) -> Vec<(String, f64)> {
    let Some(first) = ratios.first() else { return Vec::new() };
    let of = |stack: &String| -> Option<f64> {
        let logarithms: Option<f64> =
            ratios.iter().map(|r| r.get(stack).map(|ratio| ratio.ln())).sum();
        Some((logarithms? / ratios.len() as f64).exp())
    };
    let all: Vec<(String, f64)> =
        first.keys().filter_map(|stack| Some((stack.clone(), of(stack)?))).collect();
    let best = all.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
    let sound = |(stack, speed): (String, f64)| (best > 0.0).then(|| (stack, speed / best));
    all.into_iter().filter_map(sound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(all: &[(&str, f64)]) -> BTreeMap<String, f64> {
        all.iter().map(|(stack, ratio)| ((*stack).to_owned(), *ratio)).collect()
    }

    #[test]
    fn each_purpose_counts_alike_and_the_best_is_one() {
        let two =
            [ratios(&[("a", 1.0), ("b", 0.5), ("c", 0.1)]), ratios(&[("a", 0.25), ("b", 1.0)])];
        let got = mean(&two);
        // √(1 · 0.25) and √(0.5 · 1); `c` was not measured in both.
        let expected = [("a".to_owned(), (0.25_f64 / 0.5).sqrt()), ("b".to_owned(), 1.0)];
        assert_eq!(got.len(), 2);
        for ((stack, speed), (name, wanted)) in got.iter().zip(&expected) {
            assert!(stack == name && (speed - wanted).abs() < 1e-12, "{got:?}");
        }
        assert!(mean(&[]).is_empty());
    }
}
