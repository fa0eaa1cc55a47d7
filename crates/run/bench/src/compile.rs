//! The plans of a study's cells.

use disklab_cell::{
    Cell, CellEstimate, CellPlan, DATA, DrivePlan, HostPlan, MachinePlan, MakingPlan, Needs,
    PlannedLayer,
};
use disklab_stack::Need;
use disklab_units::Bytes;

use crate::axes::set_levels;
use crate::{BenchError, LoadedStudy, Preflight};

impl LoadedStudy {
    /// All that a cell of a run with this seed needs, on the bench of this preflight, but what it will
    /// cost. Pure.
    ///
    /// # Errors
    /// [`BenchError::UnknownCell`] if the study, or the bench, has not what the cell names.
    pub fn compile(
        &self,
        preflight: &Preflight,
        cell: &Cell,
        seed: u64,
    ) -> Result<CellPlan, BenchError> {
        let study = &self.study;
        let unknown = || BenchError::UnknownCell {
            cell: Box::new(cell.clone()),
            study: study.id.to_string(),
        };
        let work = study.workload_index(&cell.levels.workload).ok_or_else(unknown)?;
        let workload = &self.workloads[work];
        let programs = workload.programs().into_iter().map(|(name, _)| name.to_owned());
        let mut making = MakingPlan {
            machine: preflight.machine.clone(),
            drives: Vec::new(),
            stack: Vec::new(),
            write_cache: None,
            seed: study.making_seed(cell, seed),
            earlier_files: study.has_earlier_files,
            reserves_space: false,
        };
        let mut needs = Needs { programs: programs.collect(), ..Needs::default() };
        if !matches!(making.machine, MachinePlan::Directory(_)) {
            let at = study.stack_index(&cell.levels.stack).ok_or_else(unknown)?;
            let space = workload.cost().space;
            self.add_stack(at, preflight, space, &mut making, &mut needs).ok_or_else(unknown)?;
            if self.stacks[at].moves_what_is_used()
                && let Some(small) = workload.small_drives()
            {
                DrivePlan::make_small(&mut making.drives, small);
            }
        }
        let mut plan = CellPlan {
            format: CellPlan::FORMAT,
            cell: cell.clone(),
            making,
            workload: study.workloads[work].plan(),
            scale: self.scale,
            files: self.files[work].clone(),
            spread: study.spread,
            faults: self.faults.clone(),
            needs,
            estimate: CellEstimate::default(),
        };
        set_levels(&mut plan, study)?;
        Ok(plan)
    }

    /// Has this stack of the study be made for work that takes so much space. `None` if the bench has
    /// not its drives.
    fn add_stack(
        &self,
        at: usize,
        preflight: &Preflight,
        space: Bytes,
        making: &mut MakingPlan,
        needs: &mut Needs,
    ) -> Option<()> {
        let (spec, stack) = (&self.study.stacks[at], &self.stacks[at]);
        making.stack = stack.planned();
        making.drives = drives(preflight, &spec.drives, &making.stack)?;
        let planned = preflight.stacks.iter().find(|planned| planned.id == spec.id);
        let capacity = planned.map_or(0, |planned| planned.capacity);
        // A workload that fills the file system has its space.
        making.reserves_space = making.earlier_files && space.0 < capacity / 2;
        making.write_cache = spec.write_cache;
        for need in stack.needs() {
            match need {
                Need::Program { name, .. } => needs.programs.push(name.to_owned()),
                Need::Zfs => needs.zfs = true,
                need => needs.kernel.extend(need.kernel_option()),
            }
        }
        if let MachinePlan::Lab(lab) = &mut making.machine
            && let Some(HostPlan { cache, .. }) = &mut lab.host
        {
            cache.clone_from(&spec.host_cache);
        }
        Some(())
    }
}

/// The drives at these positions of the study, with their roles below these layers.
fn drives(
    preflight: &Preflight,
    positions: &[usize],
    layers: &[PlannedLayer],
) -> Option<Vec<DrivePlan>> {
    let roles = PlannedLayer::roles(layers, positions.len());
    let drive = |(position, role): (&usize, &str)| {
        let drive = preflight.drives.get(*position).cloned().flatten()?;
        Some(DrivePlan { role: (role != DATA).then(|| role.to_owned()), ..drive })
    };
    positions.iter().zip(roles).map(drive).collect()
}
