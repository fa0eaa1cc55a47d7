//! Places drawn among what a disk holds.

use std::collections::BTreeSet;

use disklab_content::next_splitmix64;

use super::block::{BLOCK_BYTES, SECTOR_BYTES};
use super::{DiskContent, find};
use crate::LabError;

/// Sectors of a block of the store.
const BLOCK_SECTORS: u64 = BLOCK_BYTES as u64 / SECTOR_BYTES;

/// So often a place is drawn again that was drawn before.
const TRIES: u64 = 64;

/// Parts of ranges of sectors: those of a block each.
struct Parts(Vec<(u64, u64)>);

impl Parts {
    /// A sector of one of them.
    fn draw(&self, numbers: &mut u64) -> Option<u64> {
        let (start, end) = *self.0.get(below(numbers, self.0.len() as u64) as usize)?;
        Some(start + below(numbers, end - start))
    }
}

impl DiskContent {
    /// Changes `count` bytes of disk `volume`, drawn among the blocks in these ranges of sectors
    /// that hold something. Returns where they are; fewer if it holds fewer.
    ///
    /// # Errors
    /// As [`DiskContent::write`].
    pub(crate) fn rot(
        &mut self,
        volume: usize,
        ranges: &[(u64, u64)],
        count: u64,
        seed: u64,
    ) -> Result<Vec<u64>, LabError> {
        let (parts, mut numbers) = (self.held(volume, ranges)?, seed);
        let mut changed = BTreeSet::new();
        let mut sector_data = [0; SECTOR_BYTES as usize];
        for _ in 0..count.saturating_mul(TRIES) {
            let Some(sector) = parts.draw(&mut numbers) else { break };
            let at = below(&mut numbers, SECTOR_BYTES);
            if !changed.insert(sector * SECTOR_BYTES + at) {
                continue;
            }
            self.read(volume, sector, &mut sector_data)?;
            // Below 256, and not 0.
            sector_data[at as usize] ^= 1 + below(&mut numbers, 255) as u8;
            self.write(volume, sector, &sector_data)?;
            if changed.len() as u64 == count {
                break;
            }
        }
        Ok(changed.into_iter().collect())
    }

    /// The first sectors of `count` physical ones, of `physical` sectors each, drawn among those in these
    /// ranges that hold something; among all if none does.
    ///
    /// # Errors
    /// Where there is no such disk.
    pub(crate) fn draw_sectors(
        &mut self,
        volume: usize,
        ranges: &[(u64, u64)],
        count: u64,
        physical: u64,
        seed: u64,
    ) -> Result<Vec<u64>, LabError> {
        let (mut parts, mut numbers) = (self.held(volume, ranges)?, seed);
        if parts.0.is_empty() {
            parts.0 = ranges.to_vec();
        }
        let mut drawn = BTreeSet::new();
        for _ in 0..count.saturating_mul(TRIES) {
            let Some(sector) = parts.draw(&mut numbers) else { break };
            drawn.insert(sector / physical * physical);
            if drawn.len() as u64 == count {
                break;
            }
        }
        Ok(drawn.into_iter().collect())
    }

    fn held(&mut self, volume: usize, ranges: &[(u64, u64)]) -> Result<Parts, LabError> {
        let volume = find(&mut self.volumes, volume)?;
        let mut parts = Vec::new();
        for (start, end) in ranges {
            let blocks = volume.held(start / BLOCK_SECTORS, end.div_ceil(BLOCK_SECTORS));
            parts.extend(blocks.into_iter().map(|block| {
                let first = block * BLOCK_SECTORS;
                (first.max(*start), (first + BLOCK_SECTORS).min(*end))
            }));
        }
        Ok(Parts(parts))
    }
}

/// From 0 to below `end`, which is not 0.
fn below(numbers: &mut u64, end: u64) -> u64 {
    next_splitmix64(numbers) % end.max(1)
}
