//! What is decided.

use disklab_stats::Interval;

/// What to do next for a figure, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What must be carried out before the next look; none where it is over.
    pub next: Option<Next>,
    /// Blocks of the last look that was taken; 0 before the first.
    pub looked: usize,
    /// What each stack's place is, by stack.
    pub ranks: Vec<Rank>,
    /// What may be claimed now.
    pub conclusion: Conclusion,
}

/// What must be carried out before the next look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The stacks, ascending.
    pub stacks: Vec<usize>,
    /// Each of them is to have this many blocks.
    pub blocks: usize,
}

/// A stack's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// How it stands.
    pub relation: StackStanding,
    /// How many times as good it is as the stack that the relation names, at the last look
    /// at which it took part, with the interval that the decision rests on. Of a stack that
    /// stands alone: its figure.
    pub ratio: Option<(f64, Interval)>,
    /// Blocks of that look.
    pub blocks: usize,
}

/// How a stack stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackStanding {
    /// It leads those that are left.
    Leads,
    /// It is significantly worse than this stack.
    Behind(usize),
    /// Its interval is within the tie of this stack.
    Tied(usize),
    /// Whether it is better or worse than this stack is inconclusive.
    Open(usize),
    /// Its ratio to this stack is as exact as was asked for.
    Precise(usize),
    /// It stands alone, and its figure is as exact as was asked for.
    Exact,
    /// It stands alone, and its figure is not as exact as was asked for.
    Inexact,
    /// It is what the others' ratios are taken to.
    Baseline,
    /// It has no value.
    NoValues,
}

/// What may be claimed. Stacks are told best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// One stack is the best; the others named are tied with it.
    Best(Vec<usize>),
    /// All pairs are decided: groups of tied stacks.
    Ranking(Vec<Vec<usize>>),
    /// Every ratio, or the figure of a stack that stands alone, is as exact as was asked for.
    Precise,
    /// Inconclusive: so many decisions are open, and these groups cannot be told apart
    /// further. For the goal best, the first group has all that may be the best.
    Inconclusive {
        /// Pairs, or ratios, that are not decided.
        open: usize,
        /// Stacks that are not told apart.
        groups: Vec<Vec<usize>>,
    },
    /// Nothing to compare: fewer than two stacks have values; or, for the precision of one
    /// stack alone, it has none.
    Nothing,
}
