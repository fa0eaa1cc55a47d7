//! One I/O after another.

use super::clone::{Clone, CloneStep};
use super::depth_search::Verdict;
use crate::backend::{Call, IoOperation};
use crate::io_failure::IoFailure;
use crate::measure::now_ns;
use crate::pattern::{IoRequest, RequestKind};

impl Clone<'_> {
    /// Runs to the end. Back to back, the clock is read once for each I/O: the end
    /// of one is the beginning of the next. It is read twice where something lies
    /// between them that is not the I/O's: filling buffers, checking, waiting.
    pub(super) fn run_synchronous(&mut self, call: Call) -> Result<(), IoFailure> {
        let busy = self.checker.is_some() || !self.filler.is_idle();
        let mut now = now_ns();
        loop {
            match self.step(now)? {
                CloneStep::Go(request) => now = self.carry_out(call, request, now, busy)?,
                CloneStep::Wait(until) => {
                    self.wait_until(until.min(self.next_event_ns));
                    now = now_ns();
                }
                CloneStep::Pass => {
                    if !self.pass()? {
                        return Ok(());
                    }
                    now = now_ns();
                }
                CloneStep::Stop => return self.end_pass(),
            }
            if self.search.is_some() {
                let verdict = self.verdict(now)?;
                self.follow(verdict);
                if verdict == Verdict::Done {
                    return self.end_pass();
                }
            }
            if self.thinker.is_some() && self.thinks(now) {
                now = self.think(now);
            }
        }
    }

    #[inline]
    fn carry_out(
        &mut self,
        call: Call,
        request: IoRequest,
        now: u64,
        busy: bool,
    ) -> Result<u64, IoFailure> {
        let fd = self.descriptor(request.file)?;
        let write = request.kind == RequestKind::Write;
        let began = if busy && write {
            self.fill(0, &request);
            now_ns()
        } else {
            now
        };
        let mut operation = IoOperation {
            kind: request.kind,
            fd,
            file: request.file,
            slot: 0,
            buffer: self.memory.slot(0).as_mut_ptr(),
            length: request.length,
            offset: request.offset,
        };
        loop {
            let result = call.perform(&operation);
            if result == i64::from(operation.length) {
                break;
            }
            if result > 0 {
                let part = result as u32;
                self.tally.was_short(write);
                // SAFETY: a part of the buffer's length.
                operation.buffer = unsafe { operation.buffer.add(part as usize) };
                operation.offset += u64::from(part);
                operation.length -= part;
            } else if result == -i64::from(libc::EINTR) && !self.shared.is_stopped() {
                continue;
            } else {
                self.failed(&request, i32::try_from(-result).unwrap_or(libc::EIO))?;
                return Ok(now_ns());
            }
        }
        let ended = now_ns();
        if request.kind.moves_data() {
            self.tally.depth_meter.begun(0, began);
            self.tally.depth_meter.held(1, ended);
            self.tally.call(write, u64::from(request.length), began, ended);
            self.tally.depths[0] += 1;
            self.tally.submitted(1);
            self.tally.completed(1);
            if let Some(search) = &mut self.search {
                search.ended(ended - began);
            }
            if busy || self.thinker.is_some() {
                self.after(0, &request)?;
                if self.checker.is_some() {
                    return Ok(now_ns());
                }
            }
        } else {
            self.tally.flushed(ended - began);
        }
        Ok(ended)
    }
}
