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
mod figures;
mod judge;
mod recommendation;
mod rule;
mod table;
#[cfg(test)]
mod tests;
mod trade;
mod verdict;
mod words;
mod work;

use std::collections::BTreeMap;

use disklab_audits::{Finding, Group};
use disklab_store::RunInfo;
use disklab_study::Study;

use criteria::criteria;
use judge::Judge;
use rule::Criterion;

pub(crate) use work::task;

pub use confidence::Confidence;
pub use recommendation::{
    AdviceChange, DecidingFigure, NextBest, PurposeRank, Recommendation, Score, StackChoice, Trade,
};
pub use table::{Aspect, DECIDES, PURPOSES, Purpose};
pub use verdict::RankVerdict;

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
    // Of two with the same figures the larger one is taken.
    for members in classes.values_mut() {
        members.sort_by_key(|stack| std::cmp::Reverse(space(*stack)));
    }
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
