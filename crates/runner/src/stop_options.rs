//! What decides how long a campaign runs.

use std::time::Duration;

use disklab_campaign::{Goal, Rules};
use disklab_store::RunInfo;
use disklab_units::{
    ParseShareError, parse_duration, parse_share_within, show_duration, show_share,
};

use crate::StopRule;
use crate::options::{OptionsError, recorded};

/// Names of the options that a run remembers.
const GOAL: &str = RunInfo::GOAL;
const PRECISION: &str = RunInfo::PRECISION;
const BUDGET: &str = RunInfo::BUDGET;

/// What a campaign is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalChoice {
    /// The best stack of each question, and those that are as good.
    Best,
    /// All stacks in order, those that are as good as each other together.
    Rank,
}

impl GoalChoice {
    /// As runs record it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Rank => "rank",
        }
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        [Self::Best, Self::Rank]
            .into_iter()
            .find(|goal| goal.as_str() == text)
            .ok_or("expected best or rank")
    }
}

/// What decides how long a campaign runs; with nothing, the number of repeats does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StopOptions {
    /// What is to be known.
    pub goal: Option<GoalChoice>,
    /// How exactly, as a share.
    pub precision: Option<f64>,
    /// Real time in which every block must end.
    pub budget: Option<Duration>,
}

impl StopOptions {
    /// The rule; `None` for the fixed number of repeats. `repeats` are those that were asked
    /// for.
    ///
    /// # Errors
    /// [`OptionsError::RepeatsAndRule`] if both are given, and [`OptionsError::ZeroBudget`].
    pub fn rule(&self, repeats: Option<u32>) -> Result<Option<StopRule>, OptionsError> {
        let flags = [
            ("--goal", self.goal.is_some()),
            ("--precision", self.precision.is_some()),
            ("--budget", self.budget.is_some()),
        ];
        let given: Vec<&'static str> = flags.iter().filter(|f| f.1).map(|f| f.0).collect();
        if given.is_empty() {
            return Ok(None);
        }
        if repeats.is_some() {
            return Err(OptionsError::RepeatsAndRule { given });
        }
        if self.budget.is_some_and(|budget| budget.is_zero()) {
            return Err(OptionsError::ZeroBudget);
        }
        Ok(Some(self.stop_rule()))
    }

    fn stop_rule(&self) -> StopRule {
        let rules = match (self.goal, self.precision) {
            (None, None) => None,
            (None, Some(share)) => Some(Rules::new(Goal::Precision(share))),
            (Some(choice), tie) => {
                let goal = match choice {
                    GoalChoice::Best => Goal::Best,
                    GoalChoice::Rank => Goal::Rank,
                };
                let rules = Rules::new(goal);
                Some(Rules { tie: tie.unwrap_or(rules.tie), ..rules })
            }
        };
        StopRule { rules, budget: self.budget }
    }

    /// What a run records of it, by the names of the options.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut option = |name: &str, value: String| all.push((name.to_owned(), value));
        if let Some(goal) = self.goal {
            option(GOAL, goal.as_str().to_owned());
        }
        if let Some(share) = self.precision {
            option(PRECISION, show_share(share));
        }
        if let Some(budget) = self.budget {
            option(BUDGET, format!("{} s", budget.as_secs_f64()));
        }
        if let Some(rules) = self.stop_rule().rules {
            option(RunInfo::LOOKS, rules.looks().len().to_string());
        }
        all
    }

    /// As a run was begun. The budget may be another one: the time that the run has used so
    /// far counts.
    ///
    /// # Errors
    /// [`OptionsError::Differs`] if the goal or the precision is another than then, and
    /// [`OptionsError::Recorded`] if the run's own cannot be read.
    pub fn as_begun(&self, info: &RunInfo) -> Result<Self, OptionsError> {
        let then = |name: &str| info.options.get(name).map(String::as_str);
        let begun = Self {
            goal: recorded(info, GOAL, GoalChoice::parse)?,
            precision: recorded(info, PRECISION, parse_precision)?,
            budget: match self.budget {
                Some(budget) => Some(budget),
                None => recorded(info, BUDGET, parse_duration)?,
            },
        };
        let differs = |flag: &'static str, now: String, then: Option<&str>| {
            let then = then.unwrap_or("none").to_owned();
            Err(OptionsError::Differs { flag, now, then })
        };
        if let Some(now) = self.goal.filter(|now| Some(*now) != begun.goal) {
            return differs("--goal", now.as_str().to_owned(), then(GOAL));
        }
        if let Some(now) = self.precision.filter(|now| Some(*now) != begun.precision) {
            return differs("--precision", show_share(now), then(PRECISION));
        }
        if let Some(budget) = self.budget
            && begun.goal.is_none()
            && begun.precision.is_none()
            && then(BUDGET).is_none()
        {
            return differs("--budget", show_duration(budget), None);
        }
        Ok(begun)
    }
}

/// From 0.1% to 50%.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_precision(text: &str) -> Result<f64, ParseShareError> {
    parse_share_within(text, 0.001..=0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn precisions_have_bounds() {
        assert_eq!(parse_precision(" 12.5 %"), Ok(0.125));
        for text in ["0%", "-1%", "60%", "0.01%"] {
            let error = parse_precision(text).expect_err(text).to_string();
            assert!(error.ends_with("is outside 0.1% to 50%"), "{error}");
        }
        assert!(matches!(parse_precision("0.05"), Err(ParseShareError::Bare(..))));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,12}") {
            if let Ok(share) = parse_precision(&text) {
                prop_assert!((0.001..=0.5).contains(&share));
            }
        }

        #[test]
        fn what_a_run_remembers_is_read_back(share in 1_u32..500, seconds in 1_u64..100_000) {
            let args = StopOptions {
                goal: Some(GoalChoice::Rank),
                precision: parse_precision(&format!("{}%", f64::from(share) / 10.0)).ok(),
                budget: Some(Duration::from_secs(seconds)),
            };
            let options: std::collections::BTreeMap<_, _> = args.settings().into_iter().collect();
            // The very same: a run is gone on with by the precision that it was begun with.
            prop_assert_eq!(parse_precision(&options[PRECISION]).ok(), args.precision);
            prop_assert_eq!(parse_duration(&options[BUDGET]).ok(), args.budget);
            prop_assert_eq!(options[RunInfo::LOOKS].as_str(), "12");
        }
    }
}
