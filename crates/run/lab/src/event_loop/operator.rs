//! What a loop does for a guest with an operator.

use disklab_drive::Nanos;
use rustix::event::epoll;
use rustix::time::Timespec;

use super::limits::POLL;
use super::{CONSOLE_INPUT, EventLoop, watch};
use crate::LabError;

impl EventLoop {
    /// How long to wait for events.
    pub(super) fn patience(&self) -> Timespec {
        let (Some(console), Some(Some(time))) = (&self.console, self.held) else { return POLL };
        let delay = Timespec::try_from(console.delay(time)).unwrap_or(POLL);
        if delay < POLL { delay } else { POLL }
    }

    /// The guest's program said something, or may have.
    pub(super) fn console_speaks(&mut self) -> Result<(), LabError> {
        let now = self.now();
        let Some(console) = &mut self.console else { return Ok(()) };
        if !console.listen(now)? {
            // Its process ends too, and that is what counts.
            let _ = epoll::delete(&self.epoll, console.fd());
        }
        if let Some(input) = console.begins() {
            watch(&self.epoll, input, CONSOLE_INPUT)?;
            // The terminal's size is to be known before the first prompt.
            console.look()?;
        }
        Ok(())
    }

    /// The operator did something.
    pub(super) fn operator_speaks(&mut self) -> Result<(), LabError> {
        let Some(console) = &mut self.console else { return Ok(()) };
        if let (Some(limit), Some(first)) = (console.limit(), self.held) {
            // What is typed, is typed at this time.
            self.now = self.now.max(first.map_or(limit, |first| first.min(limit)));
        }
        if !console.type_in()?
            && let Some(input) = console.input_fd()
        {
            let _ = epoll::delete(&self.epoll, input);
        }
        Ok(())
    }

    /// Whether the operator decides what comes next for the waiting guest, which
    /// wants to run at `wanted`, while a disk has something to do at `next`: he has
    /// said something, and the guest runs; or it is held until he does, or until
    /// real time has come as far.
    pub(super) fn attend(
        &mut self,
        next: Option<Nanos>,
        wanted: Option<Nanos>,
    ) -> Result<bool, LabError> {
        if self.console.is_none() {
            return Ok(false);
        }
        self.present()?;
        let (Some(console), Some(calendar)) = (&mut self.console, &self.calendar) else {
            return Ok(false);
        };
        let first = next.into_iter().chain(wanted).min();
        // The guest does not tell its time when it waits, but it can be no further
        // than this.
        let reached = calendar.free_until().into_iter().chain(wanted).min();
        if console.has_said()
            && let Some(disk) = self.disks.iter().flatten().find(|d| d.is_ready())
        {
            // The kernel takes input only when it runs, and it runs only when it
            // wants to or a device calls. A call without cause is harmless.
            self.now = self.now.max(reached.unwrap_or_default());
            calendar.set_now(self.now);
            disk.interrupt()?;
            self.present()?;
            return self.run(next).map(|()| true);
        }
        let holds = console.holds(first);
        if holds {
            self.held = Some(first);
        }
        Ok(holds)
    }
}
