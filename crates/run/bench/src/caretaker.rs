//! What an operator does to a cell's stack while it works.

use std::path::{Path, PathBuf};

use disklab_cell::Care;
use disklab_exec::{Executor, Interrupted};
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_stack::{Made, MemberRebuild, Stack, StackError, care_for, rebuilds_on};
use disklab_units::Bytes;
use disklab_workload::{Caretaker, MemberInUse, WorkEvent, Workload, WorkloadError};

use crate::BenchError;

/// A stack that stands, and the drives below it.
#[derive(Debug)]
pub(crate) struct StackCaretaker<'a> {
    pub stack: &'a Stack,
    pub made: &'a Made,
    pub drives: Vec<CaredDrive>,
    /// Whether they are the lab's, which has new ones.
    pub are_simulated: bool,
}

/// A drive below a stack.
#[derive(Debug)]
pub(crate) struct CaredDrive {
    pub device: PathBuf,
    /// Whether it is there for data, and not a log or a spare.
    pub holds_data: bool,
}

impl Caretaker for StackCaretaker<'_> {
    fn care(
        &self,
        care: Care,
        drive: Option<u32>,
        executor: &Executor,
    ) -> Result<Option<String>, WorkloadError> {
        let drive = drive.map_or(Path::new(""), |drive| self.device(drive));
        if care == Care::Replace && self.are_simulated && !is_mapped(drive) {
            disklab_lab_guest::replace_drive(drive).map_err(|source| WorkloadError::Io {
                what: "cannot have another drive in the place of".to_owned(),
                path: drive.to_owned(),
                source,
            })?;
        }
        let said = care_for(self.stack, care, self.made, drive, executor).map_err(failed)?;
        Ok((!said.is_empty()).then(|| said.join("; ")))
    }

    fn can(&self, care: Care) -> bool {
        self.stack.can(care)
    }

    fn drives(&self) -> Vec<u32> {
        let numbered = (1..).zip(&self.drives).filter(|(_, drive)| drive.holds_data);
        numbered.map(|(number, _)| number).collect()
    }

    fn rebuilds(
        &self,
        drive: u32,
        executor: &Executor,
    ) -> Result<Vec<Box<dyn MemberInUse>>, WorkloadError> {
        let members = rebuilds_on(self.stack, self.made, self.device(drive), executor);
        let boxed = |member| Box::new(Member(member)) as Box<dyn MemberInUse>;
        Ok(members.map_err(failed)?.into_iter().map(boxed).collect())
    }
}

impl StackCaretaker<'_> {
    /// The device of a drive, by its number.
    fn device(&self, drive: u32) -> &Path {
        let drive = (drive as usize).checked_sub(1).and_then(|at| self.drives.get(at));
        drive.map_or(Path::new(""), |drive| drive.device.as_path())
    }
}

/// Whether the device mapper is right above a drive. dm-integrity would not read a blank one, and LVM
/// finds its own by what is on it.
fn is_mapped(drive: &Path) -> bool {
    let Some(drive) = BlockDevice::at(&SystemRoot::here(), drive) else { return false };
    let of_parts = drive.partitions().into_iter().flat_map(|part| part.holders());
    of_parts.chain(drive.holders()).any(|holder| holder.name().starts_with("dm-"))
}

/// A member of the stack's arrays.
#[derive(Debug)]
struct Member(MemberRebuild);

impl MemberInUse for Member {
    fn length(&self) -> Bytes {
        self.0.length()
    }

    fn limit(&self) -> Option<Bytes> {
        self.0.limit()
    }

    fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, WorkloadError> {
        self.0.begin(from, executor).map_err(failed)
    }

    fn is_rebuilding(&self) -> bool {
        self.0.is_rebuilding()
    }

    fn end(&self) -> Result<Bytes, WorkloadError> {
        self.0.end().map_err(failed)
    }

    fn freeze(&self) -> Result<(), WorkloadError> {
        self.0.freeze().map_err(failed)
    }
}

fn failed(error: StackError) -> WorkloadError {
    if error.is_interrupt() { Interrupted.into() } else { WorkloadError::Care(Box::new(error)) }
}

/// Refuses events, and work, that a stack on so many drives cannot have.
///
/// # Errors
/// [`BenchError::Care`] with the first.
pub(crate) fn check_care(
    workload: &dyn Workload,
    events: &[WorkEvent],
    stack: &Stack,
    drives: usize,
) -> Result<(), BenchError> {
    let of_events = events.iter().filter_map(WorkEvent::care);
    for (care, drive) in workload.care().into_iter().chain(of_events) {
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
