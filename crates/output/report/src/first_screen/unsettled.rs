//! The cells that more repeats of would settle what is not: of the stacks concerned alone.

use std::collections::BTreeSet;

use disklab_decision::{PurposeRank, RankVerdict, Recommendation};

use super::FirstScreen;
use crate::Report;

/// More patterns than this are as hard to read as they are to type: whole stacks then.
const MOST: usize = 4;

/// The values of `--only` that leave the cells which an unsettled answer is about; none if
/// these are all cells of the run.
pub(super) fn only(report: &Report, screen: &FirstScreen<'_>) -> Vec<String> {
    let all: BTreeSet<(&str, &str)> = report
        .cells
        .iter()
        .map(|r| (r.cell.levels.stack.as_str(), r.cell.levels.workload.as_str()))
        .collect();
    let mut wanted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for recommendation in screen.recommendations {
        for stack in concerned(screen, recommendation) {
            let of = recommendation.workloads.iter().map(|w| (stack, w.as_str()));
            wanted.extend(of.filter(|pair| all.contains(pair)));
        }
    }
    if wanted == all { Vec::new() } else { patterns(&wanted, &all) }
}

/// The stacks of a purpose between which the samples do not decide.
fn concerned<'a>(screen: &FirstScreen<'_>, recommendation: &'a Recommendation) -> Vec<&'a str> {
    let mut stacks = Vec::new();
    for decision in recommendation.decisions.iter().filter(|d| d.confidence.is_unsettled()) {
        let is_open = |place: &&PurposeRank| {
            !matches!(place.verdict, RankVerdict::Behind | RankVerdict::NotBetter)
        };
        stacks.extend(decision.places.iter().filter(is_open).map(|p| p.stack.as_str()));
        stacks.extend(decision.next.iter().map(|next| next.stack.as_str()));
    }
    stacks.retain(|stack| screen.stack(stack).is_some());
    stacks
}

/// As few patterns as say it: a stack, a workload, or one on the other.
fn patterns(wanted: &BTreeSet<(&str, &str)>, all: &BTreeSet<(&str, &str)>) -> Vec<String> {
    let stacks: BTreeSet<&str> = wanted.iter().map(|(stack, _)| *stack).collect();
    let workloads: BTreeSet<&str> = wanted.iter().map(|(_, workload)| *workload).collect();
    let whole_stack = |s: &str| all.iter().filter(|p| p.0 == s).all(|p| wanted.contains(p));
    let whole_workload = |w: &str| all.iter().filter(|p| p.1 == w).all(|p| wanted.contains(p));
    if workloads.iter().all(|w| whole_workload(w)) {
        return workloads.iter().map(|w| (*w).to_owned()).collect();
    }
    let mut patterns: Vec<String> = Vec::new();
    for (stack, workload) in wanted {
        if !whole_stack(stack) {
            patterns.push(format!("{stack}:{workload}"));
        } else if patterns.last().is_none_or(|last| last != stack) {
            patterns.push((*stack).to_owned());
        }
    }
    if patterns.len() > MOST {
        return stacks.iter().map(|s| (*s).to_owned()).collect();
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(wanted: &[(&'static str, &'static str)], stacks: &[&'static str]) -> Vec<String> {
        let work = ["x", "y", "z"];
        let all = stacks.iter().flat_map(|s| work.map(|w| (*s, w))).collect();
        patterns(&wanted.iter().copied().collect(), &all)
    }

    #[test]
    fn patterns_are_few() {
        let [a, b] = ["a", "b"];
        assert_eq!(of(&[(a, "x"), (a, "y"), (a, "z")], &[a, b]), ["a"]);
        assert_eq!(of(&[(a, "x"), (b, "x")], &[a, b]), ["x"]);
        assert_eq!(of(&[(a, "x"), (b, "x")], &[a, b, "c"]), ["a:x", "b:x"]);
        assert_eq!(of(&[(a, "x"), (b, "x"), (b, "y"), (b, "z")], &[a, b, "c"]), ["a:x", "b"]);
    }

    #[test]
    fn many_patterns_become_whole_stacks() {
        let stacks = ["a", "b", "c", "d", "e"];
        let most = &stacks[..4];
        let wanted: Vec<_> = most.iter().flat_map(|s| [(*s, "x"), (*s, "y")]).collect();
        assert_eq!(of(&wanted, &stacks), most);
    }
}
