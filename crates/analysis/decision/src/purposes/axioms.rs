//! What a choice must never do, over random runs: 1 to 60 stacks, missing figures, ties, wide
//! intervals, failed cells.

use std::collections::BTreeMap;

use disklab_sample::OperationKind;
use disklab_stats::{Ratio, block_ratio};
use disklab_study::Measure;
use proptest::prelude::*;

use super::rule::{Choice, Comparer, Criterion, MARGIN, blocks, choose, deciding, is_better};
use super::{PURPOSES, Purpose, RankVerdict};

/// A run: of each aspect of a purpose one figure, of each stack in each block.
#[derive(Debug, Clone)]
struct Run {
    criteria: Vec<Criterion>,
    stacks: usize,
}

impl Run {
    fn choice(&self) -> Option<Choice> {
        self.choice_of(&(0..self.stacks).collect::<Vec<_>>())
    }

    fn choice_of(&self, members: &[usize]) -> Option<Choice> {
        choose(&self.all(), members, self.stacks)
    }

    fn all(&self) -> Vec<&Criterion> {
        self.criteria.iter().collect()
    }

    /// Without one of the stacks' figures.
    fn without(&self, stack: usize) -> Self {
        let mut run = self.clone();
        run.criteria.iter_mut().for_each(|c| c.values[stack] = BTreeMap::new());
        run
    }

    fn is_measured_throughout(&self, stack: usize, blocks: usize) -> bool {
        self.criteria.iter().all(|c| c.values[stack].len() == blocks)
    }
}

/// A value in each block, around a centre; none where its cell failed.
fn values(blocks: usize) -> impl Strategy<Value = BTreeMap<u32, f64>> {
    // Few centres, so that stacks tie; noise from none to wild; a block in nine is missing.
    let noise = prop_oneof![Just(0.0), Just(0.003), Just(0.05), Just(0.8)];
    let block = (prop::num::f64::POSITIVE.prop_map(|x| x % 1.0), 0_u32..9);
    (1_u32..6, noise, prop::collection::vec(block, blocks), 0_u32..8).prop_map(
        |(centre, noise, blocks, whole)| {
            let value = |x: f64| 100.0 * 1.07_f64.powi(centre as i32) * (noise * (x - 0.5)).exp();
            let all = blocks.iter().zip(0_u32..);
            // Of seven stacks in eight no block is missing.
            let kept = all.filter(|((_, lost), _)| whole > 0 || *lost > 0);
            kept.map(|((x, _), block)| (block, value(*x))).collect()
        },
    )
}

fn run(purpose: &'static Purpose, stacks: usize, blocks: usize) -> impl Strategy<Value = Run> {
    let figures =
        prop::collection::vec(prop::collection::vec(values(blocks), stacks), purpose.aspects.len());
    figures.prop_map(move |figures| {
        let criterion =
            |(aspect, values): (&'static super::Aspect, Vec<BTreeMap<u32, f64>>)| Criterion {
                aspect,
                workload: aspect.name.to_owned(),
                noun: aspect.name.to_owned(),
                measure: if aspect.measures[0] == Measure::Elapsed {
                    Measure::Elapsed
                } else {
                    Measure::Iops
                },
                operation: OperationKind::Io,
                weight: f64::from(aspect.weight),
                values,
            };
        Run { criteria: purpose.aspects.iter().zip(figures).map(criterion).collect(), stacks }
    })
}

const BLOCKS: usize = 4;

fn any_run() -> impl Strategy<Value = Run> {
    let purpose = (0..PURPOSES.len()).prop_map(|n| &PURPOSES[n]);
    (purpose, prop_oneof![8 => 1_usize..9, 1 => 9_usize..61], 1_usize..=BLOCKS)
        .prop_flat_map(|(purpose, stacks, blocks)| run(purpose, stacks, blocks))
}

/// The stacks that are taken alike.
fn taken(choice: &Choice) -> Vec<usize> {
    let equal = choice.rivals.iter().filter(|r| r.verdict == RankVerdict::Equivalent);
    let mut all: Vec<usize> = equal.map(|r| r.stack).chain([choice.stack]).collect();
    all.sort_unstable();
    all
}

/// The better of two values of a criterion.
fn improved(criterion: &Criterion, value: f64, by: f64) -> f64 {
    if criterion.measure.higher_is_better() { value * by } else { value / by }
}

/// Whether one stack is worse than another in each figure, in each block that it has.
fn is_worse_in_all(run: &Run, one: usize, other: usize) -> bool {
    run.criteria.iter().all(|c| {
        let worse = |(block, v): (&u32, &f64)| {
            c.values[other].get(block).is_some_and(|w| improved(c, *v, 1.0 + 1e-9) < *w)
        };
        // Of an elapsed time less is better.
        let worse_time =
            |(block, v): (&u32, &f64)| c.values[other].get(block).is_some_and(|w| v > w);
        let all = c.values[one].iter();
        if c.measure.higher_is_better() {
            all.clone().all(worse)
        } else {
            all.clone().all(worse_time)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whichever test one takes, no stack is shown to be better by the margin in what decides: none
    /// is better by it in the samples themselves.
    #[test]
    fn nothing_is_better_by_the_margin_in_what_decides(run in any_run()) {
        let Some(choice) = run.choice() else { return Ok(()) };
        let all = run.all();
        let decides = deciding(&all);
        prop_assume!(decides.len() < all.len());
        for other in 0..run.stacks {
            let (x, y) = (blocks(&decides, other), blocks(&decides, choice.stack));
            let pairs: Vec<(f64, f64)> =
                x.iter().filter_map(|(b, v)| Some(((v - y.get(b)?).exp(), 1.0))).collect();
            let lead = block_ratio(&pairs, 0.05, None);
            let mean = pairs.iter().map(|p| p.0.ln()).sum::<f64>() / pairs.len().max(1) as f64;
            prop_assert!(mean <= MARGIN.ln() + 1e-9, "{other} {lead:?} {choice:?}");
        }
    }

    #[test]
    fn a_stack_that_gets_better_is_not_demoted(run in any_run(), figure in 0_usize..6, by in 1.0_f64..3.0) {
        let Some(before) = run.choice() else { return Ok(()) };
        let mut better = run.clone();
        let figure = figure % better.criteria.len();
        let criterion = &mut better.criteria[figure];
        let direction = criterion.clone();
        for value in criterion.values[before.stack].values_mut() {
            *value = improved(&direction, *value, by);
        }
        let after = better.choice().expect("it was measured");
        prop_assert_eq!(after.stack, before.stack);
        // And one that was not taken stands no worse than before.
        for rival in before.rivals.iter().filter(|r| r.verdict == RankVerdict::Equivalent) {
            let mut better = run.clone();
            for value in better.criteria[figure].values[rival.stack].values_mut() {
                *value = improved(&direction, *value, by);
            }
            let after = better.choice().expect("it was measured");
            let kept = taken(&after).contains(&rival.stack);
            let of = after.rivals.iter().find(|r| r.stack == rival.stack);
            prop_assert!(kept || of.is_some_and(|r| r.verdict != RankVerdict::Behind), "{after:?}");
        }
    }

    /// It changes neither what is taken nor the order of the rest.
    #[test]
    fn a_stack_that_is_worse_in_everything_changes_nothing(run in any_run(), worse in 0_usize..60, like in 0_usize..60) {
        prop_assume!(run.stacks > 2);
        let (worse, like) = (worse % run.stacks, like % run.stacks);
        prop_assume!(worse != like);
        let mut with = run.clone();
        for criterion in &mut with.criteria {
            let direction = criterion.clone();
            criterion.values[worse] = criterion.values[like]
                .iter()
                .map(|(block, value)| (*block, improved(&direction, *value, 0.97)))
                .collect();
        }
        prop_assert!(is_worse_in_all(&with, worse, like));
        let (a, b) = (with.choice(), with.without(worse).choice());
        prop_assert_eq!(a.as_ref().map(|c| c.stack), b.as_ref().map(|c| c.stack));
        let order = |choice: Option<Choice>| -> Vec<usize> {
            let rivals = choice.into_iter().flat_map(|c| c.rivals);
            rivals.filter(|r| r.verdict != RankVerdict::NotMeasured).map(|r| r.stack).filter(|s| *s != worse).collect()
        };
        prop_assert_eq!(order(a), order(b));
    }

    #[test]
    fn units_do_not_matter(run in any_run(), powers in prop::collection::vec(-9_i32..9, 6)) {
        let mut scaled = run.clone();
        for (criterion, power) in scaled.criteria.iter_mut().zip(powers) {
            let unit = 10_f64.powi(power);
            criterion.values.iter_mut().flat_map(|v| v.values_mut()).for_each(|v| *v *= unit);
        }
        let (a, b) = (run.choice(), scaled.choice());
        // Exact ties may fall either way, by the last bit.
        match (a, b) {
            (Some(a), Some(b)) => {
                let whole = Comparer::new(&run.all(), a.stack, &[], 1).ratio(a.stack, b.stack);
                let same = a.stack == b.stack || whole.is_some_and(|r| (r.centre - 1.0).abs() < 1e-9);
                prop_assert!(same, "{a:?} {b:?}");
            }
            (a, b) => prop_assert_eq!(a.is_some(), b.is_some()),
        }
    }

    #[test]
    fn the_order_of_stacks_does_not_matter(
        (run, order) in any_run().prop_flat_map(|run| {
            let order: Vec<usize> = (0..run.stacks).collect();
            (Just(run), Just(order).prop_shuffle())
        })
    ) {
        let mut shuffled = run.clone();
        for criterion in &mut shuffled.criteria {
            criterion.values = order.iter().map(|from| criterion.values[*from].clone()).collect();
        }
        match (run.choice(), shuffled.choice()) {
            (Some(a), Some(b)) => {
                let b = order[b.stack];
                // Exact ties may fall either way, if both lack a figure those in what decides.
                let by = |criteria: &[&Criterion]| {
                    Comparer::new(criteria, a.stack, &[], 1).ratio(a.stack, b)
                };
                let (all, tied) = (run.all(), |r: Ratio| (r.centre - 1.0).abs() < 1e-9);
                let ratio = by(&all).or_else(|| by(&deciding(&all)));
                let same = a.stack == b || ratio.is_some_and(tied);
                prop_assert!(same, "{a:?} {b}");
            }
            (a, b) => prop_assert_eq!(a.is_some(), b.is_some()),
        }
    }

    /// With all figures there is always a choice, and nobody better in everything is passed over.
    #[test]
    fn what_is_measured_throughout_is_decided(run in any_run()) {
        let blocks = run.criteria[0].values[0].len();
        prop_assume!(blocks > 0 && (0..run.stacks).all(|s| run.is_measured_throughout(s, blocks)));
        let choice = run.choice().expect("all is measured");
        prop_assert!(!choice.is_incomplete);
        for other in 0..run.stacks {
            prop_assert!(!is_worse_in_all(&run, choice.stack, other), "{other} {choice:?}");
        }
        for rival in choice.rivals.iter().filter(|r| r.verdict == RankVerdict::Behind) {
            prop_assert!(rival.ratio.as_ref().is_some_and(is_better));
        }
    }
}
