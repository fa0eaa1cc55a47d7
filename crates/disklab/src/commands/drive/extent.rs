//! Where a file begins on its device.

use std::os::fd::AsFd;

use rustix::io::{Errno, Result};

/// What `FS_IOC_FIEMAP` takes and gives (linux/fiemap.h), with room for one extent.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extent: Extent,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// The part of [`Fiemap`] before the extents, whose size is in the request's number.
type Header = [u64; 4];

/// Has what is not allocated yet allocated first.
const SYNC: u32 = 1;

/// The byte of the file system's device at which a file's first extent lies.
#[allow(unsafe_code)]
pub fn first_byte(file: impl AsFd) -> Result<u64> {
    const FS_IOC_FIEMAP: rustix::ioctl::Opcode =
        rustix::ioctl::opcode::read_write::<Header>(b'f', 11);
    let mut map = Fiemap { length: u64::MAX, flags: SYNC, extent_count: 1, ..Fiemap::default() };
    // SAFETY: `map` is laid out as the request expects, with as many extents behind its header as
    // `extent_count` says.
    unsafe {
        rustix::ioctl::ioctl(file, rustix::ioctl::Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map))?;
    }
    if map.mapped_extents == 0 { Err(Errno::NXIO) } else { Ok(map.extent.physical) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_laid_out_as_in_the_kernels_header() {
        assert_eq!(size_of::<Header>(), 32);
        assert_eq!(size_of::<Extent>(), 56);
        assert_eq!(size_of::<Fiemap>(), 88);
    }
}
