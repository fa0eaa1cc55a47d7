//! What a study crosses its stacks and workloads with, such as the guest's memory.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Levels;

/// Levels of one axis.
const MOST_LEVELS: usize = 16;
/// Combinations of the levels of all axes.
const MOST_COMBINATIONS: usize = 64;
/// Characters of a level or a name.
const LONGEST_WORD: usize = 40;

/// One axis, written as `memory=1GiB,8GiB`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StudyAxis {
    name: String,
    levels: Vec<String>,
}

/// A text is no axis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AxisError {
    /// It has no levels, or no name.
    #[error("expected an axis and its levels, such as memory=1GiB,8GiB")]
    Form,
    /// A name or level has characters that would not be readable in a list.
    #[error(
        "invalid level '{}': expected letters, digits and any of . _ - + % : / (at most 40)",
        .0.escape_debug()
    )]
    Word(String),
    /// A level is there twice.
    #[error("the level '{0}' is there twice")]
    Twice(String),
    /// More than a report could show.
    #[error("expected at most 16 levels")]
    TooMany,
}

impl StudyAxis {
    /// An axis with these levels. Spaces in a level are left out.
    ///
    /// # Errors
    /// [`AxisError`] if the name or a level is none.
    pub fn new(
        name: &str,
        levels: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, AxisError> {
        let mut known: Vec<String> = Vec::new();
        for level in levels {
            let level: String = level.as_ref().split_whitespace().collect();
            if !is_word(&level) {
                return Err(AxisError::Word(level));
            }
            if known.contains(&level) {
                return Err(AxisError::Twice(level));
            }
            if known.len() == MOST_LEVELS {
                return Err(AxisError::TooMany);
            }
            known.push(level);
        }
        if known.is_empty() || !is_word(name) {
            return Err(AxisError::Form);
        }
        Ok(Self { name: name.to_owned(), levels: known })
    }

    /// Such as `memory`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its levels. The first is the ordinary case, with which the others are compared.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }
}

fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-+%:/".contains(c);
    (1..=LONGEST_WORD).contains(&text.len()) && text.chars().all(fits)
}

impl FromStr for StudyAxis {
    type Err = AxisError;

    fn from_str(text: &str) -> Result<Self, AxisError> {
        let (name, levels) = text.split_once('=').ok_or(AxisError::Form)?;
        Self::new(name.trim(), levels.split(','))
    }
}

impl fmt::Display for StudyAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.levels.join(","))
    }
}

impl TryFrom<String> for StudyAxis {
    type Error = AxisError;

    fn try_from(text: String) -> Result<Self, AxisError> {
        text.parse()
    }
}

impl From<StudyAxis> for String {
    fn from(axis: StudyAxis) -> Self {
        axis.to_string()
    }
}

/// The axes of a study besides stacks and workloads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Axes(Vec<StudyAxis>);

/// Axes cannot be crossed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AxesError {
    /// An axis is there twice.
    #[error("the axis '{0}' is there twice")]
    Twice(String),
    /// Their levels have too many combinations.
    #[error("the axes have {0} combinations of levels, and a study at most 64")]
    TooMany(usize),
}

impl Axes {
    /// These axes.
    ///
    /// # Errors
    /// [`AxesError`] if one is there twice, or they have too many combinations.
    pub fn new(axes: Vec<StudyAxis>) -> Result<Self, AxesError> {
        for (at, axis) in axes.iter().enumerate() {
            if axes[..at].iter().any(|before| before.name == axis.name) {
                return Err(AxesError::Twice(axis.name.clone()));
            }
        }
        let combinations = axes.iter().fold(1_usize, |n, axis| n.saturating_mul(axis.levels.len()));
        if combinations > MOST_COMBINATIONS {
            return Err(AxesError::TooMany(combinations));
        }
        Ok(Self(axes))
    }

    /// These, in place of those with the same names, and the rest.
    ///
    /// # Errors
    /// As for [`Axes::new`].
    pub fn with(&self, others: &[StudyAxis]) -> Result<Self, AxesError> {
        let is_other = |axis: &&StudyAxis| others.iter().all(|other| other.name != axis.name);
        let own = self.0.iter().filter(is_other).cloned();
        Self::new(own.chain(others.iter().cloned()).collect())
    }

    /// Each of them.
    pub fn all(&self) -> &[StudyAxis] {
        &self.0
    }

    /// The first level of each: the ordinary case, about which the answers are.
    pub fn ordinary(&self) -> BTreeMap<String, String> {
        let first = |axis: &StudyAxis| (axis.name.clone(), axis.levels[0].clone());
        self.0.iter().map(first).collect()
    }

    /// All combinations of levels, the ordinary case first.
    pub fn combinations(&self) -> Vec<BTreeMap<String, String>> {
        let mut all = vec![BTreeMap::new()];
        for axis in &self.0 {
            let with = |level: &String, known: &BTreeMap<String, String>| {
                let mut levels = known.clone();
                levels.insert(axis.name.clone(), level.clone());
                levels
            };
            all = axis
                .levels
                .iter()
                .flat_map(|level| all.iter().map(move |known| with(level, known)))
                .collect();
        }
        all
    }

    /// Each of these cells in each combination.
    pub fn cross(&self, cells: &[Levels]) -> Vec<Levels> {
        let combinations = self.combinations();
        let with = |further: &BTreeMap<String, String>| {
            let further = further.clone();
            cells.iter().map(move |cell| Levels { further: further.clone(), ..cell.clone() })
        };
        combinations.iter().flat_map(with).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_axis_is_read_back(name in "[a-z-]{1,20}", levels in prop::collection::btree_set("[A-Za-z0-9.%+:/_-]{1,40}", 1..16)) {
            let axis = StudyAxis::new(&name, &levels).expect("an axis");
            prop_assert_eq!(axis.to_string().parse(), Ok(axis));
        }

        #[test]
        fn any_text_is_an_axis_or_refused(text in "\\PC{0,80}") {
            if let Ok(axis) = text.parse::<StudyAxis>() {
                prop_assert_eq!(axis.to_string().parse(), Ok(axis));
            }
        }
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        let long = format!("a={}", "x".repeat(41));
        for text in ["", "memory", "memory=", "=1", "a=1,1", "a=1,,2", "a=\u{1b}[2J", &long] {
            assert!(text.parse::<StudyAxis>().is_err(), "{text}");
        }
        let axis = "memory = 1 GiB, 8 GiB".parse::<StudyAxis>().expect("an axis");
        assert_eq!(axis.to_string(), "memory=1GiB,8GiB");
        let many: Vec<String> = (0..17).map(|n| n.to_string()).collect();
        assert_eq!(StudyAxis::new("a", many), Err(AxisError::TooMany));
    }

    #[test]
    fn combinations_begin_with_the_ordinary_case() {
        let axes = |all: &[&str]| Axes::new(all.iter().map(|a| a.parse().expect("axis")).collect());
        let crossed = axes(&["memory=1GiB,8GiB", "linux=6.12,7.3"]).expect("axes");
        let all = crossed.combinations();
        assert_eq!(all.len(), 4);
        assert_eq!(all[0], crossed.ordinary());
        let cells = crossed.cross(&[Levels::new("s", "v"), Levels::new("s", "w")]);
        assert_eq!(cells.len(), 8);
        assert_eq!(
            Axes::default().cross(&cells),
            cells.iter().map(|c| Levels::new(&c.stack, &c.workload)).collect::<Vec<_>>()
        );
        assert_eq!(axes(&["a=1", "a=2"]), Err(AxesError::Twice("a".to_owned())));
        let many = "a=1,2,3,4,5,6,7,8,9";
        assert_eq!(axes(&[many, &many.replace('a', "b")]), Err(AxesError::TooMany(81)));
        let other = crossed.with(&["memory=2GiB".parse().expect("axis")]).expect("axes");
        assert_eq!(other.combinations().len(), 2);
        assert_eq!(other.ordinary()["memory"], "2GiB");
    }
}
