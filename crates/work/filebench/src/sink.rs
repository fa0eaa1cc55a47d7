//! Where data go that are read and not looked at.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::filler::retry;
use crate::memory::Aligned;

/// Memory that a read of any length goes to, again and again: it stays in the processor's
/// nearest cache, where a buffer for each of fifty threads would push everything out.
const PIECE: usize = 64 << 10;
/// Pieces of memory that one system call takes (UIO_MAXIOV).
const MOST_PIECES: usize = 1024;
/// Reads of more are split.
pub(crate) const LONGEST_READ: u64 = 16 << 20;

/// Memory to read into.
#[derive(Debug)]
pub(crate) struct ReadSink(Aligned);

impl ReadSink {
    pub fn new() -> Self {
        Self(Aligned::new(0))
    }

    /// Reads `length` bytes, at most [`LONGEST_READ`], at `place` with one system call,
    /// to the kernel the same as one into a buffer so long. A read past the page cache
    /// (`direct`) has such a buffer: Btrfs checks what arrived there.
    ///
    /// # Errors
    /// That of the system call; a short read is none.
    pub fn read(
        &mut self,
        fd: &OwnedFd,
        length: usize,
        place: u64,
        direct: bool,
    ) -> io::Result<usize> {
        let length = length.min(LONGEST_READ as usize);
        if direct || length <= PIECE {
            let memory = self.0.at_least(length);
            return retry(|| rustix::io::pread(fd, &mut *memory, place));
        }
        self.read_over(fd, length, place)
    }

    #[allow(unsafe_code)]
    fn read_over(&mut self, fd: &OwnedFd, length: usize, place: u64) -> io::Result<usize> {
        let base = self.0.at_least(PIECE).as_mut_ptr();
        let from = (0..length).step_by(PIECE);
        let piece = |from| libc::iovec { iov_base: base.cast(), iov_len: PIECE.min(length - from) };
        let pieces: Vec<libc::iovec> = from.map(piece).take(MOST_PIECES).collect();
        // At most MOST_PIECES.
        let count = pieces.len() as libc::c_int;
        let Ok(place) = i64::try_from(place) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        loop {
            // SAFETY: all pieces lie in our memory, of PIECE bytes, which nobody else
            // sees; that they are the same ones only means that the last bytes stay.
            let got = unsafe { libc::preadv64(fd.as_raw_fd(), pieces.as_ptr(), count, place) };
            match usize::try_from(got) {
                Ok(got) => return Ok(got),
                Err(_) => match io::Error::last_os_error() {
                    e if e.kind() == io::ErrorKind::Interrupted => {}
                    e => return Err(e),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn reads_count_as_those_into_a_long_buffer() {
        let file = tempfile::tempfile().expect("file");
        let size = 3 * PIECE + 100;
        file.write_all_at(&vec![7; size], 0).expect("written");
        let fd = OwnedFd::from(file);
        let mut sink = ReadSink::new();
        for (length, place, got) in [
            (size, 0, size),
            (2 * PIECE + 1, 10, 2 * PIECE + 1),
            (1 << 20, PIECE, size - PIECE),
            (100, 0, 100),
            (1 << 20, size, 0),
            (usize::MAX, 0, size),
        ] {
            for direct in [false, true] {
                assert_eq!(sink.read(&fd, length, place as u64, direct).expect("read"), got);
            }
        }
        assert!(sink.read(&fd, 1 << 20, u64::MAX, false).is_err());
    }
}
