//! What an operator does to a stack while it is in use.

/// What can be done to a stack besides the work on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Care {
    /// A drive is declared failed, by the layer's own command.
    Fail,
    /// A drive is taken out, and a blank one is put in its place, onto which the layer rebuilds.
    Replace,
    /// A hot spare takes the place of a drive that failed: by itself, or as the array's daemon has it.
    TakeSpare,
    /// A rebuild or a scrub begins at any place of a drive.
    PassFrom,
    /// The stack works until it is redundant again.
    Rebuild,
    /// All that it holds is read and checked.
    Scrub,
}

impl Care {
    /// What is done, for an error.
    pub fn words(self) -> &'static str {
        match self {
            Self::Fail => "declare a drive failed",
            Self::Replace => "replace a drive",
            Self::TakeSpare => "have a hot spare take a drive's place",
            Self::PassFrom => "rebuild or scrub a drive from a place on",
            Self::Rebuild => "wait for redundancy",
            Self::Scrub => "scrub",
        }
    }
}
