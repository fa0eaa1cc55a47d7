//! The axes that a study can cross its stacks and workloads with, besides these.

use std::path::Path;

use disklab_cell::{Axes, Caches, CellPlan, LabPlan, MachinePlan, StudyAxis};
use disklab_lab_kernel::LinuxChoice;
use disklab_source::did_you_mean;
use disklab_stack::find_layer;
use disklab_study::{FAULT_AXIS, MACHINES, NO_FAULT, SCSI_TIMEOUT, Study};
use disklab_units::{Bytes, parse_share_within};

use crate::lab::{find_processor, host_of};

/// An axis that there is.
pub struct KnownAxis {
    /// Its name in a study and on the command line.
    pub name: &'static str,
    /// What its levels are, for people.
    pub levels: &'static str,
    set: SetLevel,
}

/// Gives a level; refuses what is none.
enum SetLevel {
    /// To the lab's guest.
    Lab(fn(&mut LabPlan, &str) -> Result<(), String>),
    /// To the cell of the study, on any bench.
    Cell(fn(&mut CellPlan, &Study, &str) -> Result<(), String>),
}

/// All of them.
pub static AXES: [KnownAxis; 11] = [
    KnownAxis {
        name: "bus",
        levels: "throughput of the bus that all drives share, or none (lab)",
        set: SetLevel::Lab(|lab, level| {
            lab.bus = match level {
                "none" => None,
                text => Some(disklab_study::bus(text).map_err(|why| why.to_string())?.0 as u64),
            };
            Ok(())
        }),
    },
    KnownAxis {
        name: "caches",
        levels: "when what is in memory is dropped: cold, drop, keep",
        set: SetLevel::Cell(|plan, _, level| {
            plan.workload.caches = match level {
                "cold" => Caches::Cold,
                "drop" => Caches::Drop,
                "keep" => Caches::Keep,
                _ => return Err("expected cold, drop or keep".to_owned()),
            };
            Ok(())
        }),
    },
    KnownAxis {
        name: FAULT_AXIS,
        levels: "what goes wrong with drives: the ids of the study's [[faults]], or none (lab)",
        set: SetLevel::Cell(|plan, study, level| {
            if level == NO_FAULT {
                return Ok(());
            }
            let known = || study.faults.iter().map(|fault| fault.id.as_str());
            let fault = study.faults.iter().find(|fault| fault.id == level).ok_or_else(|| {
                format!("the study has no such fault{}", did_you_mean(level, known()))
            })?;
            plan.faults.extend(fault.does.iter().cloned());
            Ok(())
        }),
    },
    KnownAxis {
        name: "host-cache",
        levels: "cache mode of a virtual machine's disks, such as writeback (lab, with a host)",
        set: SetLevel::Lab(|lab, level| {
            let host = lab.host.as_mut().ok_or("the study has no lab.host")?;
            host.cache = Some(level.to_owned());
            host_of(lab).map(drop).map_err(|why| why.to_string())
        }),
    },
    KnownAxis {
        name: "linux",
        levels: "which of the lab's kernels (lab)",
        set: SetLevel::Lab(|lab, level| {
            let linux: LinuxChoice = level.parse().map_err(|why| format!("{why}"))?;
            lab.linux = Some(linux.to_string());
            Ok(())
        }),
    },
    KnownAxis {
        name: "machine",
        levels: "the system whose settings a guest has, such as debian-12 (lab)",
        set: SetLevel::Lab(|lab, level| {
            let known = || MACHINES.iter().map(|machine| machine.name);
            if !known().any(|name| name == level) {
                return Err(format!("unknown machine{}", did_you_mean(level, known())));
            }
            level.clone_into(&mut lab.machine);
            Ok(())
        }),
    },
    KnownAxis {
        name: "memory",
        levels: "memory of a guest (lab)",
        set: SetLevel::Lab(|lab, level| {
            lab.memory = level.parse().map_err(|why| format!("{why}"))?;
            match lab.memory < LabPlan::LEAST_MEMORY {
                true => Err(format!("a guest needs at least {}", LabPlan::LEAST_MEMORY.iec())),
                false => Ok(()),
            }
        }),
    },
    KnownAxis {
        name: "processor",
        levels: "the processor whose time is charged, or none (lab)",
        set: SetLevel::Lab(|lab, level| {
            let known = find_processor(level, Path::new(""));
            lab.processor = known.map_err(|why| why.to_string())?;
            Ok(())
        }),
    },
    KnownAxis {
        name: SCSI_TIMEOUT,
        levels: "after which the kernel gives up a command of drives that are SCSI disks, or none (lab)",
        set: SetLevel::Lab(|lab, level| {
            lab.scsi_timeout = disklab_study::scsi_timeout(level)?;
            Ok(())
        }),
    },
    KnownAxis {
        name: "spread",
        levels: "share of the file system over which large files are laid out, or none",
        set: SetLevel::Cell(|plan, _, level| {
            let share = |text| parse_share_within(text, disklab_study::SPREADS);
            plan.spread = match level {
                "none" => None,
                text => Some(share(text).map_err(|why| why.to_string())?),
            };
            Ok(())
        }),
    },
    KnownAxis {
        name: SPEED_AXIS,
        levels: "most bytes per second of a rebuild or scrub, such as 50M; of layers that have this option",
        set: SetLevel::Cell(|plan, _, level| {
            level.parse::<Bytes>().map_err(|why| why.to_string())?;
            for layer in plan.making.stack.iter_mut().filter(|layer| has_speed(&layer.name)) {
                layer.options.retain(|(name, _)| name != SPEED_AXIS);
                layer.options.push((SPEED_AXIS.to_owned(), Some(level.to_owned())));
            }
            Ok(())
        }),
    },
];

/// The axis, and the option of a layer.
pub const SPEED_AXIS: &str = "sync-speed-max";

/// Whether such a layer has it.
pub(crate) fn has_speed(layer: &str) -> bool {
    find_layer(layer).is_some_and(|kind| kind.options.iter().any(|(name, _)| *name == SPEED_AXIS))
}

/// Why a bench on real or loop devices refuses an axis.
const LAB: &str = "only the lab has this axis";

/// An axis is not one, or a level not one of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongAxis {
    /// There is no such axis.
    #[error("there is no axis '{0}'{1}; `disklab list axes` names all")]
    Unknown(String, String),
    /// The bench or the study cannot have it.
    #[error("the axis {axis}, level '{level}': {why}")]
    Level {
        /// Its name.
        axis: String,
        /// As the study or the command line has it.
        level: String,
        /// What is wrong.
        why: String,
    },
}

/// Gives a cell's plan a level of an axis.
fn set(plan: &mut CellPlan, study: &Study, axis: &str, level: &str) -> Result<(), WrongAxis> {
    let known = AXES.iter().find(|known| known.name == axis).ok_or_else(|| {
        let hint = did_you_mean(axis, AXES.iter().map(|known| known.name));
        WrongAxis::Unknown(axis.to_owned(), hint)
    })?;
    let wrong = |why| WrongAxis::Level { axis: axis.to_owned(), level: level.to_owned(), why };
    let done = match (&known.set, &mut plan.making.machine) {
        (SetLevel::Lab(set), MachinePlan::Lab(lab)) => set(lab, level),
        (SetLevel::Lab(_), _) => Err(LAB.to_owned()),
        (SetLevel::Cell(set), _) => set(plan, study, level),
    };
    done.map_err(wrong)
}

/// Gives the lab's guest the first level of each axis, so that it is described as the ordinary case.
/// What is none is left to [`check_axes`].
pub fn set_ordinary(axes: &Axes, lab: &mut LabPlan) {
    for (axis, level) in axes.ordinary() {
        let known = AXES.iter().find(|known| known.name == axis);
        if let Some(KnownAxis { set: SetLevel::Lab(set), .. }) = known {
            let mut with = lab.clone();
            if set(&mut with, &level).is_ok() {
                *lab = with;
            }
        }
    }
}

/// Gives a cell's plan what its levels of the further axes say.
///
/// # Errors
/// [`WrongAxis`] with the first that the plan cannot have.
pub(crate) fn set_levels(plan: &mut CellPlan, study: &Study) -> Result<(), WrongAxis> {
    let further = plan.cell.levels.further.clone();
    further.iter().try_for_each(|(axis, level)| set(plan, study, axis, level))
}

/// Refuses axes of a study that a cell with this plan cannot have.
///
/// # Errors
/// [`WrongAxis`] with the first level that is wrong.
pub fn check_axes(study: &Study, plan: &CellPlan) -> Result<(), WrongAxis> {
    let check =
        |axis: &StudyAxis, level: &String| set(&mut plan.clone(), study, axis.name(), level);
    study
        .axes
        .all()
        .iter()
        .try_for_each(|axis| axis.levels().iter().try_for_each(|l| check(axis, l)))
}
