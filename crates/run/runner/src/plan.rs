//! What would be run, on what, and in which order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use disklab_bench::{
    BenchError, BenchNeeds, BenchProfile, LoadedStudy, Preflight, WrongAxis, check_axes,
};
use disklab_cell::{Cell, CellPlan, Levels, MachinePlan};
use disklab_options::{BenchKind, RunSettings};
use disklab_prediction::CellPrediction;
use disklab_sample::{Environment, Reference};
use disklab_store::{RunInfo, now};
use disklab_study::{LeftOut, TooManyCells, check_run_size};

use crate::too_little::too_little;
use crate::{LookRule, StopRule, VERSION};

/// What would be run, on what, and in which order. It follows from the study, the bench and
/// the options alone; nothing is asked of a device.
#[derive(Debug)]
pub struct Plan {
    /// The study, understood.
    pub campaign: LoadedStudy,
    /// What it is like, for predictions and reports.
    pub bench: BenchProfile,
    /// What of the study can run there, and is selected.
    pub preflight: Preflight,
    /// The cells, in their order. With a rule, those that run at least.
    pub cells: Vec<Cell>,
    /// Seed of everything random, the order included.
    pub seed: u64,
    /// Blocks; with a rule, at most so many.
    pub repeats: u32,
    /// The rule that decides how long it runs; `None` for the fixed number of repeats.
    pub stop: Option<StopRule>,
    /// Whether that rule is the study's own, and not the user's.
    pub has_goal_of_study: bool,
    /// The options that a run records, by their names.
    pub settings: RunSettings,
    /// The bench, as it was asked for.
    pub kind: BenchKind,
    /// What the figures of a directory are compared with.
    pub reference: Option<Reference>,
    predictions: OnceLock<HashMap<Levels, CellPrediction>>,
}

/// A plan cannot be a run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It has more cells than a run has.
    #[error(transparent)]
    TooManyCells(#[from] TooManyCells),
    /// A cell cannot have a level of an axis.
    #[error(transparent)]
    Axis(#[from] WrongAxis),
    /// The best of one is no question.
    #[error(
        "--goal compares stacks, and no workload runs on two of them here, so that there is \
         nothing to be best of; --precision 5% alone runs until each figure is known within 5 %, \
         or take --repeats or --budget"
    )]
    NothingToCompare,
    /// No cell is left.
    #[error("nothing of this study can run here")]
    NoCells {
        /// What cannot run, and why.
        left_out: Vec<LeftOut>,
    },
}

impl Plan {
    /// The plan for all that `preflight` says can run, `repeats` times.
    ///
    /// # Errors
    /// [`PlanError::TooManyCells`] if the repeats of all cells are more than a run may have,
    /// [`PlanError::Axis`] if the bench cannot have a level of the study's axes.
    pub fn new(
        campaign: LoadedStudy,
        bench: BenchProfile,
        mut preflight: Preflight,
        repeats: u32,
        seed: u64,
    ) -> Result<Self, PlanError> {
        let axes = &campaign.study.axes;
        if let Some(first) = preflight.levels.first().cloned() {
            let cell = Cell { number: 0, block: 0, levels: first, seed };
            if let Ok(plan) = campaign.compile(&preflight, &cell, seed) {
                check_axes(&campaign.study, &plan)?;
            }
        }
        preflight.levels = axes.cross(&preflight.levels);
        check_run_size(preflight.levels.len(), repeats)?;
        let cells = campaign.study.order(&preflight.levels, repeats, seed);
        Ok(Self {
            campaign,
            bench,
            preflight,
            cells,
            seed,
            repeats,
            stop: None,
            has_goal_of_study: false,
            settings: RunSettings::default(),
            kind: BenchKind::default(),
            reference: None,
            predictions: OnceLock::new(),
        })
    }

    /// What its cells need of their bench before the first of them begins.
    pub fn needs(&self) -> BenchNeeds {
        self.campaign.needs(&self.cells)
    }

    /// All that a cell needs to be carried out, but what it will cost.
    ///
    /// # Errors
    /// [`BenchError::UnknownCell`] if the study has not what the cell names.
    pub fn compile(&self, cell: &Cell) -> Result<CellPlan, BenchError> {
        self.campaign.compile(&self.preflight, cell, self.seed)
    }

    /// What a run of this plan is that begins now, on a machine as described.
    pub(crate) fn run_info(&self, environment: Environment) -> RunInfo {
        let study = &self.campaign.study;
        RunInfo {
            disklab: VERSION.to_owned(),
            study: study.id.to_string(),
            title: study.title.clone(),
            study_file: study.source.name.clone(),
            study_text: study.source.text.clone(),
            bench: self.kind.clone().into(),
            bench_about: self.bench.about.clone(),
            options: self.settings.clone(),
            scale: self.campaign.scale,
            repeats: self.repeats,
            seed: self.seed,
            created: now(),
            stacks: self.preflight.stacks.clone(),
            left_out: self.preflight.left_out.clone(),
            reference: self.reference.clone(),
            machines: Default::default(),
            environment,
        }
    }

    /// What each cell of a block will cost: the same in all blocks, and predicted once.
    pub fn predictions(&self) -> &HashMap<Levels, CellPrediction> {
        self.predictions.get_or_init(|| {
            let drives = self.drive_names().len();
            let block: Vec<Cell> = self.order(1);
            let made = |levels: &Levels| (levels.stack.clone(), levels.further.clone());
            let mut of_stacks: HashMap<_, usize> = HashMap::new();
            for cell in &block {
                *of_stacks.entry(made(&cell.levels)).or_default() += 1;
            }
            let known = |cell: &Cell| {
                let plan = self.compile(cell).ok()?;
                let mut prediction = CellPrediction::new(&plan, self.bench.medium, drives).ok()?;
                prediction.shared_by(of_stacks[&made(&cell.levels)]);
                Some((cell.levels.clone(), prediction))
            };
            block.iter().filter_map(known).collect()
        })
    }

    /// All cells of so many blocks.
    pub fn order(&self, blocks: u32) -> Vec<Cell> {
        self.campaign.study.order(&self.preflight.levels, blocks, self.seed)
    }

    /// Leaves out all cells but these.
    pub fn keep(&mut self, cells: &BTreeSet<Levels>) {
        self.preflight.levels.retain(|levels| cells.contains(levels));
        self.cells = self.order(self.repeats);
    }

    /// Has the samples or the clock decide how long it runs.
    ///
    /// # Errors
    /// [`PlanError::NothingToCompare`] and [`PlanError::TooManyCells`].
    pub fn stop_by(&mut self, rule: StopRule) -> Result<(), PlanError> {
        let mut stacks: BTreeMap<&str, usize> = BTreeMap::new();
        for Levels { workload, .. } in &self.preflight.levels {
            *stacks.entry(workload).or_default() += 1;
        }
        let compares = rule.looks_for.as_ref().is_some_and(LookRule::compares);
        if compares && !stacks.is_empty() && stacks.values().all(|n| *n < 2) {
            return Err(PlanError::NothingToCompare);
        }
        check_run_size(self.preflight.levels.len(), rule.most_blocks())?;
        self.repeats = rule.most_blocks();
        self.cells = self.order(rule.first_look());
        self.stop = Some(rule);
        Ok(())
    }

    /// Refuses a plan that has nothing to run.
    ///
    /// # Errors
    /// [`PlanError::NoCells`], with what was left out and why, if nothing is left to run.
    pub fn check_cells(&self) -> Result<(), PlanError> {
        if !self.cells.is_empty() {
            return Ok(());
        }
        Err(PlanError::NoCells { left_out: self.preflight.left_out.clone() })
    }

    /// Whether it runs the study's quick form.
    pub fn is_quick(&self) -> bool {
        self.settings.quick
    }

    fn runs(&self, id: &str) -> bool {
        self.preflight.levels.iter().any(|levels| levels.workload == id)
    }

    /// Workloads that will run and that no question of the study covers.
    pub fn unasked(&self) -> Vec<&str> {
        let unasked = self.campaign.study.unasked_workloads().map(|w| w.id.as_str());
        unasked.filter(|id| self.runs(id)).collect()
    }

    /// What its workloads have too little of for an answer, whatever the drives' memory is:
    /// 'small-files: 63 files of at least 1000'.
    pub fn below_floors(&self) -> Vec<String> {
        let workloads = self.campaign.study.workloads.iter().zip(&self.campaign.workloads);
        let mut found = Vec::new();
        for (spec, workload) in workloads.filter(|(spec, _)| self.runs(&spec.id)) {
            let least = too_little(&spec.id, workload.as_ref(), None).into_iter().next();
            found.extend(least.map(|(_, below)| format!("{}: {below}", spec.id)));
        }
        found
    }

    /// The drives that are written to, by their names.
    pub fn drive_names(&self) -> Vec<String> {
        // A directory has drives of its own, the other benches have the study's.
        match self.preflight.stacks.first() {
            Some(stack) if matches!(self.preflight.machine, MachinePlan::Directory(_)) => {
                stack.drives.clone()
            }
            _ => self.campaign.study.drives.iter().map(|d| d.name.to_string()).collect(),
        }
    }
}
