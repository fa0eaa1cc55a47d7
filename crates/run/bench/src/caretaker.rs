//! What an operator does to a cell's stack while it works.

use std::path::{Path, PathBuf};

use disklab_cell::Care;
use disklab_exec::{Executor, Interrupted};
use disklab_stack::{Made, Stack, StackError, care_for};
use disklab_workload::{Caretaker, WorkEvent, WorkloadError};

use crate::BenchError;

/// A stack that stands, and the drives below it.
#[derive(Debug)]
pub(crate) struct StackCaretaker<'a> {
    pub stack: &'a Stack,
    pub made: &'a Made,
    pub drives: Vec<PathBuf>,
}

impl Caretaker for StackCaretaker<'_> {
    fn care(
        &self,
        care: Care,
        drive: Option<u32>,
        executor: &Executor,
    ) -> Result<Option<String>, WorkloadError> {
        let drive = drive.and_then(|drive| self.drives.get((drive as usize).checked_sub(1)?));
        let drive = drive.map_or(Path::new(""), PathBuf::as_path);
        let said = care_for(self.stack, care, self.made, drive, executor).map_err(|error| {
            if error.is_interrupt() { Interrupted.into() } else { failed(error) }
        })?;
        Ok((!said.is_empty()).then(|| said.join("; ")))
    }
}

fn failed(error: StackError) -> WorkloadError {
    WorkloadError::Care(Box::new(error))
}

/// Refuses events that a stack on so many drives cannot have.
///
/// # Errors
/// [`BenchError::Care`] with the first.
pub(crate) fn check_care(
    events: &[WorkEvent],
    stack: &Stack,
    drives: usize,
) -> Result<(), BenchError> {
    for (care, drive) in events.iter().filter_map(WorkEvent::care) {
        let wrong = |why: String| {
            let stack = stack.describe();
            Err(BenchError::Care { what: care.words(), stack, why })
        };
        if !stack.can(care) {
            return wrong("none of its layers can".to_owned());
        }
        if drive.is_some_and(|drive| drive as usize > drives) {
            return wrong(format!("there is no drive {}, only {drives}", drive.unwrap_or(0)));
        }
    }
    Ok(())
}
