//! One figure of all stacks.

use disklab_stats::{CONFIDENCE_OF_LOOKS, Interval, VariancePrior, block_interval, estimate_at};

/// One figure of all stacks, with its values so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Contest {
    /// Whether more is better.
    pub higher_is_better: bool,
    /// By stack, then by block: what each block gave, none where the cell failed. As long
    /// as the blocks that were carried out for the stack. Values that are not positive and
    /// finite count as none.
    pub values: Vec<Vec<Option<f64>>>,
}

impl Contest {
    /// How many stacks take part.
    pub fn stacks(&self) -> usize {
        self.values.len()
    }

    /// Blocks carried out for a stack.
    pub(crate) fn blocks(&self, stack: usize) -> usize {
        self.values[stack].len()
    }

    fn value(&self, stack: usize, block: usize) -> Option<f64> {
        self.values[stack].get(block).copied().flatten().filter(|v| v.is_finite() && *v > 0.0)
    }

    /// What a stack's first `look` blocks gave, 0 and below included: of one figure by
    /// itself, they may be told; a ratio they have not.
    pub(crate) fn finite(&self, stack: usize, look: usize) -> impl Iterator<Item = f64> {
        self.values[stack].iter().take(look).flatten().copied().filter(|v| v.is_finite())
    }

    /// Whether a stack has any value in the first `look` blocks.
    pub(crate) fn has_values(&self, stack: usize, look: usize) -> bool {
        self.finite(stack, look).any(|value| value > 0.0)
    }

    /// How good a stack is in the first `look` blocks: the median logarithm, with its sign
    /// turned where less is better. The lowest where it has no values.
    pub(crate) fn score(&self, stack: usize, look: usize) -> f64 {
        let mut logs: Vec<f64> =
            (0..look).filter_map(|block| self.value(stack, block)).map(f64::ln).collect();
        logs.sort_by(f64::total_cmp);
        let Some(last) = logs.len().checked_sub(1) else { return f64::NEG_INFINITY };
        let median = (logs[last / 2] + logs[last.div_ceil(2)]) / 2.0;
        if self.higher_is_better { median } else { -median }
    }

    /// What a stack's first `look` blocks give by themselves, with the interval that a
    /// report shows where a campaign ends by its width; none where fewer than two blocks
    /// have a value.
    pub(crate) fn figure(&self, stack: usize, look: usize) -> Option<(f64, Interval)> {
        let values: Vec<f64> = self.finite(stack, look).collect();
        let estimate = estimate_at(&values, CONFIDENCE_OF_LOOKS)?;
        Some((estimate.centre, estimate.interval?))
    }

    /// How many times as good `first` is as `second`, over the first `look` blocks that
    /// both have; none where these are fewer than two.
    pub(crate) fn ratio(
        &self,
        first: usize,
        second: usize,
        look: usize,
        confidence: f64,
        prior: Option<&VariancePrior>,
    ) -> Option<(f64, Interval)> {
        let pairs = self.pairs(first, second, look);
        let (centre, interval) = block_interval(&pairs, confidence, prior)?;
        Some((centre, interval?))
    }

    /// What the variances of all ratios to one stack have in common, over the first `blocks` of
    /// each stack.
    pub(crate) fn prior(&self, to: usize, blocks: &[usize]) -> Option<VariancePrior> {
        let logs = |stack: usize| -> Vec<f64> {
            let pairs = self.pairs(stack, to, blocks[stack].min(blocks[to]));
            pairs.iter().map(|(a, b)| (a / b).ln()).collect()
        };
        let others = (0..self.stacks()).filter(|stack| *stack != to);
        let all: Vec<Vec<f64>> = others.map(logs).collect();
        VariancePrior::of(all.iter().map(Vec::as_slice))
    }

    /// The values of two stacks in the blocks that both have, more being better.
    fn pairs(&self, first: usize, second: usize, look: usize) -> Vec<(f64, f64)> {
        (0..look)
            .filter_map(|block| Some((self.value(first, block)?, self.value(second, block)?)))
            .map(|(a, b)| if self.higher_is_better { (a, b) } else { (b, a) })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_figures_without_a_ratio() {
        let values = vec![vec![Some(0.0), Some(0.0)], vec![None, Some(2.0)]];
        let contest = Contest { higher_is_better: true, values };
        assert_eq!(contest.finite(0, 2).count(), 2);
        assert!(!contest.has_values(0, 2));
        assert_eq!([1, 2].map(|look| contest.has_values(1, look)), [false, true]);
        assert_eq!(contest.score(0, 2), f64::NEG_INFINITY);
    }
}
