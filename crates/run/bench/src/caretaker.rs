//! What an operator does to a cell's stack while it works.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::{Care, CellPlan, DrivePlan, PlannedLayer, SPARE};
use disklab_exec::{Executor, Interrupted};
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_stack::{
    Made, Stack, StackError, WindowedPass, care_for, passes, rebuild_limit, scrubbed,
};
use disklab_units::Bytes;
use disklab_workload::{Caretaker, PassInUse, WorkEvent, Workload, WorkloadError};

use crate::BenchError;
use crate::axes::{SPEED_AXIS, has_speed};

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
    /// What it is there for, if not for data.
    pub role: Option<String>,
    /// How many times larger the drive is for which it stands.
    pub times: f64,
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
        let numbered = (1..).zip(&self.drives).filter(|(_, drive)| drive.role.is_none());
        numbered.map(|(number, _)| number).collect()
    }

    fn spare(&self) -> Option<u32> {
        let is_spare = |drive: &CaredDrive| drive.role.as_deref() == Some(SPARE);
        (1..).zip(&self.drives).find(|(_, drive)| is_spare(drive)).map(|(number, _)| number)
    }

    fn times(&self, drive: u32) -> f64 {
        self.drive(drive).map_or(1.0, |drive| drive.times)
    }

    fn limit(&self, executor: &Executor) -> Result<Option<Bytes>, WorkloadError> {
        rebuild_limit(self.stack, self.made, executor).map_err(failed)
    }

    fn passes(
        &self,
        drive: Option<u32>,
        executor: &Executor,
    ) -> Result<Vec<Box<dyn PassInUse>>, WorkloadError> {
        if drive.is_none() && self.are_simulated {
            disklab_lab_guest::make_state_writable().map_err(|source| WorkloadError::Io {
                what: "cannot have a scrub keep its progress in".to_owned(),
                path: "/var/lib".into(),
                source,
            })?;
        }
        let drive = drive.map(|drive| self.device(drive));
        let passes = passes(self.stack, self.made, drive, executor).map_err(failed)?;
        let boxed = |pass| Box::new(StackPassInUse(pass)) as Box<dyn PassInUse>;
        Ok(passes.into_iter().map(boxed).collect())
    }

    fn scrubbed(&self, executor: &Executor) -> Result<Option<(Bytes, Bytes)>, WorkloadError> {
        scrubbed(self.stack, self.made, executor).map_err(failed)
    }
}

impl StackCaretaker<'_> {
    /// A drive, by its number.
    fn drive(&self, drive: u32) -> Option<&CaredDrive> {
        (drive as usize).checked_sub(1).and_then(|at| self.drives.get(at))
    }

    fn device(&self, drive: u32) -> &Path {
        self.drive(drive).map_or(Path::new(""), |drive| drive.device.as_path())
    }
}

/// Whether the device mapper is right above a drive. dm-integrity would not read a blank one, and LVM
/// finds its own by what is on it.
fn is_mapped(drive: &Path) -> bool {
    let Some(drive) = BlockDevice::at(&SystemRoot::here(), drive) else { return false };
    let of_parts = drive.partitions().into_iter().flat_map(|part| part.holders());
    of_parts.chain(drive.holders()).any(|holder| holder.name().starts_with("dm-"))
}

/// A pass over the stack's arrays.
#[derive(Debug)]
struct StackPassInUse(Box<dyn WindowedPass>);

impl PassInUse for StackPassInUse {
    fn length(&self) -> Bytes {
        self.0.length()
    }

    fn limit(&self) -> Option<Bytes> {
        self.0.limit()
    }

    fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, WorkloadError> {
        self.0.begin(from, executor).map_err(failed)
    }

    fn is_running(&self) -> bool {
        self.0.is_running()
    }

    fn end(&self) -> Result<(Bytes, Instant), WorkloadError> {
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
    drives: &[DrivePlan],
) -> Result<(), BenchError> {
    let count = drives.len();
    let of_events = events.iter().filter_map(WorkEvent::care);
    for (care, drive) in workload.care().into_iter().chain(of_events) {
        let wrong = |why: String| {
            let stack = stack.describe();
            Err(BenchError::Care { what: care.words(), stack, why })
        };
        if !stack.can(care) {
            return wrong("none of its layers can".to_owned());
        }
        let has_drive = || drives.iter().any(|d| d.role.as_deref() == Some(SPARE));
        if care == Care::TakeSpare && !has_drive() && !stack.has_spread_spare() {
            return wrong("it has none".to_owned());
        }
        if drive.is_some_and(|drive| drive as usize > count) {
            return wrong(format!("there is no drive {}, only {count}", drive.unwrap_or(0)));
        }
        let does = match care {
            Care::Rebuild => "rebuilds",
            Care::Scrub => "scrubs",
            _ => continue,
        };
        if moves_too_much(workload, stack, drives) {
            let why = "all that is used, and only the lab has smaller drives for that";
            return wrong(format!("it {does} {why}"));
        }
    }
    Ok(())
}

/// Refuses a plan whose rebuild or scrub is to be held to a speed, if none of its layers can.
///
/// # Errors
/// [`BenchError::Care`].
pub fn check_speed(plan: &CellPlan) -> Result<(), BenchError> {
    let is_asked = plan.cell.levels.further.contains_key(SPEED_AXIS);
    if !is_asked || plan.making.stack.iter().any(|layer| has_speed(&layer.name)) {
        return Ok(());
    }
    let (what, why) = ("hold a rebuild or scrub to a speed", "none of its layers can".to_owned());
    Err(BenchError::Care { what, stack: PlannedLayer::notation(&plan.making.stack), why })
}

/// Whether larger drives than the work may have would be filled.
fn moves_too_much(workload: &dyn Workload, stack: &Stack, drives: &[DrivePlan]) -> bool {
    let small = workload.small_drives().filter(|_| stack.moves_what_is_used());
    let largest = drives.iter().filter(|drive| drive.role.is_none()).map(|drive| drive.size).max();
    small.zip(largest).is_some_and(|(small, largest)| largest > small)
}
