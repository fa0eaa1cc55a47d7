//! What recovery did, and what it left for the user to decide about.

use std::fmt;

use super::LedgerId;
use crate::{Obstacle, StackError, Undo};

/// What is to become of what a run left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverDecision {
    /// Remove it, whatever is on or in it.
    Discard,
    /// Leave it where it is, and forget that disklab made it.
    Keep,
}

/// Things of one ledger that were left alone, because of what is on or in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// By which `disklab doctor` names it.
    pub id: LedgerId,
    /// The things, such as 'the partitions of /dev/sda'; newest first.
    pub things: Vec<String>,
    /// What was found.
    pub obstacles: Vec<Obstacle>,
}

impl Leftover {
    /// Of a ledger; nothing yet.
    pub(super) fn new(id: &LedgerId) -> Self {
        Self { id: id.clone(), things: Vec::new(), obstacles: Vec::new() }
    }

    /// Adds a thing, and what was found on or in it.
    pub(super) fn add(&mut self, undo: &Undo, obstacles: Vec<Obstacle>) {
        self.things.push(undo.to_string());
        for obstacle in obstacles {
            // Whatever is below meets the same.
            if !self.obstacles.contains(&obstacle) {
                self.obstacles.push(obstacle);
            }
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let obstacles: Vec<_> = self.obstacles.iter().map(ToString::to_string).collect();
        write!(
            f,
            "disklab does not remove {}, because {}. Save what you need. Then either remove all of \
             it with `disklab doctor --discard {id}`, or keep it and have disklab forget it with \
             `disklab doctor --keep {id}`",
            self.things.join(", "),
            obstacles.join("; "),
            id = self.id
        )
    }
}

/// What recovery did.
#[derive(Debug, Default)]
pub struct Recovery {
    /// What was torn down, in sentences.
    pub done: Vec<String>,
    /// What was left alone.
    pub left: Vec<Leftover>,
    /// Ledgers that were not read, and why.
    pub notes: Vec<String>,
    /// What failed.
    pub errors: Vec<StackError>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_no_paths() {
        let id: LedgerId = "4711-0".parse().expect("an ID");
        assert_eq!(LedgerId::from_file_name(&id.file_name()), Some(id));
        for wrong in ["", "4711", "-0", "4711-", "../x-1", "1-1/../2", "1-1.jsonl", "+1-1"] {
            assert!(wrong.parse::<LedgerId>().is_err(), "{wrong}");
        }
        assert_eq!(LedgerId::from_file_name("ledger-../1-1.jsonl"), None);
    }
}
