//! By what figures a choice was made.

use disklab_comparisons::{Quantity, plain_value};
use disklab_stats::estimate;

use super::recommendation::{DecidingFigure, NextBest};
use super::rule::{Choice, Criterion, Rival, blocks, deciding, differences, has_deciding, mean};
use super::verdict::RankVerdict;

/// What a stack does in what it was chosen by; empty where that is all figures together.
pub(super) fn figures(criteria: &[&Criterion], stack: usize) -> Vec<DecidingFigure> {
    if !has_deciding(criteria) {
        return Vec::new();
    }
    let decides = deciding(criteria);
    let of_aspect = decides.chunk_by(|a, b| a.aspect == b.aspect);
    of_aspect.flat_map(|criteria| figures_of_aspect(criteria, stack)).collect()
}

/// The figures of the criteria of one aspect: of several of one kind that count the same, the mean
/// by which they were compared; otherwise each.
fn figures_of_aspect(criteria: &[&Criterion], stack: usize) -> Vec<DecidingFigure> {
    let Some(first) = criteria.first() else { return Vec::new() };
    let quantity = |c: &Criterion| Quantity::new(c.measure, c.operation);
    let are_alike = criteria.iter().all(|c| quantity(c) == quantity(first));
    if let ([_, _, ..], true) = (criteria, are_alike) {
        let Some(mean) = mean(&blocks(criteria, stack)) else { return Vec::new() };
        let centre = if first.measure.higher_is_better() { mean.exp() } else { (-mean).exp() };
        return vec![DecidingFigure {
            aspect: first.aspect.name,
            of: format!("the mean of {} workloads", criteria.len()),
            value: plain_value(first.measure, first.operation, centre),
        }];
    }
    criteria.iter().filter_map(|criterion| figure(criterion, stack)).collect()
}

/// As it is printed, with its unit.
fn figure(criterion: &Criterion, stack: usize) -> Option<DecidingFigure> {
    let values: Vec<f64> = criterion.values[stack].values().copied().collect();
    Some(DecidingFigure {
        aspect: criterion.aspect.name,
        of: criterion.noun.clone(),
        value: plain_value(criterion.measure, criterion.operation, estimate(&values)?.centre),
    })
}

/// The best of the others that are not as good, with its ratio in what decides.
pub(super) fn next(criteria: &[&Criterion], choice: &Choice, stacks: &[&str]) -> Option<NextBest> {
    best_of(criteria, choice, stacks, |verdict| verdict != RankVerdict::Equivalent)
}

/// The best of those that may be better.
pub(super) fn inconclusive(
    criteria: &[&Criterion],
    choice: &Choice,
    stacks: &[&str],
) -> Option<NextBest> {
    best_of(criteria, choice, stacks, |verdict| verdict == RankVerdict::Inconclusive)
}

/// The best of the others that rank so.
fn best_of(
    criteria: &[&Criterion],
    choice: &Choice,
    stacks: &[&str],
    ranks: impl Fn(RankVerdict) -> bool,
) -> Option<NextBest> {
    let is_other = |r: &&Rival| ranks(r.verdict) && r.ratio.is_some();
    let decides = deciding(criteria);
    let best = choice.rivals.iter().filter(is_other).filter_map(|rival| {
        let leads = differences(&decides, choice.stack, rival.stack);
        (!leads.is_empty()).then(|| (rival, leads.iter().sum::<f64>() / leads.len() as f64))
    });
    let (rival, lead) = best.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let by = if rival.by_deciding { decides.as_slice() } else { criteria };
    let leads = differences(by, choice.stack, rival.stack);
    Some(NextBest {
        stack: stacks[rival.stack].to_owned(),
        times: lead.exp(),
        ahead: leads.iter().filter(|lead| **lead > 0.0).count(),
        by_deciding: rival.by_deciding,
        repeats: leads.len(),
    })
}
