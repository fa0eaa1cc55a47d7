//! Memory for I/O, aligned for O_DIRECT.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// A page: enough for O_DIRECT on every block device of Linux, whose logical
/// blocks are at most a page.
pub(crate) const PAGE: usize = 4096;

/// Equally long buffers, one for each slot, each on a page of its own.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    stride: usize,
    length: usize,
    count: usize,
}

// SAFETY: it owns its memory; nothing else points there but I/O that its owner
// waits for.
unsafe impl Send for Memory {}

impl Memory {
    /// `count` buffers of `length` bytes, zeroed. None where so much memory
    /// cannot be addressed.
    pub(crate) fn new(count: usize, length: usize) -> Option<Self> {
        let count = count.max(1);
        let stride = length.max(1).checked_next_multiple_of(PAGE)?;
        let layout = Layout::from_size_align(stride.checked_mul(count)?, PAGE).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Some(Self { start, layout, stride, length, count })
    }

    /// The buffer of a slot.
    pub(crate) fn slot(&mut self, slot: usize) -> &mut [u8] {
        assert!(slot < self.count, "there is no slot {slot}");
        // SAFETY: the slot lies inside of the allocation, which is initialised and
        // borrowed for as long as the slice.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.as_ptr().add(slot * self.stride), self.length)
        }
    }

    /// All of it as I/O vectors, one for each slot: to be registered.
    pub(crate) fn vectors(&mut self) -> Vec<libc::iovec> {
        (0..self.count)
            .map(|slot| {
                let slot = self.slot(slot);
                libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot.len() }
            })
            .collect()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_apart_and_aligned() {
        let mut memory = Memory::new(3, 5000).expect("small");
        for slot in 0..3 {
            memory.slot(slot).fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            let buffer = memory.slot(slot);
            assert_eq!(buffer.as_ptr() as usize % PAGE, 0);
            assert!(buffer.len() == 5000 && buffer.iter().all(|b| *b == slot as u8 + 1));
        }
        assert_eq!(memory.vectors().len(), 3);
        assert!(Memory::new(usize::MAX, 4096).is_none());
    }
}
