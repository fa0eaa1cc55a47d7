//! Campaigns that decide as they go how long to run.
//!
//! The samples so far say which cells the next blocks need ([`contests`], pure), the order
//! drawn at the beginning says their order in them ([`blocks`], pure), and [`go()`] carries
//! them out. All of it follows from what the run keeps, so that a run that was killed goes
//! on as if it had not been.

mod blocks;
mod contests;
mod go;
mod purposes;
#[cfg(test)]
mod tests;
mod time;

use std::time::Duration;

use disklab_campaign::{Goal, Rules, looks};
use disklab_units::{share_words, show_duration};

pub(crate) use blocks::next_cells;
pub(crate) use contests::{ContestState, look};
pub(crate) use go::{cells_of_next_look, go};
pub(crate) use time::{block_seconds, used_seconds};

/// A campaign with a budget alone is no longer than this.
const MOST_BLOCKS: u32 = 200;

/// What a campaign's samples are looked at for.
#[derive(Debug, Clone, PartialEq)]
pub enum LookRule {
    /// Each figure that a question asks for.
    Figures(Rules),
    /// The stack to take for each purpose.
    Purposes {
        /// No cell runs in more blocks.
        most_blocks: usize,
    },
}

impl LookRule {
    /// Numbers of blocks after which the samples are looked at.
    pub fn looks(&self) -> Vec<usize> {
        looks(self.most_blocks())
    }

    /// No cell runs in more blocks.
    pub fn most_blocks(&self) -> usize {
        match self {
            Self::Figures(rules) => rules.most_blocks,
            Self::Purposes { most_blocks } => *most_blocks,
        }
    }

    /// Whether it compares stacks with each other.
    pub fn compares(&self) -> bool {
        !matches!(self, Self::Figures(Rules { goal: Goal::Precision(_), .. }))
    }
}

/// When a campaign stops whose samples or clock decide that.
#[derive(Debug, Clone, PartialEq)]
pub struct StopRule {
    /// What its samples are looked at for; none where only the time counts.
    pub looks_for: Option<LookRule>,
    /// Real time in which every block must end.
    pub budget: Option<Duration>,
}

impl StopRule {
    /// No cell runs in more blocks.
    pub fn most_blocks(&self) -> u32 {
        self.looks_for.as_ref().map_or(MOST_BLOCKS, |rule| rule.most_blocks() as u32)
    }

    /// The blocks before the first look; 1 where there is none.
    pub fn first_look(&self) -> u32 {
        let first = self.looks_for.as_ref().and_then(|rule| rule.looks().first().copied());
        first.unwrap_or(1) as u32
    }

    /// What is asked for, in words.
    pub fn goal(&self) -> String {
        let rules = match &self.looks_for {
            None => return "as many blocks as fit into the budget".to_owned(),
            Some(LookRule::Purposes { .. }) => {
                return "the stack to take for each purpose".to_owned();
            }
            Some(LookRule::Figures(rules)) => rules,
        };
        let ties = share_words(rules.tie);
        match rules.goal {
            Goal::Best => format!("the best stack of each question, ties within {ties}"),
            Goal::Rank => format!("all stacks of each question in order, ties within {ties}"),
            Goal::Precision(share) => {
                let share = share_words(share);
                format!(
                    "each ratio to the baseline, and the figure of a stack alone, within ±{share}"
                )
            }
        }
    }

    /// The same with its limits.
    pub fn words(&self) -> String {
        let mut text = format!("{}; ", self.goal());
        text.push_str(&match &self.looks_for {
            Some(rule) => format!(
                "{} to {} randomised blocks, looked at after {}",
                self.first_look(),
                self.most_blocks(),
                rule.looks().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            ),
            None => format!("{} at most", self.most_blocks()),
        });
        if let Some(budget) = self.budget {
            text.push_str(&format!("; {} of real time", show_duration(budget)));
        }
        text
    }
}
