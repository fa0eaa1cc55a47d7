//! What makes no difference, what is inconclusive, what was measured once.

use std::collections::BTreeSet;

use disklab_comparisons::{Comparison, ComparisonOutcome, ratio};
use disklab_study::ChartKind;
use disklab_units::list;

use super::{AnswerWriter, NAMES};

impl<'a> AnswerWriter<'a> {
    /// The stack, and which of several figures is meant.
    fn name(&self, comparison: &Comparison) -> String {
        let mut which = Vec::new();
        if !comparison.figure.is_empty() {
            which.push(comparison.figure.clone());
        }
        if let (Some(x), ChartKind::LinesOver(over)) = (&comparison.x, &self.answer.question.chart)
        {
            which.push(format!("{over}={x}"));
        }
        if which.is_empty() {
            comparison.stack.clone()
        } else {
            format!("{} ({})", comparison.stack, which.join(", "))
        }
    }

    fn by_baseline(&self, outcome: ComparisonOutcome) -> Vec<(&'a str, Vec<&'a Comparison>)> {
        let mut all: Vec<(&str, Vec<&Comparison>)> = Vec::new();
        for comparison in self.answer.comparisons.iter().filter(|c| c.outcome == outcome) {
            match all.iter_mut().find(|(baseline, _)| *baseline == comparison.baseline) {
                Some((_, list)) => list.push(comparison),
                None => all.push((&comparison.baseline, vec![comparison])),
            }
        }
        all
    }

    /// What is equivalent to the baseline.
    pub(super) fn level(&self) -> Vec<String> {
        let sentence = |(baseline, comparisons): (&str, Vec<&Comparison>)| {
            let names: Vec<_> = comparisons.iter().map(|c| self.name(c)).collect();
            let groups: Vec<_> =
                comparisons.iter().flat_map(|c| [c.group, c.baseline_group]).collect();
            format!(
                "Equivalent to {baseline}, within 5 %: {}{}.",
                list(names.iter().map(String::as_str), NAMES),
                self.suspicion(&groups)
            )
        };
        self.by_baseline(ComparisonOutcome::Equivalent).into_iter().map(sentence).collect()
    }

    /// What the samples do not decide.
    pub(super) fn open(&self) -> Vec<String> {
        let sentence = |(baseline, comparisons): (&str, Vec<&Comparison>)| {
            let names: Vec<_> = comparisons
                .iter()
                .map(|c| {
                    let shown = match c.interval {
                        None => ratio(c.ratio, None).replace("once", "no interval"),
                        some => ratio(c.ratio, some),
                    };
                    format!("{} {shown}", self.name(c))
                })
                .collect();
            format!(
                "Inconclusive, as ratios to {baseline}: {}. {}",
                list(names.iter().map(String::as_str), NAMES),
                self.why_open(&comparisons)
            )
        };
        self.by_baseline(ComparisonOutcome::Inconclusive).into_iter().map(sentence).collect()
    }

    /// What would decide them. Their intervals are those of all comparisons together.
    fn why_open(&self, comparisons: &[&Comparison]) -> String {
        let all = self.answer.comparisons.iter().filter(|c| c.p.is_some()).count();
        let more = match comparisons.iter().all(|c| c.interval.is_some()) {
            true => "More repeats would narrow the intervals",
            false => "It takes more repeats",
        };
        match all {
            2.. => format!("{more}. The intervals are adjusted for {all} comparisons."),
            _ => format!("{more}."),
        }
    }

    /// What was measured once.
    pub(super) fn once(&self) -> Vec<String> {
        let once: BTreeSet<usize> = self
            .answer
            .comparisons
            .iter()
            .filter(|c| c.outcome == ComparisonOutcome::Once)
            .flat_map(|c| [c.group, c.baseline_group])
            .collect();
        if once.is_empty() {
            return Vec::new();
        }
        let names: Vec<_> = self
            .answer
            .points
            .iter()
            .filter(|p| once.contains(&p.group))
            .map(|p| {
                let x = p.x.as_ref().map_or_else(String::new, |x| format!(" at {x}"));
                let figure = Some(&p.figure).filter(|f| !f.is_empty());
                let figure = figure.map_or_else(String::new, |f| format!(" {f}"));
                let shown = self.value(p).replace(" (once)", "");
                format!("{}{figure}{x} {shown}", self.stack(p.group))
            })
            .collect();
        vec![format!(
            "Measured once, so chance may explain the differences: {}.",
            list(names.iter().map(String::as_str), NAMES)
        )]
    }
}
