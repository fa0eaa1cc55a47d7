//! Campaigns with values that are made up.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Conclusion, Contest, Goal, Next, Rules, StackStanding, decide};

/// Stacks of these levels with even noise of about this standard deviation, on blocks
/// that drift.
fn contest(levels: &[f64], noise: f64, blocks: usize, seed: u64) -> Contest {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let drift: Vec<f64> = (0..blocks).map(|_| random.random_range(0.7..1.4)).collect();
    let values = levels
        .iter()
        .map(|level| {
            let mut value = |d: &f64| {
                // Three uniform ones come near to a normal one of variance ¼.
                let sum: f64 = (0..3).map(|_| random.random::<f64>()).sum();
                Some(level * d * f64::exp(2.0 * noise * (sum - 1.5)))
            };
            drift.iter().map(&mut value).collect()
        })
        .collect();
    Contest { higher_is_better: true, values }
}

fn cut(contest: &Contest, stacks: &[usize], blocks: usize) -> Contest {
    let mut cut = contest.clone();
    for (stack, values) in cut.values.iter_mut().enumerate() {
        if stacks.contains(&stack) || values.len() > blocks {
            values.truncate(blocks);
        }
    }
    cut
}

/// Gives a contest what it asks for and no more; the last decision, and the cells run.
fn carried_out(rules: &Rules, all: &Contest) -> (crate::Decision, usize) {
    let mut so_far = Contest { values: vec![Vec::new(); all.stacks()], ..*all };
    loop {
        let decision = decide(rules, &so_far);
        let Some(Next { stacks, blocks }) = &decision.next else {
            return (decision, so_far.values.iter().map(Vec::len).sum());
        };
        for stack in stacks {
            so_far.values[*stack] = all.values[*stack][..*blocks].to_vec();
        }
    }
}

#[test]
fn the_best_is_found_with_a_part_of_the_blocks() {
    let levels = [80.0, 100.0, 60.0, 97.0, 50.0, 99.9];
    let all = contest(&levels, 0.005, 30, 1);
    let rules = Rules::new(Goal::Best);
    let (decision, cells) = carried_out(&rules, &all);
    assert_eq!(decision.conclusion, Conclusion::Best(vec![1, 5]), "{decision:?}");
    assert!(matches!(decision.ranks[2].relation, StackStanding::Behind(_)));
    assert!(cells < 6 * 10, "{cells}");
}

#[test]
fn less_time_is_better() {
    let mut all = contest(&[80.0, 100.0, 60.0], 0.005, 30, 1);
    all.higher_is_better = false;
    let (decision, _) = carried_out(&Rules::new(Goal::Best), &all);
    assert_eq!(decision.conclusion, Conclusion::Best(vec![2]));
    let rank = decision.ranks[1];
    // How many times as good: 60 ÷ 100.
    let decided = matches!(rank.relation, StackStanding::Behind(2));
    assert!(decided && rank.ratio.is_some_and(|(r, _)| (r - 0.6).abs() < 0.02), "{rank:?}");
}

#[test]
fn a_ranking_has_groups_of_ties() {
    let all = contest(&[80.0, 100.0, 60.0, 100.1], 0.004, 30, 3);
    let (decision, _) = carried_out(&Rules::new(Goal::Rank), &all);
    let Conclusion::Ranking(groups) = &decision.conclusion else { panic!("{decision:?}") };
    let sorted: Vec<Vec<usize>> = groups
        .iter()
        .map(|g| {
            let mut g = g.clone();
            g.sort_unstable();
            g
        })
        .collect();
    assert_eq!(sorted, [vec![1, 3], vec![0], vec![2]]);
    assert_eq!(decision.next, None);
}

#[test]
fn a_ranking_stops_stack_by_stack() {
    // Only the first two are hard to tell apart.
    let all = contest(&[100.0, 101.5, 10.0, 1.0], 0.02, 30, 1);
    let (decision, cells) = carried_out(&Rules::new(Goal::Rank), &all);
    assert!(decision.looked > 10, "{decision:?}");
    assert_eq!(cells, 2 * 3 + 2 * decision.looked, "{decision:?}");
}

#[test]
fn a_difference_within_noise_is_inconclusive() {
    let all = contest(&[100.0, 103.0, 20.0], 0.3, 30, 4);
    for goal in [Goal::Best, Goal::Rank] {
        let (decision, _) = carried_out(&Rules::new(goal), &all);
        let Conclusion::Inconclusive { open, groups } = &decision.conclusion else {
            panic!("{decision:?}")
        };
        assert_eq!(*open, 1);
        assert!(groups[0].contains(&0) && groups[0].contains(&1) && !groups[0].contains(&2));
        assert_eq!(decision.looked, 30);
    }
}

#[test]
fn precision_stops_stack_by_stack() {
    let all = contest(&[100.0, 50.0, 200.0], 0.01, 30, 5);
    let rules = Rules::new(Goal::Precision(0.05));
    let (decision, cells) = carried_out(&rules, &all);
    assert_eq!(decision.conclusion, Conclusion::Precise);
    assert!(cells < 60, "{cells}");
    assert_eq!(decision.ranks[0].relation, StackStanding::Baseline);
    let (centre, interval) = decision.ranks[1].ratio.expect("compared");
    assert!(interval.contains(0.5) && interval.high / centre <= 1.05 + 1e-12);
}

#[test]
fn a_campaign_begins_with_its_first_look() {
    let rules = Rules::new(Goal::Best);
    let none = Contest { higher_is_better: true, values: vec![Vec::new(); 3] };
    let decision = decide(&rules, &none);
    assert_eq!(decision.next, Some(Next { stacks: vec![0, 1, 2], blocks: 3 }));
    assert_eq!((decision.looked, decision.conclusion), (0, Conclusion::Nothing));
}

#[test]
fn failed_cells_and_single_stacks_end_it() {
    let rules = Rules::new(Goal::Rank);
    let single = Contest { higher_is_better: true, values: vec![vec![Some(1.0)]] };
    assert_eq!(decide(&rules, &single).next, None);
    assert_eq!(decide(&rules, &Contest { values: Vec::new(), ..single }).next, None);
    let mut all = contest(&[80.0, 100.0, 60.0], 0.005, 30, 6);
    all.values[1] = vec![None; 30];
    all.values[0][1] = Some(f64::NAN);
    let (decision, _) = carried_out(&rules, &all);
    assert_eq!(decision.conclusion, Conclusion::Ranking(vec![vec![0], vec![2]]));
    assert_eq!(decision.ranks[1].relation, StackStanding::NoValues);
}

#[test]
fn of_campaigns_without_a_difference_few_find_one() {
    // 200 campaigns of five equal stacks: at most 5 % may call one worse.
    let rules = Rules { tie: 0.0, ..Rules::new(Goal::Rank) };
    let wrong = (0..200).filter(|seed| {
        let (decision, _) = carried_out(&rules, &contest(&[1.0; 5], 0.05, 30, 100 + seed));
        decision.ranks.iter().any(|r| matches!(r.relation, StackStanding::Behind(_)))
    });
    let wrong = wrong.count();
    assert!(wrong <= 10, "{wrong}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the values, a campaign ends, and what it had seen decides the same again.
    #[test]
    fn any_campaign_ends_and_can_be_resumed(
        values in proptest::collection::vec(
            proptest::collection::vec(proptest::option::of(prop_oneof![
                Just(1.0), Just(1.01), 0.5_f64..2.0, proptest::num::f64::ANY
            ]), 12), 0..6
        ),
        goal in prop_oneof![Just(Goal::Best), Just(Goal::Rank), Just(Goal::Precision(0.05))],
        higher_is_better: bool
    ) {
        let rules = Rules { most_blocks: 12, ..Rules::new(goal) };
        let all = Contest { higher_is_better, values };
        let (last, _) = carried_out(&rules, &all);
        prop_assert_eq!(&last.next, &None);
        prop_assert_eq!(last.ranks.len(), all.stacks());
        // More values than were asked for change nothing of what was decided.
        let again = decide(&rules, &all);
        prop_assert_eq!(&again.conclusion, &last.conclusion);
        let early = decide(&rules, &cut(&all, &(0..all.stacks()).collect::<Vec<_>>(), 4));
        prop_assert!(early.looked <= 4);
    }

    /// Neither the unit nor the order in which stacks are listed matters to who is best.
    #[test]
    fn units_do_not_matter(seed: u64, power in -8_i32..8) {
        let all = contest(&[1.0, 1.1, 0.9, 1.09], 0.02, 30, seed);
        let mut scaled = all.clone();
        scaled.values.iter_mut().flatten().flatten().for_each(|v| *v *= 2.0_f64.powi(power));
        let rules = Rules::new(Goal::Best);
        let (a, b) = (carried_out(&rules, &all), carried_out(&rules, &scaled));
        prop_assert_eq!(a.0.conclusion, b.0.conclusion);
        prop_assert_eq!(a.1, b.1);
    }
}
