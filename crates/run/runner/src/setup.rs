//! From options to a bench, a plan, and a run that is checked.

mod allowance;
mod benches;
mod caller;
mod data_directory;
mod lab;
mod medium;
mod paths;
mod scratch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_bench::{Bench, CheckedBench, LoadedStudy};
use disklab_cell::{LayerSpec, Levels, SPARE};
use disklab_lab_kernel::{LinuxChoice, NamedKernel};
use disklab_options::RunSettings;
use disklab_stack::find_layer;
use disklab_study::{DriveRequests, Study};
use disklab_workload::Context;

use crate::drives::known_drives;
use crate::options::Applies;
use crate::plan::{Plan, PlanError};
use crate::selection::Selection;
use crate::{
    BenchKind, FoundStudy, OptionsError, RunEstimate, RunOptions, RunnerError, StopOptions,
};
pub use allowance::usable_memory;
pub use caller::{Caller, KernelBuilder};
pub use data_directory::DataDirectory;
pub use lab::{check_zfs, kernel_parts};

pub(crate) use lab::PlannedLab;
pub(crate) use medium::medium_below;
pub(crate) use paths::existing_ancestor;
pub(crate) use scratch::Scratch;

use self::benches::Benches;
use self::paths::absolute;
use self::scratch::check_writable;

/// A run that is planned. Nothing was created, and no device was looked at.
pub struct PlannedRun {
    /// What would be run.
    pub plan: Plan,
    /// Where the cells' data go; `None` if that is the drives themselves, as the plan has left
    /// out what does not fit on them.
    pub room: Option<DataDirectory>,
    bench: Bench,
    scratch: Scratch,
    /// The lab's kernel, if the user named one.
    named_kernel: Option<NamedKernel>,
    linux: Option<LinuxChoice>,
}

/// A run whose devices were looked at. Nothing was created.
pub struct CheckedRun {
    /// What would be run.
    pub plan: Plan,
    /// As [`PlannedRun::room`].
    pub room: Option<DataDirectory>,
    pub(crate) bench: CheckedBench,
    pub(crate) scratch: Scratch,
    named_kernel: Option<NamedKernel>,
    linux: Option<LinuxChoice>,
}

impl PlannedRun {
    /// Plans a run of a study. `out` is the run's directory.
    ///
    /// # Errors
    /// [`RunnerError`] if the study, an option, a drive file or a pattern is wrong.
    pub fn new(
        found: FoundStudy,
        options: &RunOptions,
        out: &Path,
        caller: &Caller,
    ) -> Result<Self, RunnerError> {
        options.check()?;
        let FoundStudy { study, directory } = found;
        check_directory_study(&study, options)?;
        let drives = options.drives.as_ref().map(known_drives).transpose()?;
        // Those below a directory are for what it is compared with.
        let drives = drives.filter(|_| matches!(options.bench(), BenchKind::Lab));
        let study = adapted(study, options, drives.as_ref())?;
        let context = Context::new(options.scale(), &directory);
        let mut campaign = LoadedStudy::new(study, &context)?;
        campaign.keep_files();
        campaign.faults = options.faults()?;
        let scratch = Scratch::new(options.settings.scratch.as_deref(), out)?;
        // `study.toml` lies in no directory that its path names.
        let directory = absolute(&Path::new(".").join(&directory))?;
        let named_kernel = lab::named_kernel(options)?;
        let mut benches = Benches {
            options,
            campaign: &campaign,
            scratch: scratch.path(),
            study: &directory,
            kernel: named_kernel.as_ref(),
            caller,
            settings: RunSettings {
                drives: drives.map(|drives| drives.to_string()),
                linux: options.linux.map(|linux| linux.to_string()),
                scratch: options.settings.scratch.is_some().then(|| scratch.path().to_owned()),
                ..options.settings.clone()
            },
            kind: options.bench(),
        };
        let bench = benches.bench()?;
        let (settings, kind) = (benches.settings, benches.kind);
        let mut preflight = bench.preflight(&campaign);
        Selection::new(&options.settings.only, &options.settings.without)
            .narrow(&mut preflight, &campaign.study)?;
        let repeats = options.repeats.unwrap_or(campaign.study.repeats);
        let seed = options.seed.map_or_else(draw_seed, Ok)?;
        let room = DataDirectory::of(&options.bench(), scratch.path());
        let mut plan = Plan::new(campaign, bench.profile(), preflight, repeats, seed)?;
        (plan.settings, plan.kind) = (settings, kind);
        plan.check_stacks()?;
        if let BenchKind::Dir(path) = &plan.kind {
            plan.campaign.study.title = title_of_directory(path, plan.campaign.study.has_reference);
        }
        let linux = options.linux;
        Ok(Self { plan, room, bench, scratch, named_kernel, linux })
    }

    /// Has the samples or the clock decide how long it runs, if `stop` or else the study says
    /// so. `repeats` are those that were asked for: they overrule the study's goal.
    ///
    /// # Errors
    /// [`RunnerError::Options`] if they contradict each other, [`RunnerError::Plan`] if there
    /// is nothing to decide.
    pub fn stop_by(&mut self, stop: &StopOptions, repeats: Option<u32>) -> Result<(), RunnerError> {
        let study = &self.plan.campaign.study;
        let stop = StopOptions { most_repeats: study.most_repeats, ..stop.clone() };
        if let Some(own) = stop.with_goal_of_study(study, repeats) {
            match self.decide_by(&own, None) {
                // The study's goal compares stacks, and only one is left here: the number of
                // repeats, or the budget, decides.
                Err(RunnerError::Plan(PlanError::NothingToCompare)) => {}
                decided => {
                    self.plan.has_goal_of_study = true;
                    return decided;
                }
            }
        }
        self.decide_by(&stop, repeats)
    }

    fn decide_by(&mut self, stop: &StopOptions, repeats: Option<u32>) -> Result<(), RunnerError> {
        if let Some(rule) = stop.rule(repeats)? {
            self.plan.stop_by(rule)?;
            stop.record(&mut self.plan.settings);
        }
        Ok(())
    }

    /// Leaves out all cells but these.
    pub fn keep(&mut self, cells: &BTreeSet<Levels>) {
        self.plan.keep(cells);
    }

    /// Looks at what the cells would write to, for a plan that is only shown: the machine may
    /// lack what a run needs.
    ///
    /// # Errors
    /// [`RunnerError`] if there are no cells, or what they would write to is refused.
    pub fn check_for_plan(self) -> Result<CheckedRun, RunnerError> {
        let needs = self.plan.needs();
        if let Some(named) = &self.named_kernel {
            check_zfs(named, needs.zfs).map_err(RunnerError::prepare)?;
        }
        if self.plan.bench.is_simulated {
            lab::check_linux(self.linux, needs.zfs).map_err(RunnerError::prepare)?;
        }
        self.plan.check_cells()?;
        let Self { plan, room, bench, scratch, named_kernel, linux } = self;
        let bench = bench.check(&needs).map_err(RunnerError::prepare)?;
        Ok(CheckedRun { plan, room, bench, scratch, named_kernel, linux })
    }

    /// Looks at all that a run needs, without changing anything.
    ///
    /// # Errors
    /// As [`PlannedRun::check_for_plan`], and if the bench lacks something, there is no room,
    /// or files cannot be written.
    pub fn check(self) -> Result<CheckedRun, RunnerError> {
        let missing = self.bench.missing();
        if !missing.is_empty() {
            return Err(RunnerError::BenchLacks { bench: self.plan.bench.name, missing });
        }
        self.plan.check_cells()?;
        self.scratch.check()?;
        if let Some(DataDirectory { directory, .. }) = &self.room
            && self.plan.bench.name.starts_with("dir:")
        {
            check_writable("--on dir:", directory)?;
        }
        RunEstimate::new(&self.plan).check_room(self.room.as_ref())?;
        self.check_for_plan()
    }
}

impl CheckedRun {
    /// What the user must know before the run begins, one line each.
    pub fn warnings(&self) -> Vec<String> {
        self.bench.warnings(&self.plan.needs())
    }

    /// In the lab: whether it takes the kernel with ZFS, and where that or the plain one is,
    /// if it is there.
    pub fn lab_kernel(&self) -> Option<(bool, Option<PathBuf>)> {
        let named = self.named_kernel.as_ref();
        let Plan { campaign, bench, .. } = &self.plan;
        let zfs = self.plan.needs().zfs;
        bench.is_simulated.then(|| lab::kernel_of(campaign, zfs, named, self.linux))
    }
}

/// The study as the options have it: on these drives, in its quick form, about a rebuild or scrub, crossed with their axes.
fn adapted(
    mut study: Study,
    options: &RunOptions,
    drives: Option<&DriveRequests>,
) -> Result<Study, RunnerError> {
    if let Some(drives) = drives {
        study = study.on_drives(drives)?;
    }
    if options.settings.quick {
        study = study.into_quick_form()?;
    }
    let RunSettings { rebuild, scrub, .. } = &options.settings;
    study = study.about_pass(rebuild.as_ref(), scrub.as_ref())?;
    if rebuild.is_some() {
        take_spares_back(&mut study);
    }
    let study = study.crossed_with(&options.settings.axis).map_err(OptionsError::Axes)?;
    options.check_axes(&study.axes)?;
    Ok(study)
}

/// Has stacks of which no layer takes a spare have none: they are left out for that.
fn take_spares_back(study: &mut Study) {
    let takes = |layer: &LayerSpec| {
        find_layer(&layer.name).is_some_and(|kind| kind.inputs.iter().any(|i| i.name == SPARE))
    };
    for stack in study.stacks.iter_mut().filter(|stack| !stack.layers.iter().any(takes)) {
        for layer in stack.layers.iter_mut().filter(|layer| layer.has_input(SPARE)) {
            layer.inputs.retain(|input| input.name != SPARE);
            stack.drives.pop();
        }
    }
}

/// What a run in a directory asks: a study's own title may ask for layouts, of which there is
/// only this one.
fn title_of_directory(path: &Path, has_reference: bool) -> String {
    let path = path.display().to_string().replace(char::is_control, "?");
    if has_reference {
        return format!("Is {path} as fast as it should be?");
    }
    format!("How fast is {path}?")
}

/// Refuses a study of a directory elsewhere, and drives of a directory in other studies.
fn check_directory_study(study: &Study, options: &RunOptions) -> Result<(), RunnerError> {
    let bench = options.bench();
    match (&bench, study.has_reference) {
        (BenchKind::Dir(_), false) if options.drives.is_some() => {
            Err(OptionsError::WrongBench { flag: "--drives", applies: Applies::Lab, bench }.into())
        }
        (BenchKind::Dir(_), _) | (_, false) => Ok(()),
        (_, true) => Err(OptionsError::NeedsDirectory(study.id.to_string()).into()),
    }
}

/// A seed from the kernel, of 53 bits: readers of JSON that keep numbers as doubles, such as
/// browsers, hold no more exactly.
fn draw_seed() -> Result<u64, RunnerError> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .map_err(RunnerError::Seed)?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}
