//! Several cells at once, each in a lab of its own on a processor of its own.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use disklab_cell::{Cell, CellPlan, MachinePlan};
use disklab_exec::{Executor, Interrupt, Interrupted, Invocation, UntrustedDirectory};
use disklab_lab::{CpuLease, CpuLeases};
use disklab_sample::Environment;
use disklab_stack::Ledger;
use disklab_units::Bytes;

use super::job::PHASES;
use super::one_cell::{FinishedCell, OneCell};
use super::shared::LabShared;
use crate::own_directory::CellsDirectory;
use crate::{BenchError, CellExecutor, CellProgress, CellWatcher, EndedCell, Phase};

/// How often the guests' progress is looked at.
const POLL: Duration = Duration::from_millis(200);

/// Carries out cells in guests, as many at once as there are leases of processors and space.
pub(super) struct LabWorkers {
    shared: Arc<LabShared>,
    environment: Environment,
    ledger: Ledger,
    executor: Executor,
    leases: CpuLeases,
    /// What `fio --version` says, once it was asked.
    fio: Option<Option<String>>,
    /// In which the labs have theirs.
    own: CellsDirectory,
    running: BTreeMap<u32, Running>,
    /// Raised to end all labs, by the user's wish or if to continue makes no sense.
    stop: Interrupt,
    ends: Sender<(u32, FinishedCell)>,
    ended: Receiver<(u32, FinishedCell)>,
}

/// A cell whose lab runs.
struct Running {
    cell: Cell,
    /// What its drives will hold, as predicted.
    content: Bytes,
    _lease: CpuLease,
    directory: PathBuf,
    /// Bytes of its phases that were read.
    seen: u64,
    /// The guest's clock, in nanoseconds.
    clock: Arc<AtomicU64>,
    /// What it said when the workload was seen to begin.
    measuring_from: Option<u64>,
    planned: Option<Duration>,
    worker: JoinHandle<()>,
}

impl LabWorkers {
    pub(super) fn new(
        shared: LabShared,
        environment: Environment,
        ledger: Ledger,
        executor: Executor,
    ) -> Self {
        let (ends, ended) = channel();
        Self {
            shared: Arc::new(shared),
            environment,
            ledger,
            executor,
            leases: CpuLeases::of_user(),
            fio: None,
            own: CellsDirectory::default(),
            running: BTreeMap::new(),
            stop: Interrupt::new(),
            ends,
            ended,
        }
    }

    /// The guests' fio is this machine's.
    fn fio_version(&mut self) -> Option<String> {
        let ask = || {
            let done = self.executor.run(&Invocation::new("fio").arg("--version")).ok()?;
            (done.code == 0).then(|| done.text().trim().to_owned())
        };
        self.fio.get_or_insert_with(ask).clone()
    }

    /// The directory of a new lab.
    fn lab_directory(&mut self, cell: &Cell) -> Result<PathBuf, BenchError> {
        let own = self.own.path(&self.shared.settings.scratch, &mut self.ledger)?;
        let name = format!("cell-{}", cell.number + 1);
        self.ledger.expect(&own, vec![name.clone()])?;
        Ok(own.join(name))
    }

    /// Ends a lab: what is left of it is removed.
    fn end(
        &mut self,
        number: u32,
        finished: FinishedCell,
    ) -> Result<Option<EndedCell>, BenchError> {
        let Some(running) = self.running.remove(&number) else { return Ok(None) };
        let _ = running.worker.join();
        match finished {
            FinishedCell::Interrupted => Err(Interrupted.into()),
            FinishedCell::Outcome(outcome) => {
                // What stops a run may have signalled its guests, too, as batch systems do.
                if outcome.result.is_err() {
                    self.executor.interrupt.check()?;
                }
                let _ = std::fs::remove_dir_all(&running.directory);
                Ok(Some(EndedCell { cell: running.cell, outcome: *outcome }))
            }
        }
    }
}

impl Drop for LabWorkers {
    fn drop(&mut self) {
        self.finish();
    }
}

impl CellExecutor for LabWorkers {
    fn environment(&self) -> Environment {
        self.environment.clone()
    }

    /// Whether there is a processor for the cell, and space for what it will write next to those
    /// that run.
    fn has_room(&self, plan: &CellPlan) -> bool {
        let settings = &self.shared.settings;
        let limit = Bytes(settings.content.disk.limit_bytes());
        let running: Vec<Bytes> = self.running.values().map(|running| running.content).collect();
        running.len() < settings.at_once && fits(&running, plan.estimate.content, limit)
    }

    fn submit(&mut self, plan: CellPlan, outputs: &Path) -> Result<(), BenchError> {
        self.executor.interrupt.check()?;
        let MachinePlan::Lab(machine) = &plan.making.machine else {
            return Err(BenchError::OtherBench);
        };
        // The guest mounts it, knows no directory that a path could start from, and may not look into
        // this process, through which the path leads.
        let shown = outputs.canonicalize().map_err(BenchError::io("cannot find", outputs))?;
        let directory = self.lab_directory(&plan.cell)?;
        std::fs::create_dir_all(&directory).map_err(BenchError::io("cannot make", &directory))?;
        let lease = self.leases.take(&self.shared.settings.cores, machine.memory.0);
        let lease = lease.ok_or(BenchError::NoProcessor)?;
        let clock = Arc::new(AtomicU64::new(0));
        let planned = Duration::try_from_secs_f64(plan.estimate.clock_seconds).ok();
        let (cell, content) = (plan.cell.clone(), plan.estimate.content);
        let one = OneCell {
            shared: Arc::clone(&self.shared),
            plan: Box::new(plan),
            fio: self.fio_version(),
            directory: directory.clone(),
            raw: outputs.to_owned(),
            shown,
            core: lease.core(),
            stop: self.stop.clone(),
            clock: Arc::clone(&clock),
        };
        let (ends, number) = (self.ends.clone(), cell.number);
        let worker = std::thread::spawn(move || {
            // Nobody listens any more where another cell's end stopped the run.
            let _ = ends.send((number, one.run()));
        });
        let running = Running {
            cell,
            content,
            _lease: lease,
            directory,
            seen: 0,
            clock,
            measuring_from: None,
            planned: planned.filter(|time| !time.is_zero()),
            worker,
        };
        self.running.insert(number, running);
        Ok(())
    }

    fn next(&mut self, watcher: &mut dyn CellWatcher) -> Result<Option<EndedCell>, BenchError> {
        while !self.running.is_empty() {
            match self.ended.recv_timeout(POLL) {
                Ok((number, finished)) => return self.end(number, finished),
                // We hold a sender ourselves, so that it is never disconnected.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.executor.interrupt.check()?;
            for running in self.running.values_mut() {
                running.report_phases(watcher);
                watcher.stands(&running.cell, running.progress());
            }
        }
        Ok(None)
    }

    fn finish(&mut self) {
        if !self.running.is_empty() {
            self.stop.raise();
        }
        for (_, running) in std::mem::take(&mut self.running) {
            let _ = running.worker.join();
        }
        while self.ended.try_recv().is_ok() {}
        self.stop = Interrupt::new();
        self.own.remove(&mut self.ledger, &self.executor);
    }
}

impl Running {
    fn progress(&self) -> CellProgress {
        let now = self.clock.load(Ordering::Relaxed);
        let since = |then| Duration::from_nanos(now.saturating_sub(then));
        CellProgress {
            clock: since(0),
            measuring: self.measuring_from.map(since),
            planned: self.planned,
        }
    }

    /// Hands on the phases that the guest has told since the last look.
    fn report_phases(&mut self, watcher: &mut dyn CellWatcher) {
        let Ok(text) = read_from(&self.directory, self.seen) else { return };
        // A line without its end is read again at the next look.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            self.seen += line.len() as u64;
            if let Ok(phase) = serde_json::from_str::<Phase>(line.trim()) {
                if phase == Phase::Measure {
                    self.measuring_from = Some(self.clock.load(Ordering::Relaxed));
                }
                watcher.phase(&self.cell, phase);
            }
        }
    }
}

/// Whether a cell of which this is predicted has space next to those that run. One alone has all
/// that there is.
fn fits(running: &[Bytes], next: Bytes, limit: Bytes) -> bool {
    running.is_empty() || running.iter().fold(next, |sum, content| sum + *content) <= limit
}

fn read_from(directory: &Path, at: u64) -> std::io::Result<String> {
    let mut file = UntrustedDirectory::open(directory)?.file(PHASES)?;
    file.seek(SeekFrom::Start(at))?;
    let mut text = String::new();
    // Four short lines are all that a cell has to tell.
    file.take(4096).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_run_side_by_side_only_where_they_fit() {
        let [small, large] = [Bytes::gib(1), Bytes::gib(20)];
        for (running, next, fit) in [
            (&[][..], large, true),
            (&[], Bytes(u64::MAX), true),
            (&[small], small, true),
            (&[small], large, false),
            (&[large], large, false),
            (&[small, small], small, true),
            (&[small], Bytes(u64::MAX), false),
        ] {
            assert_eq!(fits(running, next, large), fit, "{next:?} next to {running:?}");
        }
    }
}
