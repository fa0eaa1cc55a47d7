//! A study whose layers and workloads are understood, compiled into the plans of its cells.

use std::collections::{BTreeMap, BTreeSet};

use disklab_cell::{
    Cell, CellEstimate, CellPlan, DATA, DrivePlan, FaultPlan, HostPlan, Levels, MachinePlan,
    MakingPlan, Needs, PlannedLayer,
};
use disklab_source::SourceError;
use disklab_stack::{Need, Stack};
use disklab_study::Study;
use disklab_units::Bytes;
use disklab_workload::{Context, WorkEvent, Workload, read_workload};

use crate::axes::set_levels;
use crate::{BenchError, Preflight};

/// A study together with its stacks and workloads, ready to be checked and run.
#[derive(Debug)]
pub struct LoadedStudy {
    /// Where the indices below lead to.
    pub study: Study,
    /// Its stacks, by the same index.
    pub stacks: Vec<Stack>,
    /// Its workloads, by the same index.
    pub workloads: Vec<Box<dyn Workload>>,
    /// The files that each workload names, by the same index.
    pub files: Vec<BTreeMap<String, String>>,
    /// By how much sizes are scaled.
    pub scale: f64,
    /// What goes wrong with the drives of each stack.
    pub faults: Vec<FaultPlan>,
}

/// What cells need of their bench before the first of them begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BenchNeeds {
    /// The drives below their stacks, by their place among the study's.
    pub drives: BTreeSet<usize>,
    /// Whether a kernel must have OpenZFS.
    pub zfs: bool,
    /// Kernels of the lab that cells name; the bench's own is not among them.
    pub linux: BTreeSet<String>,
}

/// The kernel that a cell names.
fn linux_of(levels: &Levels) -> Option<String> {
    levels.further.get("linux").cloned()
}

impl BenchNeeds {
    /// Those of one cell.
    pub fn of_plan(plan: &CellPlan) -> Self {
        let drives = plan.making.drives.iter().map(|drive| drive.position as usize).collect();
        Self {
            drives,
            zfs: plan.needs.zfs,
            linux: linux_of(&plan.cell.levels).into_iter().collect(),
        }
    }
}

impl LoadedStudy {
    /// Understands a study.
    ///
    /// # Errors
    /// Where a layer, a program or one of their options is unknown or wrong.
    pub fn new(study: Study, context: &Context) -> Result<Self, SourceError> {
        let parse =
            if study.named_drives.is_some() { Stack::parse_for_other_drives } else { Stack::parse };
        let stacks = study.stacks.iter().map(parse).collect::<Result<_, _>>()?;
        let (mut workloads, mut files) = (Vec::new(), Vec::new());
        for spec in &study.workloads {
            let own = context.files.or_kept(study.files.as_ref());
            let context = Context { files: own, ..*context };
            let plan = spec.plan();
            let workload = read_workload(&plan, &context)?;
            WorkEvent::read(&plan, workload.as_ref())?;
            workloads.push(workload);
            files.push(context.files.taken());
        }
        let (scale, faults) = (context.scale, Vec::new());
        Ok(Self { study, stacks, workloads, files, scale, faults })
    }

    /// Has the study's text keep the files that its workloads name.
    pub fn keep_files(&mut self) {
        let files = self.files.iter().flatten();
        let files = files.map(|(name, text)| (name.clone(), text.clone())).collect();
        self.study.keep_files(&files);
    }

    /// What these cells need of their bench.
    pub fn needs(&self, cells: &[Cell]) -> BenchNeeds {
        let used: BTreeSet<usize> =
            cells.iter().filter_map(|cell| self.study.stack_index(&cell.levels.stack)).collect();
        BenchNeeds {
            drives: used.iter().flat_map(|at| self.study.stacks[*at].drives.clone()).collect(),
            zfs: used.iter().any(|at| self.stacks[*at].needs().contains(&Need::Zfs)),
            linux: cells.iter().filter_map(|cell| linux_of(&cell.levels)).collect(),
        }
    }

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
