//! Options in a run's record: as they are typed on the command line.

use std::str::FromStr;
use std::time::Duration;

use disklab_cell::StudyAxis;
use disklab_study::{RebuildRequest, ScrubRequest};
use disklab_units::{Bytes, parse_duration, parse_share, show_share};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

use crate::{Bus, RunPart};

/// A value that the command line has as a text.
pub(crate) trait Typed: Sized {
    /// Such that it is read as the same again.
    fn show(&self) -> String;
    /// As the command line reads it.
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! typed {
    ($type:ty, $show:expr, $read:expr) => {
        impl Typed for $type {
            fn show(&self) -> String {
                let show: fn(&Self) -> String = $show;
                show(self)
            }
            fn read(text: &str) -> Result<Self, String> {
                $read(text).map_err(|why| why.to_string())
            }
        }
    };
}

typed!(Bytes, |size| size.short(), str::parse::<Self>);
typed!(Bus, ToString::to_string, str::parse::<Self>);
typed!(RunPart, ToString::to_string, str::parse::<Self>);
typed!(RebuildRequest, ToString::to_string, str::parse::<Self>);
typed!(ScrubRequest, ToString::to_string, str::parse::<Self>);
typed!(Duration, |time| format!("{} s", time.as_secs_f64()), parse_duration);
typed!(f64, |share| show_share(*share), parse_share);
typed!(u32, ToString::to_string, number);
typed!(usize, ToString::to_string, number);

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("invalid number '{text}'"))
}

pub(crate) fn serialize<S: Serializer>(
    value: &Option<impl Typed>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.serialize_str(&value.show()),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Typed>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    T::read(&text).map(Some).map_err(D::Error::custom)
}

/// Words as a shell has them.
pub(crate) mod words {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(words: &[String], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&shell_words::join(words))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
        let text = String::deserialize(from)?;
        let unclosed =
            |_| D::Error::custom(format!("invalid value '{text}': a quote is not closed"));
        shell_words::split(&text).map_err(unclosed)
    }
}

/// Patterns, which have no spaces, unquoted.
pub(crate) mod patterns {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(all: &[String], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&all.join(" "))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
        let text = String::deserialize(from)?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }
}

/// Axes, which have no spaces.
pub(crate) mod axes {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(all: &[StudyAxis], to: S) -> Result<S::Ok, S::Error> {
        let words: Vec<String> = all.iter().map(ToString::to_string).collect();
        to.serialize_str(&words.join(" "))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<StudyAxis>, D::Error> {
        let text = String::deserialize(from)?;
        text.split_whitespace().map(|word| word.parse().map_err(D::Error::custom)).collect()
    }
}

/// An option without a value.
pub(crate) mod flag {
    use super::*;

    const GIVEN: &str = "yes";

    pub(crate) fn serialize<S: Serializer>(_: &bool, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(GIVEN)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        let text = String::deserialize(from)?;
        (text == GIVEN)
            .then_some(true)
            .ok_or_else(|| D::Error::custom(format!("invalid value '{text}': expected {GIVEN}")))
    }
}
