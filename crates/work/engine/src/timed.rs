//! Requests one by one, each with its times: for a caller that decides what comes next from how
//! long the last took. The interfaces are those of jobs.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Instant;

use disklab_jobfile::{Depth, Engine};

use crate::backend::{Backend, Call, Chosen, IoCompletion, IoOperation, choose};
use crate::memory::Memory;
use crate::pattern::RequestKind;

/// A request's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedEnd {
    /// What it did.
    pub kind: RequestKind,
    /// Its first byte.
    pub offset: u64,
    /// How much it moved.
    pub bytes: u64,
    /// When it was submitted, ns since the file was taken.
    pub submitted: u64,
    /// When its end was known, ns since then.
    pub completed: u64,
}

/// A file or device on which requests are timed.
pub struct TimedFile {
    // Before the memory, so that no request can end in memory that is gone.
    interface: Interface,
    memory: Memory,
    largest: u64,
    file: File,
    begun: Instant,
    pending: Vec<Option<(RequestKind, u64, u64, u64)>>,
    ends: Vec<IoCompletion>,
    done: Vec<(IoCompletion, u64)>,
}

enum Interface {
    Calls,
    Queue(Box<dyn Backend>),
}

impl fmt::Debug for TimedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedFile").field("file", &self.file).finish_non_exhaustive()
    }
}

impl TimedFile {
    /// Takes a file, opened with `O_DIRECT`, for up to `depth` requests of up to `largest`
    /// bytes. Several at a time go through io_uring, or Linux AIO.
    ///
    /// # Errors
    /// If there is not that much memory, or neither interface for a depth above 1.
    pub fn new(file: File, depth: u32, largest: u64) -> io::Result<Self> {
        let depth = depth.max(1);
        let length = usize::try_from(largest).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut memory = Memory::new(depth as usize, length).ok_or(io::ErrorKind::OutOfMemory)?;
        let wanted = Depth {
            depth,
            batch: 1,
            complete_min: 1,
            complete_max: depth,
            low: depth,
            offload: false,
            target: None,
        };
        let (chosen, note) = choose(Engine::IoUring, &wanted, &[file.as_raw_fd()], &mut memory);
        let interface = match chosen {
            Chosen::Asynchronous(backend) => Interface::Queue(backend),
            Chosen::Synchronous(_) if depth == 1 => Interface::Calls,
            Chosen::Synchronous(_) => {
                return Err(io::Error::other(note.unwrap_or_default()));
            }
        };
        Ok(Self {
            interface,
            memory,
            largest,
            file,
            begun: Instant::now(),
            pending: vec![None; depth as usize],
            ends: Vec::new(),
            done: Vec::new(),
        })
    }

    /// The time, ns since the file was taken.
    pub fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Fills all buffers with what a generator gives: what is written next.
    pub fn fill(&mut self, mut byte: impl FnMut() -> u8) {
        for slot in 0..self.pending.len() {
            self.memory.slot(slot).fill_with(&mut byte);
        }
    }

    /// Submits a request. A flush takes offset and bytes 0.
    ///
    /// # Errors
    /// If all slots are taken, the request is too large, or the system call fails.
    pub fn submit(&mut self, kind: RequestKind, offset: u64, bytes: u64) -> io::Result<()> {
        if bytes > self.largest {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let slot = self.pending.iter().position(Option::is_none);
        let slot = slot.ok_or_else(|| io::Error::from_raw_os_error(libc::EBUSY))?;
        let operation = IoOperation {
            kind,
            fd: self.file.as_raw_fd(),
            file: 0,
            slot: slot as u32,
            buffer: self.memory.slot(slot).as_mut_ptr(),
            length: bytes as u32,
            offset,
        };
        self.pending[slot] = Some((kind, offset, bytes, self.now()));
        match &mut self.interface {
            Interface::Calls => {
                let result = Call::Positioned.perform(&operation);
                self.done.push((IoCompletion { slot: slot as u32, result }, self.now()));
            }
            Interface::Queue(backend) => {
                backend.queue(&operation)?;
                backend.submit()?;
            }
        }
        Ok(())
    }

    /// Waits for the next end.
    ///
    /// # Errors
    /// If nothing is in flight, or the request failed or moved fewer bytes.
    pub fn complete(&mut self) -> io::Result<TimedEnd> {
        while self.done.is_empty() {
            if self.pending.iter().all(Option::is_none) {
                return Err(io::Error::other("no request is in flight"));
            }
            if let Interface::Queue(backend) = &mut self.interface {
                backend.reap(1, self.pending.len(), None, &mut self.ends)?;
            }
            let now = self.now();
            self.done.extend(self.ends.drain(..).map(|end| (end, now)));
        }
        let (end, completed) = self.done.remove(0);
        let pending = self.pending.get_mut(end.slot as usize).and_then(Option::take);
        let (kind, offset, bytes, submitted) =
            pending.ok_or_else(|| io::Error::other("a request ended twice"))?;
        match u64::try_from(end.result) {
            Ok(moved) if moved == bytes || !kind.moves_data() => {}
            Ok(_) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            Err(_) => {
                let errno = i32::try_from(-end.result).unwrap_or(libc::EIO);
                return Err(io::Error::from_raw_os_error(errno));
            }
        }
        Ok(TimedEnd { kind, offset, bytes, submitted, completed })
    }

    /// Reads a block at once, apart from all timing, and says whether it holds anything but
    /// zeros. Nothing may be in flight.
    ///
    /// # Errors
    /// As for [`TimedFile::complete`].
    pub fn has_data(&mut self, offset: u64, bytes: u64) -> io::Result<bool> {
        self.submit(RequestKind::Read, offset, bytes)?;
        self.complete()?;
        // The first slot is taken if all are free.
        Ok(self.memory.slot(0)[..bytes as usize].iter().any(|byte| *byte != 0))
    }
}

impl Drop for TimedFile {
    /// Waits for what is in flight: the kernel writes into the memory until then.
    fn drop(&mut self) {
        while self.pending.iter().any(Option::is_some) {
            let in_flight = self.pending.iter().flatten().count();
            if self.complete().is_err() && self.pending.iter().flatten().count() == in_flight {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: usize) -> File {
        let mut file = tempfile::tempfile().expect("temp");
        file.write_all(&vec![7; bytes]).expect("written");
        file
    }

    #[test]
    fn each_request_has_its_times() {
        for depth in [1, 4] {
            let mut timed = match TimedFile::new(file(1 << 20), depth, 65_536) {
                Ok(timed) => timed,
                Err(error) => {
                    eprintln!("skipped: needs io_uring or Linux AIO: {error}");
                    return;
                }
            };
            for n in 0..u64::from(depth) {
                timed.submit(RequestKind::Read, n * 4096, 4096).expect("submitted");
            }
            assert!(timed.submit(RequestKind::Read, 0, 4096).is_err(), "all slots are taken");
            let mut offsets = Vec::new();
            for _ in 0..depth {
                let end = timed.complete().expect("read");
                assert!(end.submitted <= end.completed && end.bytes == 4096);
                offsets.push(end.offset);
            }
            offsets.sort_unstable();
            assert_eq!(offsets.len(), depth as usize);
            assert!(timed.complete().is_err(), "nothing is in flight");
            assert!(timed.has_data(0, 4096).expect("read"));
            timed.submit(RequestKind::Read, 1 << 20, 4096).expect("submitted");
            assert!(timed.complete().is_err(), "beyond the end");
            assert!(timed.submit(RequestKind::Read, 0, 1 << 20).is_err(), "too large");
            timed.submit(RequestKind::Sync, 0, 0).expect("submitted");
            assert_eq!(timed.complete().expect("flushed").kind, RequestKind::Sync);
        }
    }
}
