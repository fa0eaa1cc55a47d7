//! What copies through the page cache reach on this machine.

use std::time::Instant;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, pread, pwrite};

use crate::raw_disk::{AlignedBuffer, MIB, Xorshift, stamp};
use disklab_lab::LabError;
use disklab_lab::Pinned;

/// Bytes per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copies {
    pub write: f64,
    pub read: f64,
}

/// Writes and reads `mib` MiB of a new file of tmpfs in pieces of 1 MiB, as dd
/// does.
pub(crate) fn copies(core: usize, mib: u64) -> Result<Copies, LabError> {
    let _pinned = Pinned::to(Some(core))?;
    measure(mib).map_err(LabError::system("copy to a file in memory"))
}

fn measure(mib: u64) -> Result<Copies, Errno> {
    let file = memfd_create("disklab-speed", MemfdFlags::CLOEXEC)?;
    let mut data = AlignedBuffer::new(MIB);
    Xorshift::new().fill(data.bytes());
    let place = |at: u64| at * MIB as u64;
    let began = Instant::now();
    for at in 0..mib {
        stamp(data.bytes(), at);
        if pwrite(&file, data.bytes(), place(at))? != MIB {
            return Err(Errno::NOSPC);
        }
    }
    let written = began.elapsed();
    let began = Instant::now();
    for at in 0..mib {
        if pread(&file, data.bytes(), place(at))? != MIB {
            return Err(Errno::IO);
        }
    }
    let bytes = (mib * MIB as u64) as f64;
    let read = began.elapsed();
    Ok(Copies { write: bytes / written.as_secs_f64(), read: bytes / read.as_secs_f64() })
}
