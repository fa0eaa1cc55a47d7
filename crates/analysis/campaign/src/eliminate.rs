//! The looks, one after the other.

use disklab_stats::{Interval, VariancePrior};

use crate::width::is_within;
use crate::{Conclusion, Contest, Decision, Goal, Next, Rank, Rules, StackStanding};

/// What a pair's interval says of the first against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    Open,
    Better,
    Worse,
    Tied,
}

impl Pair {
    fn of(interval: Interval, tie_log: f64) -> Self {
        if interval.low.ln() >= -tie_log && interval.high.ln() <= tie_log {
            Self::Tied
        } else if interval.low > 1.0 {
            Self::Better
        } else if interval.high < 1.0 {
            Self::Worse
        } else {
            Self::Open
        }
    }
}

struct Play<'a> {
    rules: &'a Rules,
    contest: &'a Contest,
    confidence: f64,
    ranks: Vec<Rank>,
    running: Vec<usize>,
    /// All pairs, for the goal rank: by first and second stack.
    pairs: Vec<Vec<Pair>>,
    looked: usize,
    /// What the variances of this look have in common.
    prior: Option<VariancePrior>,
}

/// See [`decide`](crate::decide()).
pub(crate) fn play(rules: &Rules, contest: &Contest) -> Decision {
    let stacks = contest.stacks();
    let nothing = Rank { relation: StackStanding::NoValues, ratio: None, blocks: 0 };
    let mut play = Play {
        rules,
        contest,
        confidence: 1.0 - rules.level(stacks),
        ranks: vec![nothing; stacks],
        running: (0..stacks).collect(),
        pairs: vec![vec![Pair::Open; stacks]; stacks],
        looked: 0,
        prior: None,
    };
    let mut next = None;
    for look in rules.looks() {
        if stacks < 2 || play.is_over() {
            break;
        }
        if play.running.iter().any(|stack| contest.blocks(*stack) < look) {
            next = Some(Next { stacks: play.running.clone(), blocks: look });
            break;
        }
        play.look(look);
    }
    // With the last block, or with a decision, nothing is left to run.
    let over = play.is_over();
    let conclusion = play.conclusion();
    Decision { next: next.filter(|_| !over), looked: play.looked, ranks: play.ranks, conclusion }
}

impl Play<'_> {
    fn is_over(&self) -> bool {
        self.running.len() < 2
    }

    fn look(&mut self, look: usize) {
        self.looked = look;
        let contest = self.contest;
        self.running.retain(|stack| contest.has_values(*stack, look));
        let Some(&first) = self.running.first() else { return };
        let looks: Vec<usize> = (0..contest.stacks()).map(|stack| self.blocks(stack)).collect();
        self.prior = contest.prior(first, &looks);
        match self.rules.goal {
            Goal::Best => self.look_for_best(look),
            Goal::Rank => self.look_at_pairs(look),
            Goal::Precision(share) => self.look_at_widths(look, share),
        }
    }

    /// Blocks of a stack that count. What others ask for later must not change what is known of
    /// one that is done, or the same samples would not decide the same again.
    fn blocks(&self, stack: usize) -> usize {
        if self.running.contains(&stack) { self.looked } else { self.ranks[stack].blocks }
    }

    fn score(&self, stack: usize) -> f64 {
        self.contest.score(stack, self.blocks(stack))
    }

    fn pair(&self, first: usize, second: usize, look: usize) -> (Pair, Option<(f64, Interval)>) {
        let ratio = self.contest.ratio(first, second, look, self.confidence, self.prior.as_ref());
        let Some((_, interval)) = ratio else { return (Pair::Open, None) };
        (Pair::of(interval, self.rules.tie_log()), ratio)
    }

    /// Drops those that are significantly worse than the leader, or tied with it.
    fn look_for_best(&mut self, look: usize) {
        // A leader that is significantly beaten makes way; each round drops at least one.
        while let Some(&leader) =
            self.running.iter().max_by(|a, b| self.score(**a).total_cmp(&self.score(**b)))
        {
            self.ranks[leader] = Rank { relation: StackStanding::Leads, ratio: None, blocks: look };
            let mut beaten_by = None;
            for stack in self.running.clone() {
                if stack == leader {
                    continue;
                }
                let (pair, ratio) = self.pair(stack, leader, look);
                let relation = match pair {
                    Pair::Open | Pair::Better => StackStanding::Open(leader),
                    Pair::Worse => StackStanding::Behind(leader),
                    Pair::Tied => StackStanding::Tied(leader),
                };
                self.ranks[stack] = Rank { relation, ratio, blocks: look };
                if pair == Pair::Better {
                    beaten_by = Some(stack);
                }
                if matches!(pair, Pair::Worse | Pair::Tied) {
                    self.running.retain(|s| *s != stack);
                }
            }
            let Some(winner) = beaten_by else { break };
            let (_, ratio) = self.pair(leader, winner, look);
            self.ranks[leader] =
                Rank { relation: StackStanding::Behind(winner), ratio, blocks: look };
            self.running.retain(|s| *s != leader);
        }
    }

    /// Decides pairs; a stack all of whose pairs are decided is done.
    fn look_at_pairs(&mut self, look: usize) {
        let running = self.running.clone();
        for (at, &first) in running.iter().enumerate() {
            for &second in &running[at + 1..] {
                if self.pairs[first][second] != Pair::Open {
                    continue;
                }
                let (pair, _) = self.pair(first, second, look);
                self.pairs[first][second] = pair;
                self.pairs[second][first] = match pair {
                    Pair::Better => Pair::Worse,
                    Pair::Worse => Pair::Better,
                    same => same,
                };
            }
        }
        let is_open = |stack: usize| {
            running.iter().any(|o| *o != stack && self.pairs[stack][*o] == Pair::Open)
        };
        let left: Vec<usize> = running.iter().copied().filter(|s| is_open(*s)).collect();
        let ordered = self.ordered(&running);
        for (place, &stack) in ordered.iter().enumerate() {
            let rank = if let Some(before) = place.checked_sub(1).map(|p| ordered[p]) {
                let (_, ratio) = self.pair(stack, before, look);
                let relation = match self.pairs[stack][before] {
                    Pair::Open | Pair::Better => StackStanding::Open(before),
                    Pair::Worse => StackStanding::Behind(before),
                    Pair::Tied => StackStanding::Tied(before),
                };
                Rank { relation, ratio, blocks: look }
            } else {
                Rank { relation: StackStanding::Leads, ratio: None, blocks: look }
            };
            self.ranks[stack] = rank;
        }
        self.running = left;
    }

    /// Takes out those whose ratio to the first stack is exact enough.
    fn look_at_widths(&mut self, look: usize, share: f64) {
        let Some(&baseline) = self.running.first() else { return };
        self.ranks[baseline] =
            Rank { relation: StackStanding::Baseline, ratio: None, blocks: look };
        for stack in self.running.clone().into_iter().skip(1) {
            let (_, ratio) = self.pair(stack, baseline, look);
            let exact = ratio.is_some_and(|ratio| is_within(ratio, share));
            let relation = if exact {
                StackStanding::Precise(baseline)
            } else {
                StackStanding::Open(baseline)
            };
            self.ranks[stack] = Rank { relation, ratio, blocks: look };
            if exact {
                self.running.retain(|s| *s != stack);
            }
        }
    }

    /// Best first: by the decided pairs won, then by score.
    fn ordered(&self, stacks: &[usize]) -> Vec<usize> {
        let wins = |s: usize| stacks.iter().filter(|o| self.pairs[s][**o] == Pair::Better).count();
        let mut ordered = stacks.to_vec();
        ordered.sort_by(|a, b| {
            wins(*b).cmp(&wins(*a)).then(self.score(*b).total_cmp(&self.score(*a)))
        });
        ordered
    }

    fn conclusion(&self) -> Conclusion {
        let present: Vec<usize> = (0..self.ranks.len())
            .filter(|s| self.ranks[*s].relation != StackStanding::NoValues)
            .collect();
        if self.looked == 0 || present.len() < 2 {
            return Conclusion::Nothing;
        }
        match self.rules.goal {
            Goal::Best => self.best(&present),
            Goal::Rank => self.ranking(&present),
            Goal::Precision(_) => {
                let open: Vec<usize> = present
                    .iter()
                    .copied()
                    .filter(|s| matches!(self.ranks[*s].relation, StackStanding::Open(_)))
                    .collect();
                if open.is_empty() {
                    Conclusion::Precise
                } else {
                    Conclusion::Inconclusive { open: open.len(), groups: vec![open] }
                }
            }
        }
    }

    fn best(&self, present: &[usize]) -> Conclusion {
        let leader = present.iter().find(|s| self.ranks[**s].relation == StackStanding::Leads);
        let Some(&leader) = leader else { return Conclusion::Nothing };
        let of = |wanted: StackStanding| {
            let mut all: Vec<usize> =
                present.iter().copied().filter(|s| self.ranks[*s].relation == wanted).collect();
            all.sort_by(|a, b| self.score(*b).total_cmp(&self.score(*a)));
            all
        };
        let (open, tied) = (of(StackStanding::Open(leader)), of(StackStanding::Tied(leader)));
        let mut group = vec![leader];
        group.extend(&open);
        group.extend(&tied);
        if open.is_empty() {
            Conclusion::Best(group)
        } else {
            Conclusion::Inconclusive { open: open.len(), groups: vec![group] }
        }
    }

    fn ranking(&self, present: &[usize]) -> Conclusion {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for stack in self.ordered(present) {
            // Joined where any of the group is not significantly better.
            match groups.last_mut() {
                Some(group) if group.iter().any(|s| self.pairs[*s][stack] != Pair::Better) => {
                    group.push(stack);
                }
                _ => groups.push(vec![stack]),
            }
        }
        let open = present
            .iter()
            .enumerate()
            .flat_map(|(at, a)| present[at + 1..].iter().map(move |b| (*a, *b)))
            .filter(|(a, b)| self.pairs[*a][*b] == Pair::Open)
            .count();
        if open == 0 {
            Conclusion::Ranking(groups)
        } else {
            Conclusion::Inconclusive { open, groups }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_ends_at_1_leaves_a_pair_open() {
        let of =
            |low, high, tie: f64| Pair::of(Interval { low, high, confidence: 0.95 }, tie.ln_1p());
        assert_eq!([of(1.0, 1.2, 0.05), of(0.8, 1.0, 0.05)], [Pair::Open; 2]);
        assert_eq!([of(1.01, 1.2, 0.05), of(0.8, 0.99, 0.05)], [Pair::Better, Pair::Worse]);
        assert_eq!([of(0.96, 1.04, 0.05), of(1.0, 1.0, 0.0)], [Pair::Tied; 2]);
        assert_eq!([of(0.96, 1.06, 0.05), of(0.94, 1.04, 0.05)], [Pair::Open; 2]);
    }
}
