//! The bytes that fio fills a buffer with once and writes again and again, and what it alters
//! in between. They are not quite random: compressors save a few percent of them, so a file
//! system that compresses has to see them from disklab, too.

use crate::random::Random;

/// fio scrambles each piece of this size (small_content_scramble in io_u.c).
const PIECE: usize = 512;
/// GOLDEN_RATIO_64 of fio's hash.h, by which each word is made from the one before.
const FACTOR: u64 = 0x61C8_8646_80B5_83EB;
/// Of the words, so many rows alternate (`CONFIG_SEED_BUCKETS`, 4 unless fio was
/// built otherwise), each from the seed times one of these (lib/rand.c).
const ROWS: [u64; 4] = [1, 2, 3, 5];

/// Fills a buffer as `__fill_random_buf` in fio's lib/rand.c does.
pub(crate) fn fill(random: &mut Random, buffer: &mut [u8]) {
    // The product of two random numbers (__get_next_seed).
    let seed = (random.next() >> 32).wrapping_mul(random.next() >> 32);
    let mut words = ROWS.map(|row| seed.wrapping_mul(row));
    for (number, bytes) in buffer.chunks_mut(8).enumerate() {
        let word = &mut words[number % ROWS.len()];
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        *word = word.wrapping_mul(FACTOR);
    }
}

/// Alters a buffer for a write at `offset`, so that no 512 bytes are written twice: each piece
/// gets its offset at the start of one of its cache lines, and the time at the end of the
/// first, as in fio. The time is drawn, so that a run can be repeated.
pub(crate) fn scramble(random: &mut Random, offset: u64, buffer: &mut [u8]) {
    // Nanoseconds of a second.
    let time_ns = random.below(1_000_000_000);
    let line = ((time_ns ^ offset) & 7) as usize * 64;
    for (number, piece) in buffer.chunks_exact_mut(PIECE).enumerate() {
        let at = offset.wrapping_add((number * PIECE) as u64);
        piece[line..line + 8].copy_from_slice(&at.to_le_bytes());
        piece[48..56].fill(0);
        piece[56..64].copy_from_slice(&time_ns.to_le_bytes());
    }
}
