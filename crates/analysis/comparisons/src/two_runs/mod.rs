//! Figures of two runs, or of a run at two levels of an axis. Repeats of two runs are paired only
//! where they had the same draws, and whatever else changed between the runs is in their ratios too.

mod blocks;
mod judge;
mod ratio;
mod two_sample;

pub use judge::{JudgedFigure, MOST, Manner, Values, judge};
pub use ratio::JudgedRatio;

/// How B stands to A.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Worse than in A by more than the margin, with the whole interval.
    Slower,
    /// Better than in A by more than the margin, with the whole interval.
    Faster,
    /// The whole interval lies within the margin.
    Equivalent,
    /// The same values to the last digit.
    Identical,
    /// The samples do not say.
    Inconclusive(InconclusiveReason),
}

/// Why the samples do not say.
#[derive(Debug, Clone, PartialEq)]
pub enum InconclusiveReason {
    /// More repeats would do: so many on each side, where the noise is known.
    TooFew {
        /// Repeats on each side that show a change as large as the margin.
        needed: Option<usize>,
    },
    /// Sixty repeats on each side would not do.
    TooNoisy {
        /// Standard deviation of the logarithm of a ratio of single repeats.
        noise: f64,
    },
    /// The ratio lies so near to the edge of the margin that more repeats hardly help.
    OnTheEdge,
    /// A severe finding makes a figure suspect: the audits, each with its
    /// run, as `read-from-cache in A`.
    Suspect(Vec<String>),
    /// A value is 0 or less.
    NoRatio,
}

impl Change {
    /// In a word: `slower`, `faster`, `equivalent`, `identical`, `inconclusive`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Equivalent => "equivalent",
            Self::Identical => "identical",
            Self::Inconclusive(_) => "inconclusive",
        }
    }
}

impl InconclusiveReason {
    /// In a word, for programs: `too-few`, `too-noisy`, `on-the-edge`, `suspect`,
    /// `no-ratio`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "too-few",
            Self::TooNoisy { .. } => "too-noisy",
            Self::OnTheEdge => "on-the-edge",
            Self::Suspect(_) => "suspect",
            Self::NoRatio => "no-ratio",
        }
    }
}
