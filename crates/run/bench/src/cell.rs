//! One cell: make the stack, run the workload, tear everything down.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::{CellPlan, MachinePlan};
use disklab_exec::{Executor, Interrupted};
use disklab_measure::{
    ConditionsWatch, DriveTraits, SystemRoot, Totals, Watched, cell_environment,
    close_cell_environment,
};
use disklab_sample::{Note, Pool, Sample};
use disklab_source::SourceError;
use disklab_stack::{DeviceState, LayerContext, Ledger, Made, MadePool, Stack, StackError, undo};
use disklab_units::Bytes;
use disklab_workload::{
    Context, EarlierFiles, FileSpread, Remounter, StudyFiles, WorkContext, WorkEvent, Workload,
    read_workload,
};
use serde::{Deserialize, Serialize};

use crate::lab::check_lab;
use crate::remount::StackRemount;
use crate::safety::Pin;
use crate::{
    BenchError, CellError, CellOutcome, CellWatcher, Drives, EndedCell, Phase, ReadyDrive,
};

/// The name of a cell's record of what was made before.
const EARLIER_FILES: &str = "earlier-files";

/// Which part of a cell is carried out. The lab has one guest make what others measure on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CellPart {
    /// All of it: the stack is made, and torn down after the work.
    Whole,
    /// The stack is made, and stopped so that it can be assembled.
    Making,
    /// The stack is assembled, and stopped after the work.
    Work,
}

/// A plan whose layers and work are understood.
pub(crate) struct CellWork<'a> {
    pub plan: &'a CellPlan,
    pub stack: Stack,
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
        let events = WorkEvent::read(&plan.workload, workload.as_ref())?;
        Ok(Self { plan, stack: Stack::of_plan(&plan.stack)?, workload, events })
    }

    /// Refuses what cannot be made on the drives of the plan.
    fn check(&self) -> Result<(), BenchError> {
        let sizes: Vec<Bytes> = self.plan.drives.iter().map(|drive| drive.size).collect();
        match &self.plan.machine {
            MachinePlan::Directory(_) => return Ok(()),
            MachinePlan::Lab(lab) => check_lab(self.plan, lab)?,
            MachinePlan::Loop | MachinePlan::Disks => {}
        }
        let volume = self.stack.shape(&sizes).map_err(StackError::from)?;
        let space = self.workload.cost().space;
        if space > volume.size {
            return Err(BenchError::TooSmall { needs: space, has: volume.size });
        }
        Ok(())
    }

    /// Makes or assembles the stack below `scratch`, and runs the workload, as `part` says. What was
    /// made is in the ledger.
    pub(crate) fn run_on(
        &self,
        part: CellPart,
        drives: &mut dyn Drives,
        scratch: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
        phase: &mut dyn FnMut(Phase),
    ) -> Result<Sample, CellError> {
        let plan = self.plan;
        let (mark, mut sample) = (ledger.mark(), Sample::default());
        phase(Phase::Make);
        let began = Instant::now();
        let tag = tag();
        let folder = scratch.join(&tag);
        ledger.enter(undo::RemoveFolder(folder.clone()))?;
        std::fs::create_dir_all(&folder)
            .map_err(|e| CellError::Drives(BenchError::io("cannot make", &folder)(e)))?;
        let mut ready = drives
            .make_ready(&plan.drives, plan.write_cache, &folder, ledger, executor)
            .map_err(CellError::Drives)?;
        let devices: Vec<PathBuf> = ready.drives.iter().map(|d| d.device.clone()).collect();
        let watch = |d: &ReadyDrive| Watched { name: d.name.clone(), device: d.device.clone() };
        let watched: Vec<Watched> = ready.drives.iter().map(watch).collect();
        let totals = Totals::start(&SystemRoot::here(), &watched);
        let mut context = LayerContext::new(executor, ledger, &folder, &tag, plan.making_seed);
        context.drives_are_zero = ready.are_zero;
        context.below =
            DeviceState { reads_zeros: ready.are_zero, simulated: drives.are_simulated() };
        let made = make_on(&ready.pins, || match part {
            CellPart::Whole | CellPart::Making => self.stack.make(&devices, &mut context),
            CellPart::Work => self.stack.assemble(&devices, &mut context),
        })?;
        // The layers have the drives open now, which keeps their names.
        ready.pins.clear();
        let (notes, pools) = (context.notes, context.pools);
        sample.overhead.make_seconds = began.elapsed().as_secs_f64();
        sample.notes = ready.notes;
        sample.notes.extend(notes.into_iter().map(|(about, text)| Note { about, text }));

        let directory = self.home(&made.directory);
        if part != CellPart::Work {
            self.make_earlier_files(&made.directory, ledger, executor, &mut sample)?;
        }
        if part == CellPart::Making {
            ledger.close_to(mark, executor)?;
        } else {
            let place = self.context(&made, &directory, &*drives, &watched);
            self.measure(&place, executor, phase, &mut sample)?;
        }
        add_made(pools, &mut sample);
        sample.whole = totals.so_far();
        drives.still_whole(&plan.drives).map_err(CellError::Drives)?;
        Ok(sample)
    }

    /// Where the workload runs: on what was made.
    fn context<'c>(
        &'c self,
        made: &'c Made,
        directory: &'c Path,
        drives: &dyn Drives,
        watched: &'c [Watched],
    ) -> CellContext<'c> {
        CellContext {
            directory,
            remount: made
                .remount
                .as_ref()
                .map(|remount| StackRemount { remount, stack: &self.stack }),
            device: made.device.clone(),
            device_is_ata: drives.are_ata(),
            tell_smart: drives.tell_smart(),
            simulated: drives.are_simulated(),
            watched,
            traits: drives.traits(&self.plan.drives),
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

impl CellWork<'_> {
    /// The directory below `root` in which the workload works: one of those that are made before, if
    /// the study has such.
    pub(crate) fn home(&self, root: &Path) -> PathBuf {
        match self.plan.earlier_files {
            true => root.join(EarlierFiles::draw(self.plan.making_seed).home()),
            false => root.to_owned(),
        }
    }

    /// Makes in `root` what lies there before the workload's own files. What may lie there is in the
    /// ledger.
    pub(crate) fn make_earlier_files(
        &self,
        root: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
        sample: &mut Sample,
    ) -> Result<(), CellError> {
        let (workload, seed) = (&self.workload, self.plan.making_seed);
        if !self.plan.earlier_files {
            ledger.expect(root, workload.names())?;
            return Ok(());
        }
        let earlier = EarlierFiles::draw(seed);
        for (directory, mut names) in earlier.names() {
            if directory == earlier.home() {
                names.extend(workload.names());
            }
            ledger.expect(&root.join(directory), names)?;
        }
        earlier.make(root, seed, self.plan.reserves_space, &executor.interrupt)?;
        sample.environment.extra.insert(EARLIER_FILES.to_owned(), earlier.describe());
        Ok(())
    }
}

/// Adds to the conditions what the pools that were made have.
pub(crate) fn add_made(pools: Vec<MadePool>, sample: &mut Sample) {
    if pools.is_empty() {
        return;
    }
    let conditions = sample.environment.conditions.get_or_insert_default();
    for MadePool { name, ashift, sync } in pools {
        match conditions.pools.iter_mut().find(|pool| pool.name == name) {
            Some(pool) => (pool.ashift, pool.sync) = (ashift, sync),
            None => conditions.pools.push(Pool { name, ashift, sync, ..Pool::default() }),
        }
    }
}

/// Makes layers on drives, if these are still the ones that were made ready.
fn make_on<T>(pins: &[Pin], make: impl FnOnce() -> Result<T, StackError>) -> Result<T, CellError> {
    for pin in pins {
        pin.check().map_err(|refusal| CellError::Drives(BenchError::refused(vec![refusal])))?;
    }
    Ok(make()?)
}

/// Runs one cell from its beginning to its end: `run` makes and measures, and whatever it has
/// entered in the ledger is torn down, unless the machine is gone after this part of it.
pub(crate) fn run_one(
    part: CellPart,
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
    let problems = match part {
        CellPart::Whole => {
            watcher.phase(cell, Phase::TearDown);
            ledger.tear_down_to(mark, &executor)
        }
        // What is on the drives goes with them; but a kernel does not power off while XFS is mounted.
        CellPart::Work => ledger.close_to(mark, &executor).err().into_iter().collect(),
        CellPart::Making => Vec::new(),
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
        if part == CellPart::Whole {
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
    pub device: Option<PathBuf>,
    pub device_is_ata: bool,
    /// Whether smartctl is worth asking.
    pub tell_smart: bool,
    pub simulated: bool,
    pub watched: &'a [Watched],
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
            simulated: place.simulated,
            watched: place.watched.to_vec(),
            seed: self.plan.cell.seed,
            caches: self.plan.workload.caches,
            remount: place.remount.as_ref().map(|again| again as &dyn Remounter),
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

/// A short word, unique on this machine, for names of arrays, pools and folders.
pub(crate) fn tag() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("disklab{}x{count}", std::process::id())
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;
    use crate::safety::{Hold, resolve};

    /// The attack of 21.31: another drive takes the name between erasing and mkfs.
    #[test]
    fn no_layer_is_made_on_a_drive_that_changed() {
        let folder = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(folder.path());
        tree.drive("sdb", (8, 16), "B");
        let root = tree.root();
        let names = ["/dev/disk/by-id/ata-TESTDRIVE_1000_B".to_owned()];
        let target = resolve(&root, &names).expect("a drive").remove(0);
        let pin = || Pin::new(&root, target.clone(), &Hold::nothing()).expect("pinned");
        assert!(matches!(make_on(&[pin()], || Ok(7)), Ok(7)));
        tree.set("sdb", "device/serial", "OTHER");
        let made = make_on(&[pin()], || -> Result<(), StackError> { panic!("made") });
        let error = made.expect_err("another drive").to_string();
        assert!(error.contains("the serial number was B and is OTHER"), "{error}");
    }
}
