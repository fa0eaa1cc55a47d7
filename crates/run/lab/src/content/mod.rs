//! What the guest wrote to its disks, kept in as little space as its content
//! allows.
//!
//! Blocks of 4 KiB that are zeros or repeat a word of 8 bytes cost no data, and a
//! run of 2 MiB of the same costs no index either. Blocks that repeat one that
//! was written lately, on any disk of the lab, share its data: fio writes the
//! same random buffer again and again, and mirrors write everything twice. Blocks that
//! differ from one of these in a few words keep those words only, and random data of
//! `disklab-content` what they follow from.

mod block;
mod chunk;
mod delta;
mod deltas;
mod file;
mod held;
mod limits;
mod numbered;
mod pool;
mod read_ahead;
mod recent;
mod similar;
mod slot_cache;
mod space;
mod volume;

use std::path::Path;
use std::sync::Arc;

use disklab_drive::Durable;
use disklab_sample::KeptContent;

use crate::{LabError, OptionsProblem};
pub(crate) use block::SECTOR_BYTES;
pub use limits::ContentLimits;
use pool::ChunkPool;
pub use space::ContentSpace;
use volume::ContentVolume;
pub use volume::DiskContent;

impl DiskContent {
    /// An empty store (every disk reads as zeros) with `volumes` disks, whose data
    /// go to a nameless file in `directory`.
    ///
    /// # Errors
    /// [`LabError::System`] if the file cannot be made.
    pub fn new(directory: &Path, volumes: usize, limits: ContentLimits) -> Result<Self, LabError> {
        let pool = ChunkPool::new(directory, limits)?;
        Ok(Self { volumes: (0..volumes).map(|_| ContentVolume::default()).collect(), pool })
    }

    /// A store that holds what `below` does, and shares it: what is written goes to a nameless
    /// file of its own in `directory`.
    ///
    /// # Errors
    /// As for [`DiskContent::new`].
    pub fn on(
        below: &Arc<Self>,
        directory: &Path,
        limits: ContentLimits,
    ) -> Result<Self, LabError> {
        let pool = ChunkPool::new(directory, limits)?;
        let volume = |number| ContentVolume::on(Arc::clone(below), number);
        Ok(Self { volumes: (0..below.volumes.len()).map(volume).collect(), pool })
    }

    /// Keeps `data`, from the start of `sector` of disk `volume` on.
    ///
    /// # Errors
    /// [`LabError::Full`], and where the file cannot be written or there is no
    /// such disk. The content is not to be used then.
    pub fn write(&mut self, volume: usize, sector: u64, data: &[u8]) -> Result<(), LabError> {
        find(&mut self.volumes, volume)?.write(&mut self.pool, byte(sector)?, data)
    }

    /// Fills `data` from the start of `sector` of disk `volume` on.
    ///
    /// # Errors
    /// Where the file cannot be read or there is no such disk.
    pub fn read(&self, volume: usize, sector: u64, data: &mut [u8]) -> Result<(), LabError> {
        let count = self.volumes.len();
        let missing = || OptionsProblem::NoDisk { disk: volume, count };
        let own = self.volumes.get(volume).ok_or_else(missing)?;
        own.read(&self.pool, byte(sector)?, data)
    }

    /// Shows `each` what `bytes` of disk `volume` hold, from the start of `sector` on, in
    /// pieces in a row, until it says false. `space`, at least as long, is for what lies
    /// in no memory. Returns whether it saw all.
    ///
    /// # Errors
    /// As [`DiskContent::read`].
    pub(crate) fn show(
        &mut self,
        volume: usize,
        sector: u64,
        bytes: usize,
        space: &mut [u8],
        each: impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, LabError> {
        let at = byte(sector)?;
        find(&mut self.volumes, volume)?.show(&self.pool, at, &mut space[..bytes], each)
    }

    /// Makes `sectors` of disk `volume` read as zeros.
    ///
    /// # Errors
    /// As [`DiskContent::write`].
    pub fn zero(&mut self, volume: usize, sector: u64, sectors: u64) -> Result<(), LabError> {
        find(&mut self.volumes, volume)?.zero(&mut self.pool, byte(sector)?, byte(sectors)?)
    }

    /// Remembers from now on what disk `volume` would lose with its power.
    pub(crate) fn watch(&mut self, volume: usize) -> Result<(), LabError> {
        find(&mut self.volumes, volume)?.watch(&mut self.pool);
        Ok(())
    }

    /// Request `number` of disk `volume` is about to write there, or to write zeros.
    pub(crate) fn prepare(
        &mut self,
        volume: usize,
        number: u64,
        (sector, sectors): (u64, u64),
        zeroes: bool,
    ) -> Result<(), LabError> {
        let at = byte(sector)?;
        let range = (at, at.saturating_add(byte(sectors)?));
        find(&mut self.volumes, volume)?.prepare(&mut self.pool, number, range, zeroes)
    }

    /// What disk `volume` says is durable.
    pub(crate) fn settle(&mut self, volume: usize, durable: &[Durable]) -> Result<(), LabError> {
        let volume = find(&mut self.volumes, volume)?;
        durable.iter().for_each(|part| volume.settle(&mut self.pool, *part));
        Ok(())
    }

    /// Disk `volume` loses its power: it holds what was durable.
    pub(crate) fn lose(&mut self, volume: usize) -> Result<(), LabError> {
        find(&mut self.volumes, volume)?.lose(&mut self.pool)
    }

    /// What it takes.
    pub fn usage(&self) -> KeptContent {
        let index: u64 = self.volumes.iter().map(ContentVolume::memory_bytes).sum();
        KeptContent {
            disk_bytes: self.pool.disk_bytes(),
            memory_bytes: index + self.pool.memory_bytes(),
        }
    }
}

fn find(volumes: &mut [ContentVolume], volume: usize) -> Result<&mut ContentVolume, LabError> {
    let count = volumes.len();
    let missing = || OptionsProblem::NoDisk { disk: volume, count };
    Ok(volumes.get_mut(volume).ok_or_else(missing)?)
}

fn byte(sector: u64) -> Result<u64, LabError> {
    let beyond = || OptionsProblem::Beyond(sector);
    Ok(sector.checked_mul(SECTOR_BYTES).ok_or_else(beyond)?)
}

#[cfg(test)]
mod tests;
