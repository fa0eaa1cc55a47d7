//! All that a purpose asks for, in one ratio of two stacks with its interval.
//!
//! Within a block, the ratios of two stacks in all that counts are averaged by their
//! weights, as logarithms: one number per block, which is judged over blocks as any other
//! ratio. So a recommendation has an interval and cannot be surer than its samples.

use std::collections::BTreeMap;

use disklab_sample::OperationKind;
use disklab_stats::{CONFIDENCE, Ratio, block_ratio, block_ratio_judged};
use disklab_study::Measure;

use super::table::Aspect;

/// Two stacks whose weighted ratio's interval lies within this are equivalent (as in answers).
const LEVEL: f64 = 1.05;

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
    /// What less counts as.
    pub least: Option<f64>,
    /// By stack, in the study's order: its value in each block.
    pub values: Vec<BTreeMap<u32, f64>>,
}

/// How another stack stands to the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaderRelation {
    Behind,
    Equivalent,
    Inconclusive,
}

/// The leader, and how the others stand to it.
#[derive(Debug, Clone)]
pub(super) struct ContestComparison {
    pub leader: usize,
    /// (stack, leader ÷ stack, how it stands), best first.
    pub others: Vec<(usize, Option<Ratio>, LeaderRelation)>,
}

/// How good a value is: more is better.
fn quality(measure: Measure, value: f64) -> Option<f64> {
    let sound = value > 0.0 && value.is_finite();
    sound.then(|| if measure.higher_is_better() { value.ln() } else { -value.ln() })
}

/// Which stacks have a value of every criterion in at least one block together.
pub(super) fn contenders(criteria: &[&Criterion], stacks: &[usize]) -> Vec<usize> {
    stacks.iter().copied().filter(|s| !blocks(criteria, *s).is_empty()).collect()
}

/// A stack's weighted logarithm in each block in which all criteria were measured.
pub(super) fn blocks(criteria: &[&Criterion], stack: usize) -> BTreeMap<u32, f64> {
    let Some(first) = criteria.first() else { return BTreeMap::new() };
    let all: f64 = criteria.iter().map(|c| c.weight).sum();
    let of = |block: u32| -> Option<f64> {
        let mut sum = 0.0;
        for criterion in criteria {
            let value = *criterion.values[stack].get(&block)?;
            let value = criterion.least.map_or(value, |least| value.max(least));
            sum += criterion.weight * quality(criterion.measure, value)?;
        }
        Some(sum / all)
    };
    first.values[stack].keys().filter_map(|block| Some((*block, of(*block)?))).collect()
}

/// First ÷ second by all criteria together, more being better. `number` comparisons are
/// made, each seen `looks` times; its p is corrected for all of them.
pub(super) fn ratio(
    criteria: &[&Criterion],
    first: usize,
    second: usize,
    number: usize,
) -> Option<Ratio> {
    let (x, y) = (blocks(criteria, first), blocks(criteria, second));
    let pairs: Vec<(f64, f64)> =
        x.iter().filter_map(|(block, v)| Some(((v - y.get(block)?).exp(), 1.0))).collect();
    let level = (1.0 - CONFIDENCE) / number.max(1) as f64;
    let mut ratio = block_ratio(&pairs, level)?;
    // What is equivalent is so on its own; else the interval is that of the corrected p.
    if !is_level(&ratio) {
        ratio = block_ratio_judged(&pairs, level, level)?;
    }
    ratio.p = ratio.p.map(|p| (p * number as f64).min(1.0));
    Some(ratio)
}

/// Whether the first is significantly better.
pub(super) fn is_better(ratio: &Ratio) -> bool {
    let sure = ratio.p.is_some_and(|p| p <= 1.0 - CONFIDENCE);
    sure && ratio.interval.is_some_and(|i| i.low > 1.0)
}

fn is_level(ratio: &Ratio) -> bool {
    ratio.interval.is_some_and(|i| i.lies_within(1.0 / LEVEL, LEVEL))
}

/// The stacks that have all that counts, best first, each with the mean of its weighted
/// logarithms.
pub(super) fn ranked(criteria: &[&Criterion], stacks: &[usize]) -> Vec<(usize, f64)> {
    let mut ranked: Vec<(usize, f64)> = contenders(criteria, stacks)
        .into_iter()
        .map(|stack| (stack, mean(&blocks(criteria, stack))))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

/// The mean of what [`blocks`] gives of a contender.
pub(super) fn mean(blocks: &BTreeMap<u32, f64>) -> f64 {
    blocks.values().sum::<f64>() / blocks.len() as f64
}

/// The leader of these stacks; `None` where fewer than two have all that counts.
pub(super) fn outcome(
    criteria: &[&Criterion],
    stacks: &[usize],
    number: usize,
) -> Option<ContestComparison> {
    let ranked = ranked(criteria, stacks);
    let [(leader, _), others @ ..] = ranked.as_slice() else { return None };
    if others.is_empty() {
        return None;
    }
    let relation = |stack: usize| {
        let ratio = ratio(criteria, *leader, stack, number);
        let relation = match &ratio {
            Some(ratio) if is_level(ratio) => LeaderRelation::Equivalent,
            Some(ratio) if is_better(ratio) => LeaderRelation::Behind,
            _ => LeaderRelation::Inconclusive,
        };
        (stack, ratio, relation)
    };
    Some(ContestComparison {
        leader: *leader,
        others: others.iter().map(|(s, _)| relation(*s)).collect(),
    })
}
