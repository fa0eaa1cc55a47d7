//! The deltas of a store, by number.

use super::delta::Delta;
use super::numbered::Numbered;

/// Deltas with the slots that they alter. Each has one user.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    entries: Numbered<(u32, Delta)>,
    /// What the deltas take besides their entries.
    bytes: u64,
}

impl Deltas {
    /// Keeps how a block differs from what `slot` holds. Returns its number; `None` where
    /// there are too many.
    pub fn insert(&mut self, slot: u32, delta: Delta) -> Option<u32> {
        let bytes = delta.memory_bytes();
        let number = self.entries.insert((slot, delta))?;
        self.bytes += bytes;
        Some(number)
    }

    /// The slot and what differs from it.
    pub fn get(&self, number: u32) -> &(u32, Delta) {
        self.entries.get(number)
    }

    /// Drops one. Returns the slot that it altered.
    pub fn remove(&mut self, number: u32) -> u32 {
        let (slot, delta) = self.entries.remove(number);
        self.bytes -= delta.memory_bytes();
        slot
    }

    pub fn memory_bytes(&self) -> u64 {
        self.bytes + self.entries.memory_bytes()
    }
}
