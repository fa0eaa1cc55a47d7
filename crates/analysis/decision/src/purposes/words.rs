//! Decisions in words.

use disklab_comparisons::{Distance, times, value};
use disklab_stats::{Interval, Ratio, estimate};
use disklab_store::RunInfo;
use disklab_units::{list, significant};

use super::confidence::Confidence;
use super::judge::Judge;
use super::recommendation::{
    AdviceChange, DecidingFigure, NextBest, PurposeRank, Recommendation, StackChoice, Trade,
};
use super::rule::{Choice, Comparer, Criterion, Rival, is_better};
use super::table::DECIDES;
use super::verdict::RankVerdict;

/// Reasons and objections that are reported.
const LISTED: usize = 4;
/// Names in a list.
const NAMES: usize = 4;

/// Why a purpose cannot be judged.
pub(super) fn lacks(names: &[&str], suspect: &[String]) -> String {
    let mut text =
        format!("the run has no usable figure of {}", list(names.iter().copied(), NAMES));
    if !suspect.is_empty() {
        let suspect = list(suspect.iter().map(String::as_str), NAMES);
        text.push_str(&format!("; a severe finding blocks {suspect}"));
    }
    text
}

impl Recommendation {
    /// A class in words.
    pub fn survives(drives: Option<u32>) -> String {
        match drives {
            None => "Stacks whose redundancy is not known".to_owned(),
            Some(0) => "Stacks without redundancy".to_owned(),
            Some(1) => "Stacks that survive one failed drive".to_owned(),
            Some(n) => format!("Stacks that survive {n} failed drives"),
        }
    }

    /// The same as a heading, for people who have drives.
    pub fn may_fail(drives: Option<u32>) -> String {
        match drives {
            None => "Safety not known".to_owned(),
            Some(0) => "No drive may fail".to_owned(),
            Some(1) => "One drive may fail".to_owned(),
            Some(2) => "Two drives may fail".to_owned(),
            Some(n) => format!("{n} drives may fail"),
        }
    }

    /// The same as a choice of several: 'none', 'one'.
    pub fn drives_that_may_fail(drives: Option<u32>) -> String {
        match drives {
            None => "not known".to_owned(),
            Some(0) => "none".to_owned(),
            Some(1) => "one".to_owned(),
            Some(2) => "two".to_owned(),
            Some(n) => n.to_string(),
        }
    }

    /// How what is inconclusive could be decided; none where nothing is, where it was tried, or
    /// where another program measured the figures.
    pub fn how_to_decide(all: &[Self], info: &RunInfo) -> Option<String> {
        let open = all.iter().flat_map(|r| &r.decisions).any(|d| d.confidence.is_unsettled());
        let asked = info.options.goal.is_some() || info.is_import();
        (open && !asked).then(|| {
            format!(
                "{} not decide these comparisons. A run with --goal purposes (and --budget 2h, say) \
                 instead of --repeats keeps repeating the stacks that may still be the best, and \
                 drops those that are significantly behind.",
                match info.repeats {
                    1 => "One repeat does".to_owned(),
                    repeats => format!("{repeats} repeats do"),
                }
            )
        })
    }
}

impl StackChoice {
    /// How sure it is, behind a purpose, where there is little room; none if nothing is open.
    pub fn caveat(&self) -> Option<&'static str> {
        match self.confidence {
            _ if self.is_partial => Some("guess"),
            Confidence::Likely => Some("likely"),
            Confidence::Inconclusive | Confidence::Once => Some("guess"),
            Confidence::Sure | Confidence::Equivalent | Confidence::Only => None,
        }
    }

    /// How sure it is and why, in a sentence for people; `name` names a stack.
    pub fn how_sure(
        &self,
        recommendation: &Recommendation,
        name: &dyn Fn(&str) -> String,
    ) -> String {
        let word = match self.confidence {
            _ if self.is_partial => "A guess",
            Confidence::Sure if self.has(RankVerdict::NotBetter) => {
                "Sure: no other is more than 5 % better"
            }
            Confidence::Sure => "Sure",
            Confidence::Equivalent => "Equivalent within 5 %: either will do",
            Confidence::Likely => "Likely",
            Confidence::Inconclusive | Confidence::Once => "A guess",
            Confidence::Only => "The only such stack",
        };
        let missing = self.is_partial.then(|| {
            let lacking = &recommendation.lacking;
            let decides = |name: &&&'static str| {
                let mut aspects = recommendation.purpose.aspects.iter();
                aspects.any(|a| a.name == **name && a.weight == DECIDES)
            };
            let deciding: Vec<&str> = lacking.iter().filter(decides).copied().collect();
            match (deciding.as_slice(), lacking.as_slice()) {
                ([], []) => "some of its figures are missing".to_owned(),
                ([], all) | (all, _) => format!("{} not measured", all.join(" and ")),
            }
        });
        let open = match (self.confidence, &self.inconclusive) {
            (Confidence::Likely | Confidence::Inconclusive, Some(other)) => {
                let is_next = self.next.as_ref().is_some_and(|next| next.stack == other.stack);
                let than = if is_next { "the next".to_owned() } else { name(&other.stack) };
                let NextBest { ahead, repeats, by_deciding, .. } = other;
                // What decides may rank the two the other way round, next to these words.
                let is_plain = *by_deciding || self.figures.is_empty();
                let by = if is_plain { "" } else { " by all that counts" };
                Some(format!("better than {than}{by} in {ahead} of {repeats} repeats"))
            }
            (Confidence::Once, _) => Some("measured once".to_owned()),
            _ => None,
        };
        let why: Vec<String> = missing.into_iter().chain(open).collect();
        if why.is_empty() { format!("{word}.") } else { format!("{word}: {}.", why.join("; ")) }
    }

    fn has(&self, verdict: RankVerdict) -> bool {
        self.places.iter().any(|place| place.verdict == verdict)
    }

    /// What it was chosen by: '394 MB/s', or by all that counts.
    pub fn values(&self) -> Option<String> {
        let values: Vec<&str> = self.figures.iter().map(|figure| figure.value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(" and "))
    }
}

impl DecidingFigure {
    /// 'the mean of 2 workloads', if it is one.
    pub fn mean(&self) -> Option<&str> {
        Some(self.of.as_str()).filter(|of| of.starts_with("the mean of "))
    }
}

impl NextBest {
    /// How the one that is taken stands to it in what decides: `1.80×`; none if two digits show
    /// no difference.
    pub fn times(&self) -> Option<String> {
        ((self.times - 1.0).abs() >= 0.005).then(|| times(self.times))
    }

    /// Whether it is less in what decides, within the margin, and was taken for the rest.
    pub fn is_taken_for_the_rest(&self) -> bool {
        self.times <= 0.95
    }

    /// The same for a narrow terminal: `1.8x`; none if one digit shows no difference.
    pub fn times_short(&self) -> Option<String> {
        ((self.times - 1.0).abs() >= 0.05).then(|| format!("{}x", significant(self.times, 2)))
    }
}

impl Trade {
    /// What more space costs: 'RAID 5: 10 TB more space for 11 % less'; `name` names the stack.
    pub fn sentence(&self, name: &dyn Fn(&str) -> String) -> String {
        let joint = match self.times {
            _ if self.is_as_good => ", and is",
            times if times < 1.0 => " for",
            _ => " with",
        };
        let (stack, more) = (name(&self.stack), disklab_units::Bytes(self.more_bytes).si());
        format!("{stack}: {more} more space{joint} {}", self.cost())
    }

    /// How its speed stands to that of the stack that is taken: '11 % less'.
    pub fn cost(&self) -> String {
        if self.is_as_good {
            return "as good".to_owned();
        }
        let percent = (1.0 - self.times) * 100.0;
        let cost = match percent {
            p if p >= 99.5 => ">99 % less".to_owned(),
            p if p >= 0.95 => format!("{p:.0} % less"),
            _ if self.times >= 10.0 => format!("{:.0} times as much", self.times),
            p if p <= -0.95 => format!("{:.0} % more", -p),
            _ => return "the same speed".to_owned(),
        };
        if self.is_significant { cost } else { cost + " (inconclusive)" }
    }
}

impl AdviceChange {
    /// What would be taken with other weights, with stacks as `name` has them.
    pub fn sentence(&self, name: &dyn Fn(&str) -> String) -> String {
        format!("If {} did not matter to you, take {}.", self.aspect, name(&self.instead))
    }
}

/// `1.4 times [1.3, 1.6] as good as` or `12 % [8, 16] better than`.
fn better(ratio: &Ratio) -> Option<String> {
    let interval = ratio.interval.filter(|i| i.low > 0.0 && !i.contains(1.0))?;
    Some(match Distance::of(ratio.centre, interval) {
        Distance::Factor(factor, i) => format!("{factor} times {i} as good as"),
        Distance::Percent(share) => format!("{share} better than"),
    })
}

impl Judge<'_> {
    fn value(&self, criterion: &Criterion, stack: usize) -> String {
        let values: Vec<f64> = criterion.values[stack].values().copied().collect();
        estimate(&values)
            .map_or_else(|| "–".to_owned(), |e| value(criterion.measure, criterion.operation, &e))
    }

    /// Every stack of the class, best first.
    pub(super) fn places(&self, choice: &Choice) -> Vec<PurposeRank> {
        let place = |stack: usize, verdict, distance, by_deciding| PurposeRank {
            stack: self.name(stack),
            verdict,
            distance,
            by_deciding,
        };
        let mut places = vec![place(choice.stack, RankVerdict::Taken, String::new(), false)];
        places.extend(choice.rivals.iter().map(|rival| {
            // How good the rival is, next to the one that is taken.
            let distance = rival.ratio.as_ref().map_or_else(String::new, |r| {
                let turned =
                    r.interval.map(|i| Interval { low: 1.0 / i.high, high: 1.0 / i.low, ..i });
                disklab_comparisons::ratio(1.0 / r.centre, turned)
            });
            place(rival.stack, rival.verdict, distance, rival.by_deciding)
        }));
        places
    }

    /// Why it is taken: by what it is better than the next, then in what it is significantly ahead
    /// of it.
    pub(super) fn reasons(&self, choice: &Choice, members: &[usize]) -> Vec<String> {
        let taken = self.stacks[choice.stack];
        let is_next = |r: &&Rival| r.verdict != RankVerdict::Equivalent && r.ratio.is_some();
        let Some(next) = choice.rivals.iter().find(is_next) else { return Vec::new() };
        let other = self.stacks[next.stack];
        let mut all = Vec::new();
        if let Some(words) = next.ratio.as_ref().filter(|r| is_better(r)).and_then(better) {
            let by = if next.by_deciding {
                "In what decides"
            } else {
                "By all that counts here, weighted"
            };
            all.push(format!("{by}, {taken} is {words} {other}."));
        }
        let mut single: Vec<(f64, String)> = Vec::new();
        for criterion in self.criteria {
            let number = self.comparisons(members) * self.criteria.len();
            let one = [*criterion];
            let comparer = Comparer::new(&one, choice.stack, members, number);
            let Some(ratio) = comparer.ratio(choice.stack, next.stack) else { continue };
            let Some(words) = Some(ratio).filter(is_better).as_ref().and_then(better) else {
                continue;
            };
            single.push((
                criterion.weight * ratio.centre.ln(),
                format!(
                    "In {} ({}) it is {words} {other}: {} against {}.",
                    criterion.aspect.name,
                    criterion.noun,
                    self.value(criterion, choice.stack),
                    self.value(criterion, next.stack)
                ),
            ));
        }
        single.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.extend(single.into_iter().take(LISTED).map(|(_, sentence)| sentence));
        all
    }

    /// In what another of the class is significantly better, worst first, with what could be done.
    pub(super) fn against(&self, choice: &Choice, members: &[usize]) -> Vec<String> {
        let taken = self.stacks[choice.stack];
        let mut found: Vec<(f64, String)> = Vec::new();
        for criterion in self.criteria {
            let number = self.comparisons(members) * self.criteria.len();
            let one = [*criterion];
            let comparer = Comparer::new(&one, choice.stack, members, number);
            let best = members
                .iter()
                .filter(|m| **m != choice.stack)
                .filter_map(|m| Some((*m, comparer.ratio(*m, choice.stack)?)))
                .filter(|(_, r)| is_better(r))
                .max_by(|a, b| a.1.centre.total_cmp(&b.1.centre));
            let Some((other, ratio)) = best else { continue };
            let Some(words) = better(&ratio) else { continue };
            let remedy = match criterion.aspect.remedy {
                "" => String::new(),
                remedy => format!(" ({remedy}.)"),
            };
            found.push((
                criterion.weight * ratio.centre.ln(),
                format!(
                    "In {} ({}), {} is {words} {taken}: {} against {}.{remedy}",
                    criterion.aspect.name,
                    criterion.noun,
                    self.stacks[other],
                    self.value(criterion, other),
                    self.value(criterion, choice.stack)
                ),
            ));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(LISTED).map(|(_, sentence)| sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_says_that_it_is_a_mean() {
        let mean = |of: &str| {
            let (of, value) = (of.to_owned(), "394 MB/s".to_owned());
            DecidingFigure { aspect: "reading large files", of, value }.mean().map(str::to_owned)
        };
        assert_eq!(mean("the mean of 2 workloads").as_deref(), Some("the mean of 2 workloads"));
        assert_eq!(mean("throughput of large-read"), None);
    }
}
