//! What a campaign is for, and when it looks at its samples.

/// What a campaign is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The best stack, and those that are as good.
    Best,
    /// All stacks in order.
    Rank,
    /// Each stack's ratio to the first stack, within this share either way (0.05: ±5 %); of
    /// a stack that stands alone, its figure.
    Precision(f64),
}

/// The rules of a campaign, fixed before it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// What it is for.
    pub goal: Goal,
    /// Stacks whose ratio's interval lies within 1 ± this are tied. 0.02 is customary; 0.05 is
    /// what verdicts call level.
    pub tie: f64,
    /// How often a campaign may come to any false conclusion, 0 to 1, exclusive.
    pub error: f64,
    /// No stack is run in more blocks.
    pub most_blocks: usize,
}

/// Numbers of blocks after which a campaign looks: often at first, where dropping a stack
/// saves most. Each look costs a share of the permitted error.
const LOOKS: [usize; 12] = [3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30];

/// Numbers of blocks after which a campaign of at most so many looks, ascending; the last is
/// `most_blocks`. Beyond 30 each is a fifth more than the one before.
pub fn looks(most_blocks: usize) -> Vec<usize> {
    let mut looks: Vec<usize> = LOOKS.into_iter().take_while(|look| *look < most_blocks).collect();
    while let Some(next) = looks.last().map(|last| last + (last / 5).max(1)) {
        if next >= most_blocks || looks.len() < LOOKS.len() {
            break;
        }
        looks.push(next);
    }
    looks.push(most_blocks);
    looks
}

impl Rules {
    /// No stack is run in more blocks, unless it is said.
    pub const MOST_BLOCKS: usize = 30;

    /// The customary rules: ties within 2 %, false conclusions in 5 % of campaigns, at most
    /// 30 blocks.
    pub fn new(goal: Goal) -> Self {
        Self { goal, tie: 0.02, error: 0.05, most_blocks: Self::MOST_BLOCKS }
    }

    /// Numbers of blocks after which it looks.
    pub fn looks(&self) -> Vec<usize> {
        looks(self.most_blocks)
    }

    /// The level of significance of one comparison at one look, of so many stacks.
    pub(crate) fn level(&self, stacks: usize) -> f64 {
        let others = stacks.saturating_sub(1).max(1);
        let pairs = match self.goal {
            Goal::Precision(_) => others as f64,
            // Also for the best, the leader being chosen by the samples: any pair may meet.
            Goal::Best | Goal::Rank => (stacks * others) as f64 / 2.0,
        };
        self.error.clamp(1e-12, 1.0) / (self.looks().len() as f64 * pairs.max(1.0))
    }

    /// ln(1 + `tie`): what ratios of tied stacks stay below.
    pub(crate) fn tie_log(&self) -> f64 {
        self.tie.max(0.0).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn looks_are_those_planned() {
        let rules = Rules::new(Goal::Best);
        assert_eq!(rules.looks(), LOOKS);
        assert_eq!(Rules { most_blocks: 5, ..rules.clone() }.looks(), [3, 4, 5]);
        assert_eq!(Rules { most_blocks: 2, ..rules.clone() }.looks(), [2]);
        assert_eq!(Rules { most_blocks: 45, ..rules.clone() }.looks()[11..], [30, 36, 43, 45]);
        // Twelve stacks at twelve looks: 0.05 / (12·11), and / (12·66) for pairs.
        let precision = Rules::new(Goal::Precision(0.05));
        assert!((precision.level(12) - 0.05 / 132.0).abs() < 1e-12);
        assert!((rules.level(12) - 0.05 / 792.0).abs() < 1e-12);
        assert!((Rules::new(Goal::Rank).level(4) - 0.05 / 72.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn looks_ascend_to_the_most(most_blocks in 1_usize..500) {
            let looks = Rules { most_blocks, ..Rules::new(Goal::Rank) }.looks();
            prop_assert!(looks.windows(2).all(|w| w[0] < w[1]));
            prop_assert_eq!(looks.last(), Some(&most_blocks));
        }
    }
}
