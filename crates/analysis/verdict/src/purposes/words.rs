//! Recommendations in words.

use disklab_stats::{Ratio, estimate};
use disklab_store::RunInfo;

use super::contest::{ContestComparison, Criterion, LeaderRelation, is_better, outcome, ratio};
use super::{Advice, AdviceChange, NoAdvice, PurposeClass, PurposeRank, RankWord, Recommendation};
use crate::quantity::{Distance, value};
use crate::words::list;

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
    /// What a class survives, in words.
    pub fn survives(drives: Option<u32>) -> String {
        match drives {
            None => "Stacks of which nobody said how many drives they survive".to_owned(),
            Some(0) => "Stacks that survive no lost drive".to_owned(),
            Some(1) => "Stacks that survive one lost drive".to_owned(),
            Some(n) => format!("Stacks that survive {n} lost drives"),
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
        let is_open = |class: &PurposeClass| {
            let has = |word| class.places.iter().any(|place| place.word == word);
            has(RankWord::Leads) && has(RankWord::Inconclusive)
        };
        let open = all.iter().flat_map(|r| &r.classes).any(is_open);
        let asked = info.options.goal.is_some() || info.is_import();
        (open && !asked).then(|| {
            format!(
                "{} not decide these comparisons. A run with --goal best (and --budget 2h, say) \
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

impl Advice {
    /// In a clause: 'raid10/ext4', 'either of …', 'no recommendation (…)'.
    pub fn text(&self) -> String {
        match self {
            Self::One(stack) => stack.clone(),
            Self::Any(stacks) => {
                format!("any of {}: they are equivalent within 5 %", listed(stacks, 8, &by_id))
            }
            Self::None(why) => format!("no recommendation ({})", why.text()),
        }
    }
}

impl NoAdvice {
    /// In a clause.
    pub fn text(&self) -> String {
        self.naming(&by_id)
    }

    fn naming(&self, name: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::OnlyStack(stack) => format!("{} is the only such stack", name(stack)),
            Self::NotMeasured { measured, of } => format!(
                "{measured} of {of} stacks {} measured in all that counts",
                if *measured == 1 { "was" } else { "were" }
            ),
            Self::MeasuredOnce => {
                "measured once: nobody knows how much the figures scatter".to_owned()
            }
            Self::Inconclusive { leader, over, equivalent } => {
                let mut text = format!(
                    "{} leads, but its lead over {} is inconclusive",
                    name(leader),
                    listed(over, NAMES, name)
                );
                if !equivalent.is_empty() {
                    let equivalent = listed(equivalent, NAMES, name);
                    text.push_str(&format!("; equivalent to it: {equivalent}"));
                }
                text
            }
        }
    }
}

impl AdviceChange {
    /// What the other weights would recommend, for people.
    pub fn sentence(&self) -> String {
        self.sentence_naming(&by_id)
    }

    /// The same, with stacks as `name` has them.
    pub fn sentence_naming(&self, name: &dyn Fn(&str) -> String) -> String {
        let instead = match &self.instead {
            Advice::One(stack) => format!("{} would be recommended", name(stack)),
            Advice::Any(stacks) => format!("any of {} would do", listed(stacks, NAMES, name)),
            Advice::None(why) => format!("no stack would be recommended: {}", why.naming(name)),
        };
        format!("If {} did not matter to you, {instead}.", self.aspect)
    }
}

/// Stacks as the study names them.
fn by_id(stack: &str) -> String {
    stack.to_owned()
}

fn listed(stacks: &[String], most: usize, name: &dyn Fn(&str) -> String) -> String {
    let names: Vec<String> = stacks.iter().map(|stack| name(stack)).collect();
    list(names.iter().map(String::as_str), most)
}

/// Whether two pieces of advice name the same stacks, in whatever order.
fn same(one: &Advice, other: &Advice) -> bool {
    let sorted = |stacks: &[String]| {
        let mut stacks = stacks.to_vec();
        stacks.sort();
        stacks
    };
    match (one, other) {
        (Advice::Any(a), Advice::Any(b)) => sorted(a) == sorted(b),
        _ => one == other,
    }
}

/// Reports one purpose.
pub(super) struct PurposeWriter<'a> {
    pub stacks: &'a [&'a str],
    pub criteria: &'a [Criterion],
    /// Comparisons that are made: of all pairs, purposes and looks.
    pub number: usize,
}

/// `1.4 times [1.3, 1.6] as good as` or `12 % [8, 16] better than`.
fn better(ratio: &Ratio) -> Option<String> {
    let interval = ratio.interval.filter(|i| i.low > 0.0 && !i.contains(1.0))?;
    Some(match Distance::of(ratio.centre, interval) {
        Distance::Factor(factor, i) => format!("{factor} times {i} as good as"),
        Distance::Percent(share) => format!("{share} better than"),
    })
}

impl PurposeWriter<'_> {
    fn value(&self, criterion: &Criterion, stack: usize) -> String {
        let values: Vec<f64> = criterion.values[stack].values().copied().collect();
        estimate(&values)
            .map_or_else(|| "–".to_owned(), |e| value(criterion.measure, criterion.operation, &e))
    }

    /// Every stack of the class, best first.
    pub fn places(
        &self,
        result: &ContestComparison,
        members: &[usize],
        advice: &Advice,
    ) -> Vec<PurposeRank> {
        let place = |stack: usize, word, distance| PurposeRank {
            stack: self.stacks[stack].to_owned(),
            word,
            distance,
        };
        let first = match advice {
            Advice::One(_) => RankWord::Best,
            Advice::Any(_) => RankWord::Equivalent,
            Advice::None(_) => RankWord::Leads,
        };
        let mut places = vec![place(result.leader, first, String::new())];
        for (stack, ratio, relation) in &result.others {
            let word = match relation {
                LeaderRelation::Behind => RankWord::Behind,
                LeaderRelation::Equivalent => RankWord::Equivalent,
                LeaderRelation::Inconclusive => RankWord::Inconclusive,
            };
            // The leader over it, turned: how good it is.
            let distance = ratio.as_ref().map_or_else(String::new, |r| {
                let turned = r.interval.map(|i| disklab_stats::Interval {
                    low: 1.0 / i.high,
                    high: 1.0 / i.low,
                    ..i
                });
                crate::quantity::ratio(1.0 / r.centre, turned)
            });
            places.push(place(*stack, word, distance));
        }
        let missing = members.iter().filter(|m| {
            **m != result.leader && !result.others.iter().any(|(stack, ..)| stack == *m)
        });
        places.extend(missing.map(|m| place(*m, RankWord::Unknown, String::new())));
        places
    }

    /// Why the leader is: by all that counts, then in what it is significantly ahead of the next.
    pub fn reasons(&self, result: &ContestComparison) -> Vec<String> {
        let leader = self.stacks[result.leader];
        let Some((next, overall, _)) =
            result.others.iter().find(|(.., relation)| *relation != LeaderRelation::Equivalent)
        else {
            return Vec::new();
        };
        let other = self.stacks[*next];
        let mut all = Vec::new();
        if let Some(words) = overall.as_ref().filter(|r| is_better(r)).and_then(better) {
            all.push(format!("By all that counts here, weighted, {leader} is {words} {other}."));
        }
        let mut single: Vec<(f64, String)> = Vec::new();
        for criterion in self.criteria {
            let number = self.number * self.criteria.len();
            let Some(ratio) = ratio(&[criterion], result.leader, *next, number) else { continue };
            let Some(words) = Some(ratio).filter(is_better).as_ref().and_then(better) else {
                continue;
            };
            single.push((
                criterion.weight * ratio.centre.ln(),
                format!(
                    "In {} ({}) it is {words} {other}: {} against {}.",
                    criterion.aspect.name,
                    criterion.noun,
                    self.value(criterion, result.leader),
                    self.value(criterion, *next)
                ),
            ));
        }
        single.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.extend(single.into_iter().take(LISTED).map(|(_, sentence)| sentence));
        all
    }

    /// In what another of the class is significantly better, worst first, with what could be done.
    pub fn against(&self, result: &ContestComparison, members: &[usize]) -> Vec<String> {
        let leader = self.stacks[result.leader];
        let mut found: Vec<(f64, String)> = Vec::new();
        for criterion in self.criteria {
            let number = self.number * self.criteria.len();
            let best = members
                .iter()
                .filter(|m| **m != result.leader)
                .filter_map(|m| Some((*m, ratio(&[criterion], *m, result.leader, number)?)))
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
                    "In {} ({}), {} is {words} {leader}: {} against {}.{remedy}",
                    criterion.aspect.name,
                    criterion.noun,
                    self.stacks[other],
                    self.value(criterion, other),
                    self.value(criterion, result.leader)
                ),
            ));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(LISTED).map(|(_, sentence)| sentence).collect()
    }

    /// What would be recommended if one of the aspects did not count.
    pub fn would_change(&self, result: &ContestComparison, members: &[usize]) -> Vec<AdviceChange> {
        let now = super::advice(self, result);
        let mut aspects: Vec<&'static str> = Vec::new();
        for criterion in self.criteria {
            if !aspects.contains(&criterion.aspect.name) {
                aspects.push(criterion.aspect.name);
            }
        }
        let mut changes = Vec::new();
        for aspect in &aspects {
            let rest: Vec<&Criterion> =
                self.criteria.iter().filter(|c| c.aspect.name != *aspect).collect();
            let Some(without) = outcome(&rest, members, self.number * aspects.len()) else {
                continue;
            };
            let instead = super::advice(self, &without);
            let both_none = matches!((&now, &instead), (Advice::None(_), Advice::None(_)));
            if !both_none && !same(&now, &instead) {
                changes.push(AdviceChange { aspect, instead });
            }
        }
        changes
    }
}
