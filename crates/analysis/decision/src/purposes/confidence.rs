//! How sure a choice is.

use super::rule::{Choice, Rival};
use super::verdict::RankVerdict;

/// How sure a choice is by what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// Each other is significantly worse, or better by 5 % at most, with the correction for all of
    /// them.
    Sure,
    /// The same, and some are equivalent within 5 %.
    Equivalent,
    /// Better than each other by the interval of that comparison alone.
    Likely,
    /// It leads, and chance may be why.
    Inconclusive,
    /// Measured once.
    Once,
    /// The only stack that survives as many lost drives.
    Only,
}

impl Confidence {
    /// For programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Equivalent => "equivalent",
            Self::Likely => "likely",
            Self::Inconclusive => "inconclusive",
            Self::Once => "once",
            Self::Only => "only",
        }
    }

    /// Whether more samples could make it surer.
    pub fn is_unsettled(self) -> bool {
        matches!(self, Self::Likely | Self::Inconclusive | Self::Once)
    }

    /// Of a choice among the stacks of a class; `once` if it has each of its figures once.
    pub(super) fn of(choice: &Choice, once: bool) -> Self {
        if choice.rivals.is_empty() {
            return Self::Only;
        }
        let has_interval = |r: &Rival| r.ratio.as_ref().is_some_and(|r| r.interval.is_some());
        let compared = || choice.rivals.iter().filter(|r| r.ratio.is_some());
        if !compared().any(has_interval) {
            return match compared().next() {
                None => Self::Only,
                Some(_) if once => Self::Once,
                // Measured more often, and only one repeat has all that counts of both.
                Some(_) => Self::Inconclusive,
            };
        }
        let mut open = compared().filter(|r| r.verdict == RankVerdict::Inconclusive).peekable();
        if open.peek().is_some() {
            return if open.all(|rival| rival.is_better_alone) {
                Self::Likely
            } else {
                Self::Inconclusive
            };
        }
        let has_equal = choice.rivals.iter().any(|r| r.verdict == RankVerdict::Equivalent);
        if has_equal { Self::Equivalent } else { Self::Sure }
    }
}
