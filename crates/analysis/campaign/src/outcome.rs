//! What came of a campaign, by the names of its stacks: what a run keeps and a report tells.

use disklab_units::{count, share_words};
use serde::{Deserialize, Serialize};

use crate::width::reach;
use crate::{Conclusion, Contest, Decision, StackStanding};

/// Names told in one sentence; of more, their number.
const NAMES: usize = 6;

/// What came of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignOutcome {
    /// What was asked for, such as `the best stack of each question, ties within 2 %`.
    pub goal: String,
    /// Why it ended.
    pub stopped: Stop,
    /// Cells carried out.
    pub cells: usize,
    /// Cells that the most blocks of all would have taken.
    pub most_cells: usize,
    /// Blocks begun.
    pub blocks: usize,
    /// Each figure that a question asks for, in the order of the questions.
    pub figures: Vec<FigureOutcome>,
}

/// Why a campaign, or a figure in it, was not continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// What was asked for is known.
    Decided,
    /// The most blocks were carried out, and something is open.
    MostBlocks,
    /// The next block would not have ended within the budget.
    Budget,
}

impl Stop {
    /// Why it stopped, as the reports say it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::MostBlocks => "the most blocks were run",
            Self::Budget => "the next block would not have ended within the budget",
        }
    }
}

/// What came of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureOutcome {
    /// The question.
    pub ask: String,
    /// Which of its figures; empty where there is one.
    pub figure: String,
    /// Why it was not continued.
    pub stopped: Stop,
    /// Whether all that was asked for is known.
    pub is_known: bool,
    /// Pairs, or ratios, that are open.
    pub open: usize,
    /// Groups of stacks that were not told apart, best first; for the best and for
    /// precision one group, and those that are significantly worse are left out.
    pub groups: Vec<Vec<String>>,
    /// The stack that is significantly worse than the leading one and comes nearest to it.
    pub nearest: Option<Nearest>,
    /// By stack: blocks that it took part in.
    pub blocks: Vec<(String, usize)>,
    /// How exactly it is known, where that was asked for.
    #[serde(default)]
    pub exactness: Option<Exactness>,
}

/// How exactly a figure's ratios, or that of a stack that stands alone, are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exactness {
    /// What was asked for, as a share: 0.05 is ±5 %.
    pub wanted: f64,
    /// What is known of the least exact one; none where it has no interval.
    pub reached: Option<f64>,
    /// Of a stack that stands alone: its figure with its interval, in its unit.
    pub figure: Option<String>,
}

impl Exactness {
    /// From a decision for a precision.
    pub fn of(wanted: f64, decision: &Decision, figure: Option<String>) -> Self {
        let shares = decision.ranks.iter().filter_map(|rank| match rank.relation {
            StackStanding::NoValues | StackStanding::Baseline => None,
            _ => Some(rank.ratio.map(reach)),
        });
        let reached = shares.collect::<Option<Vec<f64>>>().and_then(|shares| {
            shares.into_iter().filter(|share| share.is_finite()).max_by(f64::total_cmp)
        });
        Self { wanted, reached, figure }
    }
}

/// A stack that is significantly worse than another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// Its id.
    pub stack: String,
    /// The one that it is worse than.
    pub than: String,
    /// How many times as good it is.
    pub ratio: f64,
    /// The interval that the decision rests on.
    pub interval: (f64, f64),
}

impl FigureOutcome {
    /// From a decision about stacks of these names. `interrupted_by` says what kept what is
    /// asked for from being carried out.
    pub fn of(
        (ask, figure): (&str, &str),
        names: &[String],
        contest: &Contest,
        decision: &Decision,
        interrupted_by: Stop,
    ) -> Self {
        let name = |stack: usize| names.get(stack).cloned().unwrap_or_default();
        let named = |group: &Vec<usize>| group.iter().map(|s| name(*s)).collect();
        let (is_known, open, groups): (bool, usize, Vec<Vec<String>>) = match &decision.conclusion {
            Conclusion::Best(group) => (true, 0, vec![named(group)]),
            Conclusion::Ranking(groups) => (true, 0, groups.iter().map(named).collect()),
            Conclusion::Precise => (true, 0, Vec::new()),
            Conclusion::Inconclusive { open, groups } => {
                (false, *open, groups.iter().map(named).collect())
            }
            Conclusion::Nothing => (false, 0, Vec::new()),
        };
        let stopped = match (is_known, &decision.next) {
            (true, _) => Stop::Decided,
            (false, Some(_)) => interrupted_by,
            // One stack alone, or none with values: no more blocks would help.
            (false, None) if decision.conclusion == Conclusion::Nothing => Stop::Decided,
            (false, None) => Stop::MostBlocks,
        };
        let leader = decision.ranks.iter().position(|r| r.relation == StackStanding::Leads);
        let nearest = decision
            .ranks
            .iter()
            .enumerate()
            .filter_map(|(stack, rank)| match (rank.relation, rank.ratio) {
                (StackStanding::Behind(than), Some((ratio, interval))) if Some(than) == leader => {
                    let interval = (interval.low, interval.high);
                    Some(Nearest { stack: name(stack), than: name(than), ratio, interval })
                }
                _ => None,
            })
            .max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let blocks = (0..contest.stacks()).map(|s| (name(s), contest.blocks(s))).collect();
        let (ask, figure) = (ask.to_owned(), figure.to_owned());
        let exactness = None;
        Self { ask, figure, stopped, is_known, open, groups, nearest, blocks, exactness }
    }

    /// What is known, in a sentence with its interval.
    pub fn sentence(&self) -> String {
        let most = self.blocks.iter().map(|(_, blocks)| *blocks).max().unwrap_or(0);
        let mut text = self.ask.clone();
        if !self.figure.is_empty() {
            text.push_str(&format!(" ({})", self.figure));
        }
        text.push(' ');
        let stacks = self.blocks.len();
        let known = match (self.is_known, self.groups.as_slice(), &self.exactness) {
            (false, [], _) if most == 0 => "nothing was measured".to_owned(),
            (false, [], Some(_)) if stacks == 1 => {
                format!("{} has no value", names(&self.stacks()))
            }
            (false, [], _) => "nothing to compare".to_owned(),
            (_, _, Some(exactness)) => self.known_exactly(exactness),
            (false, groups, None) => {
                let first = groups.iter().find(|g| g.len() > 1).or(groups.first());
                format!(
                    "inconclusive: {} are not told apart",
                    first.map_or_else(String::new, |g| names(g))
                )
            }
            (true, [], None) => "every ratio is as exact as was asked for".to_owned(),
            (true, [group], None) if group.len() == stacks && stacks > 1 => {
                format!("{} are as good as each other", names(group))
            }
            (true, [group], None) if group.len() > 1 => {
                format!("{} lead, as good as each other", names(group))
            }
            (true, [group], None) => format!("{} is the best of {stacks}", names(group)),
            (true, groups, None) => {
                let groups: Vec<String> = groups.iter().map(|g| names(g)).collect();
                format!("in order: {}", groups.join("; "))
            }
        };
        text.push_str(&known);
        if let (Some(nearest), true) = (&self.nearest, self.groups.len() < 2) {
            text.push_str(&format!(
                "; {}, the nearest behind, is {:.2} times [{:.2}, {:.2}] as good as {}",
                nearest.stack, nearest.ratio, nearest.interval.0, nearest.interval.1, nearest.than
            ));
        }
        text.push_str(&match self.stopped {
            Stop::Decided => format!(" (after {most} blocks)."),
            stop => format!(" ({most} blocks; {}).", stop.words()),
        });
        text
    }
}

impl FigureOutcome {
    fn stacks(&self) -> Vec<String> {
        self.blocks.iter().map(|(stack, _)| stack.clone()).collect()
    }

    /// What is known to which precision.
    fn known_exactly(&self, exactness: &Exactness) -> String {
        let wanted = share_words(exactness.wanted);
        let within = |what: &str| match (exactness.reached, self.is_known) {
            (Some(reached), true) => format!("{what} known within ±{}", share_words(reached)),
            (Some(reached), false) => {
                format!("{what} known within ±{}, and not within ±{wanted}", share_words(reached))
            }
            (None, _) => format!("{what} not known within ±{wanted}"),
        };
        if let Some(figure) = &exactness.figure {
            return format!("{} reaches {figure}, {}", names(&self.stacks()), within("which is"));
        }
        if self.is_known {
            return within("every ratio is");
        }
        let open = self.groups.first().map_or_else(String::new, |group| names(group));
        let baseline = self.blocks.first().map_or("", |(stack, _)| stack.as_str());
        let of = if self.open == 1 { "the ratio of" } else { "the ratios of" };
        let worst = exactness.reached.map_or_else(String::new, |reached| {
            format!("; the least exact one is known within ±{}", share_words(reached))
        });
        format!("{of} {open} to {baseline} {} not known within ±{wanted}{worst}", {
            if self.open == 1 { "is" } else { "are" }
        })
    }
}

impl CampaignOutcome {
    /// The whole and what each figure came to, for a summary: what is decided first, and
    /// no more than so many figures.
    pub fn sentences(&self, most: usize) -> Vec<String> {
        let mut figures: Vec<&FigureOutcome> = self.figures.iter().collect();
        figures.sort_by_key(|figure| !figure.is_known);
        let sentences = figures.iter().take(most).map(|figure| figure.sentence());
        let mut all: Vec<String> = std::iter::once(self.sentence()).chain(sentences).collect();
        if figures.len() > most {
            let more = count(figures.len() - most, "more figure");
            let are = if figures.len() - most == 1 { "is" } else { "are" };
            all.push(format!("{more} {are} in the report."));
        }
        all
    }

    /// All of it in one sentence.
    pub fn sentence(&self) -> String {
        if self.figures.is_empty() {
            return format!(
                "Campaign for {}: {} cells in {} blocks; {}.",
                self.goal,
                self.cells,
                self.blocks,
                self.stopped.words()
            );
        }
        let known = self.figures.iter().filter(|f| f.is_known).count();
        format!(
            "Campaign for {}: {known} of {} figures decided with {} of {} cells in {} blocks; {}.",
            self.goal,
            self.figures.len(),
            self.cells,
            self.most_cells,
            self.blocks,
            match self.stopped {
                Stop::Decided => "nothing more is needed",
                stop => stop.words(),
            }
        )
    }
}

fn names(group: &[String]) -> String {
    match group {
        [] => String::new(),
        [one] => one.clone(),
        group if group.len() > NAMES => {
            format!("{} and {} others", group[..NAMES - 1].join(", "), group.len() - NAMES + 1)
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, Rules, decide};

    fn outcome_of(goal: Goal, levels: &[f64], blocks: usize) -> FigureOutcome {
        let wobble = [1.0, 1.003, 0.998, 1.001, 0.997, 1.002];
        let values = levels
            .iter()
            .enumerate()
            .map(|(s, level)| {
                (0..blocks).map(|b| Some(level * wobble[(b * (s + 1)) % 6])).collect()
            })
            .collect();
        let contest = Contest { higher_is_better: true, values };
        let rules = Rules { most_blocks: 30, ..Rules::new(goal) };
        let names: Vec<String> = ["ext4", "xfs", "btrfs"].map(str::to_owned).to_vec();
        let decision = decide(&rules, &contest);
        FigureOutcome::of(("How fast?", ""), &names, &contest, &decision, Stop::Budget)
    }

    #[test]
    fn decided_outcomes_show_their_interval() {
        let best = outcome_of(Goal::Best, &[100.0, 50.0, 20.0], 30);
        assert_eq!((best.stopped, best.is_known), (Stop::Decided, true));
        let sentence = best.sentence();
        assert!(sentence.starts_with("How fast? ext4 is the best of 3; xfs, "), "{sentence}");
        assert!(sentence.contains("0.50 times [0."), "{sentence}");
        let rank = outcome_of(Goal::Rank, &[20.0, 50.0, 100.0], 30).sentence();
        assert!(rank.contains("in order: btrfs; xfs; ext4 (after"), "{rank}");
        let tied = outcome_of(Goal::Best, &[100.0, 100.0, 100.0], 30).sentence();
        assert!(tied.contains(" are as good as each other"), "{tied}");
        let two = outcome_of(Goal::Best, &[100.0, 100.0, 20.0], 30).sentence();
        assert!(two.contains("ext4 and xfs lead, as good as each other; btrfs, the "), "{two}");
    }

    #[test]
    fn a_summary_counts_the_figures_that_it_leaves_out() {
        let figure = outcome_of(Goal::Best, &[100.0, 50.0, 20.0], 30);
        let outcome = CampaignOutcome {
            goal: "the best stack".to_owned(),
            cells: 90,
            most_cells: 90,
            blocks: 30,
            stopped: Stop::Decided,
            figures: vec![figure; 3],
        };
        assert_eq!(outcome.sentences(3).len(), 4);
        let fewer = outcome.sentences(1);
        assert_eq!(fewer[2..], ["2 more figures are in the report."]);
    }

    #[test]
    fn long_lists_of_stacks_are_short() {
        let all: Vec<String> = ('a'..='h').map(String::from).collect();
        let named = [0, 1, 2, 6, 7].map(|stacks| names(&all[..stacks]));
        assert_eq!(
            named,
            ["", "a", "a and b", "a, b, c, d, e and f", "a, b, c, d, e and 2 others"]
        );
    }

    #[test]
    fn inconclusive_outcomes_say_why() {
        let few = outcome_of(Goal::Best, &[100.0, 99.0, 98.0], 3);
        assert_eq!((few.stopped, few.is_known), (Stop::Budget, false));
        assert!(few.sentence().contains("inconclusive: "), "{}", few.sentence());
        assert!(
            few.sentence()
                .ends_with("(3 blocks; the next block would not have ended within the budget).")
        );
        let none = outcome_of(Goal::Best, &[100.0, 99.0, 98.0], 0).sentence();
        assert!(none.contains("nothing was measured"), "{none}");
    }

    #[test]
    fn the_precision_reached_is_reported() {
        let sentence = |values: &[&[f64]], figure: Option<&str>| {
            let goal = Goal::Precision(0.05);
            let values: Vec<Vec<Option<f64>>> =
                values.iter().map(|v| v.iter().copied().map(Some).collect()).collect();
            let contest = Contest { higher_is_better: true, values };
            let decision = decide(&Rules::new(goal), &contest);
            let names: Vec<String> =
                ["ext4", "xfs"].map(str::to_owned)[..contest.stacks()].to_vec();
            let mut outcome =
                FigureOutcome::of(("How fast?", ""), &names, &contest, &decision, Stop::Budget);
            outcome.exactness = Some(Exactness::of(0.05, &decision, figure.map(ToOwned::to_owned)));
            outcome.sentence()
        };
        assert_eq!(
            sentence(&[&[100.0, 100.5, 101.0]], Some("100 MB/s [97, 104]")),
            "How fast? ext4 reaches 100 MB/s [97, 104], which is known within ±2.9 % (after 3 blocks)."
        );
        assert_eq!(
            sentence(&[&[100.0, 110.0, 121.0]], Some("110 MB/s [64, 190]")),
            "How fast? ext4 reaches 110 MB/s [64, 190], which is known within ±73 %, and not \
             within ±5 % (3 blocks; the next block would not have ended within the budget)."
        );
        let ratios = sentence(&[&[100.0, 100.5, 101.0], &[50.0; 3]], None);
        assert!(ratios.contains("every ratio is known within ±4"), "{ratios}");
        let open = sentence(&[&[100.0, 110.0, 101.0], &[50.0; 3]], None);
        assert!(
            open.contains("the ratio of xfs to ext4 is not known within ±5 %; the least exact"),
            "{open}"
        );
        let none = sentence(&[&[f64::NAN; 3]], None);
        assert!(none.contains("ext4 has no value (after 3 blocks)"), "{none}");
    }

    #[test]
    fn outcome_is_kept_and_read_back() {
        let outcome = CampaignOutcome {
            goal: "the best".to_owned(),
            stopped: Stop::MostBlocks,
            cells: 7,
            most_cells: 90,
            blocks: 3,
            figures: vec![outcome_of(Goal::Best, &[100.0, 50.0, 20.0], 30)],
        };
        let json = serde_json::to_string(&outcome).expect("written");
        assert_eq!(serde_json::from_str::<CampaignOutcome>(&json).expect("read"), outcome);
        let sentence = outcome.sentence();
        assert!(
            sentence.contains("1 of 1 figures decided with 7 of 90 cells in 3 blocks"),
            "{sentence}"
        );
    }
}
