//! The other side of the trade: more usable space, at what cost in speed.

use super::judge::Judge;
use super::recommendation::{StackChoice, Trade};
use super::rule::{Comparer, blocks, deciding, is_better, mean};

/// Less than this share more is no more space.
const MORE: f64 = 1.05;

impl Judge<'_> {
    /// Of the stacks with more usable space than the one that is taken: the largest that is as good,
    /// else the best in what decides.
    pub(super) fn trade(
        &self,
        decision: &StackChoice,
        members: &[usize],
        space: &dyn Fn(usize) -> Option<u64>,
    ) -> Option<Trade> {
        let taken = members.iter().copied().find(|m| self.stacks[*m] == decision.take)?;
        let own = space(taken).filter(|bytes| *bytes > 0)?;
        let decides = deciding(self.criteria);
        let more = members.iter().filter_map(|m| {
            let bytes = space(*m).filter(|bytes| *bytes as f64 >= own as f64 * MORE)?;
            Some((*m, bytes - own, mean(&blocks(&decides, *m))?))
        });
        let is_as_good = |other: usize| decision.as_good.iter().any(|s| *s == self.stacks[other]);
        let (as_good, rest): (Vec<_>, Vec<_>) = more.partition(|(other, ..)| is_as_good(*other));
        let largest = as_good.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(a.2.total_cmp(&b.2)));
        let fastest = || rest.into_iter().max_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)));
        let (other, more_bytes, _) = largest.or_else(fastest)?;
        let comparer = Comparer::new(&decides, taken, members, self.comparisons(members));
        let (lead, behind) = (comparer.ratio(taken, other)?, comparer.ratio(other, taken));
        Some(Trade {
            stack: self.stacks[other].to_owned(),
            more_bytes,
            times: 1.0 / lead.centre,
            is_as_good: is_as_good(other),
            is_significant: is_better(&lead) || behind.is_some_and(|r| is_better(&r)),
        })
    }
}
