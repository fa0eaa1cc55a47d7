//! The disk space that labs share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Disk space for what guests write. Its clones are the same space: labs that run side by side
/// take from it as they need, so that one may have what the others leave.
#[derive(Debug, Clone)]
pub struct ContentSpace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit_bytes: u64,
    taken: AtomicU64,
}

impl ContentSpace {
    /// Space of so many bytes.
    pub fn new(limit_bytes: u64) -> Self {
        Self(Arc::new(Inner { limit_bytes, taken: AtomicU64::new(0) }))
    }

    /// Bytes that all who have it may take together.
    pub fn limit_bytes(&self) -> u64 {
        self.0.limit_bytes
    }

    /// Takes `bytes` of it, if so many are left.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= self.0.limit_bytes);
        self.0.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Gives back what was taken.
    pub(super) fn give_back(&self, bytes: u64) {
        self.0.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_space() {
        let space = ContentSpace::new(10);
        let other = space.clone();
        assert!(space.take(6) && !other.take(5) && other.take(4) && !space.take(1));
        space.give_back(6);
        assert!(other.take(6) && !other.take(u64::MAX));
    }
}
