//! Linux AIO: io_setup(2), io_submit(2), io_getevents(2).

use std::io;
use std::time::Duration;

use super::{Backend, Call, IoCompletion, IoOperation};
use crate::pattern::RequestKind;

/// `struct iocb` of linux/aio_abi.h, little-endian.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    data: u64,
    key: u32,
    flags_rw: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event` of linux/aio_abi.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// IOCB_CMD_… of linux/aio_abi.h.
const READ: u16 = 0;
const WRITE: u16 = 1;

/// A context of one thread.
#[derive(Debug)]
pub(crate) struct LinuxAio {
    context: libc::c_ulong,
    /// One for each slot; the kernel copies it when it is submitted.
    blocks: Box<[Block]>,
    queued: Vec<*mut Block>,
    /// Those that have ended already: flushes, and what the kernel would not take.
    ended: Vec<IoCompletion>,
    events: Vec<Event>,
}

/// So often, a millisecond apart, the kernel is asked again where it has no room.
const PATIENCE: u32 = 1000;

impl LinuxAio {
    /// A context for `depth` I/Os.
    ///
    /// # Errors
    /// ENOSYS where the kernel has none, EAGAIN where /proc/sys/fs/aio-max-nr is
    /// used up.
    pub(crate) fn new(depth: u32) -> io::Result<Self> {
        let depth = depth.max(1) as usize;
        let mut context: libc::c_ulong = 0;
        let (events, at) = (depth as libc::c_long, &raw mut context);
        // SAFETY: the pointer is to a context of our own, which is 0 as it has to be.
        check(unsafe { libc::syscall(libc::SYS_io_setup, events, at) })?;
        Ok(Self {
            context,
            blocks: vec![Block::default(); depth].into_boxed_slice(),
            queued: Vec::with_capacity(depth),
            ended: Vec::with_capacity(depth),
            events: vec![Event::default(); depth],
        })
    }
}

#[cfg(test)]
impl LinuxAio {
    /// What has ended and was not fetched by [`Backend::reap`].
    pub(super) fn ended(&self) -> &[IoCompletion] {
        &self.ended
    }
}

fn check(result: libc::c_long) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

impl Backend for LinuxAio {
    fn name(&self) -> &'static str {
        "libaio"
    }

    fn queue(&mut self, operation: &IoOperation) -> io::Result<()> {
        // As in fio's libaio (do_io_u_sync): the thread waits for a flush, and begins
        // nothing meanwhile. IOCB_CMD_FSYNC would not wait, and Linux before 4.18 refuses
        // it (fs/aio.c).
        if !operation.kind.moves_data() {
            self.submit()?;
            let result = Call::Positioned.perform(operation);
            self.ended.push(IoCompletion { slot: operation.slot, result });
            return Ok(());
        }
        let block = self
            .blocks
            .get_mut(operation.slot as usize)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        *block = Block {
            data: u64::from(operation.slot),
            opcode: if operation.kind == RequestKind::Read { READ } else { WRITE },
            fd: operation.fd as u32,
            buffer: operation.buffer as u64,
            bytes: u64::from(operation.length),
            offset: i64::try_from(operation.offset)
                .map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?,
            ..Block::default()
        };
        self.queued.push(std::ptr::from_mut(block));
        Ok(())
    }

    fn submit(&mut self) -> io::Result<()> {
        let (mut from, mut asked) = (0, 0);
        while from < self.queued.len() {
            let list = &mut self.queued[from..];
            let (count, at) = (list.len() as libc::c_long, list.as_mut_ptr());
            // SAFETY: the list points to `count` blocks of this back-end; buffers and files stay
            // until the ends are told; see `queue` of the trait.
            let taken =
                check(unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, at) });
            let errno = match taken {
                Ok(taken @ 1..) => {
                    from += taken;
                    continue;
                }
                Ok(_) => libc::EAGAIN,
                Err(error) => error.raw_os_error().unwrap_or(libc::EIO),
            };
            match errno {
                libc::EINTR => {}
                libc::EAGAIN if asked < PATIENCE => {
                    asked += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => {
                    // The first of the list is the one that was not taken: io_submit(2).
                    // SAFETY: it points to a block of this back-end, which nothing else uses now.
                    let slot = unsafe { (*list[0]).data } as u32;
                    self.ended.push(IoCompletion { slot, result: -i64::from(errno) });
                    from += 1;
                }
            }
        }
        self.queued.clear();
        Ok(())
    }

    fn reap(
        &mut self,
        least: usize,
        most: usize,
        timeout: Option<Duration>,
        ends: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        if !self.queued.is_empty() {
            self.submit()?;
        }
        if !self.ended.is_empty() {
            let at = self.ended.len().min(most.max(1));
            ends.extend(self.ended.drain(..at));
            return Ok(());
        }
        let limit = timeout.map(|t| libc::timespec {
            tv_sec: libc::time_t::try_from(t.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(t.subsec_nanos() as i32),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let most = most.clamp(1, self.events.len());
        let least = least.min(most);
        // SAFETY: `events` has room for `most`; the timespec lives until the call ends.
        let got = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least as libc::c_long,
                most as libc::c_long,
                self.events.as_mut_ptr(),
                limit,
            )
        };
        let got = match check(got) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => 0,
            result => result?,
        };
        ends.extend(
            self.events[..got]
                .iter()
                .map(|event| IoCompletion { slot: event.data as u32, result: event.result }),
        );
        Ok(())
    }
}

impl Drop for LinuxAio {
    fn drop(&mut self) {
        // SAFETY: the context is this back-end's. The call waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
