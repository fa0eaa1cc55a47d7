//! How much one run may compare: each figure is compared on all stacks, so that the time for a
//! report grows with the square of their number.

use std::collections::HashSet;

use crate::ImportError;

/// Stacks of one import.
const MOST_STACKS: usize = 200;
/// Steps of all workloads of one import.
const MOST_STEPS: usize = 1000;
/// Steps of all workloads on all stacks.
const MOST_FIGURES: usize = 20_000;

/// What an import compares so far.
#[derive(Debug, Default)]
pub(crate) struct Breadth<'a> {
    stacks: HashSet<&'a str>,
    steps: HashSet<(&'a str, &'a str)>,
    figures: HashSet<(&'a str, &'a str, &'a str)>,
}

impl<'a> Breadth<'a> {
    /// Adds a step of a workload on a stack.
    ///
    /// # Errors
    /// [`ImportError::TooMany`] if that is more than one run compares.
    pub(crate) fn add(
        &mut self,
        stack: &'a str,
        workload: &'a str,
        step: &'a str,
    ) -> Result<(), ImportError> {
        self.stacks.insert(stack);
        self.steps.insert((workload, step));
        self.figures.insert((stack, workload, step));
        for (what, count, most) in [
            ("stacks", self.stacks.len(), MOST_STACKS),
            ("jobs or steps of other names", self.steps.len(), MOST_STEPS),
            ("figures to compare", self.figures.len(), MOST_FIGURES),
        ] {
            if count > most {
                return Err(ImportError::TooMany { what, most });
            }
        }
        Ok(())
    }
}
