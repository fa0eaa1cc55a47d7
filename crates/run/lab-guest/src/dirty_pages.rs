//! How much a cell may have written to the page cache before the kernel writes it out.
//!
//! The kernel takes 10 % and 20 % of the memory that is free or holds files
//! (`global_dirtyable_memory`, mm/page-writeback.c), which is some pages more or less with
//! another build of the kernel or of the program that is the guest's first process. A page less
//! has writeback begin one write earlier, Btrfs lay out its extents elsewhere, and figures
//! differ in the third digit. As bytes the limits are the same under every build.

use std::fs;

use super::memory::memory_bytes;

/// `vm_dirty_ratio`, of the kernel and of Debian.
const THROTTLE_PERCENT: u64 = 20;
/// `dirty_background_ratio`.
const BACKGROUND_PERCENT: u64 = 10;
/// The share of the guest's memory that the kernel's are of: what is free when a guest of 1 GiB has
/// started.
const FREE_PERCENT: u64 = 95;
const PAGE: u64 = 4096;

/// Sets the limits to the kernel's own shares.
pub(crate) fn limit_to_defaults() {
    limit_dirty_pages(THROTTLE_PERCENT, BACKGROUND_PERCENT);
}

/// Sets the limits to these shares of the memory that the kernel was given. Where that cannot be
/// read, the kernel's own stay.
pub fn limit_dirty_pages(throttle_percent: u64, background_percent: u64) {
    let Some(memory) = memory_bytes() else { return };
    let limits = Limits::of(memory, throttle_percent, background_percent);
    let _ = fs::write("/proc/sys/vm/dirty_bytes", limits.throttle.to_string());
    let _ = fs::write("/proc/sys/vm/dirty_background_bytes", limits.background.to_string());
}

#[derive(Debug, PartialEq, Eq)]
struct Limits {
    /// Bytes from which writers wait.
    throttle: u64,
    /// Bytes from which the kernel writes on its own.
    background: u64,
}

impl Limits {
    fn of(memory: u64, throttle_percent: u64, background_percent: u64) -> Self {
        let share = |percent| memory / 10_000 * FREE_PERCENT * percent / PAGE * PAGE;
        Self { throttle: share(throttle_percent), background: share(background_percent) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_19_and_9_5_percent_in_whole_pages() {
        let limits = Limits::of(1 << 30, THROTTLE_PERCENT, BACKGROUND_PERCENT);
        assert_eq!(limits, Limits { throttle: 204_009_472, background: 102_002_688 });
        assert_eq!((limits.throttle % PAGE, limits.background % PAGE), (0, 0));
    }
}
