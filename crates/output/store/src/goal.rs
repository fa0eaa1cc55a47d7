//! What a campaign that decides as it goes is for.

use disklab_study::StudyGoal;

/// What a campaign is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalChoice {
    /// The best stack of each question, and those that are as good.
    Best,
    /// All stacks in order, those that are as good as each other together.
    Rank,
}

impl From<StudyGoal> for GoalChoice {
    fn from(goal: StudyGoal) -> Self {
        match goal {
            StudyGoal::Best => Self::Best,
            StudyGoal::Rank => Self::Rank,
        }
    }
}

impl GoalChoice {
    /// As on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Rank => "rank",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        [Self::Best, Self::Rank]
            .into_iter()
            .find(|goal| goal.as_str() == text)
            .ok_or("expected best or rank")
    }
}
