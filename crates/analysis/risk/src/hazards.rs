//! What can happen to the drives of a stack.

use disklab_cell::LossTree;

use crate::Uncertain;

/// A value of [`Hazards`] that is not certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HazardInput {
    /// How many drives fail in a year.
    Failures,
    /// How soon a drive is replaced.
    Replacement,
    /// How long the rebuild takes.
    Rebuild,
    /// How often a bit cannot be read.
    Unreadable,
}

impl HazardInput {
    pub(crate) const ALL: [Self; 4] =
        [Self::Failures, Self::Replacement, Self::Rebuild, Self::Unreadable];
}

/// What can happen to the drives of a stack, all of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Hazards {
    /// Which drives must fail before data are lost.
    pub tree: LossTree,
    /// Failures a year of one drive.
    pub failures_per_year: Uncertain,
    /// Hours from a failure until a new drive is in its place; none with a spare.
    pub replaced_after: Uncertain,
    /// Hours from then until the stack is redundant again.
    pub rebuild: Uncertain,
    /// Bits read for one that cannot be: `1e15`.
    pub bits_per_unreadable: Uncertain,
    /// What share of the stack is used, for rebuilds that copy only that.
    pub used: f64,
    /// Drives that stand by.
    pub spares: u32,
    /// For how long.
    pub years: f64,
}

impl Hazards {
    /// One of the values that are not certain.
    pub fn input(&self, input: HazardInput) -> Uncertain {
        match input {
            HazardInput::Failures => self.failures_per_year,
            HazardInput::Replacement => self.replaced_after,
            HazardInput::Rebuild => self.rebuild,
            HazardInput::Unreadable => self.bits_per_unreadable,
        }
    }

    /// The same with this value of it, exactly.
    #[must_use]
    pub fn with(&self, input: HazardInput, value: f64) -> Self {
        let mut changed = self.clone();
        let field = match input {
            HazardInput::Failures => &mut changed.failures_per_year,
            HazardInput::Replacement => &mut changed.replaced_after,
            HazardInput::Rebuild => &mut changed.rebuild,
            HazardInput::Unreadable => &mut changed.bits_per_unreadable,
        };
        *field = Uncertain::exact(value);
        changed
    }
}
