//! What was read last of the pool's file, so that blocks can be compared in a row.

use super::block::BLOCK_BYTES;
use super::file::{StoreFile, offset};
use crate::LabError;

/// Blocks that are read at once where one after another is compared: 128 KiB. A new
/// ext4 of 10 TB has its table of groups written 24 times, which are 27,000
/// comparisons: one by one, they took a tenth of a second of a cell.
const AHEAD: usize = 32;

/// Some slots in a row, as they are in the file.
#[derive(Debug)]
pub(super) struct ReadAheadBuffer {
    first: u32,
    blocks: usize,
    data: Vec<u8>,
}

impl ReadAheadBuffer {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { first: 0, blocks: 0, data: vec![0; AHEAD * BLOCK_BYTES] }
    }

    /// What `slot` holds in `file`: read alone, or with those after it where it comes
    /// after the last ones.
    ///
    /// # Errors
    /// [`LabError::System`] if the file cannot be read, or ends before the slot.
    pub fn get(&mut self, slot: u32, file: &StoreFile) -> Result<&[u8], LabError> {
        if self.place(slot).is_none() {
            let continues = self.blocks > 0 && self.first as usize + self.blocks == slot as usize;
            let wanted = if continues { AHEAD } else { 1 };
            self.blocks = 0;
            let read = file
                .read_up_to(&mut self.data[..wanted * BLOCK_BYTES], offset(slot))
                .map_err(LabError::system("read content back"))?;
            (self.first, self.blocks) = (slot, read / BLOCK_BYTES);
        }
        let place = self.place(slot).ok_or_else(|| {
            let end = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
            LabError::system("read content back")(end)
        })?;
        Ok(&self.data[place * BLOCK_BYTES..][..BLOCK_BYTES])
    }

    /// `blocks` slots from `first` on are written anew.
    pub fn forget(&mut self, first: u32, blocks: usize) {
        let (from, to) = (first as usize, first as usize + blocks);
        if from < self.first as usize + self.blocks && (self.first as usize) < to {
            self.blocks = 0;
        }
    }

    /// Bytes of memory it takes.
    pub fn memory_bytes(&self) -> u64 {
        self.data.len() as u64
    }

    fn place(&self, slot: u32) -> Option<usize> {
        let place = slot.checked_sub(self.first)? as usize;
        (place < self.blocks).then_some(place)
    }
}
