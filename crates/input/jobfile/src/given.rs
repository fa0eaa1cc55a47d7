//! The value of one option, as its reader sees it.

use std::time::Duration;

use crate::error::{ChoiceError, NumberError, ValueError};
use crate::job::{Amount, PerDirection};
use crate::policy::Policy;
use crate::value::{self, KbBase, LARGEST, TimeUnit, shown};

/// The value of one option, as its reader sees it.
pub(crate) struct OptionValue<'a> {
    /// The text, trimmed; `1` where the option stands alone.
    pub text: &'a str,
    /// What holds for the units of sizes.
    pub base: KbBase,
    /// What is allowed.
    pub policy: Policy,
}

/// Values for reads and writes, where they were given.
pub(crate) type Directions<T> = PerDirection<Option<T>>;

impl OptionValue<'_> {
    /// 0 or 1.
    pub fn flag(&self) -> Result<bool, NumberError> {
        value::flag(self.text)
    }

    /// A size in bytes.
    pub fn size(&self) -> Result<u64, NumberError> {
        value::size(self.text, self.base)
    }

    /// A size in bytes, or a share of what is there, which a study's files are not.
    pub fn amount(&self) -> Result<Amount, NumberError> {
        match self.text.strip_suffix('%') {
            Some(share) if self.policy.is_plain() => Ok(Amount::Percent(percent(share)?)),
            _ => Ok(Amount::Bytes(self.size()?)),
        }
    }

    /// The same; zero stands for nothing.
    pub fn some_amount(&self) -> Result<Option<Amount>, NumberError> {
        let zero = |amount: &Amount| matches!(amount, Amount::Bytes(0) | Amount::Percent(0));
        Ok(Some(self.amount()?).filter(|amount| !zero(amount)))
    }

    /// A whole number.
    pub fn count(&self, least: u64, most: u64) -> Result<u64, NumberError> {
        value::count(self.text, least, most, self.base)
    }

    /// A whole number from `least`.
    pub fn from(&self, least: u64) -> Result<u64, NumberError> {
        self.count(least, LARGEST)
    }

    /// A whole number that a `u32` holds.
    pub fn small(&self, least: u32, most: u32) -> Result<u32, NumberError> {
        let n = self.count(u64::from(least), u64::from(most))?;
        Ok(u32::try_from(n).unwrap_or(most))
    }

    /// A percentage.
    pub fn percent(&self) -> Result<u8, NumberError> {
        percent(self.text)
    }

    /// A number with one of fio's units of time; `unit` is that of a bare number.
    pub fn time(&self, unit: TimeUnit) -> Result<Duration, NumberError> {
        value::time(self.text, unit)
    }

    /// A plain number of milliseconds, at most a day: fio ignores units here.
    pub fn milliseconds(&self, least: u64) -> Result<Duration, NumberError> {
        match self.text.parse::<u64>() {
            Ok(n) if (least..=86_400_000).contains(&n) => Ok(Duration::from_millis(n)),
            _ => Err(NumberError::Milliseconds { least, found: shown(self.text) }),
        }
    }

    /// One of some words, each with what it means.
    pub fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, ChoiceError> {
        word(self.text, words)
    }

    /// `READ`, `READ,WRITE` or `READ,WRITE,TRIM`; a single value holds for all,
    /// an empty one leaves what was. What stands for trims is read, too, and
    /// not kept.
    pub fn directions<T: Clone, E: Into<ValueError>>(
        &self,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Directions<T>, ValueError> {
        directions(self.text, read)
    }

    /// Sizes by direction, from `least`.
    pub fn sizes(&self, least: u64) -> Result<Directions<u64>, ValueError> {
        self.directions(|text| match value::size(text, self.base)? {
            bytes if bytes >= least => Ok(bytes),
            _ => Err(NumberError::TooSmall { least, found: shown(text) }),
        })
    }
}

/// A whole number from 0 to 100.
pub(crate) fn percent(text: &str) -> Result<u8, NumberError> {
    match text.trim().parse::<u8>() {
        Ok(n) if n <= 100 => Ok(n),
        _ => Err(NumberError::Integer { least: 0, most: 100, found: shown(text) }),
    }
}

/// One of some words, each with what it means.
pub(crate) fn word<T: Copy>(text: &str, words: &[(&'static str, T)]) -> Result<T, ChoiceError> {
    let meaning = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
    meaning.ok_or_else(|| ChoiceError::Word {
        known: words.iter().map(|(word, _)| *word).collect(),
        found: shown(text),
    })
}

/// See [`OptionValue::directions`].
pub(crate) fn directions<T: Clone, E: Into<ValueError>>(
    text: &str,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Directions<T>, ValueError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(ChoiceError::TooManyDirections { found: shown(text) }.into());
    }
    if parts.iter().all(|part| part.is_empty()) {
        return Err(ChoiceError::NoValue.into());
    }
    let values: Vec<Option<T>> = parts
        .iter()
        .map(|part| if part.is_empty() { Ok(None) } else { read(part).map(Some) })
        .collect::<Result<_, E>>()
        .map_err(Into::into)?;
    Ok(match values.as_slice() {
        [both] => PerDirection::both(both.clone()),
        [first, second, ..] => PerDirection { read: first.clone(), write: second.clone() },
        [] => PerDirection { read: None, write: None },
    })
}

/// Overwrites what was given.
pub(crate) fn set<T>(target: &mut PerDirection<T>, given: Directions<T>) {
    if let Some(read) = given.read {
        target.read = read;
    }
    if let Some(write) = given.write {
        target.write = write;
    }
}

/// The same for values that may be missing.
pub(crate) fn set_some<T>(target: &mut PerDirection<Option<T>>, given: Directions<T>) {
    target.read = given.read.or(target.read.take());
    target.write = given.write.or(target.write.take());
}
