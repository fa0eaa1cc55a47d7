//! What to take for which purpose, and why: the one decision that page, terminal, post and JSON
//! show.
//!
//! Only stacks that survive as many lost drives are compared: whether one may lose everything with
//! one drive is no question of speed. [`rule`] says how one is chosen, [`Confidence`] how sure
//! that is.

#[cfg(test)]
mod axioms;
mod confidence;
mod criteria;
mod rule;
mod table;
#[cfg(test)]
mod tests;
mod trade;
mod verdict;
mod words;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use disklab_audits::{Finding, Group};
use disklab_store::RunInfo;
use disklab_study::Study;

use criteria::criteria;
use rule::{Choice, Criterion, blocks, choose, deciding, mean};

pub(crate) use work::task;

pub use confidence::Confidence;
pub use table::{Aspect, DECIDES, PURPOSES, Purpose};
pub use trade::Trade;
pub use verdict::RankVerdict;

/// What a run says of one purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// From the table of purposes, with its aspects and weights.
    pub purpose: &'static Purpose,
    /// One per number of lost drives that stacks survive, where anything that counts was measured.
    pub decisions: Vec<StackChoice>,
    /// Why a decision is a guess at most, or there is none; none where all that decides was
    /// compared.
    pub why_not: Option<String>,
    /// Aspects that no workload of the run shows.
    pub lacking: Vec<&'static str>,
    /// Aspects of which a severe finding makes a figure suspect, with the audits.
    pub suspect: Vec<String>,
    /// All stacks of the run by what decides, best first.
    pub scores: Vec<Score>,
    /// The workloads whose figures count for it.
    pub workloads: BTreeSet<String>,
    /// Those of them whose figures decide; none where nothing decides alone.
    pub deciding: BTreeSet<String>,
}

impl Recommendation {
    /// Stacks and workloads of which more repeats could settle what is not: what is taken and
    /// those that may be better, with the work by which the two are compared.
    pub fn unsettled_cells(&self) -> BTreeSet<(&str, &str)> {
        let mut cells = BTreeSet::new();
        let open = self.decisions.iter().filter(|d| d.confidence.is_unsettled() && !d.is_partial);
        for decision in open {
            let is_open = |rank: &&PurposeRank| rank.verdict == RankVerdict::Inconclusive;
            for rival in decision.places.iter().filter(is_open) {
                let work = if rival.by_deciding { &self.deciding } else { &self.workloads };
                let both = [decision.take.as_str(), rival.stack.as_str()];
                cells.extend(work.iter().flat_map(|w| both.map(|stack| (stack, w.as_str()))));
            }
        }
        cells
    }
}

/// The stack to take for a purpose, of those that survive as many lost drives.
#[derive(Debug, Clone, PartialEq)]
pub struct StackChoice {
    /// How many drives may fail; none where that is not known, as in imported runs.
    pub survives: Option<u32>,
    /// The stack to take.
    pub take: String,
    /// Those that are as good: equivalent within 5 % by all that counts.
    pub as_good: Vec<String>,
    /// How sure by what was measured.
    pub confidence: Confidence,
    /// Whether something that counts was not measured: then it is a guess at most.
    pub is_partial: bool,
    /// What the stack does in what it was chosen by; empty where that is all figures together.
    pub figures: Vec<DecidingFigure>,
    /// The best of those that are not as good.
    pub next: Option<NextBest>,
    /// The best of those of which it is inconclusive whether they are better.
    pub inconclusive: Option<NextBest>,
    /// What more space would cost.
    pub trade: Option<Trade>,
    /// Every stack of the class and how it stands, best first.
    pub places: Vec<PurposeRank>,
    /// Why, in sentences with intervals.
    pub reasons: Vec<String>,
    /// What speaks against it, in sentences with intervals.
    pub against: Vec<String>,
    /// One for each aspect without which another stack would be taken.
    pub would_change: Vec<AdviceChange>,
}

/// A figure by which a stack was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidingFigure {
    /// What it shows: 'reading large files'.
    pub aspect: &'static str,
    /// The figure in words, with its workload.
    pub of: String,
    /// The figure with its unit: '394 MB/s'.
    pub value: String,
}

/// The next best stack.
#[derive(Debug, Clone, PartialEq)]
pub struct NextBest {
    /// Its id.
    pub stack: String,
    /// How many times as good the one that is taken is in what decides.
    pub times: f64,
    /// In how many of the repeats that both have the first was better.
    pub ahead: usize,
    /// Those repeats.
    pub repeats: usize,
}

/// A stack's speed in what decides, next to the best stack of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Its id.
    pub stack: String,
    /// 1 is the best.
    pub share: f64,
}

/// What would be taken if an aspect did not count.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceChange {
    /// Its name in the table of purposes.
    pub aspect: &'static str,
    /// What would be taken.
    pub instead: String,
}

/// How a stack stands for a purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurposeRank {
    /// Its id.
    pub stack: String,
    /// How it stands.
    pub verdict: RankVerdict,
    /// How good it is next to the one that is taken, with the interval; empty for that one.
    pub distance: String,
    /// Whether in what decides; else by all that counts.
    pub by_deciding: bool,
}

/// What a run says of each purpose.
pub fn recommend(
    study: &Study,
    info: &RunInfo,
    groups: &[Group],
    findings: &[Finding],
) -> Vec<Recommendation> {
    let stacks = stacks(groups);
    let all: Vec<(Recommendation, Vec<Criterion>)> = PURPOSES
        .iter()
        .map(|purpose| prepare(study, (groups, findings), purpose, &stacks))
        .collect();
    let survives = |stack: &str| info.stacks.iter().find(|s| s.id == stack).map(|s| s.tolerates);
    let mut classes: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for (index, stack) in stacks.iter().enumerate() {
        classes.entry(survives(stack)).or_default().push(index);
    }
    let space =
        |stack: usize| info.stacks.iter().find(|s| s.id == stacks[stack]).map(|s| s.capacity);
    all.into_iter()
        .map(|(mut recommendation, criteria)| {
            let shown = recommendation.why_not.is_none() || says_enough(&recommendation);
            if shown && !criteria.is_empty() && stacks.len() > 1 {
                let criteria: Vec<&Criterion> = criteria.iter().collect();
                let judge = Judge { stacks: &stacks, criteria: &criteria, looks: info.looks() };
                let is_partial = recommendation.why_not.is_some();
                let decided = classes.iter().filter_map(|(survives, members)| {
                    let mut decision = judge.decision(*survives, members, is_partial)?;
                    decision.trade = judge.trade(&decision, members, &space);
                    Some(decision)
                });
                recommendation.decisions = decided.collect();
                recommendation.scores = judge.scores();
            }
            recommendation
        })
        .collect()
}

/// What a run has of what a purpose asks for, and whether that is enough.
fn prepare(
    study: &Study,
    figures: (&[Group], &[Finding]),
    purpose: &'static Purpose,
    stacks: &[&str],
) -> (Recommendation, Vec<Criterion>) {
    let (criteria, suspect) = criteria(study, figures, purpose, stacks);
    let shown = |aspect: &Aspect| criteria.iter().any(|c| c.aspect.name == aspect.name);
    let needed = || purpose.aspects.iter().filter(|a| !a.is_optional);
    let lacking: Vec<&Aspect> = needed().filter(|a| !shown(a)).collect();
    let lost: u32 = lacking.iter().map(|a| a.weight).sum();
    let all: u32 = needed().map(|a| a.weight).sum();
    let decisive: Vec<&str> =
        lacking.iter().filter(|a| a.weight == DECIDES).map(|a| a.name).collect();
    let names: Vec<&'static str> = lacking.iter().map(|a| a.name).collect();
    let why_not = if !decisive.is_empty() {
        Some(words::lacks(&decisive, &suspect))
    } else if 2 * lost >= all {
        // Half of what counts says nothing of the other half.
        Some(words::lacks(&names, &suspect))
    } else if stacks.len() < 2 {
        Some("there is only one stack".to_owned())
    } else {
        None
    };
    let recommendation = Recommendation {
        purpose,
        decisions: Vec::new(),
        why_not,
        lacking: names,
        suspect,
        scores: Vec::new(),
        workloads: criteria.iter().map(|criterion| criterion.workload.clone()).collect(),
        deciding: criteria
            .iter()
            .filter(|criterion| criterion.aspect.weight == DECIDES)
            .map(|criterion| criterion.workload.clone())
            .collect(),
    };
    (recommendation, criteria)
}

/// Whether what was measured of a purpose is enough for a guess: what decides, or half of what
/// counts.
fn says_enough(recommendation: &Recommendation) -> bool {
    let aspects = recommendation.purpose.aspects.iter().filter(|a| !a.is_optional);
    let has = |a: &&Aspect| !recommendation.lacking.contains(&a.name);
    let weight = |aspects: &[&Aspect]| aspects.iter().map(|a| a.weight).sum::<u32>();
    let measured: Vec<&Aspect> = aspects.clone().filter(has).collect();
    let all: Vec<&Aspect> = aspects.collect();
    measured.iter().any(|a| a.weight == DECIDES) || 2 * weight(&measured) >= weight(&all)
}

/// The stacks that have figures, in the study's order.
fn stacks(groups: &[Group]) -> Vec<&str> {
    let mut stacks: Vec<&str> = Vec::new();
    for group in groups {
        if !stacks.contains(&group.key.levels.stack.as_str()) {
            stacks.push(&group.key.levels.stack);
        }
    }
    stacks
}

/// Decides one purpose.
struct Judge<'a> {
    stacks: &'a [&'a str],
    criteria: &'a [&'a Criterion],
    /// How often the samples are looked at.
    looks: usize,
}

impl Judge<'_> {
    /// How many comparisons a claim about stacks of a class is corrected for. The stack that is
    /// taken is seen first and tested afterwards, so the claim that no other is better is wrong
    /// only if it is shown against the one that truly is the best: one comparison for each stack
    /// that might be taken and is not the best (Hsu 1981, comparisons with the best), at every
    /// look. None of these depends on the figures.
    fn comparisons(&self, members: &[usize]) -> usize {
        (members.len() - 1).max(1) * self.looks
    }

    fn name(&self, stack: usize) -> String {
        self.stacks[stack].to_owned()
    }

    /// The decision of a class; none where nothing in it was measured in what decides.
    fn decision(
        &self,
        survives: Option<u32>,
        members: &[usize],
        is_partial: bool,
    ) -> Option<StackChoice> {
        let choice = choose(self.criteria, members, self.comparisons(members))?;
        let equivalent = choice.rivals.iter().filter(|r| r.verdict == RankVerdict::Equivalent);
        Some(StackChoice {
            survives,
            take: self.name(choice.stack),
            as_good: equivalent.map(|r| self.name(r.stack)).collect(),
            confidence: Confidence::of(&choice),
            is_partial: is_partial || choice.is_incomplete,
            figures: confidence::figures(self.criteria, choice.stack),
            next: confidence::next(self.criteria, &choice, self.stacks),
            inconclusive: confidence::inconclusive(self.criteria, &choice, self.stacks),
            trade: None,
            places: self.places(&choice),
            reasons: self.reasons(&choice, members),
            against: self.against(&choice, members),
            would_change: self.would_change(&choice, members),
        })
    }

    /// All stacks that were measured in what decides, best first.
    fn scores(&self) -> Vec<Score> {
        let decides = deciding(self.criteria);
        let of = |stack: usize| Some((stack, mean(&blocks(&decides, stack))?));
        let mut means: Vec<(usize, f64)> = (0..self.stacks.len()).filter_map(of).collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let best = means.first().map_or(0.0, |(_, mean)| *mean);
        let share = |(stack, mean): (usize, f64)| Score {
            stack: self.name(stack),
            share: (mean - best).exp(),
        };
        means.into_iter().map(share).collect()
    }

    /// What would be taken if one of the aspects did not count.
    fn would_change(&self, choice: &Choice, members: &[usize]) -> Vec<AdviceChange> {
        let mut aspects: Vec<&'static str> = Vec::new();
        for criterion in self.criteria {
            if !aspects.contains(&criterion.aspect.name) {
                aspects.push(criterion.aspect.name);
            }
        }
        let as_good = |stack: usize| {
            let is_equivalent =
                |r: &rule::Rival| r.stack == stack && r.verdict == RankVerdict::Equivalent;
            stack == choice.stack || choice.rivals.iter().any(is_equivalent)
        };
        let without = |aspect: &&'static str| {
            let rest: Vec<&Criterion> =
                self.criteria.iter().copied().filter(|c| c.aspect.name != *aspect).collect();
            let other = choose(&rest, members, self.comparisons(members) * aspects.len())?.stack;
            (!as_good(other)).then(|| AdviceChange { aspect, instead: self.name(other) })
        };
        aspects.iter().filter_map(without).collect()
    }
}
