//! A disk past the page cache, and what is written to it.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::{Errno, pread, pwrite};

/// The drive that marks are made on.
pub(crate) const DRIVE: &str = "/dev/vda";
/// Small requests, and what direct I/O wants to be aligned to.
pub(crate) const PAGE: usize = 4096;
/// Large requests.
pub(crate) const MIB: usize = 1 << 20;

/// A disk, past the page cache.
pub(crate) struct RawDisk {
    fd: OwnedFd,
    /// Its size in pages.
    pub pages: u64,
}

impl RawDisk {
    pub fn open(path: &str) -> Result<Self, Errno> {
        let fd = open(path, OFlags::RDWR | OFlags::DIRECT, Mode::empty())?;
        let pages = seek(&fd, SeekFrom::End(0))? / PAGE as u64;
        Ok(Self { fd, pages })
    }

    pub fn read(&self, data: &mut [u8], page: u64) -> Result<(), Errno> {
        whole(pread(&self.fd, &mut *data, page * PAGE as u64)?, data.len())
    }

    pub fn write(&self, data: &[u8], page: u64) -> Result<(), Errno> {
        whole(pwrite(&self.fd, data, page * PAGE as u64)?, data.len())
    }

    /// Writes the last page: see [`super::drive::Record`].
    pub fn mark(&self) -> Result<(), Errno> {
        self.write(AlignedBuffer::new(PAGE).bytes(), self.pages.saturating_sub(1))
    }
}

fn whole(done: usize, wanted: usize) -> Result<(), Errno> {
    if done == wanted { Ok(()) } else { Err(Errno::IO) }
}

/// Zeros, at an address that direct I/O takes.
pub(crate) struct AlignedBuffer {
    room: Vec<u8>,
    bytes: usize,
}

impl AlignedBuffer {
    pub fn new(bytes: usize) -> Self {
        Self { room: vec![0; bytes + PAGE], bytes }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // The standard library may say that it does not know: then it is 'too far'.
        let skip = self.room.as_ptr().align_offset(PAGE).min(PAGE);
        &mut self.room[skip..skip + self.bytes]
    }
}

/// Makes each page of `data` one that was never written before.
pub(crate) fn stamp(data: &mut [u8], number: u64) {
    for page in data.chunks_exact_mut(PAGE) {
        page[..8].copy_from_slice(&number.to_ne_bytes());
    }
}

/// Numbers that look random, always the same ones (Marsaglia's xorshift).
pub(crate) struct Xorshift(u64);

impl Xorshift {
    pub fn new() -> Self {
        Self(0x2545_F491_4F6C_DD1D)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn fill(&mut self, data: &mut [u8]) {
        for place in data.chunks_exact_mut(8) {
            place.copy_from_slice(&self.next().to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_aligned_and_differ() {
        let mut data = AlignedBuffer::new(MIB);
        assert_eq!(data.bytes().as_ptr().align_offset(PAGE), 0);
        Xorshift::new().fill(data.bytes());
        let before = data.bytes().to_vec();
        stamp(data.bytes(), 1);
        let differ = |(a, b): (&[u8], &[u8])| a != b;
        assert!(before.chunks(PAGE).zip(data.bytes().chunks(PAGE)).all(differ));
    }
}
