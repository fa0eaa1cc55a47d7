//! The decision of one purpose.

use super::confidence::Confidence;
use super::figures;
use super::recommendation::{AdviceChange, Score, StackChoice};
use super::rule::{Choice, Criterion, Rival, blocks, choose, deciding, mean};
use super::verdict::RankVerdict;

/// Decides one purpose.
pub(super) struct Judge<'a> {
    pub stacks: &'a [&'a str],
    pub criteria: &'a [&'a Criterion],
    /// How often the samples are looked at.
    pub looks: usize,
}

impl Judge<'_> {
    /// How many comparisons a claim about stacks of a class is corrected for. The stack that is
    /// taken is seen first and tested afterwards, so the claim that no other is better is wrong
    /// only if it is shown against the one that truly is the best: one comparison for each stack
    /// that might be taken and is not the best (Hsu 1981, comparisons with the best), at every
    /// look. None of these depends on the figures.
    pub fn comparisons(&self, members: &[usize]) -> usize {
        (members.len() - 1).max(1) * self.looks
    }

    pub fn name(&self, stack: usize) -> String {
        self.stacks[stack].to_owned()
    }

    /// The decision of a class; none where nothing in it was measured in what decides.
    pub fn decision(
        &self,
        survives: Option<u32>,
        members: &[usize],
        is_partial: bool,
    ) -> Option<StackChoice> {
        let choice = choose(self.criteria, members, self.comparisons(members))?;
        let equivalent = choice.rivals.iter().filter(|r| r.verdict == RankVerdict::Equivalent);
        let once = self.criteria.iter().all(|c| c.values[choice.stack].len() <= 1);
        Some(StackChoice {
            survives,
            take: self.name(choice.stack),
            as_good: equivalent.map(|r| self.name(r.stack)).collect(),
            confidence: Confidence::of(&choice, once),
            is_partial: is_partial || choice.is_incomplete,
            figures: figures::figures(self.criteria, choice.stack),
            next: figures::next(self.criteria, &choice, self.stacks),
            inconclusive: figures::inconclusive(self.criteria, &choice, self.stacks),
            trade: None,
            places: self.places(&choice),
            reasons: self.reasons(&choice, members),
            against: self.against(&choice, members),
            would_change: self.would_change(&choice, members),
        })
    }

    /// All stacks that were measured in what decides, best first.
    pub fn scores(&self) -> Vec<Score> {
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
                |r: &Rival| r.stack == stack && r.verdict == RankVerdict::Equivalent;
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
