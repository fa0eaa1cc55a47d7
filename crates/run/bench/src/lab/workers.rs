//! Several cells at once, each in a lab of its own on a processor of its own.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, scope};
use std::time::Duration;

use disklab_cell::Cell;
use disklab_exec::{Executor, Interrupt, Interrupted, Invocation, UntrustedDirectory};
use disklab_lab::{CpuLease, CpuLeases};
use disklab_units::Bytes;

use super::bench::{LabKernel, LabSettings, lab_folder};
use super::drives::ModelledDrives;
use super::job::{GuestJob, PHASES};
use super::one_cell::{FinishedCell, OneCell, prepare};
use crate::device_bench::indices;
use crate::{BenchError, Campaign, CellProgress, CellToRun, Phase, Sink};

/// How often the guests' progress is looked at.
const POLL: Duration = Duration::from_millis(200);

/// What the cells have in common.
pub(super) struct Workers<'a> {
    pub campaign: &'a Campaign,
    pub drives: &'a ModelledDrives,
    pub settings: &'a LabSettings,
    pub kernel: &'a LabKernel,
    /// Where the labs' folders are made.
    pub folder: &'a Path,
    pub executor: &'a Executor,
}

/// A cell whose lab runs.
struct Running<'a> {
    cell: &'a Cell,
    /// What its drives will hold, as predicted.
    content: Bytes,
    _lease: CpuLease,
    folder: PathBuf,
    /// Bytes of its phases that were read.
    seen: u64,
    /// The guest's clock, in nanoseconds.
    clock: Arc<AtomicU64>,
    /// What it said when the workload was seen to begin.
    measuring_from: Option<u64>,
    planned: Option<Duration>,
}

type Ends = (u32, FinishedCell);

impl<'a> Workers<'a> {
    /// Carries out the cells, in their order as far as they do not run side by side.
    pub fn carry_out(
        &self,
        cells: &[CellToRun<'a>],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        // Raised to end all labs, by the user's wish or if to continue makes no sense.
        let stop = Interrupt::new();
        let (ends, ended) = channel();
        scope(|scope| {
            let mut shift = Shift {
                workers: self,
                stop: &stop,
                ends,
                running: BTreeMap::new(),
                fio: self.fio_version(),
                leases: CpuLeases::of_user(),
            };
            let result = shift.work(scope, cells, sink, &ended);
            if result.is_err() {
                stop.raise();
            }
            result
        })
    }

    /// The guests' fio is this machine's.
    fn fio_version(&self) -> Option<String> {
        let done = self.executor.run(&Invocation::new("fio").arg("--version")).ok()?;
        (done.code == 0).then(|| done.text().trim().to_owned())
    }
}

/// The labs that run.
struct Shift<'s, 'a> {
    workers: &'s Workers<'a>,
    stop: &'s Interrupt,
    ends: Sender<Ends>,
    running: BTreeMap<u32, Running<'a>>,
    leases: CpuLeases,
    /// What `fio --version` says.
    fio: Option<String>,
}

impl<'s, 'a> Shift<'s, 'a> {
    fn work<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, 's>,
        cells: &[CellToRun<'a>],
        sink: &mut dyn Sink,
        ended: &Receiver<Ends>,
    ) -> Result<(), BenchError>
    where
        'a: 's,
    {
        let mut waiting = cells.iter().peekable();
        loop {
            while let Some(next) = waiting.next_if(|next| self.can_begin(next)) {
                self.workers.executor.interrupt.check()?;
                self.begin(scope, *next, sink)?;
            }
            if self.running.is_empty() {
                return Ok(());
            }
            match ended.recv_timeout(POLL) {
                Ok((number, end)) => self.end(number, end, sink)?,
                Err(RecvTimeoutError::Timeout) => {}
                // Not while we hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.workers.executor.interrupt.check()?;
            for running in self.running.values_mut() {
                running.report_phases(sink);
                sink.stands(running.cell, running.progress());
            }
        }
    }

    /// Whether there is a processor for the next cell, and space for what it will write next to
    /// those that run.
    fn can_begin(&self, next: &CellToRun<'_>) -> bool {
        let settings = &self.workers.settings;
        let limit = Bytes(settings.content.disk.limit_bytes());
        let running: Vec<Bytes> = self.running.values().map(|running| running.content).collect();
        running.len() < settings.at_once && fits(&running, next.content, limit)
    }

    fn begin<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, 's>,
        CellToRun { cell, content }: CellToRun<'a>,
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError>
    where
        'a: 's,
    {
        let workers = self.workers;
        let study = &workers.campaign.study;
        let (stack, workload) = indices(workers.campaign, cell)?;
        let raw = sink.begin(cell).map_err(BenchError::Sink)?;
        // The guest mounts it, knows no folder that a path could start from, and may not look into
        // this process, through which the path leads.
        let shown = raw.canonicalize().map_err(BenchError::io("cannot find", &raw))?;
        let folder = lab_folder(workers.folder, cell);
        prepare(&folder, &self.job(cell))?;
        let clock = Arc::new(AtomicU64::new(0));
        let fixed = workers.campaign.workloads[workload].cost().fixed_seconds;
        let planned = Duration::try_from_secs_f64(fixed).ok().filter(|time| !time.is_zero());
        let lease = self.leases.take(&workers.settings.cores, workers.settings.memory.0);
        let lease = lease.ok_or(BenchError::NoProcessor)?;
        let one = OneCell {
            drives: workers.drives,
            settings: workers.settings,
            kernel: workers.kernel,
            study_file: &study.source.name,
            stack,
            indices: &study.stacks[stack].drives,
            write_cache: study.stacks[stack].write_cache,
            folder: folder.clone(),
            raw,
            shown,
            cell,
            core: lease.core(),
            stop: self.stop.clone(),
            clock: Arc::clone(&clock),
        };
        let ends = self.ends.clone();
        let number = cell.number;
        scope.spawn(move || {
            // Nobody listens any more where another cell's end stopped the run.
            let _ = ends.send((number, one.run()));
        });
        let running = Running {
            cell,
            content,
            _lease: lease,
            folder,
            seen: 0,
            clock,
            measuring_from: None,
            planned,
        };
        self.running.insert(number, running);
        Ok(())
    }

    /// What a cell's guest needs to know.
    fn job(&self, cell: &Cell) -> GuestJob {
        let workers = self.workers;
        let study = &workers.campaign.study;
        GuestJob {
            study_text: study.source.text.clone(),
            drives: study.named_drives.as_ref().map(ToString::to_string),
            quick: study.is_quick,
            scale: workers.campaign.scale,
            cell: cell.clone(),
            fio: self.fio.clone(),
            programs: workers.kernel.programs.is_some(),
            set_drive: workers.settings.set_sizes(),
            charges: workers.settings.charges(),
        }
    }

    fn end(
        &mut self,
        number: u32,
        end: FinishedCell,
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        let Some(running) = self.running.remove(&number) else { return Ok(()) };
        match end {
            FinishedCell::Interrupted => Err(Interrupted.into()),
            FinishedCell::Outcome(outcome) => {
                let _ = std::fs::remove_dir_all(&running.folder);
                sink.end(running.cell, *outcome).map_err(BenchError::Sink)
            }
        }
    }
}

impl Running<'_> {
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
    fn report_phases(&mut self, sink: &mut dyn Sink) {
        let Ok(text) = read_from(&self.folder, self.seen) else { return };
        // A line without its end is read again at the next look.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            self.seen += line.len() as u64;
            if let Ok(phase) = serde_json::from_str::<Phase>(line.trim()) {
                if phase == Phase::Measure {
                    self.measuring_from = Some(self.clock.load(Ordering::Relaxed));
                }
                sink.phase(self.cell, phase);
            }
        }
    }
}

/// Whether a cell of which this is predicted has space next to those that run. One alone has all
/// that there is.
fn fits(running: &[Bytes], next: Bytes, limit: Bytes) -> bool {
    running.is_empty() || running.iter().fold(next, |sum, content| sum + *content) <= limit
}

fn read_from(folder: &Path, at: u64) -> std::io::Result<String> {
    let mut file = UntrustedDirectory::open(folder)?.file(PHASES)?;
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
