//! fio's options: those that the native engine has, each with its reader and
//! its documentation, and those that it has not.
//!
//! The names are those of fio 3.33 (HOWTO.rst, options.c).

mod blocks;
mod buffers;
mod depth;
mod files;
mod groups;
mod length;
mod opening;
mod pace;
mod pattern;
mod process;
mod reporting;
pub(crate) mod unsupported;
mod verify;

use disklab_source::did_you_mean;

use crate::draft::Draft;
use crate::error::{OptionError, ValueError};
use crate::given::OptionValue;
use crate::policy::{Policy, Runner};
use unsupported::{IDLE, REFUSED, STUDY_LOGS, UNSUPPORTED, Unsupported};

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
const fn option(
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
const fn switch(name: &'static str, meaning: &'static str, read: Read) -> OptionSpec {
    let mut spec = option(name, "0|1 or nothing", meaning, read);
    spec.bare = true;
    spec
}

/// A switch that needs a value.
const fn flag(name: &'static str, meaning: &'static str, read: Read) -> OptionSpec {
    option(name, "0|1", meaning, read)
}

impl OptionSpec {
    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// It may stand alone.
    const fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    const fn differs(mut self, difference: &'static str) -> Self {
        self.difference = difference;
        self
    }

    const fn scaled(mut self, scaled: Scaled) -> Self {
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

/// All options that the native engine has, by subject.
pub const CHAPTERS: [Chapter; 12] = [
    pattern::CHAPTER,
    blocks::CHAPTER,
    files::CHAPTER,
    length::CHAPTER,
    depth::CHAPTER,
    opening::CHAPTER,
    pace::CHAPTER,
    buffers::CHAPTER,
    verify::CHAPTER,
    groups::CHAPTER,
    process::CHAPTER,
    reporting::CHAPTER,
];

/// All options that the native engine has.
pub fn native_options() -> impl Iterator<Item = &'static OptionSpec> {
    const { &CHAPTERS }.iter().flat_map(|chapter| chapter.options)
}

/// An option of fio.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KnownOption {
    /// The native engine has it, too.
    Native(&'static OptionSpec),
    /// Only fio has it, and it runs the job.
    Fio(&'static Unsupported),
    /// With its value, it asks for nothing that a job does here.
    Idle(&'static Unsupported),
}

impl KnownOption {
    /// The name under which it is looked up.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native(spec) => spec.name,
            Self::Fio(unsupported) | Self::Idle(unsupported) => unsupported.name,
        }
    }
}

/// The option called `name`, which has this value.
///
/// # Errors
/// Where `policy` does not allow it or fio does not have it.
pub(crate) fn look_up(name: &str, value: &str, policy: Policy) -> Result<KnownOption, OptionError> {
    let find = |list: &'static [Unsupported]| list.iter().find(|option| option.is_called(name));
    let in_study = if policy.is_plain() { None } else { find(STUDY_LOGS) };
    if let Some(idle) = in_study.or_else(|| find(IDLE)) {
        return Ok(KnownOption::Idle(idle));
    }
    let named = |o: &&OptionSpec| o.name == name || o.aliases.contains(&name);
    if let Some(spec) = native_options().find(named) {
        return Ok(KnownOption::Native(spec));
    }
    if let Some(unsupported) = find(UNSUPPORTED) {
        return match policy.runner {
            Runner::Fio => Ok(KnownOption::Fio(unsupported)),
            Runner::Native if unsupported.asks_nothing(value) => Ok(KnownOption::Idle(unsupported)),
            Runner::Native => Err(OptionError::OnlyFio {
                name: name.to_owned(),
                what: unsupported.what,
                other_way: policy.other_way(),
            }),
        };
    }
    if let Some(refused) = find(REFUSED) {
        return match refused.asks_nothing(value) {
            true => Ok(KnownOption::Idle(refused)),
            false => Err(OptionError::NotAllowed { name: name.to_owned(), why: refused.what }),
        };
    }
    let engines = unsupported::engines_of(name);
    if !engines.is_empty() {
        let engines = engines.join(", ");
        return Err(OptionError::OtherEngine { name: name.to_owned(), engines });
    }
    let shown: String = name.chars().take(60).collect();
    let hint = match near(&shown) {
        Some(near) => format!(" (did you mean '{near}'?)"),
        // Comparing takes long, and names of other lengths are not close.
        None => did_you_mean(
            &shown,
            option_names().filter(|known| known.len().abs_diff(shown.len()) <= 1 + known.len() / 4),
        ),
    };
    Err(OptionError::Unknown { name: shown, hint })
}

/// Whether an option may stand without a value, so that what follows it on a command line is not
/// its value.
pub fn stands_alone(name: &str) -> bool {
    let named = |o: &OptionSpec| o.name == name || o.aliases.contains(&name);
    unsupported::ALONE.contains(&name) || native_options().any(|o| o.bare && named(o))
}

/// Every name that fio has for an option of jobs, aliases included, as far as disklab knows.
pub fn option_names() -> impl Iterator<Item = &'static str> {
    let others = [UNSUPPORTED, IDLE, REFUSED].into_iter().flatten();
    native_options()
        .flat_map(|o| std::iter::once(o.name).chain(o.aliases.iter().copied()))
        .chain(others.flat_map(|o| std::iter::once(o.name).chain(o.aliases.iter().copied())))
        .chain(unsupported::names_of_engines())
}

/// The option that differs from `name` in its punctuation only.
fn near(name: &str) -> Option<&'static str> {
    let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let wanted = letters(&name.to_ascii_lowercase());
    option_names().find(|known| letters(known) == wanted)
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;
