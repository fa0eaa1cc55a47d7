//! What decides how long a campaign runs.

use std::time::Duration;

use disklab_campaign::{Goal, Rules};
use disklab_options::RunSettings;
use disklab_study::{Study, StudyGoal};
use disklab_units::{ParseShareError, parse_share_within, show_duration, show_share};

use crate::options::OptionsError;
use crate::{LookRule, StopRule};

/// What decides how long a campaign runs; with nothing, the number of repeats does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StopOptions {
    /// What is to be known.
    pub goal: Option<StudyGoal>,
    /// How exactly, as a share.
    pub precision: Option<f64>,
    /// How often a cell runs at most for it, if the study says so.
    pub most_repeats: Option<u32>,
    /// Real time in which every block must end.
    pub budget: Option<Duration>,
}

impl StopOptions {
    /// The same with the study's goal, and how exactly it is to be reached; `None` if it has none,
    /// or the user said how often cells run, or what is to be known. A budget bounds the study's
    /// goal as it does the user's.
    pub fn with_goal_of_study(&self, study: &Study, repeats: Option<u32>) -> Option<Self> {
        let is_given = repeats.is_some() || self.goal.is_some() || self.precision.is_some();
        let Study { goal, precision, .. } = *study;
        (!is_given && goal.is_some()).then(|| Self { goal, precision, ..self.clone() })
    }

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
        if self.goal == Some(StudyGoal::Purposes) && self.precision.is_some() {
            return Err(OptionsError::PrecisionOfPurposes);
        }
        Ok(Some(self.stop_rule()))
    }

    fn stop_rule(&self) -> StopRule {
        let most_blocks = self.most_repeats.map_or(Rules::MOST_BLOCKS, |most| most as usize);
        let figures = |goal: Goal, tie: Option<f64>| {
            let rules = Rules::new(goal);
            let tie = tie.unwrap_or(rules.tie);
            LookRule::Figures(Rules { tie, most_blocks, ..rules })
        };
        let looks_for = match (self.goal, self.precision) {
            (None, None) => None,
            (None, Some(share)) => Some(figures(Goal::Precision(share), None)),
            (Some(StudyGoal::Best), tie) => Some(figures(Goal::Best, tie)),
            (Some(StudyGoal::Rank), tie) => Some(figures(Goal::Rank, tie)),
            (Some(StudyGoal::Purposes), _) => Some(LookRule::Purposes { most_blocks }),
        };
        StopRule { looks_for, budget: self.budget }
    }

    /// Records it with what the run was asked for.
    pub fn record(&self, settings: &mut RunSettings) {
        (settings.goal, settings.precision) = (self.goal, self.precision);
        (settings.most_repeats, settings.budget) = (self.most_repeats, self.budget);
        let rule = self.stop_rule().looks_for;
        settings.looks = rule.and_then(|rule| u32::try_from(rule.looks().len()).ok());
    }

    /// As a run was begun. The budget may be another one: the time that the run has used so
    /// far counts.
    ///
    /// # Errors
    /// [`OptionsError::Differs`] if the goal or the precision is another than then.
    pub fn as_begun(&self, then: &RunSettings) -> Result<Self, OptionsError> {
        let differs = |flag: &'static str, now: String, then: Option<String>| {
            let then = then.unwrap_or_else(|| "none".to_owned());
            Err(OptionsError::Differs { flag, now, then })
        };
        if let Some(now) = self.goal.filter(|now| Some(*now) != then.goal) {
            let then = then.goal.map(|goal| goal.as_str().to_owned());
            return differs("--goal", now.as_str().to_owned(), then);
        }
        if let Some(now) = self.precision.filter(|now| Some(*now) != then.precision) {
            return differs("--precision", show_share(now), then.precision.map(show_share));
        }
        if let Some(budget) = self.budget
            && !then.is_adaptive()
        {
            return differs("--budget", show_duration(budget), None);
        }
        let budget = self.budget.or(then.budget);
        let RunSettings { goal, precision, most_repeats, .. } = *then;
        Ok(Self { goal, precision, most_repeats, budget })
    }
}

/// From 0.1% to 50%.
///
/// # Errors
/// [`ParseShareError`] if it is not a share with `%`, or not within these bounds.
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

    #[test]
    fn goal_of_the_study_holds_unless_the_user_gives_another() {
        let none = StopOptions::default();
        let mut study = crate::find_study("first-look").expect("it is shipped").study;
        assert_eq!(none.with_goal_of_study(&study, None), None);
        (study.goal, study.precision) = (Some(StudyGoal::Best), Some(0.05));
        let goal = |stop: &StopOptions, repeats| {
            stop.with_goal_of_study(&study, repeats).map(|s| {
                assert_eq!(s.precision, Some(0.05));
                (s.goal, s.budget)
            })
        };
        assert_eq!(goal(&none, None), Some((Some(StudyGoal::Best), None)));
        assert_eq!(goal(&none, Some(6)), None);
        let hour = Some(Duration::from_secs(3600));
        let budget = StopOptions { budget: hour, ..none.clone() };
        assert_eq!(goal(&budget, None), Some((Some(StudyGoal::Best), hour)));
        let rank = StopOptions { goal: Some(StudyGoal::Rank), ..none.clone() };
        assert_eq!(goal(&rank, None), None);
        let precision = StopOptions { precision: Some(0.05), ..none };
        assert_eq!(goal(&precision, None), None);
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,12}") {
            if let Ok(share) = parse_precision(&text) {
                prop_assert!((0.001..=0.5).contains(&share));
            }
        }
    }
}
