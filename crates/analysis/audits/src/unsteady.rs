//! Which cells have no steady part, where a question asks for it.

use std::collections::HashMap;

use disklab_sample::NotSteady;

use crate::GroupKey;

/// How many cells have no steady part, by group and reason.
#[derive(Debug, Clone, Default)]
pub struct Unsteady(HashMap<GroupKey, NotSteadyCells>);

/// Cells of a group without a figure of their steady part.
#[derive(Debug, Clone, Copy, Default)]
pub struct NotSteadyCells {
    /// They did not become steady.
    pub never: usize,
    /// Nobody knows whether they did.
    pub unknown: usize,
}

impl Unsteady {
    /// Takes note of one cell.
    pub fn note(&mut self, key: &GroupKey, why: NotSteady) {
        let counts = self.0.entry(key.clone()).or_default();
        match why {
            NotSteady::Never => counts.never += 1,
            NotSteady::Unknown => counts.unknown += 1,
        }
    }

    /// How many cells of a group have no steady part, and of how many that is not known.
    pub fn of(&self, key: &GroupKey) -> Option<NotSteadyCells> {
        self.0.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use disklab_cell::Levels;
    use disklab_sample::Direction;
    use disklab_study::Part;

    use super::*;

    #[test]
    fn cells_are_counted_by_reason() {
        let key = |workload: &str| GroupKey {
            levels: Levels::new("single/ext4", workload),
            step: "s".to_owned(),
            direction: Direction::Read,
            part: Part::Steady,
        };
        let mut unsteady = Unsteady::default();
        for why in [NotSteady::Never, NotSteady::Unknown, NotSteady::Never] {
            unsteady.note(&key("fio"), why);
        }
        let found = unsteady.of(&key("fio")).expect("noted");
        assert_eq!((found.never, found.unknown), (2, 1));
        assert!(unsteady.of(&key("dd-4k")).is_none());
    }
}
