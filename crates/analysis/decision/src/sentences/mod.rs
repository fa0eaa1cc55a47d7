//! What an answer says in words.
//!
//! Every difference stands with its interval; a figure measured once says so.
//! Nothing is claimed that the comparison's outcome does not allow.

mod leads;
mod lists;
mod missed;
mod nothing;
#[cfg(test)]
mod tests;
mod unsteady;

use disklab_audits::{Finding, Group, SuspectGroups, Unsteady, describe, measure_in_sentence};
use disklab_comparisons::{Answer, Comparison, ComparisonOutcome, Distance, Point, value};
use disklab_stats::Interval;
use disklab_study::{Measure, Study};
use disklab_units::list;

pub(crate) use nothing::nothing_measured;

/// Differences told in a sentence of their own, per answer.
const DIFFERENCES: usize = 6;
/// Names in a list.
const NAMES: usize = 6;
/// Figures in a sentence of nothing else; of more, the ends are named.
const LISTED: usize = 3;

/// The sentences of each answer.
pub(crate) fn sentences_of_answers(
    study: &Study,
    groups: &[Group],
    findings: &[Finding],
    unsteady: &Unsteady,
    answers: &[Answer],
) -> Vec<Vec<String>> {
    let suspicions = SuspectGroups::of(findings);
    let of = |answer: &Answer| {
        let covered: Vec<&Group> = answer.covered.iter().map(|g| &groups[*g]).collect();
        let without = unsteady::unsteady_sentences(unsteady, &covered);
        let mut all = Vec::new();
        // Where nothing has a figure, that sentence says why; where no cell has finished, nobody
        // knows what would have been measured.
        if !answer.points.is_empty() || without.is_empty() && !covered.is_empty() {
            all = sentences(study, groups, &suspicions, answer);
        }
        all.extend(without);
        all
    };
    answers.iter().map(of).collect()
}

/// The sentences of an answer.
fn sentences(
    study: &Study,
    groups: &[Group],
    suspicions: &SuspectGroups<'_>,
    answer: &Answer,
) -> Vec<String> {
    let writer = AnswerWriter { study, groups, suspicions, answer };
    if answer.points.is_empty() {
        return vec![format!(
            "Nothing was measured here that has {}.",
            with_article(&measure_in_sentence(answer.measure, answer.operation, answer.committed))
        )];
    }
    if answer.measure == Measure::Missed {
        return writer.missed();
    }
    let mut all = writer.reported_leads();
    if answer.comparisons.is_empty() {
        all.extend(writer.alone());
        return all;
    }
    all.extend(writer.differences());
    all.extend(writer.level());
    all.extend(writer.open());
    all.extend(writer.once());
    all
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with("elapsed") { "an" } else { "a" };
    if noun.ends_with("per second") { noun.to_owned() } else { format!("{article} {noun}") }
}

/// How significantly a comparison is away from 1: the distance in logarithms of the
/// interval's nearer end.
pub(crate) fn strength(interval: Option<Interval>) -> f64 {
    match interval {
        Some(i) if !i.contains(1.0) => i.low.ln().abs().min(i.high.ln().abs()),
        _ => 0.0,
    }
}

/// Reports one answer.
pub(crate) struct AnswerWriter<'a> {
    pub study: &'a Study,
    pub groups: &'a [Group],
    pub suspicions: &'a SuspectGroups<'a>,
    pub answer: &'a Answer,
}

impl<'a> AnswerWriter<'a> {
    fn stack(&self, group: usize) -> &'a str {
        &self.groups[group].key.levels.stack
    }

    /// `For 4 KiB synchronous writes (dd-4k), `.
    fn prefix(&self, group: usize) -> String {
        format!("For {}, ", describe(self.study, self.groups, &self.groups[group].key).full())
    }

    fn point(&self, group: usize) -> Option<&'a Point> {
        self.answer.points.iter().find(|p| p.group == group)
    }

    /// `180 kB/s [171, 190]`: a question about commits and transactions has figures of each.
    fn value(&self, point: &Point) -> String {
        value(self.answer.measure, self.groups[point.group].operation, &point.estimate)
    }

    /// `180 kB/s [171, 190]`, `a median latency of 8.33 ms [8.20, 8.40]`.
    fn figure(&self, point: &Point) -> String {
        let Answer { measure: of, operation, committed, .. } = *self.answer;
        let shown = self.value(point);
        match of {
            Measure::Throughput | Measure::Iops | Measure::Elapsed | Measure::Missed => shown,
            Measure::Latency(_) => {
                format!("a {} of {shown}", measure_in_sentence(of, operation, committed))
            }
        }
    }

    /// `raid5/ext4 reaches 180 kB/s [171, 190]`.
    fn reaches(&self, group: usize) -> String {
        let verb = self.verb();
        let figure = self.point(group).map_or_else(String::new, |p| self.figure(p));
        format!("{} {verb} {figure}", self.stack(group))
    }

    fn verb(&self) -> &'static str {
        match self.answer.measure {
            Measure::Throughput | Measure::Iops => "reaches",
            Measure::Elapsed => "takes",
            Measure::Missed => "misses",
            Measure::Latency(_) => "has",
        }
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
            (Distance::Factor(factor, i), Measure::Missed) => {
                format!("fewer by a factor of {factor} {i} than {other}")
            }
            (Distance::Percent(share), Measure::Throughput) => {
                format!("{share} {} than {other}", if more { "faster" } else { "slower" })
            }
            (Distance::Percent(share), Measure::Iops | Measure::Missed) => {
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

    fn suspicion(&self, groups: &[usize]) -> String {
        match self.suspicions.about(groups).as_slice() {
            [] => String::new(),
            audits => format!(" (suspect: {})", audits.join(", ")),
        }
    }

    /// A comparison that may be told as a difference, without its prefix. Far
    /// apart, the better one is the subject; near, the stack compared.
    fn difference(&self, comparison: &Comparison) -> Option<String> {
        let interval = comparison.interval?;
        let (mut subject, mut other) = (comparison.group, comparison.baseline_group);
        let far = matches!(Distance::of(comparison.ratio, interval), Distance::Factor(..));
        if far && comparison.outcome == ComparisonOutcome::Worse {
            (subject, other) = (other, subject);
        }
        Some(format!(
            "{}, {}{}.",
            self.reaches(subject),
            self.relation(comparison.ratio, interval, self.stack(other)),
            self.suspicion(&[subject, other])
        ))
    }

    /// A difference, after what was measured; without that if the sentence before, whose is `last`,
    /// began with the same.
    pub fn difference_after(&self, last: &mut String, comparison: &Comparison) -> Option<String> {
        let sentence = self.difference(comparison)?;
        let prefix = self.prefix(comparison.group);
        if *last == prefix {
            return Some(sentence);
        }
        last.clone_from(&prefix);
        Some(prefix + &sentence)
    }

    /// The strongest differences, most surprising first, then how many are left.
    fn differences(&self) -> Vec<String> {
        let mut strong: Vec<&Comparison> = self
            .answer
            .comparisons
            .iter()
            .filter(|c| matches!(c.outcome, ComparisonOutcome::Better | ComparisonOutcome::Worse))
            .collect();
        strong.sort_by(|a, b| strength(b.interval).total_cmp(&strength(a.interval)));
        let left = strong.len().saturating_sub(DIFFERENCES);
        let mut last = String::new();
        let strong = strong.into_iter().take(DIFFERENCES);
        let mut all: Vec<String> =
            strong.filter_map(|comparison| self.difference_after(&mut last, comparison)).collect();
        if left > 0 {
            all.push(format!(
                "{left} more {} significantly from the baseline: see the table.",
                if left == 1 { "figure differs" } else { "figures differ" }
            ));
        }
        all
    }

    /// The figures of all stacks, one sentence for the same work, where nothing is known of
    /// how they compare.
    pub fn bare_figures(&self) -> Vec<String> {
        let same = |a: &Point, b: &Point| a.figure == b.figure && a.x == b.x;
        let Answer { measure: of, operation, committed, .. } = *self.answer;
        let (name, verb) = match of {
            Measure::Latency(_) => {
                (format!("{}: ", measure_in_sentence(of, operation, committed)), "")
            }
            _ => (String::new(), self.verb()),
        };
        // Another sentence says what was measured once.
        let shown = |p: &Point| self.value(p).replace(" (once)", "");
        let figure = |p: &Point| format!("{}'s {}", self.stack(p.group), shown(p));
        let sentence = |points: &[Point]| {
            let groups: Vec<usize> = points.iter().map(|p| p.group).collect();
            let (before, suspicion) = (self.prefix(groups[0]), self.suspicion(&groups));
            let mut sorted: Vec<&Point> = points.iter().collect();
            sorted.sort_by(|a, b| a.estimate.centre.total_cmp(&b.estimate.centre));
            if let [lowest, .., highest] = sorted[..]
                && sorted.len() > LISTED
            {
                let all = sorted.len();
                if shown(lowest) == shown(highest) {
                    let same = shown(lowest);
                    return format!("{before}{name}all {all} figures are {same}{suspicion}.");
                }
                let (lowest, highest) = (figure(lowest), figure(highest));
                return format!(
                    "{before}{name}the lowest of {all} figures is {lowest}, the highest {highest}{suspicion}."
                );
            }
            let figures: Vec<String> = points
                .iter()
                .enumerate()
                .map(|(n, p)| {
                    // Once says it for all.
                    let verb =
                        if n == 0 && !verb.is_empty() { format!("{verb} ") } else { String::new() };
                    format!("{} {verb}{}", self.stack(p.group), self.value(p))
                })
                .collect();
            let figures = list(figures.iter().map(String::as_str), LISTED);
            format!("{before}{name}{figures}{suspicion}.")
        };
        self.answer.points.chunk_by(same).map(sentence).collect()
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
                    self.suspicion(&[p.group])
                )
            })
            .collect()
    }
}
