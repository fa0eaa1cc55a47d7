//! What one would take if one had to choose now, however little the samples decide.
//!
//! A recommendation names a stack only where it is significantly ahead. A person must choose
//! anyway: the guess is the stack that leads, with how sure that is.

use disklab_stats::estimate;

use super::Purpose;
use super::contest::{
    ContestComparison, Criterion, LeaderRelation, blocks, contenders, mean, outcome, ranked, ratio,
};
use crate::quantity::{plain_value, times};

/// How sure a guess is by what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// Ahead of all others, with the correction for all comparisons.
    Sure,
    /// Several are alike within 5 %, and ahead of all others.
    Equivalent,
    /// Ahead of each other by the interval of that comparison alone.
    Likely,
    /// It leads, and chance may be why.
    Inconclusive,
    /// Measured once.
    Once,
    /// No other stack survives as many lost drives.
    Only,
}

/// The stack to take for a purpose, of those that survive as many lost drives.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// How many drives may fail; none where that is not known.
    pub survives: Option<u32>,
    /// The one that leads; behind it those that are alike within 5 %.
    pub stacks: Vec<String>,
    /// How sure by what was measured, which may be a part of what decides.
    pub measured: Confidence,
    /// Whether something that decides was not measured.
    pub is_partial: bool,
    /// What it does in what counts most.
    pub figure: GuessFigure,
    /// The best of those that are not alike.
    pub next: Option<NextBest>,
}

/// A figure of the stack that leads.
#[derive(Debug, Clone, PartialEq)]
pub struct GuessFigure {
    /// What it is of: 'reading large files'.
    pub aspect: &'static str,
    /// The figure with its unit: '394 MB/s'.
    pub value: String,
}

/// The next best stack.
#[derive(Debug, Clone, PartialEq)]
pub struct NextBest {
    /// Its id.
    pub stack: String,
    /// By how much the first is better in all that counts: 1.8 times.
    pub times: f64,
    /// In how many of the repeats that both have the first was better.
    pub ahead: usize,
    /// Those repeats.
    pub repeats: usize,
}

impl NextBest {
    /// How many times as good the first is: `1.80×`; none if two digits show no difference.
    pub fn times_ahead(&self) -> Option<String> {
        (self.times >= 1.005).then(|| times(self.times))
    }

    /// The same for a narrow terminal: `1.8x`; none if one digit shows no difference.
    pub fn times_ahead_short(&self) -> Option<String> {
        (self.times >= 1.05).then(|| format!("{:.1}x", self.times))
    }
}

/// A stack's speed in a purpose, next to the best stack of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Its id.
    pub stack: String,
    /// 1 is the best.
    pub share: f64,
}

/// The guesses of one purpose.
pub(super) struct Guesser<'a> {
    pub stacks: &'a [&'a str],
    pub criteria: &'a [Criterion],
    /// Comparisons that are made, for the correction.
    pub number: usize,
    /// Whether something that decides was not measured.
    pub is_partial: bool,
}

impl Guesser<'_> {
    /// The guess of a class; none if nobody has all that was measured.
    pub fn guess(&self, survives: Option<u32>, members: &[usize]) -> Option<Guess> {
        let criteria: Vec<&Criterion> = self.criteria.iter().collect();
        if let [only] = contenders(&criteria, members).as_slice() {
            return Some(Guess {
                survives,
                stacks: vec![self.stacks[*only].to_owned()],
                measured: Confidence::Only,
                is_partial: self.is_partial,
                figure: self.figure(*only)?,
                next: None,
            });
        }
        let result = outcome(&criteria, members, self.number)?;
        let alike =
            result.others.iter().filter(|(.., relation)| *relation == LeaderRelation::Equivalent);
        let stacks = std::iter::once(result.leader).chain(alike.map(|(stack, ..)| *stack));
        Some(Guess {
            survives,
            stacks: stacks.map(|stack| self.stacks[stack].to_owned()).collect(),
            measured: measured_confidence(&criteria, &result),
            is_partial: self.is_partial,
            figure: self.figure(result.leader)?,
            next: self.next(&criteria, &result),
        })
    }

    fn next(&self, criteria: &[&Criterion], result: &ContestComparison) -> Option<NextBest> {
        let (other, ..) =
            result.others.iter().find(|(.., relation)| *relation != LeaderRelation::Equivalent)?;
        let (first, second) = (blocks(criteria, result.leader), blocks(criteria, *other));
        let pairs = first.iter().filter_map(|(block, v)| Some((v, second.get(block)?)));
        Some(NextBest {
            stack: self.stacks[*other].to_owned(),
            times: (mean(&first) - mean(&second)).exp(),
            ahead: pairs.clone().filter(|(a, b)| a > b).count(),
            repeats: pairs.count(),
        })
    }

    /// What the leader does in what weighs most; of several, the first.
    fn figure(&self, stack: usize) -> Option<GuessFigure> {
        let most = self.criteria.iter().map(|c| c.aspect.weight).max()?;
        let criterion = self.criteria.iter().find(|c| c.aspect.weight == most)?;
        let values: Vec<f64> = criterion.values[stack].values().copied().collect();
        let centre = estimate(&values)?.centre;
        Some(GuessFigure {
            aspect: criterion.aspect.name,
            value: plain_value(criterion.measure, criterion.operation, centre),
        })
    }

    /// All stacks that have all that was measured, best first.
    pub fn scores(&self) -> Vec<Score> {
        let criteria: Vec<&Criterion> = self.criteria.iter().collect();
        let stacks: Vec<usize> = (0..self.stacks.len()).collect();
        let means = ranked(&criteria, &stacks);
        let best = means.first().map_or(0.0, |(_, mean)| *mean);
        let share = |(stack, mean): (usize, f64)| Score {
            stack: self.stacks[stack].to_owned(),
            share: (mean - best).exp(),
        };
        means.into_iter().map(share).collect()
    }
}

/// How sure the leader of a comparison is.
fn measured_confidence(criteria: &[&Criterion], result: &ContestComparison) -> Confidence {
    let has_interval = |(_, r, _): &(usize, Option<disklab_stats::Ratio>, LeaderRelation)| {
        r.as_ref().is_some_and(|r| r.interval.is_some())
    };
    if !result.others.iter().any(has_interval) {
        return Confidence::Once;
    }
    let open: Vec<usize> = result
        .others
        .iter()
        .filter(|(.., relation)| *relation == LeaderRelation::Inconclusive)
        .map(|(stack, ..)| *stack)
        .collect();
    // Each alone, as one who looked at these two stacks would see it.
    let alone = |other: &usize| {
        let ratio = ratio(criteria, result.leader, *other, 1);
        ratio.and_then(|r| r.interval).is_some_and(|i| i.low > 1.0)
    };
    match open.is_empty() {
        true if result.others.iter().any(|(.., s)| *s == LeaderRelation::Equivalent) => {
            Confidence::Equivalent
        }
        true => Confidence::Sure,
        false if open.iter().all(alone) => Confidence::Likely,
        false => Confidence::Inconclusive,
    }
}

/// How sure a guess is, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfidenceWords {
    /// How a sentence begins.
    pub sentence: &'static str,
    /// Behind a purpose, where there is little room; none where nothing is to be doubted.
    pub short: Option<&'static str>,
}

impl Confidence {
    /// The one table of words.
    fn words(self) -> ConfidenceWords {
        let (sentence, short) = match self {
            Self::Sure => ("Sure", None),
            Self::Equivalent => ("Equivalent within 5 %: either will do", None),
            Self::Likely => ("Likely", Some("likely")),
            Self::Inconclusive | Self::Once => ("A guess", Some("guess")),
            Self::Only => ("The only such stack", None),
        };
        ConfidenceWords { sentence, short }
    }

    /// Whether more samples could make it surer.
    pub fn is_unsettled(self) -> bool {
        matches!(self, Self::Likely | Self::Inconclusive | Self::Once)
    }
}

impl Guess {
    /// Whether more samples could make it surer.
    pub fn is_unsettled(&self) -> bool {
        self.measured.is_unsettled()
    }

    /// How sure it is: of a part of what decides, no surer than a guess.
    pub fn words(&self) -> ConfidenceWords {
        if self.is_partial { Confidence::Inconclusive.words() } else { self.measured.words() }
    }

    /// How sure it is and why, in a sentence for people.
    pub fn how_sure(&self, purpose: &Purpose, lacking: &[&str]) -> String {
        let part = self.is_partial.then(|| {
            let decides = |name: &&&str| {
                let of = |a: &&super::Aspect| a.name == **name;
                purpose.aspects.iter().find(of).is_some_and(|a| a.weight == 3)
            };
            let missing: Vec<&str> = lacking.iter().filter(decides).copied().collect();
            let missing = if missing.is_empty() { lacking } else { &missing };
            format!("{} not measured", missing.join(" and "))
        });
        let open = match (self.measured, &self.next) {
            (Confidence::Likely | Confidence::Inconclusive, Some(next)) => {
                Some(format!("better than the next in {} of {} repeats", next.ahead, next.repeats))
            }
            (Confidence::Once, _) => Some("measured once".to_owned()),
            _ => None,
        };
        let why: Vec<String> = part.into_iter().chain(open).collect();
        let word = self.words().sentence;
        if why.is_empty() { format!("{word}.") } else { format!("{word}: {}.", why.join("; ")) }
    }
}
