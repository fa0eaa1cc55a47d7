//! One of the parts that a run is divided into before it begins.

use std::fmt;
use std::str::FromStr;

/// Which part it is: `17/64` is the seventeenth of 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunPart {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

/// A text is not a part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid part '{0}': expected its number and how many there are, such as 17/64")]
pub struct NoRunPart(String);

impl fmt::Display for RunPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for RunPart {
    type Err = NoRunPart;

    fn from_str(text: &str) -> Result<Self, NoRunPart> {
        let wrong = || NoRunPart(text.to_owned());
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let part = Self {
            number: number.parse().map_err(|_| wrong())?,
            of: of.parse().map_err(|_| wrong())?,
        };
        if (1..=part.of).contains(&part.number) { Ok(part) } else { Err(wrong()) }
    }
}
