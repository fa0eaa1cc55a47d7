//! Room in the first program's heap before a cell begins.
//!
//! How long its lists are, of processes above all, depends on the kernel's parts. What it needs of a few
//! pages more is there already.

use super::mappings::TABLE;

/// As much there is, in bytes.
const ROOM: usize = 4 << 20;
/// In pieces so small that they come from the heap (`M_MMAP_THRESHOLD` of mallopt(3)), in bytes.
const PIECE: usize = 64 << 10;
/// What stays between them, in bytes: together they would serve programs' buffers, which are mapped as
/// before. From the heap they were read into a quarter more slowly.
const BETWEEN: usize = 2 << 10;

/// Makes room: one heap for all threads, with memory that is free in it.
#[allow(unsafe_code)]
pub(super) fn make_room() {
    // SAFETY: an option of the allocator; what another thread has allocated stays where it is.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    // What is free at the heap's end would go back to the kernel (`M_TRIM_THRESHOLD`): there stays one, too.
    let pairs = (0..ROOM / PIECE).map(|_| {
        let piece: Vec<u8> = Vec::with_capacity(PIECE);
        (piece, Vec::<u8>::with_capacity(BETWEEN))
    });
    let (pieces, between): (Vec<_>, Vec<_>) = std::hint::black_box(pairs.unzip());
    fill_page_table();
    drop(pieces);
    std::mem::forget(between);
}

/// Has the heap grow from the next page of page tables on, wherever the program ends: after how much
/// growth it takes another one would depend on the program's size.
#[allow(unsafe_code)]
fn fill_page_table() {
    // SAFETY: memory is added at the end of the heap, which belongs to nobody. The allocator sees that
    // somebody else called sbrk, and grows behind it.
    unsafe {
        let end = libc::sbrk(0).addr();
        let rest = end.next_multiple_of(TABLE as usize) - end;
        libc::sbrk(rest.cast_signed());
    }
}
