//! A mounted directory as it is: only files are made.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::{CellPlan, Levels, MachinePlan};
use disklab_exec::Executor;
use disklab_measure::{NamedDevice, SystemRoot, Totals, environment, mounts_of};
use disklab_prediction::Medium;
use disklab_sample::{Environment, MountState, Sample};
use disklab_stack::Ledger;
use disklab_study::{LeftOut, PlannedStack};
use disklab_units::Bytes;

use crate::bench::{BenchProfile, BenchSteps};
use crate::cell::{CellContext, CellWork, run_one};
use crate::making::Begin;
use crate::own_directory::OwnDirectory;
use crate::preflight::runnable_workloads;
use crate::{
    Bench, BenchError, BenchNeeds, CellError, CellExecutor, CellWatcher, EndedCell, LoadedStudy,
    Phase, Preflight,
};

/// The id of the one stack of a directory.
const AS_IT_IS: &str = "as-it-is";

/// A directory that somebody else has made and mounted.
#[derive(Debug)]
pub struct DirBench {
    directory: PathBuf,
    /// The mount that holds it.
    mount: Option<MountState>,
    watched: Vec<NamedDevice>,
    medium: Medium,
    ledger: Ledger,
    executor: Executor,
    /// The cell that comes next, and where its raw outputs go.
    submitted: Option<(CellPlan, PathBuf)>,
}

impl DirBench {
    /// A bench in `directory`, which must exist and be writable. `watched` are
    /// the block devices below it, where there are any.
    pub fn new(
        directory: &Path,
        watched: Vec<NamedDevice>,
        medium: Medium,
        ledger: Ledger,
        executor: Executor,
    ) -> Self {
        let (directory, mount) = (directory.to_owned(), mount_of(directory));
        Self { directory, mount, watched, medium, ledger, executor, submitted: None }
    }

    /// Whether the directory is still on the file system that it was on: figures of another one
    /// would pass for this one's, and files would be written where they do not belong.
    fn check_mount(&self) -> Result<(), BenchError> {
        let what =
            |mount: &Option<MountState>| mount.clone().map(|m| (m.source, m.directory, m.kind));
        let is = mount_of(&self.directory);
        if what(&is) == what(&self.mount) {
            return Ok(());
        }
        let words = |mount: &Option<MountState>| {
            let mount = mount.as_ref().map(|m| format!("{} ({})", m.source, m.kind));
            mount.unwrap_or_else(|| "nothing".to_owned())
        };
        let (directory, was, is) = (self.directory.clone(), words(&self.mount), words(&is));
        Err(BenchError::DirectoryMoved { directory, was, is })
    }
}

impl From<DirBench> for Bench {
    fn from(bench: DirBench) -> Self {
        Self::of(bench)
    }
}

impl BenchSteps for DirBench {
    fn profile(&self) -> BenchProfile {
        let directory = self.directory.display();
        let about = match &self.mount {
            Some(mount) => format!("the directory {directory}, as it is mounted: {mount}"),
            None => format!("the directory {directory}, as it is"),
        };
        BenchProfile {
            name: format!("dir:{directory}"),
            about,
            medium: self.medium,
            at_once: 1,
            is_simulated: false,
        }
    }

    fn preflight(&self, campaign: &LoadedStudy) -> Preflight {
        let mut preflight =
            Preflight::new(MachinePlan::Directory(self.directory.clone()), Vec::new());
        let free = free_space(&self.directory);
        for index in runnable_workloads(campaign, false, false, &mut preflight.left_out) {
            let id = &campaign.study.workloads[index].id;
            let space = campaign.workloads[index].cost().space;
            if space > free {
                let why = format!(
                    "needs {} and the directory has {} free; make the files smaller with --scale",
                    space.iec(),
                    free.iec()
                );
                preflight.left_out.push(LeftOut::workload(id, why));
                continue;
            }
            preflight.levels.push(Levels::new(AS_IT_IS, id));
        }
        let drives: Vec<String> = self.watched.iter().map(|w| w.name.clone()).collect();
        preflight.stacks = vec![PlannedStack {
            id: AS_IT_IS.to_owned(),
            layers: Vec::new(),
            drives,
            capacity: free.0,
            tolerates: 0,
            loss: None,
            copies: false,
        }];
        preflight
    }

    fn prepare(mut self: Box<Self>, _: &BenchNeeds) -> Result<Box<dyn CellExecutor>, BenchError> {
        self.ledger.make()?;
        Ok(self)
    }
}

impl CellExecutor for DirBench {
    fn environment(&self) -> Environment {
        environment(&self.executor)
    }

    fn has_room(&self, _: &CellPlan) -> bool {
        self.submitted.is_none()
    }

    fn submit(&mut self, plan: CellPlan, outputs: &Path) -> Result<(), BenchError> {
        if plan.making.machine != MachinePlan::Directory(self.directory.clone()) {
            return Err(BenchError::OtherBench);
        }
        self.submitted = Some((plan, outputs.to_owned()));
        Ok(())
    }

    fn next(&mut self, watcher: &mut dyn CellWatcher) -> Result<Option<EndedCell>, BenchError> {
        let Some((plan, outputs)) = self.submitted.take() else { return Ok(None) };
        self.check_mount()?;
        let Self { directory, watched, ledger, executor, .. } = self;
        let run = |work: &CellWork<'_>,
                   ledger: &mut Ledger,
                   executor: &Executor,
                   phase: &mut dyn FnMut(Phase)| {
            in_directory(directory, watched, work, ledger, executor, phase)
        };
        let ended = run_one(Begin::Make, ledger, executor, &plan, &outputs, watcher, run);
        // A cell whose directory went away has not failed: it waits for `run --resume`.
        self.check_mount()?;
        ended.map(Some)
    }

    fn finish(&mut self) {}
}

/// The mount that holds a directory.
fn mount_of(directory: &Path) -> Option<MountState> {
    // An automounter mounts what is opened.
    let _ = File::open(directory);
    mounts_of(&SystemRoot::here(), directory).into_iter().next()
}

/// Runs a cell in a directory of its own below `directory`.
fn in_directory(
    directory: &Path,
    watched: &[NamedDevice],
    work: &CellWork<'_>,
    ledger: &mut Ledger,
    executor: &Executor,
    phase: &mut dyn FnMut(Phase),
) -> Result<Sample, CellError> {
    let mut sample = Sample::default();
    phase(Phase::Make);
    let began = Instant::now();
    let own = OwnDirectory::create(directory, ledger).map_err(CellError::Drives)?;
    let (making, names) = (&work.making, work.workload.names());
    making.make_earlier_files(own.path(), &names, ledger, executor, &mut sample)?;
    let directory = making.home(own.path());
    sample.overhead.make_seconds = began.elapsed().as_secs_f64();
    let totals = Totals::start(&SystemRoot::here(), watched);
    let place = CellContext {
        directory: &directory,
        device: None,
        remount: None,
        caretaker: None,
        device_is_ata: false,
        tell_smart: false,
        watched,
        traits: Vec::new(),
        // The space of the user's file system is left alone.
        spread: None,
    };
    work.measure(&place, executor, phase, &mut sample)?;
    sample.whole = totals.so_far();
    Ok(sample)
}

/// Bytes that an ordinary user may still write there; 0 where it is unknown.
pub fn free_space(directory: &Path) -> Bytes {
    rustix::fs::statvfs(directory)
        .map_or(Bytes::ZERO, |s| Bytes(s.f_bavail.saturating_mul(s.f_frsize)))
}
