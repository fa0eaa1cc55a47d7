//! From what a run recommends to what its purposes still need.

use disklab_cell::Levels;
use disklab_decision::Analysis;
use disklab_store::CellRecord;

use super::blocks::Targets;
use super::contests::carried_out;

/// How many blocks each cell is needed in, and whether a purpose is not settled. All cells run up
/// to the first look; from then on those of the stacks between which a purpose is not decided,
/// with the work that may decide it.
pub(crate) fn look(
    levels: &[Levels],
    looks: &[usize],
    records: &[CellRecord],
    analysis: &Analysis,
) -> (Targets, bool) {
    let carried = carried_out(records);
    let first = looks.first().copied().unwrap_or(1) as u32;
    let mut targets: Targets = levels.iter().map(|levels| (levels.clone(), first)).collect();
    let is_whole = levels.iter().all(|l| carried.get(l).is_some_and(|blocks| *blocks >= first));
    let open: Vec<Levels> = analysis
        .recommendations
        .iter()
        .flat_map(|recommendation| recommendation.unsettled_cells())
        .map(|(stack, workload)| Levels::new(stack, workload))
        .filter(|levels| targets.contains_key(levels))
        .collect();
    let reached = carried.values().max().copied().unwrap_or(0);
    let next = looks.iter().map(|look| *look as u32).find(|look| *look > reached);
    if let (true, Some(next)) = (is_whole, next) {
        targets.extend(open.iter().map(|levels| (levels.clone(), next)));
    }
    (targets, !is_whole || !open.is_empty())
}

/// Whether a purpose has all that decides it.
pub(crate) fn are_shown(analysis: &Analysis) -> bool {
    let mut decisions = analysis.recommendations.iter().flat_map(|r| &r.decisions);
    decisions.any(|decision| !decision.is_partial)
}

#[cfg(test)]
mod tests {
    use disklab_cell::Cell;
    use disklab_decision::{Confidence, PURPOSES, PurposeRank, RankVerdict};
    use disklab_decision::{Recommendation, StackChoice};
    use disklab_store::CellState;

    use super::*;

    fn levels() -> Vec<Levels> {
        let of = |s: &'static str| ["decides", "matters", "other"].map(|w| Levels::new(s, w));
        ["a", "b", "c"].into_iter().flat_map(of).collect()
    }

    fn records(blocks: u32) -> Vec<CellRecord> {
        let cell = |block, levels| Cell { number: 0, block, levels, seed: 1 };
        let of = |block| levels().into_iter().map(move |levels| cell(block, levels));
        let record = |cell| CellRecord::new(cell, CellState::Done);
        (0..blocks).flat_map(of).map(record).collect()
    }

    /// Says that 'a' is to be taken; of the others, by what each is compared.
    fn recommended(
        confidence: Confidence,
        others: [(&str, RankVerdict, bool); 2],
        is_partial: bool,
    ) -> Analysis {
        let place = |(stack, verdict, by_deciding): (&str, _, _)| PurposeRank {
            stack: stack.to_owned(),
            verdict,
            distance: String::new(),
            by_deciding,
        };
        let choice = StackChoice {
            survives: Some(0),
            take: "a".to_owned(),
            as_good: Vec::new(),
            confidence,
            is_partial,
            figures: Vec::new(),
            next: None,
            inconclusive: None,
            trade: None,
            places: others.into_iter().map(place).collect(),
            reasons: Vec::new(),
            against: Vec::new(),
            would_change: Vec::new(),
        };
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let recommendation = Recommendation {
            purpose: &PURPOSES[0],
            decisions: vec![choice],
            why_not: None,
            lacking: Vec::new(),
            suspect: Vec::new(),
            scores: Vec::new(),
            workloads: names(&["decides", "matters"]),
            deciding: names(&["decides"]),
        };
        Analysis { recommendations: vec![recommendation], ..Analysis::default() }
    }

    /// What runs on up to a later block than the first look.
    fn continued(targets: &Targets, block: u32) -> Vec<(String, String)> {
        assert!(targets.values().all(|target| *target == 3 || *target == block), "{targets:?}");
        let on = targets.iter().filter(|(_, target)| **target == block);
        let mut on: Vec<_> =
            on.map(|(l, _)| (l.stack.to_string(), l.workload.to_string())).collect();
        on.sort();
        on
    }

    const OPEN: [(&str, RankVerdict, bool); 2] =
        [("b", RankVerdict::Inconclusive, true), ("c", RankVerdict::Behind, false)];

    #[test]
    fn what_may_be_better_continues_with_the_work_that_decides() {
        let so_far = recommended(Confidence::Likely, OPEN, false);
        let (targets, is_open) = look(&levels(), &[3, 4, 5], &records(3), &so_far);
        let on = ["a", "b"].map(|stack| (stack.to_owned(), "decides".to_owned()));
        assert_eq!((continued(&targets, 4), is_open), (on.to_vec(), true));
        let by_all =
            [("b", RankVerdict::NotBetter, false), ("c", RankVerdict::Inconclusive, false)];
        let so_far = recommended(Confidence::Inconclusive, by_all, false);
        let (targets, _) = look(&levels(), &[3, 4, 5], &records(4), &so_far);
        let on = continued(&targets, 5);
        assert!(on.len() == 4 && on.iter().all(|(s, w)| s != "b" && w != "other"), "{on:?}");
    }

    #[test]
    fn it_ends_when_purposes_are_settled_or_cannot_be() {
        let behind = OPEN.map(|(stack, _, by)| (stack, RankVerdict::Behind, by));
        let settled = recommended(Confidence::Sure, behind, false);
        let (targets, is_open) = look(&levels(), &[3, 4], &records(3), &settled);
        assert_eq!((continued(&targets, 4), is_open), (Vec::new(), false));
        // A figure that decides is missing, and no repeat will have it.
        let partial = recommended(Confidence::Once, OPEN, true);
        assert!(are_shown(&settled) && !are_shown(&partial) && !are_shown(&Analysis::default()));
        let (targets, is_open) = look(&levels(), &[3, 4], &records(3), &partial);
        assert_eq!((continued(&targets, 4), is_open), (Vec::new(), false));
        // The last look.
        let open = recommended(Confidence::Likely, OPEN, false);
        let (targets, is_open) = look(&levels(), &[3, 4], &records(4), &open);
        assert_eq!((continued(&targets, 9), is_open), (Vec::new(), true));
    }

    #[test]
    fn nothing_is_decided_before_the_first_look() {
        let open = recommended(Confidence::Likely, OPEN, false);
        let (targets, is_open) = look(&levels(), &[3, 4], &records(2), &open);
        assert_eq!((continued(&targets, 9), is_open), (Vec::new(), true));
        assert!(look(&levels(), &[3, 4], &[], &Analysis::default()).1);
    }
}
