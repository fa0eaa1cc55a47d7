//! A fault of a drive: what goes wrong, when and where.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A fault of one drive of a stack, such as `drive 2: dies at 30 s`. What kinds there are, and what
/// their clauses mean, is the drive crate's knowledge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// The drive's number in the stack, counted from 1.
    pub drive: u32,
    /// Which kind it is, such as `dies`.
    pub does: String,
    /// Each clause: its word, such as `at`, and its value. What stands before the first clause,
    /// such as `3 sectors`, has an empty word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<(String, String)>,
}

/// The words with which clauses begin.
const CLAUSES: [&str; 8] = ["after", "at", "by", "every", "for", "on", "tries", "within"];

/// The longest text of a fault, in bytes.
const LONGEST: usize = 1_000;

/// The most faults of a cell.
pub const MOST_FAULTS: usize = 64;

/// A text is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultTextError {
    /// It has not the form.
    #[error("invalid fault '{0}': expected 'drive N: …', such as 'drive 2: dies at 30 s'")]
    Form(String),
    /// It is longer than any fault.
    #[error("a fault takes up to {LONGEST} bytes, found {0}")]
    Long(usize),
    /// A clause stands twice.
    #[error("invalid fault: '{0}' is given twice")]
    Twice(String),
    /// A clause has no value.
    #[error("invalid fault: '{0}' has no value")]
    Empty(String),
}

impl FromStr for FaultPlan {
    type Err = FaultTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > LONGEST {
            return Err(FaultTextError::Long(text.len()));
        }
        let form = || FaultTextError::Form(text.trim().to_owned());
        let (drive, rest) = text.split_once(':').ok_or_else(form)?;
        let number = drive.trim().strip_prefix("drive").ok_or_else(form)?.trim();
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
        let drive = number.parse().ok().filter(|n| *n > 0 && is_plain).ok_or_else(form)?;
        let mut words = rest.split_whitespace().map(|word| word.trim_end_matches(','));
        let does = words.next().filter(|word| !word.is_empty()).ok_or_else(form)?.to_owned();
        let mut clauses: Vec<(String, Vec<&str>)> = Vec::new();
        for word in words.filter(|word| !word.is_empty()) {
            if CLAUSES.contains(&word) {
                if clauses.iter().any(|(known, _)| known == word) {
                    return Err(FaultTextError::Twice(word.to_owned()));
                }
                clauses.push((word.to_owned(), Vec::new()));
            } else if let Some((_, value)) = clauses.last_mut() {
                value.push(word);
            } else {
                clauses.push((String::new(), vec![word]));
            }
        }
        if let Some((word, _)) = clauses.iter().find(|(_, value)| value.is_empty()) {
            return Err(FaultTextError::Empty(word.clone()));
        }
        let clauses = clauses.into_iter().map(|(word, value)| (word, value.join(" "))).collect();
        Ok(Self { drive, does, clauses })
    }
}

impl fmt::Display for FaultPlan {
    /// Such that it is read as the same again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "drive {}: {}", self.drive, self.does)?;
        for (word, value) in &self.clauses {
            let space = if word.is_empty() { "" } else { " " };
            write!(f, " {word}{space}{value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn faults_are_read_as_they_are_said() {
        for (text, does, clauses) in [
            ("drive 2: dies at 30 s", "dies", &[("at", "30 s")][..]),
            ("drive 2: dies", "dies", &[]),
            (
                " drive 2 : unreadable 3 sectors, within 10 % to 20 %, tries 120 s",
                "unreadable",
                &[("", "3 sectors"), ("within", "10 % to 20 %"), ("tries", "120 s")],
            ),
            ("drive2:rots on sectors 8, 16-24", "rots", &[("on", "sectors 8 16-24")]),
        ] {
            let clauses = clauses.iter().map(|(word, value)| {
                let [word, value] = [word, value].map(|text| (*text).to_owned());
                (word, value)
            });
            let fault = FaultPlan { drive: 2, does: does.to_owned(), clauses: clauses.collect() };
            assert_eq!(text.parse(), Ok(fault), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_fault_is_refused() {
        for (text, expected) in [
            ("", "expected 'drive N: …'"),
            ("dies", "expected 'drive N: …'"),
            ("drive 2:", "expected 'drive N: …'"),
            ("drive 0: dies", "expected 'drive N: …'"),
            ("drive +1: dies", "expected 'drive N: …'"),
            ("drive two: dies", "expected 'drive N: …'"),
            ("drive 4294967296: dies", "expected 'drive N: …'"),
            ("disk 2: dies", "expected 'drive N: …'"),
            ("drive 2: dies at", "'at' has no value"),
            ("drive 2: dies at 1 s at 2 s", "'at' is given twice"),
        ] {
            let error = text.parse::<FaultPlan>().expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let long = format!("drive 2: dies {}", "x".repeat(LONGEST));
        assert!(matches!(long.parse::<FaultPlan>(), Err(FaultTextError::Long(_))));
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_as_the_same(text in "(drive [0-9]{1,3}:)?[ a-z0-9,%:-]{0,60}") {
            if let Ok(fault) = text.parse::<FaultPlan>() {
                prop_assert_eq!(fault.to_string().parse(), Ok(fault.clone()));
                let json = serde_json::to_string(&fault).expect("json");
                prop_assert_eq!(serde_json::from_str::<FaultPlan>(&json).expect("read"), fault);
            }
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = text.parse::<FaultPlan>();
        }
    }
}
