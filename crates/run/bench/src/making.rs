//! What is there before a cell's work begins: a stack on drives, and earlier files on it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::MakingPlan;
use disklab_exec::Executor;
use disklab_measure::{NamedDevice, SystemRoot, Totals};
use disklab_sample::{Note, Pool, Sample};
use disklab_source::SourceError;
use disklab_stack::{DeviceState, LayerContext, Ledger, Made, MadePool, Stack, StackError, undo};
use disklab_workload::EarlierFiles;

use crate::safety::Pin;
use crate::{BenchError, CellError, Drives};

/// The name of a cell's record of what was made before.
const EARLIER_FILES: &str = "earlier-files";

/// A plan whose layers are understood.
pub(crate) struct Making<'a> {
    pub plan: &'a MakingPlan,
    pub stack: Stack,
}

/// How a stack comes to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It is made.
    Make,
    /// It is found on drives on which it was made, and assembled.
    Assemble,
}

/// A stack that is there.
pub(crate) struct MadeStack {
    pub made: Made,
    /// The drives below it.
    pub watched: Vec<NamedDevice>,
    totals: Totals,
    pools: Vec<MadePool>,
}

impl<'a> Making<'a> {
    /// Understands a plan.
    ///
    /// # Errors
    /// Where a layer or one of its options is unknown or wrong.
    pub fn of(plan: &'a MakingPlan) -> Result<Self, SourceError> {
        Ok(Self { plan, stack: Stack::of_plan(&plan.stack)? })
    }

    /// Makes or assembles the stack below `scratch`, on drives that are made ready for it. What was
    /// made is in the ledger.
    pub fn begin(
        &self,
        begin: Begin,
        drives: &mut dyn Drives,
        scratch: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
        sample: &mut Sample,
    ) -> Result<MadeStack, CellError> {
        let plan = self.plan;
        let began = Instant::now();
        let tag = tag();
        let directory = scratch.join(&tag);
        ledger.enter(undo::RemoveDirectory(directory.clone()))?;
        std::fs::create_dir_all(&directory)
            .map_err(|e| CellError::Drives(BenchError::io("cannot make", &directory)(e)))?;
        let mut ready = drives
            .make_ready(&plan.drives, plan.write_cache, &directory, ledger, executor)
            .map_err(CellError::Drives)?;
        let devices: Vec<PathBuf> = ready.drives.iter().map(|d| d.device.clone()).collect();
        let watched = std::mem::take(&mut ready.drives);
        let totals = Totals::start(&SystemRoot::here(), &watched);
        let mut context = LayerContext::new(executor, ledger, &directory, &tag, plan.seed);
        context.drives_are_zero = ready.are_zero;
        context.below =
            DeviceState { reads_zeros: ready.are_zero, simulated: drives.are_simulated() };
        let made = make_on(&ready.pins, || match begin {
            Begin::Make => self.stack.make(&devices, &mut context),
            Begin::Assemble => self.stack.assemble(&devices, &mut context),
        })?;
        // The layers have the drives open now, which keeps their names.
        ready.pins.clear();
        let (notes, pools) = (context.notes, context.pools);
        sample.overhead.make_seconds = began.elapsed().as_secs_f64();
        sample.notes = ready.notes;
        sample.notes.extend(notes.into_iter().map(|(about, text)| Note { about, text }));
        Ok(MadeStack { made, watched, totals, pools })
    }

    /// Makes all that is there before the work, and stops the stack so that it can be assembled.
    pub fn make_only(
        &self,
        drives: &mut dyn Drives,
        scratch: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
    ) -> Result<Sample, CellError> {
        let (mark, mut sample) = (ledger.mark(), Sample::default());
        let stack = self.begin(Begin::Make, drives, scratch, ledger, executor, &mut sample)?;
        self.make_earlier_files(&stack.made.directory, &[], ledger, executor, &mut sample)?;
        ledger.close_to(mark, executor)?;
        stack.finish(&mut sample);
        drives.still_whole(&self.plan.drives).map_err(CellError::Drives)?;
        Ok(sample)
    }

    /// The directory below `root` in which the workload works: one of those that are made before, if
    /// the study has such.
    pub fn home(&self, root: &Path) -> PathBuf {
        match self.plan.earlier_files {
            true => root.join(EarlierFiles::draw(self.plan.seed).home()),
            false => root.to_owned(),
        }
    }

    /// Makes in `root` what lies there before the workload's own files. What may lie there, these of
    /// the workload among it, is in the ledger.
    pub fn make_earlier_files(
        &self,
        root: &Path,
        of_workload: &[String],
        ledger: &mut Ledger,
        executor: &Executor,
        sample: &mut Sample,
    ) -> Result<(), CellError> {
        let seed = self.plan.seed;
        if !self.plan.earlier_files {
            ledger.expect(root, of_workload.to_vec())?;
            return Ok(());
        }
        let earlier = EarlierFiles::draw(seed);
        for (directory, mut names) in earlier.names() {
            if directory == earlier.home() {
                names.extend_from_slice(of_workload);
            }
            ledger.expect(&root.join(directory), names)?;
        }
        earlier.make(root, seed, self.plan.reserves_space, &executor.interrupt)?;
        sample.environment.extra.insert(EARLIER_FILES.to_owned(), earlier.describe());
        Ok(())
    }
}

impl MadeStack {
    /// Adds to the sample what is known of the stack and its drives when the work has ended.
    pub fn finish(self, sample: &mut Sample) {
        add_made(self.pools, sample);
        sample.whole = self.totals.so_far();
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

/// A short word, unique on this machine, for names of arrays, pools and directories.
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
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
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
