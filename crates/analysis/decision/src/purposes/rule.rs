//! The rule by which a stack is chosen: pure, from figures to a choice.
//!
//! What decides comes first. Of the stacks that lie within [`MARGIN`] of the best in it, the one
//! is taken that is best by all that counts, weighted. So nothing pleasant outvotes what decides,
//! a stack that gets better is never demoted by it, and one that is worse than another in
//! everything changes nothing among the rest (`axioms.rs` holds this).
//!
//! Within a block, the ratios of two stacks in several figures are averaged by their weights, as
//! logarithms: one number per block, which is judged over blocks as any other ratio. So a choice
//! has an interval and cannot be surer than its samples.

use std::collections::BTreeMap;

use disklab_sample::OperationKind;
use disklab_stats::{CONFIDENCE, Ratio, VariancePrior, block_ratio, block_ratio_judged};
use disklab_study::Measure;

use super::table::{Aspect, DECIDES};
use super::verdict::RankVerdict;

/// Whose figures that decide are worse than another's by more than this factor is not taken.
pub(super) const MARGIN: f64 = 1.10;
/// Two stacks whose weighted ratio's interval lies within this are equivalent (as in answers).
const EQUIVALENT: f64 = 1.05;

/// One figure that shows an aspect.
#[derive(Debug, Clone)]
pub(super) struct Criterion {
    pub aspect: &'static Aspect,
    /// The id of the workload that shows it.
    pub workload: String,
    /// In words: '4 KiB random reads (vm-read)'.
    pub noun: String,
    pub measure: Measure,
    pub operation: OperationKind,
    /// Of all figures that show the aspect, this one's share of its weight.
    pub weight: f64,
    /// By stack, in the study's order: its value in each block.
    pub values: Vec<BTreeMap<u32, f64>>,
}

/// Another stack next to the one that is taken.
#[derive(Debug, Clone)]
pub(super) struct Rival {
    pub stack: usize,
    /// Taken ÷ this one, in what decides or by all that counts: by what it is behind.
    pub ratio: Option<Ratio>,
    /// Whether that ratio is of what decides.
    pub by_deciding: bool,
    /// Whether the one that is taken is better as one who looked at these two alone would see it.
    pub is_better_alone: bool,
    pub verdict: RankVerdict,
}

/// A choice among stacks that survive as many lost drives.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// The stack that is taken.
    pub stack: usize,
    /// Whether it lacks figures that matter, though not those that decide.
    pub is_incomplete: bool,
    /// All others, best first.
    pub rivals: Vec<Rival>,
}

/// How good a value is: more is better.
fn quality(measure: Measure, value: f64) -> Option<f64> {
    let sound = value > 0.0 && value.is_finite();
    sound.then(|| if measure.higher_is_better() { value.ln() } else { -value.ln() })
}

/// The figures that decide; all of them where nothing decides alone.
pub(super) fn deciding<'a>(criteria: &[&'a Criterion]) -> Vec<&'a Criterion> {
    let decides: Vec<&Criterion> =
        criteria.iter().copied().filter(|c| c.aspect.weight == DECIDES).collect();
    if decides.is_empty() { criteria.to_vec() } else { decides }
}

/// Whether some figure decides alone.
pub(super) fn has_deciding(criteria: &[&Criterion]) -> bool {
    criteria.iter().any(|c| c.aspect.weight == DECIDES)
}

/// A stack's weighted logarithm in each block in which all criteria were measured.
pub(super) fn blocks(criteria: &[&Criterion], stack: usize) -> BTreeMap<u32, f64> {
    let Some(first) = criteria.first() else { return BTreeMap::new() };
    let all: f64 = criteria.iter().map(|c| c.weight).sum();
    let of = |block: u32| -> Option<f64> {
        let mut sum = 0.0;
        for criterion in criteria {
            let value = *criterion.values[stack].get(&block)?;
            sum += criterion.weight * quality(criterion.measure, value)?;
        }
        Some(sum / all)
    };
    first.values[stack].keys().filter_map(|block| Some((*block, of(*block)?))).collect()
}

/// The mean of what [`blocks`] gives; none without a block.
pub(super) fn mean(blocks: &BTreeMap<u32, f64>) -> Option<f64> {
    (!blocks.is_empty()).then(|| blocks.values().sum::<f64>() / blocks.len() as f64)
}

/// By how much the first is better than the second in the blocks that both have, as a logarithm.
fn lead(first: &BTreeMap<u32, f64>, second: &BTreeMap<u32, f64>) -> Option<f64> {
    let both = first.iter().filter_map(|(block, v)| Some(v - second.get(block)?));
    let (n, sum) = both.fold((0_u32, 0.0), |(n, sum), d| (n + 1, sum + d));
    (n > 0).then(|| sum / f64::from(n))
}

/// Compares stacks by some criteria together, more being better.
pub(super) struct Comparer<'a> {
    criteria: &'a [&'a Criterion],
    /// Comparisons that are made, for the correction.
    number: usize,
    /// What the variances of the comparisons with one stack have in common.
    prior: Option<VariancePrior>,
}

impl<'a> Comparer<'a> {
    /// Of comparisons of `members` with the one of them that is `taken`.
    pub fn new(
        criteria: &'a [&'a Criterion],
        taken: usize,
        members: &[usize],
        number: usize,
    ) -> Self {
        let others = members.iter().filter(|member| **member != taken);
        let logs: Vec<Vec<f64>> =
            others.map(|other| differences(criteria, taken, *other)).collect();
        Self { criteria, number, prior: VariancePrior::of(logs.iter().map(Vec::as_slice)) }
    }

    /// The same, corrected for other numbers of comparisons.
    pub fn corrected_for(&self, number: usize) -> Self {
        Self { number, ..*self }
    }

    /// First ÷ second; its p is corrected for all comparisons.
    pub fn ratio(&self, first: usize, second: usize) -> Option<Ratio> {
        let pairs: Vec<(f64, f64)> =
            differences(self.criteria, first, second).iter().map(|d| (d.exp(), 1.0)).collect();
        let level = (1.0 - CONFIDENCE) / self.number.max(1) as f64;
        let mut ratio = block_ratio(&pairs, level, self.prior.as_ref())?;
        // What is equivalent is so on its own; else the interval is that of the corrected p.
        if !is_equivalent(&ratio) {
            ratio = block_ratio_judged(&pairs, level, level, self.prior.as_ref())?;
        }
        ratio.p = ratio.p.map(|p| (p * self.number as f64).min(1.0));
        Some(ratio)
    }
}

/// By how much one stack is better than another in each block, as logarithms.
pub(super) fn differences(criteria: &[&Criterion], first: usize, second: usize) -> Vec<f64> {
    let (x, y) = (blocks(criteria, first), blocks(criteria, second));
    x.iter().filter_map(|(block, v)| Some(v - y.get(block)?)).collect()
}

/// Whether the first is significantly better.
pub(super) fn is_better(ratio: &Ratio) -> bool {
    let significant = ratio.p.is_some_and(|p| p <= 1.0 - CONFIDENCE);
    significant && ratio.interval.is_some_and(|i| i.low > 1.0)
}

fn is_equivalent(ratio: &Ratio) -> bool {
    ratio.interval.is_some_and(|i| i.lies_within(1.0 / EQUIVALENT, EQUIVALENT))
}

/// Whether the first is shown not to be worse than the second by more than what is equivalent.
fn is_no_worse(ratio: &Ratio) -> bool {
    ratio.interval.is_some_and(|i| i.low >= 1.0 / EQUIVALENT)
}

/// What each stack of a class shows, worked out once.
struct Contestant {
    stack: usize,
    deciding: BTreeMap<u32, f64>,
    /// By all that counts; none where it lacks a figure.
    whole: Option<f64>,
    /// Its own mean in what decides.
    mean: f64,
}

/// The stack to take of these, and how the others stand to it; of two with the same figures the
/// one that is named first. None where no stack was measured
/// in what decides, or where each is beaten by another in other blocks.
pub(super) fn choose(criteria: &[&Criterion], members: &[usize], number: usize) -> Option<Choice> {
    let decides = deciding(criteria);
    let contestants: Vec<Contestant> = members
        .iter()
        .filter_map(|stack| {
            let deciding = blocks(&decides, *stack);
            let whole = mean(&blocks(criteria, *stack));
            Some(Contestant { stack: *stack, mean: mean(&deciding)?, whole, deciding })
        })
        .collect();
    let is_kept = |one: &Contestant| {
        let beats = |other: &Contestant| lead(&other.deciding, &one.deciding);
        contestants.iter().filter_map(beats).all(|lead| lead <= MARGIN.ln())
    };
    let (mut kept, mut left): (Vec<&Contestant>, Vec<&Contestant>) =
        contestants.iter().partition(|one| is_kept(one));
    if !has_deciding(criteria) {
        kept.append(&mut left);
    }
    // Those that lack a figure come after those that have all.
    let order = |a: &&Contestant, b: &&Contestant| {
        let whole = |c: &Contestant| c.whole.unwrap_or(f64::NEG_INFINITY);
        whole(b).total_cmp(&whole(a)).then(b.mean.total_cmp(&a.mean))
    };
    kept.sort_by(order);
    left.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let (taken, others) = kept.split_first()?;
    let whole = Comparer::new(criteria, taken.stack, members, number);
    let in_deciding = Comparer::new(&decides, taken.stack, members, number);
    let rival = |other: usize, by_deciding: bool| {
        let by = if by_deciding { &in_deciding } else { &whole };
        let ratio = by.ratio(taken.stack, other);
        let alone = || by.corrected_for(1).ratio(taken.stack, other)?.interval;
        let verdict = match &ratio {
            None => RankVerdict::NotMeasured,
            Some(ratio) if is_better(ratio) && !is_equivalent(ratio) => RankVerdict::Behind,
            Some(ratio) if is_equivalent(ratio) && !by_deciding => RankVerdict::Equivalent,
            Some(ratio) if is_no_worse(ratio) => RankVerdict::NotBetter,
            Some(_) => RankVerdict::Inconclusive,
        };
        let is_better_alone = alone().is_some_and(|interval| interval.low > 1.0);
        Rival { stack: other, ratio, by_deciding, is_better_alone, verdict }
    };
    let mut rivals: Vec<Rival> = others.iter().map(|c| rival(c.stack, false)).collect();
    rivals.extend(left.iter().map(|c| rival(c.stack, true)));
    let unmeasured = members.iter().filter(|m| !contestants.iter().any(|c| c.stack == **m));
    rivals.extend(unmeasured.map(|m| Rival {
        stack: *m,
        ratio: None,
        by_deciding: true,
        is_better_alone: false,
        verdict: RankVerdict::NotMeasured,
    }));
    Some(Choice { stack: taken.stack, is_incomplete: taken.whole.is_none(), rivals })
}
