//! What a run says of a purpose.

use std::collections::BTreeSet;

use super::confidence::Confidence;
use super::table::Purpose;
use super::verdict::RankVerdict;

/// What a run says of one purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// From the table of purposes, with its aspects and weights.
    pub purpose: &'static Purpose,
    /// One per number of lost drives that stacks survive, where anything that counts was measured.
    pub decisions: Vec<StackChoice>,
    /// Why a decision is a guess at most, or there is none; none where all that decides was
    /// compared.
    pub why_not: Option<String>,
    /// Aspects that no workload of the run shows.
    pub lacking: Vec<&'static str>,
    /// Aspects of which a severe finding makes a figure suspect, with the audits.
    pub suspect: Vec<String>,
    /// All stacks of the run by what decides, best first.
    pub scores: Vec<Score>,
    /// The workloads whose figures count for it.
    pub workloads: BTreeSet<String>,
    /// Those of them whose figures decide; none where nothing decides alone.
    pub deciding: BTreeSet<String>,
}

impl Recommendation {
    /// Stacks and workloads of which more repeats could settle what is not: what is taken and
    /// those that may be better, with the work by which the two are compared.
    pub fn unsettled_cells(&self) -> BTreeSet<(&str, &str)> {
        let mut cells = BTreeSet::new();
        let open = self.decisions.iter().filter(|d| d.confidence.is_unsettled() && !d.is_partial);
        for decision in open {
            let is_open = |rank: &&PurposeRank| rank.verdict == RankVerdict::Inconclusive;
            for rival in decision.places.iter().filter(is_open) {
                let work = if rival.by_deciding { &self.deciding } else { &self.workloads };
                let both = [decision.take.as_str(), rival.stack.as_str()];
                cells.extend(work.iter().flat_map(|w| both.map(|stack| (stack, w.as_str()))));
            }
        }
        cells
    }
}

/// The stack to take for a purpose, of those that survive as many lost drives.
#[derive(Debug, Clone, PartialEq)]
pub struct StackChoice {
    /// How many drives may fail; none where that is not known, as in imported runs.
    pub survives: Option<u32>,
    /// The stack to take.
    pub take: String,
    /// Those that are as good: equivalent within 5 % by all that counts.
    pub as_good: Vec<String>,
    /// How sure by what was measured.
    pub confidence: Confidence,
    /// Whether something that counts was not measured: then it is a guess at most.
    pub is_partial: bool,
    /// What the stack does in what it was chosen by; empty where that is all figures together.
    pub figures: Vec<DecidingFigure>,
    /// The best of those that are not as good.
    pub next: Option<NextBest>,
    /// The best of those of which it is inconclusive whether they are better.
    pub inconclusive: Option<NextBest>,
    /// What more space would cost.
    pub trade: Option<Trade>,
    /// Every stack of the class and how it stands, best first.
    pub places: Vec<PurposeRank>,
    /// Why, in sentences with intervals.
    pub reasons: Vec<String>,
    /// What speaks against it, in sentences with intervals.
    pub against: Vec<String>,
    /// One for each aspect without which another stack would be taken.
    pub would_change: Vec<AdviceChange>,
}

/// A figure by which a stack was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidingFigure {
    /// What it shows: 'reading large files'.
    pub aspect: &'static str,
    /// The figure in words, with its workload.
    pub of: String,
    /// The figure with its unit: '394 MB/s'.
    pub value: String,
}

/// The next best stack.
#[derive(Debug, Clone, PartialEq)]
pub struct NextBest {
    /// Its id.
    pub stack: String,
    /// How many times as good the one that is taken is in what decides.
    pub times: f64,
    /// In how many of the repeats that both have the first was better, in what decides or by all
    /// that counts.
    pub ahead: usize,
    /// Whether in what decides.
    pub by_deciding: bool,
    /// Those repeats.
    pub repeats: usize,
}

/// A stack's speed in what decides, next to the best stack of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Its id.
    pub stack: String,
    /// 1 is the best.
    pub share: f64,
}

/// What would be taken if an aspect did not count.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceChange {
    /// Its name in the table of purposes.
    pub aspect: &'static str,
    /// What would be taken.
    pub instead: String,
}

/// How a stack stands for a purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurposeRank {
    /// Its id.
    pub stack: String,
    /// How it stands.
    pub verdict: RankVerdict,
    /// How good it is next to the one that is taken, with the interval; empty for that one.
    pub distance: String,
    /// Whether in what decides; else by all that counts.
    pub by_deciding: bool,
}

/// A stack of the same class with more usable space.
#[derive(Debug, Clone, PartialEq)]
pub struct Trade {
    /// Its id.
    pub stack: String,
    /// So many usable bytes more.
    pub more_bytes: u64,
    /// How many times as good it is in what decides.
    pub times: f64,
    /// Whether it is equivalent by all that counts.
    pub is_as_good: bool,
    /// Whether the difference in what decides is significant.
    pub is_significant: bool,
}
