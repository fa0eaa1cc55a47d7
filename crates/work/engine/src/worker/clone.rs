//! What a clone does besides its I/Os: it is made, begins, watches the time, goes
//! from loop to loop, and ends.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use disklab_jobfile::{IoDirection, Job, ThinkBlocks};

use super::depth_search::DepthSearch;
use super::start;
use super::tally::{Account, IoTally};
use super::thinker::Thinker;
use crate::backend::{Call, Chosen, choose};
use crate::context::{Issued, JobContext};
use crate::control::Control;
use crate::error::EngineError;
use crate::files::{Ends, OpenFiles};
use crate::filler::BufferFiller;
use crate::flow::{FlowShare, Flows};
use crate::io_failure::IoFailure;
use crate::measure::now_ns;
use crate::memory::Memory;
use crate::pace::Limiter;
use crate::pattern::{IoRequest, IoSequence, NextIo, RequestKind};
use crate::random::mix;
use crate::verify::{Checker, Written};

/// What clones share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentShared<'a> {
    pub(crate) context: &'a JobContext,
    pub(crate) ends: &'a Ends,
    /// What this clone is told and tells.
    pub(crate) control: &'a Control,
    pub(crate) flows: &'a Flows,
    /// Bytes read and written by all, where progress is told.
    pub(crate) bytes: Option<&'a [AtomicU64; 2]>,
}

impl SegmentShared<'_> {
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.control.is_stopped() || self.context.interrupt.is_raised()
    }
}

/// What a clone did.
#[derive(Debug)]
pub(crate) struct CloneOutcome {
    pub(crate) account: Account,
    pub(crate) error: Option<IoFailure>,
    pub(crate) engine: &'static str,
    pub(crate) notes: Vec<String>,
    pub(crate) verified: (u64, u64),
    /// I/Os in flight at once: as asked, or as sought for `latency_target`.
    pub(crate) depth: u32,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloneStep {
    /// This I/O.
    Go(IoRequest),
    /// Nothing before this time of the clock.
    Wait(u64),
    /// A pass over the files is done, and what is in flight has to end first.
    Pass,
    /// Nothing any more.
    Stop,
}

/// Errors that `continue_on_error` passes over unless `ignore_error` names others
/// (`td_non_fatal_error` in fio's io_u.c).
const PASSED_OVER: [i32; 2] = [libc::EIO, libc::EILSEQ];

/// One clone at work.
pub(super) struct Clone<'a> {
    pub(super) job: &'a Job,
    index: usize,
    number: u32,
    pub(super) shared: &'a SegmentShared<'a>,
    pub(super) files: OpenFiles,
    pub(super) memory: Memory,
    sequence: IoSequence,
    pub(super) filler: BufferFiller,
    pub(super) limiter: Limiter,
    pub(super) thinker: Option<Thinker>,
    pub(super) checker: Option<Checker>,
    pub(super) written: Written,
    pub(super) verified: (u64, u64),
    pub(super) tally: IoTally,
    pub(super) deadline_ns: u64,
    pub(super) ramp_ends_ns: u64,
    pub(super) next_event_ns: u64,
    /// When it has to be as fast as `rate_min`; none from then on.
    pub(super) settles_ns: Option<u64>,
    pub(super) cycle: (u64, [u64; 2], [u64; 2]),
    pub(super) reported: [u64; 2],
    pending: Option<IoRequest>,
    pass: NextIo,
    /// `latency_target`.
    pub(super) search: Option<DepthSearch>,
    flow: Option<FlowShare<'a>>,
    loops_left: u64,
    issued_before: u64,
    issued: u64,
}

/// The outcome of a clone that a bug ended.
pub(crate) fn broken(job: &Job) -> CloneOutcome {
    nothing(job, Some(IoFailure::Panicked), Vec::new())
}

fn nothing(job: &Job, error: Option<IoFailure>, notes: Vec<String>) -> CloneOutcome {
    let now = now_ns();
    CloneOutcome {
        account: IoTally::new(now).finish(now),
        error,
        engine: job.engine.name(),
        notes,
        verified: (0, 0),
        depth: job.depth.depth,
    }
}

/// Runs a clone. `ready` is called when everything is prepared, and returns when
/// it may begin: false where it may not.
pub(crate) fn run(
    job: &Job,
    index: usize,
    number: u32,
    shared: &SegmentShared<'_>,
    ready: impl FnOnce() -> bool,
) -> CloneOutcome {
    let mut notes = Vec::new();
    start::settle(job, number, &mut notes);
    let mut clone = match Clone::new(job, index, number, shared) {
        Ok(clone) => clone,
        Err(failure) => {
            ready();
            return nothing(job, Some(failure), notes);
        }
    };
    let registers =
        if job.opening.unlink_each_loop { Vec::new() } else { clone.files.descriptors() };
    let (mut chosen, note) = choose(job.engine, &job.depth, &registers, &mut clone.memory);
    notes.extend(note);
    // Before any begins, so that none has a head start.
    clone.flow = job.pace.flow.and_then(|flow| shared.flows.join(flow));
    if !ready() || !clone.delay() {
        return nothing(job, None, notes);
    }
    clone.begin();
    let (engine, result) = match &mut chosen {
        Chosen::Synchronous(call) => {
            // An asynchronous engine gave way to plain calls.
            let own = job.engine.is_synchronous() || *call == Call::Nothing;
            let name = if own { job.engine.name() } else { "psync" };
            (name, clone.run_synchronous(*call))
        }
        Chosen::Asynchronous(backend) => (backend.name(), clone.run_asynchronous(backend.as_mut())),
    };
    let mut error = result.err();
    clone.flow = None;
    clone.tell_progress();
    let (tally, ended_ns) = (std::mem::replace(&mut clone.tally, IoTally::new(now_ns())), now_ns());
    let account = tally.finish(ended_ns);
    // Destroying the context or ring is no part of the measured time (io_destroy(2) waits
    // for an RCU grace period), but comes before the memory and the files that it uses go.
    drop(chosen);
    if error.is_none() && !shared.is_stopped() {
        error = clone.verify_all().err();
    }
    let closed = if job.opening.unlink { clone.files.unlink() } else { clone.files.close_all() };
    if let (None, Err(failed)) = (&error, closed) {
        error = Some(failed.into());
    }
    let depth = clone.search.as_ref().map_or(job.depth.depth, DepthSearch::depth);
    CloneOutcome { account, error, engine, notes, verified: clone.verified, depth }
}

impl<'a> Clone<'a> {
    fn new(
        job: &'a Job,
        index: usize,
        number: u32,
        shared: &'a SegmentShared<'a>,
    ) -> Result<Self, IoFailure> {
        let seed = job.pattern.seed.unwrap_or(shared.context.seed);
        let seed = mix(seed ^ mix(((index as u64) << 32) | u64::from(number)));
        let targets = shared.ends.targets(job, index, number, shared.context);
        let files = OpenFiles::new(job, targets, &shared.context.devices)?;
        let largest = usize::try_from(job.blocks.max()).unwrap_or(usize::MAX);
        let depth = job.reachable_depth();
        let mut memory = Memory::new(depth as usize, largest).ok_or(IoFailure::TooMuchMemory)?;
        let mut filler = BufferFiller::new(job, number, seed)?;
        if job.pattern.access.writes {
            (0..depth as usize).for_each(|slot| filler.begin(memory.slot(slot)));
        }
        let mut sequence = IoSequence::new(job, &files.lengths(), seed);
        if shared.ends.has(index, number) {
            sequence = sequence.appending();
        }
        let now = now_ns();
        Ok(Self {
            checker: Checker::new(job, number, seed)?,
            job,
            index,
            number,
            shared,
            files,
            memory,
            sequence,
            filler,
            limiter: Limiter::new(&job.pace, seed),
            thinker: job.pace.think.map(Thinker::new),
            written: Written::default(),
            verified: (0, 0),
            tally: IoTally::new(now),
            deadline_ns: u64::MAX,
            ramp_ends_ns: 0,
            next_event_ns: 0,
            settles_ns: None,
            cycle: (0, [0; 2], [0; 2]),
            reported: [0; 2],
            pending: None,
            pass: NextIo::Done,
            search: job.depth.target.map(|target| DepthSearch::new(target, depth)),
            flow: None,
            loops_left: job.length.loops.max(1),
            issued_before: 0,
            issued: 0,
        })
    }

    /// `startdelay`; false where it was told to stop meanwhile.
    fn delay(&mut self) -> bool {
        let (least, most) = self.job.timing.start_delay;
        let spread = u64::try_from(most.saturating_sub(least).as_nanos()).unwrap_or(u64::MAX);
        let drawn = mix(self.shared.context.seed ^ mix(u64::from(self.number) + 77));
        let extra = ((u128::from(drawn) * (u128::from(spread) + 1)) >> 64) as u64;
        let delay = least.saturating_add(Duration::from_nanos(extra.min(spread)));
        let ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        if ns > 0 {
            self.wait_until(now_ns().saturating_add(ns));
        }
        !self.shared.is_stopped()
    }

    /// What comes next at a time of the clock.
    ///
    /// # Errors
    /// [`IoFailure::Slow`] if a rate that the job must reach is not reached.
    #[inline]
    pub(super) fn step(&mut self, now: u64) -> Result<CloneStep, IoFailure> {
        if now >= self.next_event_ns {
            self.on_time(now)?;
            if now >= self.deadline_ns {
                return Ok(CloneStep::Stop);
            }
        }
        if self.shared.is_stopped() {
            return Ok(CloneStep::Stop);
        }
        if self.job.timing.steady.is_some() {
            let (operations, bytes) = (self.tally.operations(), self.tally.bytes());
            self.shared.control.report(operations.iter().sum(), bytes.iter().sum());
        }
        let request = match self.pending.take() {
            Some(request) => request,
            None => {
                if self.sequence.is_spent() {
                    return Ok(CloneStep::Stop);
                }
                if let Some(wait_ns) = self.flow.as_mut().and_then(FlowShare::wait_ns) {
                    return Ok(CloneStep::Wait(now.saturating_add(wait_ns)));
                }
                let limiter = &self.limiter;
                let next = if limiter.is_limited && self.sequence.is_mixed() {
                    self.sequence.next(|drawn| limiter.choose(drawn, now))
                } else {
                    self.sequence.next(|drawn| drawn)
                };
                match next {
                    NextIo::Io(request) => request,
                    pass => {
                        self.pass = pass;
                        return Ok(CloneStep::Pass);
                    }
                }
            }
        };
        if self.limiter.is_limited && request.kind.moves_data() {
            let direction = match request.kind {
                RequestKind::Write => IoDirection::Write,
                _ => IoDirection::Read,
            };
            let due = self.limiter.due(direction);
            if due > now {
                self.pending = Some(request);
                return Ok(CloneStep::Wait(due));
            }
            self.limiter.issued(direction, u64::from(request.length));
        }
        if let Some(thinker) = &mut self.thinker
            && request.kind.moves_data()
            && self.job.pace.think.is_some_and(|t| t.counted == ThinkBlocks::Issue)
        {
            thinker.count();
        }
        self.issued += 1;
        if let Some(trace) = &self.shared.context.trace
            && let Ok(mut trace) = trace.lock()
        {
            trace.push(Issued { job: self.index, clone: self.number, request });
        }
        if let Some(file) = self.sequence.take_wrapped() {
            self.files.invalidate(file);
        }
        Ok(CloneStep::Go(request))
    }

    /// A pass is done and nothing is in flight: whether there is another one.
    ///
    /// # Errors
    /// Where a flush fails, or nothing at all was done.
    pub(super) fn pass(&mut self) -> Result<bool, IoFailure> {
        self.end_pass()?;
        let idle = self.issued == self.issued_before;
        self.issued_before = self.issued;
        if idle && self.sequence.appends() && self.issued > 0 {
            return Ok(false);
        }
        if idle {
            return Err(IoFailure::NothingFits);
        }
        if self.pass == NextIo::Done {
            self.loops_left = self.loops_left.saturating_sub(1);
            if self.loops_left == 0 && !self.job.timing.time_based {
                return Ok(false);
            }
            if self.job.opening.unlink_each_loop {
                self.files.unlink()?;
                self.files.reopen()?;
            }
        }
        for file in 0..self.files.paths().len() {
            self.files.invalidate(file as u32);
        }
        Ok(true)
    }

    /// What belongs to the end of a pass, also of the last: `end_fsync`, as part
    /// of the measured time, as in fio.
    pub(super) fn end_pass(&mut self) -> Result<(), IoFailure> {
        if self.job.flushing.end_fsync && !self.files.reads_only() {
            self.files.sync_all()?;
        }
        Ok(())
    }

    /// The descriptor of a file; it is opened where it is not. No other I/O may be
    /// in flight then.
    #[inline]
    pub(super) fn descriptor(&mut self, file: u32) -> Result<i32, EngineError> {
        match self.files.descriptor(file) {
            Some(fd) => Ok(fd),
            None => self.files.open(file),
        }
    }

    /// Makes the buffer of a slot ready for a write.
    pub(super) fn fill(&mut self, slot: u32, request: &IoRequest) {
        let buffer = &mut self.memory.slot(slot as usize)[..request.length as usize];
        self.filler.write(buffer, request.offset);
        if let Some(checker) = &mut self.checker {
            checker.stamp(buffer, request.offset);
        }
    }

    /// What happens after a transfer has ended well.
    pub(super) fn after(&mut self, slot: u32, request: &IoRequest) -> Result<(), IoFailure> {
        if let Some(thinker) = &mut self.thinker
            && self.job.pace.think.is_some_and(|t| t.counted == ThinkBlocks::Complete)
        {
            thinker.count();
        }
        if self.checker.is_some() {
            self.checked(slot, request)?;
        }
        Ok(())
    }

    /// An I/O failed: `continue_on_error` passes over it, or the job ends.
    pub(super) fn failed(&mut self, request: &IoRequest, errno: i32) -> Result<(), IoFailure> {
        let on = &self.job.continue_on_error;
        let (passes, errors) = match request.kind {
            RequestKind::Read => (on.read, &on.read_errors),
            _ => (on.write, &on.write_errors),
        };
        let number = if errno == 0 { libc::EIO } else { errno };
        if passes && errors.as_deref().unwrap_or(&PASSED_OVER).contains(&number) {
            self.tally.passed_over += 1;
            return Ok(());
        }
        let name = match request.kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Sync => "fsync",
            RequestKind::DataSync => "fdatasync",
        };
        let offset = request.offset;
        if errno == 0 {
            let path = self.files.path(request.file).to_owned();
            return Err(IoFailure::TooShort { path, offset, request: name });
        }
        Err(self.files.failure(request.file, name, offset, errno))
    }
}
