//! Memory that is kept apart until a cell begins.
//!
//! How many pages are free when a cell begins, and which, depends on the kernel's parts and on the
//! program that is the guest's first. Where memory runs short, the kernel then reclaims pages at
//! other moments, and Btrfs on RAID 5 read 4 KiB up to 16 % slower with another build of the same
//! program. So most of the memory is set aside at boot, and is all that is free when the cell
//! begins (`kernel/patches/kept.patch`).

/// How much the kernel sets aside, in bytes.
const KEPT_VARIABLE: &str = "UML_KEPT_MEMORY";
/// How much it has besides `mem=`, in bytes.
const MORE_VARIABLE: &str = "UML_MORE_MEMORY";

/// Of the guest's memory, what is free when it has started: 95 % in a guest of 1 GiB, without
/// anything set aside.
const KEPT_PERCENT: u64 = 95;
/// What the kernel and the first program may take besides the other 5 %: some 90 MB with
/// all parts of the kernel and OpenZFS.
const MORE_BYTES: u64 = 192 << 20;
/// The largest block of the page allocator (`MAX_PAGE_ORDER`), of which whole ones are set aside.
const BLOCK_BYTES: u64 = 4 << 20;

/// What is set aside of so much memory, in bytes.
pub fn kept_bytes(memory_bytes: u64) -> u64 {
    memory_bytes / 100 * KEPT_PERCENT / BLOCK_BYTES * BLOCK_BYTES
}

/// How large the file of the guest's memory is, in bytes.
pub fn file_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_add(MORE_BYTES)
}

/// What the kernel is told in its environment: its command line counts in its random numbers.
pub fn environment(memory_bytes: u64) -> [(&'static str, String); 2] {
    [(KEPT_VARIABLE, kept_bytes(memory_bytes).to_string()), (MORE_VARIABLE, MORE_BYTES.to_string())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_kept_and_the_rest_is_left_to_the_kernel() {
        for memory in [64 << 20, 1 << 30, 4 << 30, (16 << 30) + 4096] {
            let kept = kept_bytes(memory);
            assert_eq!(kept % BLOCK_BYTES, 0);
            assert!(kept <= memory / 20 * 19 && kept + BLOCK_BYTES > memory / 100 * 95);
            assert_eq!(file_bytes(memory) - memory, MORE_BYTES);
        }
        assert_eq!(kept_bytes(1 << 30), 1_019_215_872);
    }
}
