//! The same free memory for each cell, under every kernel of the lab and every build of the
//! program.

use std::fs;

use super::memory::memory_bytes;
use super::{heap, kernel_threads, mappings};
use crate::kept_memory::kept_bytes;

/// Where the kernel gives back what it has set aside (`kernel/patches/kept.patch`).
const SWITCH: &str = "/proc/sys/vm/release_kept_memory";

/// Drops what the start has left in the caches, has all of this program in memory, and has the kernel
/// give back the memory that it has set aside, which is then all that is free. Nothing happens a second time, or where the
/// kernel has set nothing aside.
pub fn release_memory() {
    let Some(memory) = memory_bytes() else { return };
    if fs::metadata(SWITCH).is_err() {
        return;
    }
    rustix::fs::sync();
    let _ = fs::write("/proc/sys/vm/drop_caches", "3");
    kernel_threads::hold();
    heap::make_room();
    mappings::populate();
    let reserve = reserve_kilobytes(kept_bytes(memory)).to_string();
    let _ = fs::write("/proc/sys/vm/min_free_kbytes", reserve);
    let _ = fs::write(SWITCH, "1");
}

/// What the kernel keeps back of so much memory by its own rule (`calculate_min_free_kbytes`,
/// mm/page_alloc.c).
fn reserve_kilobytes(bytes: u64) -> u64 {
    (bytes / 1024 * 16).isqrt().clamp(128, 262_144)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_are_those_of_the_kernels_comment() {
        // The table above calculate_min_free_kbytes().
        for (megabytes, kilobytes) in [(16, 512), (32, 724), (1024, 4096), (16384, 16384)] {
            assert_eq!(reserve_kilobytes(megabytes << 20), kilobytes);
        }
    }
}
