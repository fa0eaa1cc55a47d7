//! A thread of a personality: its flowops, again and again.

mod directories;
mod files;
mod io;
mod limits;
mod rate_memory;
mod slot;
mod slots;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Scope;

use disklab_wml::random::Rng;
use disklab_wml::{Action, Flowop, Quit, SLOTS, Thread};

use crate::aio::{Aio, AioOwner};
use crate::fileset::Set;
use crate::filler::{Filler, ScratchBuffer};
use crate::pace::PacedEvents;
use crate::run_control::{RunControl, Signal, StopCause};
use crate::series;
use crate::sink::ReadSink;
use crate::tally::{Counted, FlowopTally};
use crate::{EarlyStop, FlowopObstacle, Options, RunProgress};

use self::rate_memory::{LimitUnit, RateMemory};
use self::slot::Slot;

/// A thread looks at the clock at least after so many flowops that need no look.
const BLIND: u32 = 256;

/// Why a thread ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The time is over, or another thread ended the run.
    Over,
    /// As the script wants: `finishon…`.
    Finished,
    /// [`EarlyStop::NoFile`], which ends a thread or the run, as the script says.
    NoFile(Box<EarlyStop>),
    /// The flowop cannot be done.
    Failed(Box<EarlyStop>),
}

pub(crate) type FlowopResult = Result<(), End>;

/// What all threads of a run share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub options: &'a Options,
    pub quit: Quit,
    pub control: RunControl,
    pub events: &'a PacedEvents,
    pub sets: &'a [Set],
    pub filler: &'a Filler,
    pub aio: Aio,
    /// By row: one signal for each thread that has the flowop.
    pub signals: Vec<Vec<Signal>>,
    /// By row: whether the summary counts it.
    pub io_rows: Vec<bool>,
    /// Number of flowops.
    pub flowops: usize,
    pub series: series::SharedSeries,
    pub progress: &'a RunProgress,
}

/// What the threads of a process count together, where a flowop asks for it.
#[derive(Debug, Default)]
pub(crate) struct ProcessCount {
    pub operations: AtomicU64,
    pub reads_and_writes: AtomicU64,
    pub bytes: AtomicU64,
}

/// Where a thread belongs.
#[derive(Debug)]
pub(crate) struct ThreadContext<'a> {
    pub thread: &'a Thread,
    /// None where no flowop of the process asks for it.
    pub process: Option<&'a ProcessCount>,
    pub rng: Rng,
    /// Its number among all threads of the run.
    pub number: usize,
    /// By row: which of the signals are its own.
    pub signals: Vec<Option<usize>>,
}

/// A thread while it runs.
pub(crate) struct Worker<'scope, 'env> {
    shared: &'env Shared<'env>,
    scope: &'scope Scope<'scope, 'env>,
    place: ThreadContext<'env>,
    /// When the last flowop ended, and so the next one begins.
    edge: u64,
    begin: u64,
    blind: u32,
    tallies: Vec<FlowopTally>,
    own: series::Own,
    slots: Vec<Slot>,
    /// `opennext`: which slot was last, and where its picks continue.
    last_slot: usize,
    next_entries: Vec<usize>,
    /// By flowop: what it remembers from turn to turn.
    memories: Vec<RateMemory>,
    path: String,
    sink: ReadSink,
    scratch: ScratchBuffer,
    owner: Arc<AioOwner>,
    /// Writes of whole pages so far.
    writes: u64,
}

impl<'scope, 'env> Worker<'scope, 'env> {
    pub fn new(
        shared: &'env Shared<'env>,
        scope: &'scope Scope<'scope, 'env>,
        place: ThreadContext<'env>,
    ) -> Self {
        let mut slots = Vec::new();
        slots.resize_with(SLOTS, Slot::default);
        Self {
            edge: 0,
            begin: 0,
            blind: 0,
            tallies: vec![FlowopTally::new(); shared.io_rows.len()],
            own: series::Own::default(),
            slots,
            last_slot: SLOTS,
            next_entries: vec![0; shared.sets.len()],
            memories: vec![RateMemory::default(); shared.flowops],
            path: String::with_capacity(256),
            sink: ReadSink::new(),
            scratch: shared.filler.scratch(place.number as u64),
            owner: Arc::default(),
            writes: 0,
            shared,
            scope,
            place,
        }
    }

    /// Runs to the end; returns what was counted, row by row.
    pub fn run(mut self) -> Vec<Counted> {
        self.edge = self.shared.control.ready();
        self.begin = self.shared.control.begin();
        let control = &self.shared.control;
        match (self.rounds(), self.shared.quit) {
            (End::Over, _) => {}
            (End::Failed(why), _) | (End::NoFile(why), Quit::Timeout) => {
                control.stop(StopCause::Early(why));
            }
            (End::Finished, Quit::Timeout | Quit::FirstDone) | (_, Quit::FirstDone) => {
                control.stop(StopCause::Finished);
            }
            (End::Finished | End::NoFile(_), Quit::AllDone) => {}
        }
        control.done();
        self.own.end(&self.shared.series);
        if let Err(error) = self.owner.wait() {
            control.stop(StopCause::Early(EarlyStop::AsynchronousWrite(error).into()));
        }
        self.close_all();
        self.tallies.iter_mut().map(FlowopTally::take).collect()
    }

    fn rounds(&mut self) -> End {
        let thread = self.place.thread;
        loop {
            for flowop in &thread.flowops {
                if let Err(end) = self.iteration(flowop) {
                    return end;
                }
            }
            if let Err(end) = self.proceed() {
                return end;
            }
        }
    }

    /// A flowop's turn: as often as `iters` says.
    fn iteration(&mut self, flowop: &'env Flowop) -> FlowopResult {
        let times = flowop.iters.draw(&mut self.place.rng);
        for _ in 0..times {
            self.once(flowop)?;
            self.proceed()?;
        }
        Ok(())
    }

    /// Whether the run continues.
    fn proceed(&mut self) -> FlowopResult {
        self.blind += 1;
        if self.blind >= BLIND {
            self.blind = 0;
            self.edge = self.edge.max(self.shared.control.now());
        }
        if self.edge >= self.shared.control.end() { Err(End::Over) } else { Ok(()) }
    }

    fn once(&mut self, flowop: &'env Flowop) -> FlowopResult {
        match &flowop.action {
            Action::OpenFile(files) => self.open_file(flowop, files),
            Action::CreateFile(files) => self.create_file(flowop, files),
            Action::CloseFile(files) => self.close_file(flowop, files),
            Action::DeleteFile(files) => self.delete_file(flowop, files),
            Action::StatFile(files) => self.stat_file(flowop, files),
            Action::Fsync(files) => self.fsync(flowop, files),
            Action::FsyncSet(fileset) => self.fsync_set(flowop, *fileset),
            Action::Read(io) => self.read(flowop, io),
            Action::Write(io) => self.write(flowop, io),
            Action::ReadWholeFile(io) => self.read_whole(flowop, io),
            Action::WriteWholeFile { io, source } => self.write_whole(flowop, io, *source),
            Action::AppendFile(io) => self.append(flowop, io, false),
            Action::AppendFileRandom(io) => self.append(flowop, io, true),
            Action::AioWrite(io) => self.aio_write(flowop, io),
            Action::AioWait => self.aio_wait(flowop),
            Action::MakeDir(files) => self.make_dir(flowop, files),
            Action::RemoveDir(files) => self.remove_dir(flowop, files),
            Action::ListDir(files) => self.list_dir(flowop, files),
            Action::FinishOnCount(finish) => self.finish_on(flowop, finish, false),
            Action::FinishOnBytes(finish) => self.finish_on(flowop, finish, true),
            Action::EventLimit => self.event_limit(flowop),
            Action::IopsLimit(target) => self.limit(flowop, *target, LimitUnit::ReadsAndWrites),
            Action::OpsLimit(target) => self.limit(flowop, *target, LimitUnit::Operations),
            Action::BandwidthLimit(target) => self.limit(flowop, *target, LimitUnit::Mebibytes),
            Action::Hog(value) => self.hog(flowop, value),
            Action::Delay(value) => self.delay(flowop, value),
            Action::Print(value) => self.print(flowop, value),
            Action::TestRandVar(value) => {
                value.draw_exactly(&mut self.place.rng);
                self.count_here(flowop);
                Ok(())
            }
            Action::Block => self.block(flowop),
            Action::Wakeup(target) => self.wake_up(flowop, *target),
            Action::SemBlock { value, .. } => self.sem_block(flowop, value),
            Action::SemPost { value, target, blocking } => {
                self.sem_post(flowop, value, *target, *blocking)
            }
            Action::Composite(inner) => {
                let began = self.edge;
                for flowop in inner {
                    self.iteration(flowop)?;
                }
                self.tally(flowop, 0, self.edge.saturating_sub(began), self.edge);
                Ok(())
            }
        }
    }

    /// Looks at the clock: what comes next begins now.
    fn look(&mut self) {
        self.edge = self.shared.control.now();
        self.blind = 0;
    }

    /// Counts an operation that ends now and began when the last one ended.
    fn count(&mut self, flowop: &Flowop, bytes: u64) {
        let began = self.edge;
        self.look();
        self.tally(flowop, bytes, self.edge.saturating_sub(began), self.edge);
    }

    /// Counts an operation that took no time worth a look at the clock.
    fn count_here(&mut self, flowop: &Flowop) {
        self.tally(flowop, 0, 0, self.edge);
    }

    fn tally(&mut self, flowop: &Flowop, bytes: u64, ns: u64, now: u64) {
        let tally = &mut self.tallies[flowop.row];
        tally.all_operations += 1;
        tally.all_bytes = tally.all_bytes.saturating_add(bytes);
        let io = flowop.action.is_io();
        if io && let Some(process) = self.place.process {
            process.operations.fetch_add(1, Ordering::Relaxed);
            if flowop.action.io().is_some() {
                process.reads_and_writes.fetch_add(1, Ordering::Relaxed);
            }
            process.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        if now >= self.begin && now <= self.shared.control.end() {
            tally.measure(bytes, ns);
            if io {
                self.own.count(now - self.begin, bytes, ns, &self.shared.series);
            }
        }
    }

    /// An operation that the system refused.
    fn refused(flowop: &Flowop, what: &str, error: std::io::Error) -> End {
        End::Failed(EarlyStop::refused(flowop, what, error).into())
    }

    /// An operation that cannot be done as things stand.
    fn impossible(flowop: &Flowop, why: FlowopObstacle) -> End {
        End::Failed(EarlyStop::impossible(flowop, why).into())
    }

    fn no_file(flowop: &Flowop, what: &str, set: &Set) -> End {
        End::NoFile(EarlyStop::no_file(flowop, what, &set.name).into())
    }
}
