//! Which entry of a fileset comes next.
//!
//! Filebench picks in turn, not at random (`fileset_pick` of `fileset.c`), under one
//! lock per fileset that all threads wait for. Here picks take bits out of sets
//! without a lock.

mod bitmap;
mod pool;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub use pool::PickPool;

/// The entries of a fileset, files or empty directories: each exists, does not, or
/// is in the hands of a thread that is just opening, making, removing or looking at
/// it. One rotor for each kind is shared by all threads and processes.
#[derive(Debug)]
pub struct Picks {
    /// Those that exist.
    pub existing: PickPool,
    /// Those that do not.
    pub missing: PickPool,
    /// How often each is open.
    open: Box<[AtomicU32]>,
}

impl Picks {
    /// `len` entries, of which those exist that `exists` names.
    pub fn new(len: usize, exists: impl Fn(usize) -> bool) -> Self {
        Self {
            existing: PickPool::new(len, &exists),
            missing: PickPool::new(len, |entry| !exists(entry)),
            open: (0..len).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// One more descriptor is open on `entry`.
    pub fn opened(&self, entry: usize) {
        if let Some(count) = self.open.get(entry) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// One fewer is.
    pub fn closed(&self, entry: usize) {
        if let Some(count) = self.open.get(entry) {
            count.fetch_sub(1, Relaxed);
        }
    }

    /// How many descriptors are open on `entry`: Filebench does not delete a file
    /// that is open.
    pub fn open_count(&self, entry: usize) -> u32 {
        self.open.get(entry).map_or(0, |count| count.load(Relaxed))
    }

    /// Bytes that `len` entries take.
    pub fn memory_for(len: usize) -> usize {
        2 * PickPool::memory_for(len) + 4 * len
    }
}
