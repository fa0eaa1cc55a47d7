//! How long to run, on the command line.

use std::time::Duration;

use clap::{Args, ValueEnum};
use disklab_campaign::{Goal, Rules};
use disklab_store::RunInfo;
use disklab_units::{parse_duration, parse_share_within, show_duration, show_share};

use super::CampaignArgs;
use crate::adaptive::HowLong;
use crate::exit::Failure;

/// Names of the options that a run remembers.
const GOAL: &str = RunInfo::GOAL;
const PRECISION: &str = RunInfo::PRECISION;
const BUDGET: &str = RunInfo::BUDGET;

/// What a campaign is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GoalWord {
    /// The best stack of each question, and those that are as good.
    Best,
    /// All stacks in order, those that are as good as each other together.
    Rank,
}

impl GoalWord {
    fn word(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Rank => "rank",
        }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub struct HowLongArgs {
    /// Run until it is known, instead of a fixed number of times: 'best' is the best
    /// stack of each question, 'rank' all of them in order. Stacks that are surely behind
    /// are not run again; 30 blocks at most.
    #[arg(long, value_enum, value_name = "GOAL")]
    pub goal: Option<GoalWord>,
    /// Run until each stack's ratio to the baseline, or the figure of a stack that stands
    /// alone, is known this exactly, such as 5%; 30 blocks at most. With --goal: stacks
    /// that differ by less are as good as each other.
    #[arg(long, value_name = "SHARE", value_parser = parse_precision)]
    pub precision: Option<f64>,
    /// Begin no block that would not end within this time of yours, such as 2h (in the lab
    /// too: real time, not virtual). Alone: as many blocks as fit.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
}

impl HowLongArgs {
    /// How long to run; none for the fixed number of repeats.
    ///
    /// # Errors
    /// Where --repeats contradicts it.
    pub fn understood(&self, campaign: &CampaignArgs) -> Result<Option<HowLong>, Failure> {
        let flags = [
            ("--goal", self.goal.is_some()),
            ("--precision", self.precision.is_some()),
            ("--budget", self.budget.is_some()),
        ];
        let given: Vec<&str> = flags.iter().filter(|f| f.1).map(|f| f.0).collect();
        if given.is_empty() {
            return Ok(None);
        }
        if campaign.repeats.is_some() {
            return Err(Failure::usage_error(format!(
                "--repeats fixes how often each cell runs, and {} lets the samples or the clock \
                 decide: give one or the other",
                given.join(" and ")
            )));
        }
        if self.budget.is_some_and(|budget| budget.is_zero()) {
            return Err(Failure::usage_error("--budget 0: nothing can be run in no time"));
        }
        Ok(Some(self.how_long()))
    }

    fn how_long(&self) -> HowLong {
        let rules = match (self.goal, self.precision) {
            (None, None) => None,
            (None, Some(share)) => Some(Rules::new(Goal::Precision(share))),
            (Some(word), tie) => {
                let goal = match word {
                    GoalWord::Best => Goal::Best,
                    GoalWord::Rank => Goal::Rank,
                };
                let rules = Rules::new(goal);
                Some(Rules { tie: tie.unwrap_or(rules.tie), ..rules })
            }
        };
        HowLong { rules, budget: self.budget }
    }

    /// What a run remembers of it.
    pub fn options(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut option = |name: &str, value: String| all.push((name.to_owned(), value));
        if let Some(goal) = self.goal {
            option(GOAL, goal.word().to_owned());
        }
        if let Some(share) = self.precision {
            option(PRECISION, show_share(share));
        }
        if let Some(budget) = self.budget {
            option(BUDGET, format!("{} s", budget.as_secs_f64()));
        }
        if let Some(rules) = self.how_long().rules {
            option(RunInfo::LOOKS, rules.looks().len().to_string());
        }
        all
    }

    /// As a run was begun. The budget may be given anew: the time that the run has used so
    /// far counts.
    ///
    /// # Errors
    /// Where the goal or the precision is another than then.
    pub fn as_begun(&self, info: &RunInfo) -> Result<Self, Failure> {
        let then = |name: &str| info.options.get(name).map(String::as_str);
        let begun = Self {
            goal: then(GOAL).and_then(|word| GoalWord::from_str(word, false).ok()),
            precision: then(PRECISION).and_then(|text| parse_precision(text).ok()),
            budget: self.budget.or(then(BUDGET).and_then(|text| parse_duration(text).ok())),
        };
        let differs = |flag: &str, now: String, then: Option<&str>| {
            Failure::usage_error(format!(
                "{flag} is {now}, but this run was begun with {}; leave {flag} out to go on with \
                 it, or start a new run",
                then.unwrap_or("none")
            ))
        };
        if let Some(now) = self.goal.filter(|now| Some(*now) != begun.goal) {
            return Err(differs("--goal", now.word().to_owned(), then(GOAL)));
        }
        if let Some(now) = self.precision.filter(|now| Some(*now) != begun.precision) {
            return Err(differs("--precision", show_share(now), then(PRECISION)));
        }
        if self.budget.is_some()
            && begun.goal.is_none()
            && begun.precision.is_none()
            && then(BUDGET).is_none()
        {
            return Err(differs("--budget", words_of(self.budget), None));
        }
        Ok(begun)
    }
}

fn words_of(budget: Option<Duration>) -> String {
    budget.map_or_else(|| "none".to_owned(), show_duration)
}

/// From 0.1% to 50%.
fn parse_precision(text: &str) -> Result<f64, String> {
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
            let error = parse_precision(text).expect_err(text);
            assert!(error.ends_with("is outside 0.1% to 50%"), "{error}");
        }
        assert!(parse_precision("0.05").is_err_and(|error| error.contains("may mean 0.05% or 5%")));
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
            let args = HowLongArgs {
                goal: Some(GoalWord::Rank),
                precision: parse_precision(&format!("{}%", f64::from(share) / 10.0)).ok(),
                budget: Some(Duration::from_secs(seconds)),
            };
            let options: std::collections::BTreeMap<_, _> = args.options().into_iter().collect();
            // The very same: a run is gone on with by the precision that it was begun with.
            prop_assert_eq!(parse_precision(&options[PRECISION]).ok(), args.precision);
            prop_assert_eq!(parse_duration(&options[BUDGET]).ok(), args.budget);
            prop_assert_eq!(options[RunInfo::LOOKS].as_str(), "12");
        }
    }
}
