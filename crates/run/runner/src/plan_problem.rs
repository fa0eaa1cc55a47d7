//! What a cell's plan may ask for: it may come from a stranger, and no study has checked it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use disklab_cell::{CellPlan, DriveKind, MachinePlan};
use disklab_lab::MOST_DISKS;
use disklab_source::is_hidden;
use disklab_study::{DRIVE_SIZES, MACHINES, MOST_CELLS, MOST_DRIVES, SCSI_TIMEOUTS, SLOWEST_BUS};

/// A cell's plan cannot be carried out as it is.
#[derive(Debug, thiserror::Error)]
pub enum PlanProblem {
    /// A value is none that a study's plan has.
    #[error("the plan's `{field}`: {why}")]
    Value {
        /// Where it stands.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// It writes to a place that the user has not named.
    #[error("the plan writes to {wanted}: name that with --on '{wanted}' if that is what you want")]
    NotNamed {
        /// As --on takes it.
        wanted: String,
    },
    /// It wants a kernel that this version does not build.
    #[error("the plan wants the lab's Linux {0:?}, which this disklab does not build")]
    Linux(String),
    /// The directory for its result has another's.
    #[error("{} has the result of another plan; name another directory with --out", .0.display())]
    OtherResult(PathBuf),
}

/// Bytes of a disk's serial number (virtio 1.2, 5.2.6.1).
const LONGEST_SERIAL: usize = 20;
/// Bytes of an id.
const LONGEST_ID: usize = 1000;

/// Refuses values that no study's plan has.
///
/// # Errors
/// [`PlanProblem::Value`] with the first of them.
pub(crate) fn check(plan: &CellPlan) -> Result<(), PlanProblem> {
    let expect = |is: bool, field, why: &str| match is {
        true => Ok(()),
        false => Err(PlanProblem::Value { field, why: why.to_owned() }),
    };
    let cell = &plan.cell;
    let numbers = u64::from(cell.number).max(u64::from(cell.block));
    expect(numbers < MOST_CELLS, "cell", "its number or block is more than a run's")?;
    let mut ids = vec![&cell.levels.stack, &cell.levels.workload, &plan.workload.id];
    ids.extend(cell.levels.further.iter().flat_map(|(axis, level)| [axis, level]));
    ids.extend(plan.making.drives.iter().map(|drive| &drive.name));
    let is_id = |id: &String| {
        !id.is_empty()
            && id.len() <= LONGEST_ID
            && !id.chars().any(|c| c.is_control() || is_hidden(c))
    };
    expect(ids.into_iter().all(is_id), "cell", "an id is empty, too long, or cannot be shown")?;
    let scale = plan.scale;
    expect(scale > 0.0 && scale <= 1000.0, "scale", "expected a number above 0, up to 1000")?;
    let spread = plan.spread.unwrap_or(0.5);
    expect((0.0..=1.0).contains(&spread), "spread", "expected a share from 0 to 1")?;
    let seconds = [plan.estimate.seconds, plan.estimate.clock_seconds];
    let are_seconds = seconds.iter().all(|s| s.is_finite() && *s >= 0.0);
    expect(are_seconds, "estimate", "expected seconds")?;
    check_drives(plan)?;
    let MachinePlan::Lab(lab) = &plan.making.machine else { return Ok(()) };
    expect(
        plan.making.drives.len() <= MOST_DISKS,
        "drives",
        "more than a guest of the lab can have",
    )?;
    let known = MACHINES.iter().any(|machine| machine.name == lab.machine);
    expect(known, "machine", "this disklab does not know the machine")?;
    expect(
        lab.bus.is_none_or(|bus| bus as f64 >= SLOWEST_BUS.0),
        "bus",
        "expected at least 1 MB/s",
    )?;
    let is_timeout = lab.scsi_timeout.is_none_or(|seconds| SCSI_TIMEOUTS.contains(&seconds));
    expect(is_timeout, "scsi_timeout", "expected seconds, up to a day")?;
    expect(!lab.limit.is_zero(), "limit", "expected a time")
}

fn check_drives(plan: &CellPlan) -> Result<(), PlanProblem> {
    let wrong = |why: &str| Err(PlanProblem::Value { field: "drives", why: why.to_owned() });
    if plan.making.drives.len() as u64 > MOST_DRIVES {
        return wrong("more than a study can have");
    }
    let (mut positions, mut serials) = (BTreeSet::new(), BTreeSet::new());
    let mut names = BTreeSet::new();
    for drive in &plan.making.drives {
        let is_fit = matches!(
            (&plan.making.machine, &drive.kind),
            (MachinePlan::Lab(_), DriveKind::Model(_))
                | (MachinePlan::Loop, DriveKind::File)
                | (MachinePlan::Disks, DriveKind::Disk(_))
        );
        if !is_fit {
            return wrong("a drive is of another kind than the machine's");
        }
        if !DRIVE_SIZES.contains(&drive.size) {
            let (least, most) = (DRIVE_SIZES.start().iec(), DRIVE_SIZES.end().si());
            return wrong(&format!("expected sizes from {least} to {most}"));
        }
        if !positions.insert(drive.position) {
            return wrong("two have the same position");
        }
        // What a drive moved is recorded by its name.
        if !names.insert(&drive.name) {
            return wrong("two have the same name");
        }
        if let DriveKind::Model(model) = &drive.kind
            && (model.serial.is_empty()
                || model.serial.len() > LONGEST_SERIAL
                || !model.serial.chars().all(|c| c.is_ascii_graphic()))
        {
            return wrong("expected serial numbers of 1 to 20 letters, digits and signs");
        }
        if let DriveKind::Model(model) = &drive.kind
            && !serials.insert(&model.serial)
        {
            return wrong("two have the same serial number");
        }
    }
    Ok(())
}
