//! What decides how long a run takes, on the command line.

use std::time::Duration;

use clap::{Args, ValueEnum};
use disklab_runner::{StopOptions, StudyGoal, parse_precision};
use disklab_units::parse_duration;

/// What a campaign is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GoalWord {
    /// The best stack of each question, and those that are as good.
    Best,
    /// All stacks in order, those that are as good as each other together.
    Rank,
    /// The stack to take for each purpose, of those that survive as many failed drives.
    Purposes,
}

impl From<GoalWord> for StudyGoal {
    fn from(word: GoalWord) -> Self {
        match word {
            GoalWord::Best => Self::Best,
            GoalWord::Rank => Self::Rank,
            GoalWord::Purposes => Self::Purposes,
        }
    }
}

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How often")]
pub struct HowLongArgs {
    /// Repeat until this is decided, instead of a fixed number of times: 'best' finds the best
    /// stack of each question, 'rank' orders all of them, 'purposes' finds the stack to take for
    /// each purpose. Stacks that are significantly behind are not run again; 30 blocks at most,
    /// if the study does not say otherwise.
    #[arg(long, value_enum, value_name = "GOAL")]
    pub goal: Option<GoalWord>,
    /// Run until each stack's ratio to the baseline, or the figure of the only stack, is known
    /// this exactly, such as 5%; 30 blocks at most. With --goal: stacks that differ by less
    /// are equivalent.
    #[arg(long, value_name = "SHARE", value_parser = parse_precision)]
    pub precision: Option<f64>,
    /// Start no block that would exceed this wall-clock time, such as 2h (in the lab too: real
    /// time, not virtual). Alone: as many blocks as fit.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
}

impl HowLongArgs {
    /// The same without the command line.
    pub fn options(&self) -> StopOptions {
        let Self { goal, precision, budget } = *self;
        let goal = goal.map(StudyGoal::from);
        StopOptions { goal, precision, budget, most_repeats: None }
    }
}
