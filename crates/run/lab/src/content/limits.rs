//! What the store may take.

use super::space::ContentSpace;

/// How much the store may use.
#[derive(Debug, Clone)]
pub struct ContentLimits {
    /// Space for data in the lab's directory.
    pub disk: ContentSpace,
    /// Bytes of memory for the index.
    pub memory_bytes: u64,
}

impl ContentLimits {
    /// So many bytes of disk, shared by all that have a clone of it, and 2 GiB of memory each.
    pub fn with_disk(disk_bytes: u64) -> Self {
        Self { disk: ContentSpace::new(disk_bytes), memory_bytes: 2 << 30 }
    }

    /// What labs may take of so much free space: nine tenths. The rest is for what they cannot
    /// foresee.
    pub fn of_free(free_bytes: u64) -> Self {
        Self::with_disk(free_bytes / 10 * 9)
    }
}

impl Default for ContentLimits {
    /// 4 GiB of disk and 2 GiB of memory.
    fn default() -> Self {
        Self::with_disk(4 << 30)
    }
}
