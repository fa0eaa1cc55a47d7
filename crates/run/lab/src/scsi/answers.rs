//! What the disk answers by itself, without its medium.

use crate::block::Configuration;

/// READ CAPACITY (10): the last block, all ones if it has more than 32 bits, and a block's bytes.
pub(super) fn capacity_10(disk: &Configuration) -> Vec<u8> {
    let last = u32::try_from(last_block(disk)).unwrap_or(u32::MAX);
    [last.to_be_bytes(), disk.logical_bytes.to_be_bytes()].concat()
}

/// READ CAPACITY (16).
pub(super) fn capacity_16(disk: &Configuration) -> Vec<u8> {
    let mut answer =
        [last_block(disk).to_be_bytes().as_slice(), &disk.logical_bytes.to_be_bytes()].concat();
    answer.resize(32, 0);
    let ratio = disk.physical_bytes / disk.logical_bytes.max(1);
    // A power of two: `DiskOptions` were checked.
    answer[13] = ratio.max(1).trailing_zeros() as u8;
    answer[14] = u8::from(disk.discard.is_some()) << 7;
    answer
}

fn last_block(disk: &Configuration) -> u64 {
    (disk.sectors / u64::from(disk.logical_bytes / 512).max(1)).saturating_sub(1)
}

/// REPORT LUNS: LUN 0 alone.
pub(super) fn luns() -> Vec<u8> {
    let mut answer = vec![0; 16];
    answer[3] = 8;
    answer
}

/// REQUEST SENSE: nothing is the matter. What is, comes with the command that it is about.
pub(super) fn no_sense() -> Vec<u8> {
    let mut answer = vec![0; 18];
    answer[0] = 0x70;
    answer[7] = 10;
    answer
}
