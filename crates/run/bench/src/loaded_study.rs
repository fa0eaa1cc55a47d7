//! A study whose layers and workloads are understood.

use std::collections::{BTreeMap, BTreeSet};

use disklab_cell::{Cell, CellPlan, FaultPlan, Levels};
use disklab_source::SourceError;
use disklab_stack::{Need, Stack};
use disklab_study::Study;
use disklab_workload::{Context, WorkEvent, Workload, read_workload};

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
            WorkEvent::read(&plan, &workload.steps())?;
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
}
