//! How stacks rank.

/// How a stack ranks for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankVerdict {
    /// The one to take.
    Taken,
    /// As good by all that counts, and within the margin of 5 % in what decides.
    Equivalent,
    /// Better by 5 % at most, if it is better at all.
    NotBetter,
    /// Whether it is better than the one that is taken, and by how much, is inconclusive.
    Inconclusive,
    /// Significantly behind: in what decides if it lies beyond the margin, else by all that counts.
    Behind,
    /// It lacks a figure that would be compared.
    NotMeasured,
}

impl RankVerdict {
    /// As a table shows it, after the figure.
    pub fn word(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Equivalent => "as good",
            Self::NotBetter => "not better",
            Self::Inconclusive => "inconclusive",
            Self::Behind => "behind",
            Self::NotMeasured => "not measured",
        }
    }
}
