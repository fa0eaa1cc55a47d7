//! The system interfaces that carry out I/Os.

mod aio;
mod choose;
mod nothing;
mod pool;
mod synchronous;
mod uring;

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

pub(crate) use choose::{Chosen, choose};
pub(crate) use synchronous::Call;

use crate::pattern::RequestKind;

/// One I/O as the kernel takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IoOperation {
    pub(crate) kind: RequestKind,
    pub(crate) fd: RawFd,
    /// Its number within the job, where descriptors are registered.
    pub(crate) file: u32,
    /// The slot whose buffer it uses, and by which it is known when it ends.
    pub(crate) slot: u32,
    pub(crate) buffer: *mut u8,
    pub(crate) length: u32,
    pub(crate) offset: u64,
}

/// The end of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IoCompletion {
    pub(crate) slot: u32,
    /// Bytes moved, or a negative errno.
    pub(crate) result: i64,
}

/// An interface that takes several I/Os at once.
pub(crate) trait Backend {
    /// Its name in reports: fio's name of the engine.
    fn name(&self) -> &'static str;

    /// Takes one, to be handed over with the next [`Backend::submit`]. The caller
    /// keeps to the depth that the back-end was made for, and keeps the buffer
    /// until the end is told.
    ///
    /// # Errors
    /// What the system says if the queue has no room: reap first.
    fn queue(&mut self, operation: &IoOperation) -> io::Result<()>;

    /// Hands over what was queued.
    ///
    /// # Errors
    /// That of io_submit(2) or io_uring_enter(2).
    fn submit(&mut self) -> io::Result<()>;

    /// Waits until at least `least` are done or `timeout` is over, and adds at
    /// most `most` of those that are done to `ends`. Hands over what was queued,
    /// too, where that takes no call of its own.
    ///
    /// # Errors
    /// Those of the system call; a signal is none.
    fn reap(
        &mut self,
        least: usize,
        most: usize,
        timeout: Option<Duration>,
        ends: &mut Vec<IoCompletion>,
    ) -> io::Result<()>;
}

#[cfg(test)]
mod tests;
