//! What is written down of an option.

use crate::draft::Draft;
use crate::error::ValueError;
use crate::given::OptionValue;

/// Reads the value of an option into the draft; the error says what is wrong.
pub(crate) type Read = fn(&mut Draft, &OptionValue<'_>) -> Result<(), ValueError>;

/// What a smaller study makes smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaled {
    /// Nothing.
    No,
    /// A size in bytes.
    Size,
    /// A count of I/Os.
    Count,
}

/// An option that the native engine has.
#[derive(Clone, Copy)]
pub struct OptionSpec {
    /// As a job file spells it.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What its value looks like.
    pub value: &'static str,
    /// Whether it may stand without a value, and is on then.
    pub bare: bool,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What differs from fio; empty where nothing does.
    pub difference: &'static str,
    /// What a smaller study makes smaller.
    pub scaled: Scaled,
    pub(crate) read: Read,
}

impl std::fmt::Debug for OptionSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OptionSpec").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An option with what every one has; the functions below add the rest.
pub(super) const fn option(
    name: &'static str,
    value: &'static str,
    meaning: &'static str,
    read: Read,
) -> OptionSpec {
    OptionSpec {
        name,
        aliases: &[],
        value,
        bare: false,
        meaning,
        difference: "",
        scaled: Scaled::No,
        read,
    }
}

/// A switch that is on where it stands alone.
pub(super) const fn switch(name: &'static str, meaning: &'static str, read: Read) -> OptionSpec {
    let mut spec = option(name, "0|1 or nothing", meaning, read);
    spec.bare = true;
    spec
}

/// A switch that needs a value.
pub(super) const fn flag(name: &'static str, meaning: &'static str, read: Read) -> OptionSpec {
    option(name, "0|1", meaning, read)
}

impl OptionSpec {
    pub(super) const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// It may stand alone.
    pub(super) const fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    pub(super) const fn differs(mut self, difference: &'static str) -> Self {
        self.difference = difference;
        self
    }

    pub(super) const fn scaled(mut self, scaled: Scaled) -> Self {
        self.scaled = scaled;
        self
    }
}

/// Options about one subject.
#[derive(Debug, Clone, Copy)]
pub struct Chapter {
    /// The subject.
    pub title: &'static str,
    /// In the order in which the documentation lists them.
    pub options: &'static [OptionSpec],
}
