//! Several I/Os at once.

use std::time::Duration;

use super::clone::{Clone, CloneStep};
use super::depth_search::Verdict;
use crate::backend::{Backend, IoCompletion, IoOperation};
use crate::io_failure::IoFailure;
use crate::measure::now_ns;
use crate::pattern::{IoRequest, RequestKind};

/// The wish to stop is looked at so often while nothing ends.
const SLICE: Duration = Duration::from_millis(50);

/// Where calls cost the user time and none of the job's, so many I/Os are handed over
/// at once. The kernel treats them as if they came one by one: from three on it holds
/// them back first, and merges neighbours (AIO_PLUG_THRESHOLD in fs/aio.c, `max_ios > 2`
/// in io_uring/io_uring.c), so that a drive would get other requests than from fio.
const LEAN_BATCH: usize = 2;

/// One I/O in flight.
#[derive(Debug, Clone, Copy)]
struct Pending {
    request: IoRequest,
    /// Bytes done so far, where the kernel did only a part.
    done: u32,
    began_ns: u64,
    taken_ns: u64,
}

/// What is in flight.
struct PendingQueue {
    pending: Vec<Pending>,
    free: Vec<u32>,
    /// Queued, but not handed over: their time of submission is not known yet.
    queued: Vec<u32>,
    ends: Vec<IoCompletion>,
    /// So many of `ends` have been taken note of.
    noted: usize,
    /// Whether the last look found that all in flight had ended: they may have ended within the
    /// call that submitted them.
    all_ended: bool,
    depth: usize,
    lean: bool,
}

impl PendingQueue {
    fn in_flight(&self) -> usize {
        self.depth - self.free.len()
    }
}

/// Why no more I/O is begun for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocked {
    Full,
    Until(u64),
    Thinking,
    Pass,
    Stop,
}

impl Clone<'_> {
    /// Runs to the end.
    pub(super) fn run_asynchronous(&mut self, backend: &mut dyn Backend) -> Result<(), IoFailure> {
        let depth = self.job.depth.depth.max(1) as usize;
        let nothing = IoRequest { kind: RequestKind::Read, file: 0, offset: 0, length: 0 };
        let pending_io = Pending { request: nothing, done: 0, began_ns: 0, taken_ns: 0 };
        let mut pending = PendingQueue {
            pending: vec![pending_io; depth],
            free: (0..depth as u32).rev().collect(),
            queued: Vec::with_capacity(depth),
            ends: Vec::with_capacity(depth),
            noted: 0,
            all_ended: false,
            depth,
            lean: self.shared.context.lean,
        };
        let result = self.fly(backend, &mut pending);
        if result.is_err() {
            // The buffers belong to the kernel until all have ended.
            self.land(backend, &mut pending);
        }
        result
    }

    fn fly(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
    ) -> Result<(), IoFailure> {
        let mut now = now_ns();
        loop {
            let held = self.take_off(backend, pending, &mut now)?;
            match held {
                Blocked::Full => self.collect(backend, pending, None, &mut now)?,
                Blocked::Until(until) if pending.in_flight() == 0 => {
                    self.wait_until(until.min(self.next_event_ns));
                }
                Blocked::Until(until) => {
                    let until = until.min(self.next_event_ns);
                    let left = Duration::from_nanos(until.saturating_sub(now_ns()));
                    self.collect(backend, pending, Some(left.min(SLICE)), &mut now)?;
                }
                Blocked::Thinking | Blocked::Pass | Blocked::Stop => {
                    while pending.in_flight() > 0 {
                        self.collect(backend, pending, None, &mut now)?;
                    }
                    match held {
                        Blocked::Pass if !self.pass()? => return Ok(()),
                        Blocked::Stop => return self.end_pass(),
                        Blocked::Thinking => {
                            self.think(now_ns());
                        }
                        _ => {}
                    }
                }
            }
            if self.search.is_some() && self.seek(backend, pending, &mut now)? {
                return self.end_pass();
            }
            // The turn of an end that is there already costs no time.
            if held != Blocked::Full || pending.noted == pending.ends.len() {
                now = now_ns();
            }
        }
    }

    /// Begins I/Os until something holds it.
    fn take_off(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        now: &mut u64,
    ) -> Result<Blocked, IoFailure> {
        // fio hands over one by one unless told otherwise, and so do we: a batch would
        // make each I/O wait for its neighbours.
        let batch = match self.job.depth.batch as usize {
            0 | 1 if pending.lean => LEAN_BATCH,
            batch => batch.max(1),
        };
        let held = loop {
            if self.thinker.is_some() && self.thinks(*now) {
                break Blocked::Thinking;
            }
            if self.is_full(pending) {
                break Blocked::Full;
            }
            match self.step(*now)? {
                CloneStep::Go(request) => {
                    if self.files.descriptor(request.file).is_none() {
                        // A file may have to be closed for it.
                        while pending.in_flight() > 0 {
                            self.collect(backend, pending, None, now)?;
                        }
                        *now = now_ns();
                    }
                    self.descriptor(request.file)?;
                    self.tally.depth_meter.begun(pending.in_flight(), *now);
                    let Some(slot) = pending.free.pop() else { break Blocked::Full };
                    if request.kind == RequestKind::Write {
                        self.fill(slot, &request);
                        *now = now_ns();
                    }
                    pending.pending[slot as usize] =
                        Pending { request, done: 0, began_ns: *now, taken_ns: 0 };
                    if pending.lean && pending.queued.len() >= batch {
                        // What is left is handed over with the wait for ends.
                        self.submit(backend, pending, now)?;
                    }
                    self.queue(backend, pending, slot)?;
                    let level = usize::BITS - (pending.in_flight().max(1) - 1).leading_zeros();
                    self.tally.depths[(level as usize).min(6)] += 1;
                    if !pending.lean && pending.queued.len() >= batch {
                        self.submit(backend, pending, now)?;
                    }
                }
                CloneStep::Wait(until) => break Blocked::Until(until),
                CloneStep::Pass => break Blocked::Pass,
                CloneStep::Stop => break Blocked::Stop,
            }
        };
        self.submit_rest(backend, pending, now)?;
        Ok(held)
    }

    /// What is queued still: submitted now, or with the wait for ends.
    fn submit_rest(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        now: &mut u64,
    ) -> Result<(), IoFailure> {
        if pending.queued.is_empty() {
            return Ok(());
        }
        if !pending.lean {
            return self.submit(backend, pending, now);
        }
        self.tally.submitted(pending.queued.len());
        pending.queued.clear();
        Ok(())
    }

    /// How many I/Os may be in flight.
    fn limit(&self, pending: &PendingQueue) -> usize {
        self.search.as_ref().map_or(pending.depth, |search| search.depth() as usize)
    }

    fn is_full(&self, pending: &PendingQueue) -> bool {
        pending.in_flight() >= self.limit(pending)
    }

    /// Seeks the depth for `latency_target`. Says whether it has been measured.
    fn seek(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        now: &mut u64,
    ) -> Result<bool, IoFailure> {
        let verdict = self.verdict(*now)?;
        if verdict == Verdict::Continue {
            return Ok(false);
        }
        while pending.in_flight() > 0 {
            self.collect(backend, pending, None, now)?;
        }
        self.follow(verdict);
        Ok(verdict == Verdict::Done)
    }

    fn queue(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        slot: u32,
    ) -> Result<(), IoFailure> {
        let Pending { request, done, .. } = pending.pending[slot as usize];
        let fd = self.descriptor(request.file)?;
        let buffer = self.memory.slot(slot as usize)[done as usize..].as_mut_ptr();
        let operation = IoOperation {
            kind: request.kind,
            fd,
            file: request.file,
            slot,
            buffer,
            length: request.length - done,
            offset: request.offset + u64::from(done),
        };
        backend.queue(&operation).map_err(IoFailure::kernel("queue an I/O"))?;
        pending.queued.push(slot);
        Ok(())
    }

    fn submit(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        now: &mut u64,
    ) -> Result<(), IoFailure> {
        self.tally.submitted(pending.queued.len());
        self.submit_timed(backend, now)?;
        if pending.lean {
            // When they were taken is not looked at.
            pending.queued.clear();
            return Ok(());
        }
        for slot in pending.queued.drain(..) {
            pending.pending[slot as usize].taken_ns = *now;
        }
        Ok(())
    }

    /// Hands over what the back-end has queued, and counts how long that takes.
    fn submit_timed(&mut self, backend: &mut dyn Backend, now: &mut u64) -> Result<(), IoFailure> {
        let before_ns = *now;
        backend.submit().map_err(IoFailure::kernel("submit I/Os"))?;
        // Where the drive has as many as it takes, the call has waited.
        *now = now_ns();
        self.tally.depth_meter.submitted(now.saturating_sub(before_ns));
        Ok(())
    }

    /// Waits for ends, and takes note of them: of one after another, with what is begun
    /// in between, unless told otherwise. fio does so, and where handing over waits for
    /// room at the drive, an end that came meanwhile is noted when its turn comes.
    fn collect(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        timeout: Option<Duration>,
        now: &mut u64,
    ) -> Result<(), IoFailure> {
        let depth = &self.job.depth;
        let full = self.is_full(pending);
        let least = depth.complete_min as usize;
        // 0 polls: it is only waited for where nothing can be begun anyway.
        let mut least = if full || timeout.is_none() { least.max(1) } else { least };
        // And one by one is taken back. Where calls cost the user time, all that there are
        // are fetched by one.
        let singly = pending.lean && depth.complete_max <= 1 && depth.complete_min <= 1;
        let most = match depth.complete_max as usize {
            _ if singly => pending.depth,
            most => most.max(least).max(1),
        };
        let low = (depth.low as usize).min(self.limit(pending) - 1);
        loop {
            least = least.min(pending.in_flight());
            if least == 0 && pending.in_flight() == 0 {
                return Ok(());
            }
            if pending.noted == pending.ends.len() {
                pending.ends.clear();
                pending.noted = 0;
                if pending.lean && pending.all_ended {
                    // Apart from the wait, to know what submitting takes.
                    self.submit_timed(backend, now)?;
                }
                backend
                    .reap(least, most, timeout, &mut pending.ends)
                    .map_err(IoFailure::kernel("wait for I/Os"))?;
                *now = now_ns();
                self.tally.completed(pending.ends.len());
                pending.all_ended = pending.ends.len() >= pending.in_flight();
            }
            let mut result = Ok(());
            let all = pending.ends.len();
            let until = if singly { all.min(pending.noted + 1) } else { all };
            while pending.noted < until {
                // All of them have ended, also those behind one that failed.
                let end = pending.ends[pending.noted];
                pending.noted += 1;
                let landed = self.landed(backend, pending, end, *now);
                result = result.and(landed);
            }
            result?;
            let emptied = !full || pending.in_flight() <= low;
            if emptied || timeout.is_some() || self.shared.is_stopped() {
                return Ok(());
            }
        }
    }

    /// One I/O has ended.
    fn landed(
        &mut self,
        backend: &mut dyn Backend,
        pending: &mut PendingQueue,
        end: IoCompletion,
        now: u64,
    ) -> Result<(), IoFailure> {
        let Some(pending_io) = pending.pending.get_mut(end.slot as usize) else { return Ok(()) };
        let request = pending_io.request;
        let write = request.kind == RequestKind::Write;
        let left = request.length - pending_io.done;
        if end.result > 0 && end.result < i64::from(left) {
            pending_io.done += end.result as u32;
            self.tally.was_short(write);
            return self.queue(backend, pending, end.slot);
        }
        let pending_io = *pending_io;
        self.tally.depth_meter.held(pending.in_flight(), now);
        pending.free.push(end.slot);
        if end.result < i64::from(left) {
            return self.failed(&request, i32::try_from(-end.result).unwrap_or(libc::EIO));
        }
        if !request.kind.moves_data() {
            self.tally.flushed(now.saturating_sub(pending_io.began_ns));
            return Ok(());
        }
        let taken = (pending_io.taken_ns > 0).then_some(pending_io.taken_ns);
        let bytes = u64::from(request.length);
        self.tally.ended(write, bytes, pending_io.began_ns, taken, now);
        if let Some(search) = &mut self.search {
            search.ended(now.saturating_sub(pending_io.began_ns));
        }
        if self.checker.is_some() || self.thinker.is_some() {
            self.after(end.slot, &request)?;
        }
        Ok(())
    }

    /// Waits for all that is in flight, whatever becomes of it.
    fn land(&mut self, backend: &mut dyn Backend, pending: &mut PendingQueue) {
        loop {
            for end in pending.ends.drain(..).skip(pending.noted) {
                pending.free.push(end.slot);
            }
            pending.noted = 0;
            if pending.in_flight() == 0 {
                return;
            }
            // A back-end that fails here for good has nothing in flight any more, as
            // far as anybody can tell.
            if backend.reap(1, pending.depth, None, &mut pending.ends).is_err() {
                return;
            }
        }
    }
}
