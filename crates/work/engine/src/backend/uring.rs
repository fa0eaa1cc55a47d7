//! io_uring.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::{Backend, IoCompletion, IoOperation};
use crate::memory::Memory;
use crate::pattern::RequestKind;

/// More buffers than this are not registered: each is pinned page by page, and
/// the kernel takes at most 16384 (IORING_MAX_REG_BUFFERS).
const MOST_REGISTERED: usize = 1024;

/// IORING_ENTER_GETEVENTS of linux/io_uring.h.
const ENTER_GETEVENTS: u32 = 1;

/// A ring of one thread.
pub(crate) struct Uring {
    ring: IoUring,
    files_registered: bool,
    buffers_registered: bool,
    /// Whether the wait can have a time limit (kernel 5.11).
    waits_timed: bool,
    queued: usize,
}

impl std::fmt::Debug for Uring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uring").field("queued", &self.queued).finish_non_exhaustive()
    }
}

impl Uring {
    /// A ring for `depth` I/Os on these files and buffers, which are registered
    /// where the kernel and its limits allow.
    ///
    /// # Errors
    /// ENOSYS, EPERM, ENOMEM where there is no io_uring for us.
    pub(crate) fn new(depth: u32, files: &[RawFd], memory: &mut Memory) -> io::Result<Self> {
        let entries = depth.clamp(1, 32_768).next_power_of_two();
        // A single issuer that takes its completions itself spares the kernel its
        // interrupts of the thread (6.1); an older kernel refuses the flags.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            .or_else(|_| IoUring::builder().build(entries))?;
        let files_registered = ring.submitter().register_files(files).is_ok();
        let vectors = memory.vectors();
        // SAFETY: the worker keeps the memory until the ring is gone: it is declared
        // before the ring wherever both are, and dropped after it.
        let buffers_registered = vectors.len() <= MOST_REGISTERED
            && unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        let waits_timed = ring.params().is_feature_ext_arg();
        Ok(Self { ring, files_registered, buffers_registered, waits_timed, queued: 0 })
    }

    fn entry(&self, operation: &IoOperation) -> squeue::Entry {
        let IoOperation { kind, fd, file, slot, buffer, length, offset } = *operation;
        macro_rules! on_file {
            ($make:expr) => {
                if self.files_registered {
                    let target = Fixed(file);
                    $make(target)
                } else {
                    let target = Fd(fd);
                    $make(target)
                }
            };
        }
        let index = slot as u16;
        let fixed = self.buffers_registered;
        match kind {
            RequestKind::Read if fixed => {
                on_file!(|f| opcode::ReadFixed::new(f, buffer, length, index)
                    .offset(offset)
                    .build())
            }
            RequestKind::Write if fixed => {
                on_file!(|f| opcode::WriteFixed::new(f, buffer, length, index)
                    .offset(offset)
                    .build())
            }
            RequestKind::Read => {
                on_file!(|f| opcode::Read::new(f, buffer, length).offset(offset).build())
            }
            RequestKind::Write => {
                on_file!(|f| opcode::Write::new(f, buffer, length).offset(offset).build())
            }
            RequestKind::Sync => on_file!(|f| opcode::Fsync::new(f).build()),
            RequestKind::DataSync => {
                on_file!(|f| opcode::Fsync::new(f).flags(FsyncFlags::DATASYNC).build())
            }
        }
        .user_data(u64::from(slot))
    }
}

impl Backend for Uring {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn queue(&mut self, operation: &IoOperation) -> io::Result<()> {
        let entry = self.entry(operation);
        // SAFETY: buffer and file stay until the completion is told; see `queue` of
        // the trait.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| io::Error::from_raw_os_error(libc::EBUSY))?;
        self.queued += 1;
        Ok(())
    }

    fn submit(&mut self) -> io::Result<()> {
        while self.queued > 0 {
            match self.ring.submitter().submit() {
                Ok(taken) => self.queued = self.queued.saturating_sub(taken.max(1)),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn reap(
        &mut self,
        least: usize,
        most: usize,
        timeout: Option<Duration>,
        ends: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let there = self.ring.completion().len();
        if there < least.max(1) || self.queued > 0 {
            let wanted = if there < least { least } else { 0 };
            let submitter = self.ring.submitter();
            let result = match timeout {
                Some(limit) if self.waits_timed && wanted > 0 => {
                    let limit = Timespec::from(limit);
                    submitter.submit_with_args(wanted, &SubmitArgs::new().timespec(&limit))
                }
                // Completions are only fetched from the kernel on request: a poll has to
                // ask for events even if it waits for none.
                _ if wanted == 0 => {
                    let queued = u32::try_from(self.queued).unwrap_or(u32::MAX);
                    // SAFETY: no argument points anywhere.
                    unsafe { submitter.enter::<()>(queued, 0, ENTER_GETEVENTS, None) }
                }
                // Without a timed wait, an end is waited for however long it takes:
                // the caller is late then, but never wrong.
                _ => submitter.submit_and_wait(wanted),
            };
            match result {
                Ok(taken) => self.queued = self.queued.saturating_sub(taken),
                Err(error) => match error.raw_os_error() {
                    // The entries were taken before the wait ended so.
                    Some(libc::ETIME | libc::EINTR) => {
                        self.queued = self.ring.submission().len();
                    }
                    Some(libc::EBUSY | libc::EAGAIN) => {}
                    _ => return Err(error),
                },
            }
        }
        let completions = self.ring.completion().take(most);
        ends.extend(completions.map(|entry| IoCompletion {
            slot: entry.user_data() as u32,
            result: i64::from(entry.result()),
        }));
        Ok(())
    }
}
