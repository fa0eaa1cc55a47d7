//! One cell: make the stack, run the workload, tear everything down.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::{CellPlan, MachinePlan};
use disklab_exec::{Executor, Interrupted};
use disklab_measure::{
    ConditionsWatch, DriveTraits, NamedDevice, SystemRoot, cell_environment, close_cell_environment,
};
use disklab_sample::Sample;
use disklab_source::SourceError;
use disklab_stack::{Ledger, StackError};
use disklab_units::Bytes;
use disklab_workload::{
    Caretaker, Context, FileSpread, Remounter, StudyFiles, WorkContext, WorkEvent, Workload,
    read_workload,
};

use crate::caretaker::{CaredDrive, StackCaretaker, check_care};
use crate::lab::{check_faults, check_lab};
use crate::making::{Begin, MadeStack, Making};
use crate::remount::StackRemount;
use crate::{BenchError, CellError, CellOutcome, CellWatcher, Drives, EndedCell, Phase};

/// A plan whose layers and work are understood.
pub(crate) struct CellWork<'a> {
    pub plan: &'a CellPlan,
    pub making: Making<'a>,
    pub workload: Box<dyn Workload>,
    /// What happens besides it.
    pub events: Vec<WorkEvent>,
}

impl<'a> CellWork<'a> {
    /// Understands a plan.
    ///
    /// # Errors
    /// Where a layer, a program or one of their options is unknown or wrong.
    pub(crate) fn of(plan: &'a CellPlan) -> Result<Self, SourceError> {
        let files = StudyFiles::of_plan(plan.files.clone());
        let workload = read_workload(&plan.workload, &Context { scale: plan.scale, files })?;
        let events = WorkEvent::read(&plan.workload, &workload.steps())?;
        Ok(Self { plan, making: Making::of(&plan.making)?, workload, events })
    }

    /// Refuses what cannot be made on the drives of the plan.
    fn check(&self) -> Result<(), BenchError> {
        check_faults(self.plan)?;
        let Making { plan, stack } = &self.making;
        let sizes: Vec<Bytes> = plan.drives.iter().map(|drive| drive.size).collect();
        match &plan.machine {
            MachinePlan::Directory(_) => return Ok(()),
            MachinePlan::Lab(lab) => check_lab(plan, lab)?,
            MachinePlan::Loop | MachinePlan::Disks => {}
        }
        check_care(self.workload.as_ref(), &self.events, stack, &plan.drives)?;
        let volume = stack.shape(&sizes).map_err(StackError::from)?;
        let space = self.workload.cost().space;
        if space > volume.size {
            return Err(BenchError::TooSmall { needs: space, has: volume.size });
        }
        Ok(())
    }

    /// Has the stack below `scratch`, and runs the workload on it. What was made is in the ledger.
    pub(crate) fn run_on(
        &self,
        begin: Begin,
        drives: &mut dyn Drives,
        scratch: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
        phase: &mut dyn FnMut(Phase),
    ) -> Result<Sample, CellError> {
        let (making, mut sample) = (&self.making, Sample::default());
        phase(Phase::Make);
        let stack = making.begin(begin, drives, scratch, ledger, executor, &mut sample)?;
        let (root, directory) = (&stack.made.directory, making.home(&stack.made.directory));
        if begin == Begin::Make {
            let names = self.workload.names();
            making.make_earlier_files(root, &names, ledger, executor, &mut sample)?;
        }
        let place = self.context(&stack, &directory, &*drives);
        self.measure(&place, executor, phase, &mut sample)?;
        stack.finish(&mut sample);
        drives.still_whole(&making.plan.drives).map_err(CellError::Drives)?;
        Ok(sample)
    }

    /// Where the workload runs: on what was made.
    fn context<'c>(
        &'c self,
        MadeStack { made, watched, .. }: &'c MadeStack,
        directory: &'c Path,
        drives: &dyn Drives,
    ) -> CellContext<'c> {
        let Making { plan, stack } = &self.making;
        CellContext {
            directory,
            remount: made.remount.as_ref().map(|remount| StackRemount { remount, stack }),
            caretaker: Some(StackCaretaker {
                stack,
                made,
                drives: (watched.iter().zip(&plan.drives))
                    .map(|(drive, plan)| CaredDrive {
                        device: drive.device.clone(),
                        role: plan.role.clone(),
                        times: plan.times(),
                    })
                    .collect(),
                are_simulated: drives.are_simulated(),
            }),
            device: made.device.clone(),
            device_is_ata: drives.are_ata(),
            tell_smart: drives.tell_smart(),
            watched,
            traits: drives.traits(&plan.drives),
            spread: self.plan.spread.map(|share| FileSpread { share }),
        }
    }
}

/// Refuses a plan whose layers, work, drives or machine cannot be understood, without touching
/// anything.
///
/// # Errors
/// [`BenchError`] with the first that cannot.
pub fn check_plan(plan: &CellPlan) -> Result<(), BenchError> {
    CellWork::of(plan)?.check()
}

/// Refuses a plan whose stack cannot have its workload, or the events of that.
///
/// # Errors
/// [`BenchError::Care`] with the first, and those of layers and work that are wrong.
pub fn check_events(plan: &CellPlan) -> Result<(), BenchError> {
    let CellWork { workload, events, making, .. } = &CellWork::of(plan)?;
    if !matches!(plan.making.machine, MachinePlan::Directory(_)) {
        return check_care(workload.as_ref(), events, &making.stack, &plan.making.drives);
    }
    match workload.care().first() {
        None => Ok(()),
        Some((care, _)) => {
            let (what, stack) = (care.words(), making.stack.describe());
            Err(BenchError::Care { what, stack, why: "a directory has no drives".to_owned() })
        }
    }
}

/// Runs one cell from its beginning to its end: `run` makes and measures, and whatever it has
/// entered in the ledger is torn down. What was assembled, and is gone with its machine, is only stopped.
pub(crate) fn run_one(
    begin: Begin,
    ledger: &mut Ledger,
    executor: &Executor,
    plan: &CellPlan,
    outputs: &Path,
    watcher: &mut dyn CellWatcher,
    run: impl FnOnce(
        &CellWork<'_>,
        &mut Ledger,
        &Executor,
        &mut dyn FnMut(Phase),
    ) -> Result<Sample, CellError>,
) -> Result<EndedCell, BenchError> {
    let cell = &plan.cell;
    let work = CellWork::of(plan)?;
    let executor = executor.with_raw(outputs);
    let began = Instant::now();
    let mark = ledger.mark();
    let mut result = run(&work, ledger, &executor, &mut |phase| watcher.phase(cell, phase));
    let tear_down = Instant::now();
    let problems = match begin {
        Begin::Make => {
            watcher.phase(cell, Phase::TearDown);
            ledger.tear_down_to(mark, &executor)
        }
        // What is on the drives goes with them; but a kernel does not power off while XFS is mounted.
        Begin::Assemble => ledger.close_to(mark, &executor).err().into_iter().collect(),
    };
    if !problems.is_empty() {
        return Err(BenchError::TearDown { cell: cell.number, problems });
    }
    let interrupted = result.as_ref().is_err_and(CellError::is_interrupt);
    if interrupted || executor.interrupt.is_raised() {
        // A cell during whose measurement Ctrl-C arrived is run again later.
        return Err(Interrupted.into());
    }
    let trace = executor.trace.take();
    if let Ok(sample) = &mut result {
        if begin == Begin::Make {
            sample.overhead.tear_down_seconds = tear_down.elapsed().as_secs_f64();
        }
        sample.trace.clone_from(&trace);
    }
    let outcome = CellOutcome { result, trace, seconds: began.elapsed().as_secs_f64() };
    Ok(EndedCell { cell: cell.clone(), outcome })
}

/// Where a workload runs.
pub(crate) struct CellContext<'a> {
    pub directory: &'a Path,
    /// How its file system is mounted again, where that is ours to do.
    pub remount: Option<StackRemount<'a>>,
    /// What an operator does to its stack, where it has one.
    pub caretaker: Option<StackCaretaker<'a>>,
    pub device: Option<PathBuf>,
    pub device_is_ata: bool,
    /// Whether smartctl is worth asking.
    pub tell_smart: bool,
    pub watched: &'a [NamedDevice],
    /// What is known of the drives that they do not tell themselves.
    pub traits: Vec<(String, DriveTraits)>,
    /// How large files are laid out.
    pub spread: Option<FileSpread>,
}

impl CellWork<'_> {
    /// Prepares and runs a workload, and fills in the sample.
    pub(crate) fn measure(
        &self,
        place: &CellContext<'_>,
        executor: &Executor,
        phase: &mut dyn FnMut(Phase),
        sample: &mut Sample,
    ) -> Result<(), CellError> {
        let workload = self.workload.as_ref();
        let root = SystemRoot::here();
        // SMART costs a second per drive, and loop devices have none.
        let smart = place.tell_smart.then_some(executor);
        let mut environment = cell_environment(&root, smart, Some(place.directory), place.watched);
        let (directory, watched) = (Some(place.directory), place.watched);
        let watch = ConditionsWatch::start(&root, smart, directory, watched, &place.traits);
        let mut context = WorkContext {
            spread: place.spread,
            spread_over: None,
            executor,
            directory: place.directory,
            device: place.device.clone(),
            device_is_ata: place.device_is_ata,
            watched: place.watched.to_vec(),
            seed: self.plan.cell.seed,
            caches: self.plan.workload.caches,
            remount: place.remount.as_ref().map(|again| again as &dyn Remounter),
            caretaker: place.caretaker.as_ref().map(|own| own as &dyn Caretaker),
            emptied: false,
            events: &self.events,
            steps: Vec::new(),
            files_read: Vec::new(),
            notes: Vec::new(),
            caches_seconds: 0.0,
            background_bytes: None,
        };
        phase(Phase::Prepare);
        let began = Instant::now();
        workload.prepare(&mut context)?;
        sample.overhead.prewrite_seconds = began.elapsed().as_secs_f64();
        phase(Phase::Measure);
        workload.run(&mut context)?;
        WorkEvent::check_steps(&self.events, &context.steps)?;
        context.describe_steps(|step| workload.profile(step));
        let WorkContext { steps, notes, caches_seconds, background_bytes, spread_over, .. } =
            context;
        sample.steps = steps;
        sample.notes.extend(notes);
        sample.overhead.caches_seconds = caches_seconds;
        close_cell_environment(&root, &mut environment);
        environment.background_bytes = background_bytes;
        environment.extra.append(&mut sample.environment.extra);
        let mut conditions = watch.finish(executor, directory, watched);
        if let Some(space) = &mut conditions.space {
            space.spread_over = spread_over.map(|over| over.0);
        }
        environment.conditions = Some(conditions);
        sample.environment = environment;
        Ok(())
    }
}
