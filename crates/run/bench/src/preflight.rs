//! What of a campaign can run on a bench.

use disklab_cell::{DrivePlan, Levels, MachinePlan};
use disklab_exec::find_program;
use disklab_stack::{Machine, Need, Redundancy, Stack, Volume};
use disklab_study::{LeftOut, PlannedStack, StackSpec};
use disklab_units::Bytes;

use crate::{Drives, LoadedStudy};

/// What can run, and what cannot and why.
#[derive(Debug, Clone)]
pub struct Preflight {
    /// The machine on which cells run.
    pub machine: MachinePlan,
    /// Stacks that can be made here, in the study's order.
    pub stacks: Vec<PlannedStack>,
    /// The cells of a block, in the study's order.
    pub levels: Vec<Levels>,
    /// What each of the study's drives is, where the bench has it; empty for a directory.
    pub drives: Vec<Option<DrivePlan>>,
    /// What cannot run, and why.
    pub left_out: Vec<LeftOut>,
}

impl Preflight {
    /// Of a bench on which nothing runs yet.
    pub fn new(machine: MachinePlan, drives: Vec<Option<DrivePlan>>) -> Self {
        Self { machine, drives, stacks: Vec::new(), levels: Vec::new(), left_out: Vec::new() }
    }

    /// The size of each of the study's drives, where the bench has it.
    pub fn sizes(&self) -> Vec<Option<Bytes>> {
        self.drives.iter().map(|drive| drive.as_ref().map(|drive| drive.size)).collect()
    }
}

/// Checks a campaign for a bench that makes its stacks on drives.
pub(crate) fn preflight_devices(
    campaign: &LoadedStudy,
    drives: &dyn Drives,
    machine: &Machine,
    planned: MachinePlan,
) -> Preflight {
    let study = &campaign.study;
    let mut preflight = Preflight::new(planned, drives.plans(study));
    let sizes = preflight.sizes();
    preflight.left_out.clone_from(&study.left_out);
    let runnable = runnable_workloads(campaign, true, drives.are_ata(), &mut preflight.left_out);
    for (index, (spec, stack)) in study.stacks.iter().zip(&campaign.stacks).enumerate() {
        let volume = match volume_of(spec, stack, drives, &sizes, machine) {
            Ok(volume) => volume,
            Err(left_out) => {
                preflight.left_out.push(left_out);
                continue;
            }
        };
        let before = preflight.levels.len();
        for workload in &runnable {
            if study.is_excluded(index, *workload) {
                continue;
            }
            let id = &study.workloads[*workload].id;
            let space = campaign.workloads[*workload].cost().space;
            // What `df` calls available, less what file systems need to find the last of it.
            let usable = Bytes((volume.size.0 as f64 * 0.99) as u64);
            if space > usable {
                let why = format!(
                    "needs {} and the stack has {}; make the files smaller with --scale",
                    space.iec(),
                    usable.iec()
                );
                preflight.left_out.push(LeftOut::pair(&spec.id, id, why));
                continue;
            }
            preflight.levels.push(Levels::new(&spec.id, id));
        }
        if preflight.levels.len() > before {
            preflight.stacks.push(PlannedStack {
                id: spec.id.clone(),
                layers: stack.planned(),
                drives: spec.drives.iter().map(|d| study.drives[*d].name.to_string()).collect(),
                capacity: volume.size.0,
                tolerates: volume.tolerates(),
                loss: Some(volume.loss),
                copies: volume.redundancy == Redundancy::Copies,
            });
        }
    }
    preflight
}

/// What a stack becomes on the drives of a bench, or why it is left out.
fn volume_of(
    spec: &StackSpec,
    stack: &Stack,
    drives: &dyn Drives,
    sizes: &[Option<Bytes>],
    machine: &Machine,
) -> Result<Volume, LeftOut> {
    let left_out = |why: String| LeftOut::stack(&spec.id, why);
    let mut missing = machine.missing(&stack.needs());
    // That the bench itself needs root is said once, and no reason not to plan.
    missing.retain(|need| *need != Need::Root);
    if !missing.is_empty() {
        let words: Vec<_> = missing.iter().map(ToString::to_string).collect();
        let packages = missing.iter().filter_map(Need::package);
        return Err(left_out(format!("needs {}", words.join(", "))).lacking(packages));
    }
    if spec.write_cache.is_some() && !drives.write_cache_switchable() {
        return Err(left_out("needs drives whose write cache can be switched".to_owned()));
    }
    if spec.host_cache.is_some() && !drives.are_simulated() {
        return Err(left_out("needs the lab, where the host below a guest is a model".to_owned()));
    }
    if let Some(most) = drives.most_at_once().filter(|most| spec.drives.len() > *most) {
        let wanted = spec.drives.len();
        return Err(left_out(format!(
            "needs {wanted} drives; a stack in the lab has up to {most}"
        )));
    }
    let chosen = spec.drives.iter().map(|drive| sizes.get(*drive).copied().flatten());
    let Some(chosen) = chosen.collect::<Option<Vec<Bytes>>>() else {
        let have = sizes.iter().flatten().count();
        let wanted = spec.drives.iter().max().map_or(0, |d| d + 1);
        return Err(left_out(format!("needs {wanted} drives; this bench has {have}")));
    };
    stack.shape(&chosen).map_err(|why| left_out(why.to_string()))
}

/// The workloads whose programs are here, by index; the others are left out.
pub(crate) fn runnable_workloads(
    campaign: &LoadedStudy,
    has_device: bool,
    are_ata: bool,
    left_out: &mut Vec<LeftOut>,
) -> Vec<usize> {
    let mut runnable = Vec::new();
    for (index, (spec, workload)) in
        campaign.study.workloads.iter().zip(&campaign.workloads).enumerate()
    {
        let mut programs = workload.programs();
        if are_ata {
            programs.extend(workload.ata_programs());
        }
        programs.retain(|(program, _)| find_program(program).is_none());
        if !programs.is_empty() {
            let missing: Vec<String> = programs
                .iter()
                .map(|(program, package)| format!("the program {program} (package {package})"))
                .collect();
            let why = format!("needs {}", missing.join(", "));
            let packages = programs.iter().map(|(_, package)| *package);
            left_out.push(LeftOut::workload(&spec.id, why).lacking(packages));
        } else if let Some((what, package)) = workload.lacks() {
            let left = LeftOut::workload(&spec.id, format!("needs {what}"));
            left_out.push(left.lacking([package]));
        } else if workload.needs_device() && !has_device {
            left_out.push(LeftOut::workload(&spec.id, "needs a block device of its own"));
        } else {
            runnable.push(index);
        }
    }
    runnable
}
