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
mod spec;
pub(crate) mod unsupported;
mod verify;

use disklab_source::did_you_mean;

use crate::error::OptionError;
use crate::policy::{Policy, Runner};
pub use spec::{Chapter, OptionSpec, Scaled};
use unsupported::{IDLE, REFUSED, STUDY_LOGS, UNSUPPORTED, Unsupported};

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
