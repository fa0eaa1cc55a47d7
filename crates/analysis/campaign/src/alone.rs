//! The looks at a stack that stands alone: until its figure is as exact as was asked for.

use crate::width::is_within;
use crate::{Conclusion, Contest, Decision, Next, Rank, Rules, StackStanding};

/// See [`decide`](crate::decide()). The first stack counts.
pub(crate) fn play_alone(rules: &Rules, contest: &Contest, share: f64) -> Decision {
    let mut rank = Rank { relation: StackStanding::NoValues, ratio: None, blocks: 0 };
    let (mut looked, mut next) = (0, None);
    for look in rules.looks() {
        if contest.blocks(0) < look {
            next = Some(Next { stacks: vec![0], blocks: look });
            break;
        }
        looked = look;
        if contest.finite(0, look).next().is_none() {
            break;
        }
        let figure = contest.figure(0, look);
        let is_exact = figure.is_some_and(|figure| is_within(figure, share));
        let relation = if is_exact { StackStanding::Exact } else { StackStanding::Inexact };
        rank = Rank { relation, ratio: figure, blocks: look };
        if is_exact {
            break;
        }
    }
    let conclusion = match rank.relation {
        StackStanding::Exact => Conclusion::Precise,
        StackStanding::Inexact => Conclusion::Inconclusive { open: 1, groups: vec![vec![0]] },
        _ => Conclusion::Nothing,
    };
    Decision { next, looked, ranks: vec![rank], conclusion }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Conclusion, Contest, Decision, Goal, Rules, StackStanding, decide};

    fn looked(values: &[Option<f64>], share: f64) -> Decision {
        let contest = Contest { higher_is_better: true, values: vec![values.to_vec()] };
        decide(&Rules::new(Goal::Precision(share)), &contest)
    }

    #[test]
    fn a_quiet_figure_is_known_soon_and_a_noisy_one_continues() {
        let equal = looked(&[Some(5.0); 3], 0.01);
        assert_eq!((equal.next, &equal.conclusion), (None, &Conclusion::Precise));
        let zeros = looked(&[Some(0.0); 3], 0.01);
        assert_eq!(zeros.ranks[0].relation, StackStanding::Exact);
        // exp(9.925·s/√3) of the logarithms, worked by hand: 5.9 % either way.
        let calm = [Some(100.0), Some(101.0), Some(102.0)];
        let at_five = looked(&calm, 0.05);
        assert_eq!(at_five.next.as_ref().map(|next| next.blocks), Some(4));
        assert_eq!(at_five.ranks[0].relation, StackStanding::Inexact);
        let at_six = looked(&calm, 0.06);
        assert_eq!((at_six.looked, at_six.next), (3, None));
        let (centre, interval) = at_six.ranks[0].ratio.expect("a figure");
        assert!((interval.high / centre - 1.0584).abs() < 1e-3, "{interval:?}");
        assert_eq!(interval.confidence, 0.99);
    }

    #[test]
    fn a_noisy_figure_ends_inconclusive() {
        let wild: Vec<Option<f64>> = (0..30).map(|n| Some(f64::from(1 + n % 5))).collect();
        let decision = looked(&wild, 0.05);
        assert_eq!((decision.next, decision.looked), (None, 30));
        assert!(matches!(decision.conclusion, Conclusion::Inconclusive { open: 1, .. }));
    }

    #[test]
    fn without_values_it_is_given_up_at_the_first_look() {
        let failed = looked(&[None; 3], 0.05);
        assert_eq!((failed.next, failed.conclusion), (None, Conclusion::Nothing));
        // A hole now and then is no reason to end.
        let holes = looked(&[Some(1.0), None, None], 0.05);
        assert_eq!(holes.next.map(|next| next.blocks), Some(4));
    }

    #[test]
    fn one_stack_has_no_best() {
        let contest = Contest { higher_is_better: true, values: vec![vec![Some(1.0); 3]] };
        let decision = decide(&Rules::new(Goal::Best), &contest);
        assert_eq!((decision.next, decision.conclusion), (None, Conclusion::Nothing));
    }

    proptest! {
        #[test]
        fn values_after_the_decision_change_nothing(
            values in proptest::collection::vec(
                proptest::option::of(proptest::num::f64::ANY), 0..40
            ),
            share in 0.001_f64..0.5,
        ) {
            let whole = looked(&values, share);
            prop_assert!(whole.looked <= values.len());
            let first = looked(&values[..whole.looked], share);
            prop_assert_eq!(&first.ranks, &whole.ranks);
            prop_assert_eq!(first.conclusion, whole.conclusion);
            if let Some(next) = &whole.next {
                prop_assert!(next.blocks > values.len());
            }
        }
    }
}
