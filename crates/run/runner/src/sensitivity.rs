//! The runs of a sensitivity analysis: a study as shipped, and with uncertain parameters of
//! its drive models moved.

mod cells;
mod draw;
mod error;
mod own;
mod parts;
mod plan;
mod variation;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_cell::Levels;
use disklab_drive::DriveFile;
use disklab_published::Catalogue;
use disklab_store::{CellState, Run, RunDirectory, StoreError};
use disklab_study::load;

pub use self::cells::Claims;
pub use self::draw::Draw;
pub use self::error::{PlanFileError, SensitivityError};
pub use self::own::own_ratios;
pub use self::parts::merge_analysis;
pub use self::plan::{Case, SensitivityPlan};
pub use self::variation::Variation;
use crate::observer::Observer;
use crate::places::{claim_outputs, holds_run};
use crate::run::{RunRequest, run_until_done};
use crate::setup::{Caller, PlannedRun};
use crate::studies::study_directory;
use crate::{
    BenchKind, FoundStudy, MovedParameters, Plan, RunEstimate, RunOptions, RunnerError, find_study,
};

/// The directory of the run that nothing was moved in.
const SHIPPED: &str = "as-shipped";

/// What an analysis is asked for.
pub struct SensitivityRequest {
    /// The study, and what was planned if it is resumed.
    pub begun: Begun,
    /// What its runs have in common.
    pub options: RunOptions,
    /// As it was asked for.
    pub moved: MovedParameters,
}

/// The study of an analysis and its directory.
pub struct Begun {
    /// The one whose claims are examined.
    pub study: FoundStudy,
    /// Where all that comes of it is kept.
    pub directory: PathBuf,
    /// What was planned, if it is resumed.
    pub plan: Option<SensitivityPlan>,
}

impl Begun {
    /// A new one.
    ///
    /// # Errors
    /// [`SensitivityError::Occupied`], or what [`crate::check_outputs`] says.
    pub fn new(study: FoundStudy, directory: PathBuf) -> Result<Self, RunnerError> {
        if SensitivityPlan::path(&directory).exists() {
            return Err(SensitivityError::Occupied(directory).into());
        }
        crate::check_outputs(&directory)?;
        Ok(Self { study, directory, plan: None })
    }

    /// That in `directory`. `name` is the study as it is named now, if it is.
    ///
    /// # Errors
    /// [`RunnerError`] if there is none, or it is another study's.
    pub fn resume(directory: PathBuf, name: Option<&str>) -> Result<Self, RunnerError> {
        let plan = SensitivityPlan::open(&directory)?;
        let shipped = directory.join(SHIPPED);
        if !holds_run(&shipped) {
            return Err(SensitivityError::NothingRun(directory).into());
        }
        let info = Run::open(&shipped).and_then(|run| run.info()).map_err(RunnerError::Open)?;
        let study = load(&info.study_file, &info.study_text)?;
        if let Some(name) = name
            && find_study(name)?.study.digest != study.digest
        {
            return Err(RunnerError::OtherStudy { directory, name: name.to_owned() });
        }
        let study = FoundStudy { study, directory: study_directory(&info.study_file) };
        Ok(Self { study, directory, plan: Some(plan) })
    }
}

/// An analysis of which all that could be wrong was checked.
pub struct SensitivityRun {
    /// The run as shipped.
    pub shipped: Plan,
    /// Which parameters are moved.
    pub plan: SensitivityPlan,
    /// What the study claims.
    pub claims: Claims,
    /// Each run besides that as shipped, with its cells.
    pub cases: Vec<(Case, BTreeSet<Levels>)>,
    /// All cells that depend on what is moved; what depends on nothing of it stays as it is.
    pub cells: BTreeSet<Levels>,
    study: FoundStudy,
    directory: PathBuf,
    options: RunOptions,
    moved: MovedParameters,
    is_resumed: bool,
    /// Its directory, as soon as it is begun.
    open: Option<RunDirectory>,
}

impl SensitivityRun {
    /// Plans it. Nothing is created.
    ///
    /// # Errors
    /// [`RunnerError`] with what is wrong with any of its runs.
    pub fn new(request: SensitivityRequest, caller: &Caller) -> Result<Self, RunnerError> {
        let SensitivityRequest { begun, options, moved } = request;
        let MovedParameters { drives, fields, drawn } = &moved;
        if options.bench() != BenchKind::Lab {
            return Err(SensitivityError::NotTheLab.into());
        }
        let Begun { study, directory, plan } = begun;
        let is_resumed = plan.is_some();
        // What was begun says what belongs to it.
        let options = begun_options(options, &directory.join(SHIPPED))?;
        let planned = |options: &RunOptions| {
            PlannedRun::new(study.clone(), options, &directory, caller).map(|planned| planned.plan)
        };
        let shipped = planned(&options)?;
        let catalogue = Catalogue::shipped().map_err(SensitivityError::from)?;
        let claims = Claims::of(&catalogue, &shipped)?;
        let study_models =
            |set: &[String]| variation::models(&shipped.campaign.study, &study.directory, set);
        let models = study_models(&options.settings.set_drive)?;
        let plan = match plan {
            Some(plan) => plan,
            None => {
                let id = study.study.id.to_string();
                let mut plan = SensitivityPlan::new(&id, &models, &claims, drives, fields)?;
                if let Some(n) = *drawn {
                    let check = |moves: &[Variation]| {
                        let moves = moves.iter().map(Variation::setting);
                        let set = options.settings.set_drive.iter().cloned().chain(moves);
                        study_models(&set.collect::<Vec<_>>()).map(|_| ())
                    };
                    plan.draws = draw::draw(&plan.variations, n, shipped.seed, check)?;
                }
                plan
            }
        };
        let cases = cases(&plan, &claims, &models);
        // All that is wrong is found before the first run.
        for (case, _) in &cases {
            planned(&case.options(&options))?;
        }
        let options = RunOptions { seed: Some(shipped.seed), ..options };
        let cells: BTreeSet<Levels> = cases.iter().flat_map(|(_, cells)| cells.clone()).collect();
        let open = None;
        Ok(Self {
            shipped,
            plan,
            claims,
            cases,
            cells,
            study,
            directory,
            options,
            moved,
            is_resumed,
            open,
        })
    }

    /// Real seconds that a run of these cells will take.
    pub fn seconds(&self, cells: &BTreeSet<Levels>) -> f64 {
        let all = self.shipped.cells.iter();
        let chosen = all.filter(|cell| cells.contains(&cell.levels));
        RunEstimate::new(&self.shipped).predict(chosen).seconds
    }

    /// Real seconds that all runs will take.
    pub fn total_seconds(&self) -> f64 {
        let moved: f64 = self.cases.iter().map(|(_, cells)| self.seconds(cells)).sum();
        self.seconds(&self.cells) + moved
    }

    /// Where all that comes of it is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Remembers what is planned, if it is new. Its directory is created.
    ///
    /// # Errors
    /// [`RunnerError`] if the directory, or the file in it, cannot be written.
    pub fn begin(&mut self) -> Result<(), RunnerError> {
        let claim = claim_outputs(&self.directory)?;
        if !self.is_resumed {
            self.plan.save(claim.directory())?;
        }
        self.open = Some(claim.keep());
        Ok(())
    }

    /// Its directory, for files that are written into it, if its name still leads there.
    ///
    /// # Errors
    /// [`RunnerError::Record`] if it was moved, or something else put in its place.
    pub fn open_directory(&self) -> Result<&RunDirectory, RunnerError> {
        let there = self.open.as_ref().filter(|open| open.is_still_there());
        there.ok_or_else(|| RunnerError::Record(StoreError::Moved(self.directory.clone())))
    }

    /// Carries out the run as shipped, or the rest of it.
    ///
    /// # Errors
    /// As [`run_until_done`].
    pub fn run_shipped(
        &self,
        caller: &Caller,
        observer: &mut dyn Observer,
    ) -> Result<CaseRun, RunnerError> {
        self.run(&self.options, SHIPPED, &self.cells, caller, observer)
    }

    /// Carries out one of [`SensitivityRun::cases`], or the rest of it.
    ///
    /// # Errors
    /// As [`run_until_done`].
    pub fn run_case(
        &self,
        case: &Case,
        cells: &BTreeSet<Levels>,
        caller: &Caller,
        observer: &mut dyn Observer,
    ) -> Result<CaseRun, RunnerError> {
        self.run(&case.options(&self.options), &case.directory, cells, caller, observer)
    }

    fn run(
        &self,
        options: &RunOptions,
        directory: &str,
        cells: &BTreeSet<Levels>,
        caller: &Caller,
        observer: &mut dyn Observer,
    ) -> Result<CaseRun, RunnerError> {
        self.open_directory()?;
        let directory = self.directory.join(directory);
        let was_done = is_done(&directory);
        let (study, options) = (self.study.clone(), options.clone());
        let request = RunRequest { study, options, directory, cells };
        let (run, failed) = run_until_done(request, caller, observer)?;
        Ok(CaseRun { run, failed, was_done })
    }
}

/// A run of the analysis that is done.
pub struct CaseRun {
    /// Its samples, in its own directory.
    pub run: Run,
    /// How many of its cells failed.
    pub failed: usize,
    /// Whether it was done before: then it says nothing about how long runs take now.
    pub was_done: bool,
}

fn cases(
    plan: &SensitivityPlan,
    claims: &Claims,
    models: &[DriveFile],
) -> Vec<(Case, BTreeSet<Levels>)> {
    let with_cells = |case: Case| {
        let cells = case.cells(claims, models);
        (case, cells)
    };
    plan.cases().into_iter().map(with_cells).collect()
}

/// What the runs have in common: as the first was begun, if it was.
fn begun_options(options: RunOptions, shipped: &Path) -> Result<RunOptions, RunnerError> {
    if !holds_run(shipped) {
        return Ok(options);
    }
    let info = Run::open(shipped).and_then(|run| run.info()).map_err(RunnerError::Open)?;
    let mut begun = options.as_begun(&info)?;
    (begun.settings.only, begun.settings.without) = (info.options.only, info.options.without);
    Ok(begun)
}

/// Whether there is a run in `directory` of which all cells have ended.
fn is_done(directory: &Path) -> bool {
    let cells = Run::open(directory).and_then(|run| run.cells());
    cells.is_ok_and(|cells| cells.iter().all(|cell| cell.state != CellState::Waiting))
}
