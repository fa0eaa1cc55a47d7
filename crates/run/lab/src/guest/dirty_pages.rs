//! How much a cell may have written to the page cache before the kernel writes it out.
//!
//! The kernel takes 10 % and 20 % of the memory that is free or holds files
//! (`global_dirtyable_memory`, mm/page-writeback.c), which is some pages more or less with
//! another build of the kernel or of the program that is the guest's first process. A page less
//! has writeback begin one write earlier, Btrfs lay out its extents elsewhere, and figures
//! differ in the third digit. As bytes the limits are the same under every build.

use std::fs;

use super::memory::memory_bytes;

/// The share of the guest's memory in percent: 20 % (`vm_dirty_ratio`) of the 95 % that is free
/// when a guest of 1 GiB has started.
const LIMIT_PERCENT: u64 = 19;
/// Half of it, as `dirty_background_ratio` is of `vm_dirty_ratio`.
const BACKGROUND_DIVISOR: u64 = 2;
const PAGE: u64 = 4096;

/// Sets the limits from the memory that the kernel was given. Where that cannot be read, the
/// kernel's own stay.
pub(super) fn limit_dirty_pages() {
    let Some(limits) = memory_bytes().map(Limits::of) else { return };
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
    fn of(memory: u64) -> Self {
        let throttle = memory / 100 * LIMIT_PERCENT / PAGE * PAGE;
        Self { throttle, background: throttle / BACKGROUND_DIVISOR / PAGE * PAGE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_19_and_9_5_percent_in_whole_pages() {
        let limits = Limits::of(1 << 30);
        assert_eq!(limits, Limits { throttle: 204_009_472, background: 102_002_688 });
        assert_eq!((limits.throttle % PAGE, limits.background % PAGE), (0, 0));
    }
}
