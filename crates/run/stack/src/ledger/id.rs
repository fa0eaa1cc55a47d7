//! Which ledger is meant.

use std::fmt;
use std::str::FromStr;

/// Names the ledger of a run that was killed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LedgerId(String);

/// A text that names no ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid ID '{0}': expected one that `disklab doctor` shows, such as 4711-0")]
pub struct InvalidLedgerId(String);

impl LedgerId {
    /// Of a ledger's file name; `None` if it is not one.
    pub(super) fn from_file_name(name: &str) -> Option<Self> {
        name.strip_prefix("ledger-")?.strip_suffix(".jsonl")?.parse().ok()
    }

    /// The ledger's file name.
    pub(super) fn file_name(&self) -> String {
        format!("ledger-{}.jsonl", self.0)
    }
}

impl FromStr for LedgerId {
    type Err = InvalidLedgerId;

    fn from_str(text: &str) -> Result<Self, InvalidLedgerId> {
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.split_once('-') {
            Some((process, count)) if number(process) && number(count) => Ok(Self(text.to_owned())),
            _ => Err(InvalidLedgerId(text.to_owned())),
        }
    }
}

impl fmt::Display for LedgerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
