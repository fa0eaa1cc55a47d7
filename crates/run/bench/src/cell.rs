//! One cell: make the stack, run the workload, tear everything down.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::Cell;
use disklab_exec::{Executor, Interrupted};
use disklab_measure::{
    ConditionsWatch, DriveTraits, SystemRoot, Totals, Watched, cell_environment,
    close_cell_environment,
};
use disklab_sample::{Note, Pool, Sample};
use disklab_stack::{DeviceState, LayerContext, Ledger, Made, MadePool, Stack, StackError, undo};
use disklab_study::{Study, WorkloadSpec};
use disklab_workload::{EarlierFiles, FileSpread, Remounter, WorkContext, Workload};

use crate::remount::StackRemount;
use crate::safety::Pin;
use crate::{BenchError, CellError, CellOutcome, Drives, Phase, ReadyDrive, Sink, free_space};

/// The name of a cell's record of what was made before.
const EARLIER_FILES: &str = "earlier-files";

/// Everything a cell on drives needs.
pub(crate) struct DeviceCell<'a> {
    pub study: &'a Study,
    pub stack_index: usize,
    pub stack: &'a Stack,
    pub spec: &'a WorkloadSpec,
    pub workload: &'a dyn Workload,
    pub cell: &'a Cell,
    /// An existing folder in which the cell may make one of its own.
    pub scratch: &'a Path,
}

impl DeviceCell<'_> {
    /// Makes the stack and runs the workload. What was made is in the ledger.
    pub(crate) fn run(
        &self,
        drives: &mut dyn Drives,
        ledger: &mut Ledger,
        executor: &Executor,
        phase: &mut dyn FnMut(Phase),
    ) -> Result<Sample, CellError> {
        let mut sample = Sample::default();
        let stack_spec = &self.study.stacks[self.stack_index];
        phase(Phase::Make);
        let began = Instant::now();
        let tag = tag();
        let folder = self.scratch.join(&tag);
        ledger.enter(undo::RemoveFolder(folder.clone()))?;
        std::fs::create_dir_all(&folder)
            .map_err(|e| CellError::Drives(BenchError::io("cannot make", &folder)(e)))?;
        let mut ready = drives
            .make_ready(
                self.study,
                &stack_spec.drives,
                stack_spec.write_cache,
                &folder,
                ledger,
                executor,
            )
            .map_err(CellError::Drives)?;
        let devices: Vec<PathBuf> = ready.drives.iter().map(|d| d.device.clone()).collect();
        let watch = |d: &ReadyDrive| Watched { name: d.name.clone(), device: d.device.clone() };
        let watched: Vec<Watched> = ready.drives.iter().map(watch).collect();
        let totals = Totals::start(&SystemRoot::here(), &watched);
        let mut context = LayerContext::new(executor, ledger, &folder, &tag, self.cell.seed);
        context.drives_are_zero = ready.are_zero;
        context.below =
            DeviceState { reads_zeros: ready.are_zero, simulated: drives.are_simulated() };
        let made = make_on(&ready.pins, || self.stack.make(&devices, &mut context))?;
        // The layers have the drives open now, which keeps their names.
        ready.pins.clear();
        let (notes, pools) = (context.notes, context.pools);
        sample.overhead.make_seconds = began.elapsed().as_secs_f64();
        sample.notes = ready.notes;
        sample.notes.extend(notes.into_iter().map(|(about, text)| Note { about, text }));

        let root = Root::Fresh(&made.directory);
        let directory = self.directory(root, ledger, executor, &mut sample)?;
        let place = self.context(&made, &directory, &*drives, &watched);
        measure(self.spec, self.workload, self.cell, &place, executor, phase, &mut sample)?;
        add_made(pools, &mut sample);
        sample.whole = totals.so_far();
        drives.still_whole(&stack_spec.drives).map_err(CellError::Drives)?;
        Ok(sample)
    }
}

impl DeviceCell<'_> {
    fn directory(
        &self,
        root: Root<'_>,
        ledger: &mut Ledger,
        executor: &Executor,
        sample: &mut Sample,
    ) -> Result<PathBuf, CellError> {
        directory_for(self.study, self.workload, self.cell, root, ledger, executor, sample)
    }

    /// Where the workload runs: on what was made.
    fn context<'a>(
        &'a self,
        made: &'a Made,
        directory: &'a Path,
        drives: &dyn Drives,
        watched: &'a [Watched],
    ) -> CellContext<'a> {
        CellContext {
            directory,
            remount: made
                .remount
                .as_ref()
                .map(|remount| StackRemount { remount, stack: self.stack }),
            device: made.device.clone(),
            device_is_ata: drives.are_ata(),
            tell_smart: drives.tell_smart(),
            simulated: drives.are_simulated(),
            watched,
            traits: drives.traits(&self.study.stacks[self.stack_index].drives),
            spread: self.study.spread.map(|share| FileSpread { share }),
        }
    }
}

/// A directory in which a cell may make what it likes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Root<'a> {
    /// The root of a file system that the cell made.
    Fresh(&'a Path),
    /// A directory of the cell's own in a file system of the user's, whose space is left alone.
    Below(&'a Path),
}

/// The directory in which a workload works: one of those that are made before, if the study has
/// such. What may lie in it is in the ledger.
pub(crate) fn directory_for(
    study: &Study,
    workload: &dyn Workload,
    cell: &Cell,
    root: Root<'_>,
    ledger: &mut Ledger,
    executor: &Executor,
    sample: &mut Sample,
) -> Result<PathBuf, CellError> {
    let (root, reserves) = match root {
        Root::Fresh(root) => (root, true),
        Root::Below(root) => (root, false),
    };
    if !study.has_earlier_files {
        ledger.expect(root, workload.names())?;
        return Ok(root.to_owned());
    }
    let earlier = EarlierFiles::draw(cell.seed);
    for (directory, mut names) in earlier.names() {
        if directory == earlier.home() {
            names.extend(workload.names());
        }
        ledger.expect(&root.join(directory), names)?;
    }
    // A workload that fills the file system has its space.
    let reserves = reserves && workload.cost().space.0 < free_space(root).0 / 2;
    earlier.make(root, cell.seed, reserves, &executor.interrupt)?;
    sample.environment.extra.insert(EARLIER_FILES.to_owned(), earlier.describe());
    Ok(root.join(earlier.home()))
}

/// Adds to the conditions what the pools that were made have.
fn add_made(pools: Vec<MadePool>, sample: &mut Sample) {
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

/// Runs one cell from its beginning to its hand-over: `run` makes and measures,
/// and whatever it has entered in the ledger is torn down.
pub(crate) fn run_one(
    ledger: &mut Ledger,
    executor: &Executor,
    cell: &Cell,
    sink: &mut dyn Sink,
    run: impl FnOnce(&mut Ledger, &Executor, &mut dyn FnMut(Phase)) -> Result<Sample, CellError>,
) -> Result<(), BenchError> {
    let raw = sink.begin(cell).map_err(BenchError::Sink)?;
    let executor = executor.with_raw(&raw);
    let began = Instant::now();
    let mark = ledger.mark();
    let mut result = run(ledger, &executor, &mut |phase| sink.phase(cell, phase));
    sink.phase(cell, Phase::TearDown);
    let tear_down = Instant::now();
    let problems = ledger.tear_down_to(mark, &executor);
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
        sample.overhead.tear_down_seconds = tear_down.elapsed().as_secs_f64();
        sample.trace.clone_from(&trace);
    }
    let seconds = began.elapsed().as_secs_f64();
    sink.end(cell, CellOutcome { result, trace, seconds }).map_err(BenchError::Sink)
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

/// Prepares and runs a workload, and fills in the sample.
pub(crate) fn measure(
    spec: &WorkloadSpec,
    workload: &dyn Workload,
    cell: &Cell,
    place: &CellContext<'_>,
    executor: &Executor,
    phase: &mut dyn FnMut(Phase),
    sample: &mut Sample,
) -> Result<(), CellError> {
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
        seed: cell.seed,
        caches: spec.caches,
        remount: place.remount.as_ref().map(|again| again as &dyn Remounter),
        emptied: false,
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
    context.describe_steps(|step| workload.profile(step));
    let WorkContext { steps, notes, caches_seconds, background_bytes, spread_over, .. } = context;
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
