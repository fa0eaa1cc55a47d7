//! The faults of a plan's drives.

use std::path::Path;

use disklab_cell::{CellPlan, FaultPlan, MOST_FAULTS, MachinePlan};
use disklab_content::splitmix64;
use disklab_drive::{DriveFault, FaultRecord};
use disklab_lab::{DiskFaults, DiskOptions, LabReport};
use disklab_sample::Note;
use disklab_study::SCSI_TIMEOUT;
use disklab_units::count;

use super::drives::disks;
use super::fault_problem::FaultProblem;
use crate::BenchError;

/// The faults of these disks, those of each in their order.
///
/// # Errors
/// [`BenchError::Fault`] with the first that cannot be.
pub fn drive_faults(
    faults: &[FaultPlan],
    stack: &str,
    disks: &[DiskOptions],
    seed: u64,
) -> Result<Vec<Vec<DriveFault>>, BenchError> {
    let mut all: Vec<Vec<DriveFault>> = disks.iter().map(|_| Vec::new()).collect();
    for (fault, number) in faults.iter().zip(1_u64..) {
        let wrong = |why| BenchError::Fault { fault: fault.to_string(), why };
        let at = (fault.drive as usize).saturating_sub(1);
        let (Some(disk), Some(own)) = (disks.get(at), all.get_mut(at)) else {
            let (drive, stack, count) = (fault.drive, stack.to_owned(), disks.len());
            return Err(wrong(FaultProblem::NoSuchDrive { drive, stack, count }));
        };
        if number > MOST_FAULTS as u64 {
            return Err(wrong(FaultProblem::TooMany));
        }
        let size = (disk.drive.sectors(), disk.physical_bytes);
        let seed = splitmix64(seed ^ splitmix64(number));
        let fault = DriveFault::new(&fault.does, &fault.clauses, size, seed);
        own.push(fault.map_err(|e| wrong(e.into()))?);
    }
    Ok(all)
}

/// Refuses a plan with faults that cannot be.
///
/// # Errors
/// [`BenchError::Fault`] with the first.
pub fn check_faults(plan: &CellPlan) -> Result<(), BenchError> {
    let Some(first) = plan.faults.first() else { return Ok(()) };
    let MachinePlan::Lab(lab) = &plan.making.machine else {
        return Err(BenchError::Fault { fault: first.to_string(), why: FaultProblem::NotLab });
    };
    faults_of(plan, &disks(&plan.making, lab)?).map(drop)
}

fn faults_of(plan: &CellPlan, disks: &[DiskOptions]) -> Result<Vec<Vec<DriveFault>>, BenchError> {
    drive_faults(&plan.faults, &plan.cell.levels.stack, disks, plan.cell.seed)
}

/// Gives the disks of the guest that does the work of a plan the faults of their drives.
pub(super) fn add_faults(
    plan: &CellPlan,
    directory: &Path,
    disks: &mut [DiskOptions],
) -> Result<(), BenchError> {
    if plan.faults.is_empty() {
        return Ok(());
    }
    for (own, at) in faults_of(plan, disks)?.into_iter().zip(0..) {
        if !own.is_empty() {
            disks[at].faults = Some(DiskFaults::from_work(own, directory));
        }
    }
    Ok(())
}

/// Seconds that a request may take (drivers/scsi/sd.h, `SD_TIMEOUT`).
const DEFAULT_TIMEOUT: f64 = 30.0;

/// What the kernel's timer does, or would do, about a request that took so many seconds.
fn overdue(plan: &CellPlan, longest: f64) -> String {
    let MachinePlan::Lab(lab) = &plan.making.machine else { return String::new() };
    match lab.scsi_timeout {
        None if longest > DEFAULT_TIMEOUT => format!(
            "; a request took up to {longest:.0} s, which SCSI aborts after {DEFAULT_TIMEOUT} s to \
             reset the drive: virtio disks have no such timer (`{SCSI_TIMEOUT}` gives them one)"
        ),
        Some(timeout) if longest > timeout as f64 => {
            format!(
                "; the drive took up to {longest:.0} s for a request, which the kernel gave up after \
                 {timeout} s"
            )
        }
        _ => String::new(),
    }
}

/// What came of each fault, in sentences.
pub(super) fn fault_notes(plan: &CellPlan, report: &LabReport) -> Vec<Note> {
    let mut next = vec![0; report.disks.len()];
    let note = |fault: &FaultPlan| {
        let at = (fault.drive as usize).checked_sub(1)?;
        let number: &mut usize = next.get_mut(at)?;
        let records = report.disks[at].as_ref().map(|disk| disk.faults.as_slice());
        let record = records.unwrap_or_default().get(*number).copied().unwrap_or_default();
        *number += 1;
        let FaultRecord { after, requests, bytes, longest } = record;
        let what = match after {
            None => "did not happen, as no request came so late".to_owned(),
            Some(after) => {
                let after = after.0 as f64 / 1e9;
                let changed = if bytes > 0 {
                    count(bytes as usize, "byte")
                } else {
                    count(requests as usize, "request")
                };
                let overdue = overdue(plan, longest.0 as f64 / 1e9);
                format!("from {after:.3} s of the work, on {changed}{overdue}")
            }
        };
        Some(Note { about: "faults".to_owned(), text: format!("{fault}: {what}") })
    };
    plan.faults.iter().filter_map(note).collect()
}
