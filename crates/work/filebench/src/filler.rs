//! What is written into files.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;

use disklab_content::{Content, ContentBuffers, POOL_BLOCKS, Spec};
use rustix::io::{pwrite, pwritev};

use crate::ContentKind;
use crate::memory::Aligned;

const PAGE: u64 = 4096;
/// Most pieces of memory that one system call takes (UIO_MAXIOV, 1024), in bytes of
/// the smallest pool.
const MOST_PIECES: usize = 1024;
/// Zeros are kept in this size; random bytes are made in pieces of at most it.
const PIECE: usize = 1 << 20;

/// Some bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FillPart {
    /// Which data: a file's bytes follow from this and their offset.
    pub stream: u64,
    pub offset: u64,
    pub length: u64,
}

/// Makes data. Threads share it without a lock: what is written lies ready in
/// memory that nobody changes, so that nothing has to be copied into a buffer.
#[derive(Debug)]
pub(crate) struct Filler {
    kind: ContentKind,
    seed: u64,
    /// Repeats for ever. Its length is a multiple of a page.
    pool: Aligned,
}

/// A thread's own random data.
#[derive(Debug)]
pub(crate) struct ScratchBuffer {
    buffers: ContentBuffers,
    memory: Aligned,
}

impl Filler {
    pub fn new(kind: ContentKind, seed: u64) -> Self {
        let length = match kind {
            ContentKind::Pool => (POOL_BLOCKS * PAGE) as usize,
            ContentKind::Zeros => PIECE,
            ContentKind::Random => 0,
        };
        let mut pool = Aligned::new(length);
        if kind == ContentKind::Pool
            && let Ok(content) = Content::new(Spec::pool(), seed)
        {
            content.fill_at(0, 0, pool.bytes_mut());
        }
        Self { kind, seed, pool }
    }

    /// What thread `number` needs to write.
    pub fn scratch(&self, number: u64) -> ScratchBuffer {
        let random = Content::plain(disklab_content::Base::Random, self.seed);
        // The number of all bits is not free.
        let stream = number.min(u64::MAX - 1);
        ScratchBuffer { buffers: ContentBuffers::of(random, stream), memory: Aligned::new(0) }
    }

    /// Writes a part of a file, with one system call where the kernel takes it so.
    ///
    /// # Errors
    /// That of pwrite(2), `ENOSPC` included; the file keeps what was written.
    pub fn write(
        &self,
        file: &impl AsFd,
        part: FillPart,
        scratch: &mut ScratchBuffer,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < part.length {
            let (offset, left) = (part.offset.saturating_add(done), part.length - done);
            let count = if self.kind == ContentKind::Random {
                let length = usize::try_from(left).unwrap_or(PIECE).min(16 * PIECE);
                let memory = scratch.memory.at_least(length);
                scratch.buffers.fill(memory);
                retry(|| pwrite(file, memory, offset))?
            } else {
                self.write_pool(file, part.stream, offset, left)?
            };
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            done += count as u64;
        }
        Ok(())
    }

    /// A page of a file is always a page of the pool, however it is written.
    fn write_pool(
        &self,
        file: &impl AsFd,
        stream: u64,
        offset: u64,
        left: u64,
    ) -> io::Result<usize> {
        let pool = self.pool.bytes();
        let size = pool.len() as u64;
        // Neighbouring files begin far from one another.
        let phase = stream.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let from = offset.wrapping_add(phase.wrapping_mul(PAGE)) % size;
        let first = &pool[from as usize..];
        if left <= first.len() as u64 {
            return retry(|| pwrite(file, &first[..left as usize], offset));
        }
        let mut pieces = vec![IoSlice::new(first)];
        let mut rest = left - first.len() as u64;
        while rest > 0 && pieces.len() < MOST_PIECES {
            let length = rest.min(size);
            pieces.push(IoSlice::new(&pool[..length as usize]));
            rest -= length;
        }
        retry(|| pwritev(file, &pieces, offset))
    }
}

/// Again where a signal came in between.
pub(crate) fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.map_err(io::Error::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn written(kind: ContentKind, parts: &[FillPart]) -> Vec<u8> {
        let file = tempfile::tempfile().expect("file");
        let filler = Filler::new(kind, 1);
        let mut scratch = filler.scratch(0);
        for part in parts {
            filler.write(&file, *part, &mut scratch).expect("written");
        }
        let mut bytes = vec![0; file.metadata().expect("file").len() as usize];
        file.read_exact_at(&mut bytes, 0).expect("read");
        bytes
    }

    #[test]
    fn pages_are_those_of_the_pool_however_they_are_written() {
        let part = |stream, offset, length| FillPart { stream, offset, length };
        let whole = written(ContentKind::Pool, &[part(3, 0, 40 << 20)]);
        assert_eq!(whole.len(), 40 << 20);
        let parts = [part(3, 0, 1000), part(3, 1000, 20 << 20), part(3, (20 << 20) + 1000, 9999)];
        let pieces = written(ContentKind::Pool, &parts);
        assert!(whole.starts_with(&pieces));
        let pages: HashSet<&[u8]> = whole.chunks(4096).collect();
        assert_eq!(pages.len() as u64, POOL_BLOCKS);
        let other = written(ContentKind::Pool, &[part(4, 0, 8192)]);
        assert!(other != whole[..8192] && other.chunks(4096).all(|page| pages.contains(page)));
    }

    #[test]
    fn random_data_never_repeat() {
        let part = FillPart { stream: 1, offset: 0, length: 1 << 20 };
        let later = FillPart { offset: 1 << 20, ..part };
        let bytes = written(ContentKind::Random, &[part, later]);
        let pages: HashSet<&[u8]> = bytes.chunks(4096).collect();
        assert_eq!(pages.len(), 512);
        let zeros = FillPart { stream: 1, offset: 100, length: 3 << 20 };
        assert!(written(ContentKind::Zeros, &[zeros]).iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let file = std::fs::File::open("/proc/self/status").expect("file");
        let filler = Filler::new(ContentKind::Zeros, 1);
        let part = FillPart { stream: 0, offset: 0, length: 1 };
        assert!(filler.write(&file, part, &mut filler.scratch(0)).is_err());
    }
}
