//! Room in the first program's heap before a cell begins.
//!
//! How long its lists are, of processes above all, depends on the kernel's parts. What it needs of a few
//! pages more is there already.

/// As much there is, in bytes.
const ROOM: usize = 4 << 20;
/// In pieces so small that they come from the heap (`M_MMAP_THRESHOLD` of mallopt(3)), in bytes.
const PIECE: usize = 64 << 10;

/// Makes room: one heap for all threads, with memory that is free in it.
#[allow(unsafe_code)]
pub(super) fn make_room() {
    // SAFETY: an option of the allocator; what another thread has allocated stays where it is.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    let mut pieces: Vec<Vec<u8>> = (0..=ROOM / PIECE).map(|_| Vec::with_capacity(PIECE)).collect();
    // What is free at the heap's end goes back to the kernel (`M_TRIM_THRESHOLD`), so that the last one stays.
    std::mem::forget(std::hint::black_box(pieces.pop()));
    drop(pieces);
}
