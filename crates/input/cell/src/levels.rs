//! Which measurement a cell is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One level of each axis that a study crosses. Every study crosses stacks with workloads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Levels {
    /// The stack's id.
    pub stack: String,
    /// The workload's id.
    pub workload: String,
    /// The level of each further axis, by the axis's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further: BTreeMap<String, String>,
}

impl Levels {
    /// Those of a study that crosses nothing but stacks and workloads.
    pub fn new(stack: impl Into<String>, workload: impl Into<String>) -> Self {
        Self { stack: stack.into(), workload: workload.into(), further: BTreeMap::new() }
    }

    /// Those of the further axes, as `memory=8GiB linux=7.3`; empty if there are none.
    pub fn further_words(&self) -> String {
        level_words(&self.further)
    }
}

/// Levels by their axes, as `memory=8GiB linux=7.3`.
pub fn level_words(levels: &BTreeMap<String, String>) -> String {
    let words: Vec<String> = levels.iter().map(|(axis, level)| format!("{axis}={level}")).collect();
    words.join(" ")
}

/// As lists of cells show it: `raid5/ext4 · randread · memory=8GiB`.
impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {}", self.stack, self.workload)?;
        match self.further_words() {
            none if none.is_empty() => Ok(()),
            words => write!(f, " · {words}"),
        }
    }
}

/// One workload on one freshly made stack, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Position in the run, from 0.
    pub number: u32,
    /// The block (repeat) that it belongs to, from 0.
    pub block: u32,
    /// What is measured.
    #[serde(flatten)]
    pub levels: Levels,
    /// Seed of everything random in it.
    pub seed: u64,
}
