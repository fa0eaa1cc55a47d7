//! Entries that can be picked, in turn.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::bitmap::Bitmap;

/// A rotor on a cache line of its own: all threads write to it. 128 bytes, as
/// processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Rotor(AtomicUsize);

/// Entries that can be picked. A thread that has picked one owns it until it is put
/// back, here or into another pool: Filebench's BUSY. No thread ever waits.
#[derive(Debug)]
pub struct PickPool {
    bits: Bitmap,
    rotor: Rotor,
    len: usize,
}

impl PickPool {
    /// Of the entries 0 to `len` those that `inside` names.
    pub fn new(len: usize, inside: impl Fn(usize) -> bool) -> Self {
        Self { bits: Bitmap::new(len, inside), rotor: Rotor::default(), len }
    }

    /// Number of entries, inside or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Picks the first entry at or after the rotor, from the beginning again where
    /// there is none, and moves the rotor behind it. None where all are picked.
    pub fn pick(&self) -> Option<usize> {
        let from = self.rotor.0.load(Relaxed);
        let picked = self.pick_from(from)?;
        self.iteration(from, picked);
        Some(picked)
    }

    /// Like [`pick`](Self::pick) with a rotor of the caller's (`opennext`), which
    /// begins at 0.
    pub fn pick_with(&self, rotor: &mut usize) -> Option<usize> {
        let picked = self.pick_from(*rotor)?;
        *rotor = (picked + 1) % self.len.max(1);
        Some(picked)
    }

    /// Picks entry `index` modulo the number of entries, or the next that is available
    /// (`indexed`). The rotor stays.
    pub fn pick_at(&self, index: u64) -> Option<usize> {
        let len = self.len as u64;
        self.pick_from(index.checked_rem(len)? as usize)
    }

    fn pick_from(&self, from: usize) -> Option<usize> {
        let from = if from < self.len { from } else { 0 };
        loop {
            // The slow search is for what the quick one can miss; it costs only
            // where next to nothing is left.
            let found = self
                .bits
                .next(from)
                .or_else(|| self.bits.next(0))
                .or_else(|| self.bits.next_slowly(0))?;
            if self.bits.take(found) {
                return Some(found);
            }
        }
    }

    /// Moves the rotor from where this pick began to behind what it picked. Where
    /// another thread has moved it meanwhile, the one further on counts.
    fn iteration(&self, from: usize, picked: usize) {
        let next = if picked + 1 < self.len { picked + 1 } else { 0 };
        // How far a place is ahead of where this pick began, round the end.
        let ahead = |place: usize| (place + self.len - from.min(self.len)) % self.len.max(1);
        let goal = ahead(next);
        let mut now = from;
        while let Err(other) = self.rotor.0.compare_exchange_weak(now, next, Relaxed, Relaxed) {
            // 0 ahead of the beginning: all the way round, further than any other.
            if other != from && (goal != 0 && ahead(other) >= goal || ahead(other) == 0) {
                break;
            }
            now = other;
        }
    }

    /// Takes this very entry; false where it is not in.
    pub fn take(&self, entry: usize) -> bool {
        self.bits.take(entry)
    }

    /// Puts an entry in: it can be picked from now on.
    pub fn put(&self, entry: usize) {
        if entry < self.len {
            self.bits.put(entry);
        }
    }

    /// Whether an entry can be picked now.
    pub fn contains(&self, entry: usize) -> bool {
        self.bits.contains(entry)
    }

    pub(super) fn memory_for(len: usize) -> usize {
        Bitmap::memory_for(len)
    }

    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        self.bits.is_consistent()
    }
}
