//! What an answer says in words.
//!
//! Every difference stands with its interval; a figure measured once says so.
//! Nothing is claimed that the comparison's outcome does not allow.

use std::collections::BTreeSet;

use disklab_stats::Interval;
use disklab_study::{Chart, Measure, Study};

use crate::answer::{Doubts, Lead, leads};
use crate::describe::describe;
use crate::words::{Distance, list, measure, ratio, value};
use crate::{Answer, Comparison, Group, Outcome, Point};

/// Differences told in a sentence of their own, per answer.
const DIFFERENCES: usize = 6;
/// Figures whose fastest stack is told, per answer.
const LEADS: usize = 4;
/// Names in a list.
const NAMES: usize = 6;

/// The sentences of an answer.
pub(crate) fn sentences(
    study: &Study,
    groups: &[Group],
    doubts: &Doubts<'_>,
    answer: &Answer,
) -> Vec<String> {
    let teller = Teller { study, groups, doubts, answer };
    if answer.points.is_empty() {
        return vec![format!(
            "Nothing was measured here that has {}.",
            with_article(&measure(answer.measure))
        )];
    }
    let mut all = teller.told_leads();
    if answer.comparisons.is_empty() {
        all.extend(teller.alone());
        return all;
    }
    all.extend(teller.differences());
    all.extend(teller.level());
    all.extend(teller.open());
    all.extend(teller.once());
    all
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with("elapsed") { "an" } else { "a" };
    if noun.starts_with("operations") { noun.to_owned() } else { format!("{article} {noun}") }
}

/// How surely a comparison is away from 1: the distance in logarithms of the
/// interval's nearer end.
pub(crate) fn strength(interval: Option<Interval>) -> f64 {
    match interval {
        Some(i) if !i.contains(1.0) => i.low.ln().abs().min(i.high.ln().abs()),
        _ => 0.0,
    }
}

/// Tells of one answer.
pub(crate) struct Teller<'a> {
    pub study: &'a Study,
    pub groups: &'a [Group],
    pub doubts: &'a Doubts<'a>,
    pub answer: &'a Answer,
}

impl<'a> Teller<'a> {
    fn stack(&self, group: usize) -> &'a str {
        &self.groups[group].key.stack
    }

    /// `For 4 KiB synchronous writes (dd-4k), `.
    fn prefix(&self, group: usize) -> String {
        format!("For {}, ", describe(self.study, self.groups, &self.groups[group].key).full())
    }

    fn point(&self, group: usize) -> Option<&'a Point> {
        self.answer.points.iter().find(|p| p.group == group)
    }

    /// `180 kB/s [171, 190]`, `a median latency of 8.33 ms [8.20, 8.40]`.
    fn figure(&self, point: &Point) -> String {
        let shown = value(self.answer.measure, &point.estimate);
        match self.answer.measure {
            Measure::Throughput | Measure::Iops | Measure::Elapsed => shown,
            Measure::Latency(_) => format!("a {} of {shown}", measure(self.answer.measure)),
        }
    }

    /// `raid5/ext4 reaches 180 kB/s [171, 190]`.
    fn reaches(&self, group: usize) -> String {
        let verb = match self.answer.measure {
            Measure::Throughput | Measure::Iops => "reaches",
            Measure::Elapsed => "takes",
            Measure::Latency(_) => "has",
        };
        let figure = self.point(group).map_or_else(String::new, |p| self.figure(p));
        format!("{} {verb} {figure}", self.stack(group))
    }

    /// `8.7 times [8.1, 9.4] as fast as raid5/btrfs`. Told as a factor, the better
    /// one is the subject; in per cent, the first of the ratio.
    fn relation(&self, centre: f64, interval: Interval, other: &str) -> String {
        let measure = self.answer.measure;
        let more = centre > 1.0;
        match (Distance::of(centre, interval), measure) {
            (Distance::Factor(factor, i), Measure::Throughput | Measure::Elapsed) => {
                format!("{factor} times {i} as fast as {other}")
            }
            (Distance::Factor(factor, i), Measure::Iops) => {
                format!("{factor} times {i} as many as {other}")
            }
            (Distance::Factor(factor, i), Measure::Latency(_)) => {
                format!("shorter by a factor of {factor} {i} than {other}")
            }
            (Distance::Percent(share), Measure::Throughput) => {
                format!("{share} {} than {other}", if more { "faster" } else { "slower" })
            }
            (Distance::Percent(share), Measure::Iops) => {
                format!("{share} {} than {other}", if more { "more" } else { "fewer" })
            }
            (Distance::Percent(share), Measure::Elapsed) => {
                format!("{share} {} than {other}", if more { "longer" } else { "less" })
            }
            (Distance::Percent(share), Measure::Latency(_)) => {
                format!("{share} {} than {other}", if more { "longer" } else { "shorter" })
            }
        }
    }

    fn doubt(&self, groups: &[usize]) -> String {
        match self.doubts.about(groups).as_slice() {
            [] => String::new(),
            audits => format!(" (doubtful: {})", audits.join(", ")),
        }
    }

    /// A comparison that may be told as a difference, without its prefix. Far
    /// apart, the better one is the subject; near, the stack compared.
    fn difference(&self, comparison: &Comparison) -> Option<String> {
        let interval = comparison.interval?;
        let (mut subject, mut other) = (comparison.group, comparison.baseline_group);
        let far = matches!(Distance::of(comparison.ratio, interval), Distance::Factor(..));
        if far && comparison.outcome == Outcome::Worse {
            (subject, other) = (other, subject);
        }
        Some(format!(
            "{}, {}{}.",
            self.reaches(subject),
            self.relation(comparison.ratio, interval, self.stack(other)),
            self.doubt(&[subject, other])
        ))
    }

    /// A comparison as a whole sentence, with what was measured.
    pub fn full_difference(&self, comparison: &Comparison) -> Option<String> {
        Some(self.prefix(comparison.group) + &self.difference(comparison)?)
    }

    /// The strongest differences, most surprising first, then how many are left.
    fn differences(&self) -> Vec<String> {
        let mut strong: Vec<&Comparison> = self
            .answer
            .comparisons
            .iter()
            .filter(|c| matches!(c.outcome, Outcome::Better | Outcome::Worse))
            .collect();
        strong.sort_by(|a, b| strength(b.interval).total_cmp(&strength(a.interval)));
        let left = strong.len().saturating_sub(DIFFERENCES);
        let mut told: Option<usize> = None;
        let mut all: Vec<String> = Vec::new();
        for comparison in strong.into_iter().take(DIFFERENCES) {
            let Some(sentence) = self.difference(comparison) else { continue };
            // What was measured is told once for sentences that follow each other.
            let again = told.is_some_and(|g| self.same_figure(g, comparison.group));
            told = Some(comparison.group);
            all.push(if again { sentence } else { self.prefix(comparison.group) + &sentence });
        }
        if left > 0 {
            all.push(format!(
                "{left} more {} surely from the baseline: see the table.",
                if left == 1 { "figure differs" } else { "figures differ" }
            ));
        }
        all
    }

    fn same_figure(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.groups[a].key, &self.groups[b].key);
        a.workload == b.workload && a.step == b.step && a.direction == b.direction
    }

    /// Who is fastest, per figure with at least three stacks: with two, the
    /// comparison says it. The surest leads are told.
    fn told_leads(&self) -> Vec<String> {
        let mut leads = leads(self.groups, self.answer);
        leads.retain(|lead| lead.stacks > 2);
        leads.sort_by(|a, b| strength(b.ratio.interval).total_cmp(&strength(a.ratio.interval)));
        let told = |lead: &Lead<'_>| self.lead(lead).unwrap_or_else(|| self.close_lead(lead));
        leads.iter().map(told).take(LEADS).collect()
    }

    /// Who leads without being surely the fastest.
    fn close_lead(&self, lead: &Lead<'_>) -> String {
        let names = |points: &[&Point]| list(points.iter().map(|p| self.stack(p.group)), NAMES);
        let first = lead.first.group;
        let mut sentence = format!(
            "{}{} leads with {}{}",
            self.prefix(first),
            self.stack(first),
            self.figure(lead.first),
            self.doubt(&[first])
        );
        if !lead.level.is_empty() {
            sentence += &format!("; level with it, within 5 %: {}", names(&lead.level));
        }
        if !lead.open.is_empty() {
            sentence += &format!("; whether it is faster than {} is open", names(&lead.open));
        }
        sentence + "."
    }

    /// Who is fastest, if it surely is.
    pub fn lead(&self, lead: &Lead<'_>) -> Option<String> {
        let (first, second) = (lead.first.group, lead.second.group);
        let interval = lead.ratio.interval?;
        let prefix = self.prefix(first);
        let doubts = self.doubts.about(&[first]);
        if !lead.is_sure() {
            return None;
        }
        if !doubts.is_empty() {
            return Some(format!(
                "{prefix}no fastest stack is named: the figure of {} is doubtful ({}).",
                self.stack(first),
                doubts.join(", ")
            ));
        }
        let figure = self.figure(lead.first);
        Some(format!(
            "{prefix}{} is the fastest of {} stacks: {figure}, {}, the next{}.",
            self.stack(first),
            lead.stacks,
            self.relation(lead.ratio.centre, interval, self.stack(second)),
            self.doubt(&[second])
        ))
    }

    /// The figures of a single stack.
    fn alone(&self) -> Vec<String> {
        self.answer
            .points
            .iter()
            .take(DIFFERENCES)
            .map(|p| {
                format!(
                    "{}{}{}.",
                    self.prefix(p.group),
                    self.reaches(p.group),
                    self.doubt(&[p.group])
                )
            })
            .collect()
    }

    /// The stack, and which of several figures is meant.
    fn name(&self, comparison: &Comparison) -> String {
        let mut which = Vec::new();
        if !comparison.figure.is_empty() {
            which.push(comparison.figure.clone());
        }
        if let (Some(x), Chart::LinesOver(over)) = (&comparison.x, &self.answer.question.chart) {
            which.push(format!("{over}={x}"));
        }
        if which.is_empty() {
            comparison.stack.clone()
        } else {
            format!("{} ({})", comparison.stack, which.join(", "))
        }
    }

    /// Comparisons of one outcome, by baseline.
    fn by_baseline(&self, outcome: Outcome) -> Vec<(&'a str, Vec<&'a Comparison>)> {
        let mut all: Vec<(&str, Vec<&Comparison>)> = Vec::new();
        for comparison in self.answer.comparisons.iter().filter(|c| c.outcome == outcome) {
            match all.iter_mut().find(|(baseline, _)| *baseline == comparison.baseline) {
                Some((_, list)) => list.push(comparison),
                None => all.push((&comparison.baseline, vec![comparison])),
            }
        }
        all
    }

    fn level(&self) -> Vec<String> {
        let told = |(baseline, comparisons): (&str, Vec<&Comparison>)| {
            let names: Vec<_> = comparisons.iter().map(|c| self.name(c)).collect();
            let groups: Vec<_> =
                comparisons.iter().flat_map(|c| [c.group, c.baseline_group]).collect();
            format!(
                "Level with {baseline}, within 5 %: {}{}.",
                list(names.iter().map(String::as_str), NAMES),
                self.doubt(&groups)
            )
        };
        self.by_baseline(Outcome::Level).into_iter().map(told).collect()
    }

    fn open(&self) -> Vec<String> {
        let told = |(baseline, comparisons): (&str, Vec<&Comparison>)| {
            let names: Vec<_> = comparisons
                .iter()
                .map(|c| format!("{} {}", self.name(c), ratio(c.ratio, c.interval)))
                .collect();
            format!(
                "Open, as ratios to {baseline}: {}. {}",
                list(names.iter().map(String::as_str), NAMES),
                self.why_open(&comparisons)
            )
        };
        self.by_baseline(Outcome::Inconclusive).into_iter().map(told).collect()
    }

    /// What keeps comparisons open that have intervals without 1, or all of them.
    fn why_open(&self, comparisons: &[&Comparison]) -> String {
        let apart = comparisons.iter().any(|c| c.interval.is_some_and(|i| !i.contains(1.0)));
        let all = self.answer.comparisons.iter().filter(|c| c.p.is_some()).count();
        if apart {
            format!(
                "Each interval holds by itself; for {all} at once, one without 1 in it is not \
                 enough. More repeats would narrow them."
            )
        } else {
            "More repeats would narrow the intervals.".to_owned()
        }
    }

    fn once(&self) -> Vec<String> {
        let once: BTreeSet<usize> = self
            .answer
            .comparisons
            .iter()
            .filter(|c| c.outcome == Outcome::Once)
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
                let shown = value(self.answer.measure, &p.estimate).replace(" (once)", "");
                format!("{}{figure}{x} {shown}", self.stack(p.group))
            })
            .collect();
        vec![format!(
            "Measured once, so chance may explain the differences: {}.",
            list(names.iter().map(String::as_str), NAMES)
        )]
    }
}
